"""``lineage-post export``: the lineage in the forms of other tools."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from lineage_post.artifacts import read_run_results
from lineage_post.cli import FINDINGS, console, wording
from lineage_post.cli.loading import Loaded, Request, artifact_options, load
from lineage_post.cli.picking import require_picked
from lineage_post.cli.places import Places, place_options
from lineage_post.cli.viewing import policy_options, view
from lineage_post.errors import LineageError
from lineage_post.lineage import Lineage
from lineage_post.policy import INCOMPLETE, View
from lineage_post.publish import emit, exports, openlineage
from lineage_post.publish.run import run_from_results
from lineage_post.selection import select
from lineage_post.selection.syntax import parse_selection
from lineage_post.values import Edge

OPENLINEAGE, PARQUET, EXPLORER = "openlineage", "parquet", "explorer"
#: Where events wait that could not be sent, below this tool's folder in the target path.
SPOOL = "openlineage_spool.jsonl"


@click.command("export")
@click.argument(
    "form", metavar="FORM", type=click.Choice([*exports.FORMS, PARQUET, OPENLINEAGE, EXPLORER])
)
@click.option("--select", "-s", "selected", multiple=True, help="Edges of these nodes or columns.")
@click.option("--exclude", multiple=True, help="But no edge from or to these.")
@click.option("--direct", is_flag=True, help="Only edges that carry values; + follows these alone.")
@click.option(
    "--output-file", "-o", metavar="FILE", help="Instead of standard output; of explorer a folder."
)
@click.option("--url", metavar="URL", help="openlineage: send the events there.")
@click.option("--namespace", help="openlineage: of the datasets; default: the adapter's type.")
@click.option("--job-namespace", help="openlineage: of the jobs; default: the project's name.")
@artifact_options
@policy_options
@place_options
def command(
    places: Places,
    request: Request,
    form: str,
    selected: tuple[str, ...],
    exclude: tuple[str, ...],
    direct: bool,
    output_file: str | None,
    url: str | None,
    namespace: str | None,
    job_namespace: str | None,
    policy: str | None,
    viewer: str | None,
) -> int:
    """Write the edges as csv, json, parquet, graphml, mermaid or dot, or openlineage events.

    FORM is one of these, or `explorer`, which writes the page into a folder of its own, as the
    viewer of a policy may see it, to be put on a web host.

    OpenLineage events are of the run in target/run_results.json, or of the compiled project where
    none fits the manifest. They are JSON lines, or go to --url; the environment variable
    OPENLINEAGE_API_KEY has the token. Events that cannot be sent wait in
    target/lineage_post/openlineage_spool.jsonl and go out the next time.
    """
    if form != OPENLINEAGE and (url or namespace or job_namespace):
        raise click.UsageError("--url and the namespaces are of openlineage alone.")
    if form == PARQUET and not output_file:
        raise click.UsageError("parquet is not text: name a file with --output-file.")
    if form == EXPLORER and not output_file:
        raise click.UsageError("The explorer is a folder of files: name one with --output-file.")
    if form in (OPENLINEAGE, EXPLORER) and (selected or exclude or direct):
        raise click.UsageError("An OpenLineage run and the explorer are exported whole.")
    loaded = load(places, request)
    seen = view(loaded.lineage, policy, viewer)
    incomplete = (INCOMPLETE,) if seen.is_incomplete else ()
    for warning in (*loaded.warnings, *seen.warnings, *incomplete):
        console.warn(warning)
    if form == OPENLINEAGE:
        return _events(loaded, seen, namespace, job_namespace, url, output_file)
    if form == EXPLORER:
        return _page(seen, loaded.places.target_path, Path(output_file or "").expanduser())
    edges = _without(seen.lineage, _edges(seen.lineage, selected, direct), exclude)
    if form == PARQUET:
        exports.write_parquet(seen.lineage, edges, _file(output_file or ""))
    else:
        _write([exports.FORMS[form](seen.lineage, edges)], output_file)
    if output_file:
        console.note(f"{wording.plural(len(edges), 'edge')} in {output_file}")
    return 0


def _page(seen: View, target_path: Path, folder: Path) -> int:
    from lineage_post.publish import explorer

    if folder.is_dir() and any(folder.iterdir()) and not (folder / explorer.HERE).is_file():
        raise _unwritable(folder, "it holds something else")
    claimed = explorer.claims_for(seen, target_path)
    try:
        written = explorer.write_explorer(
            seen.lineage, folder, explorer.Beside(claimed=claimed, is_incomplete=seen.is_incomplete)
        )
    except OSError as error:
        raise _unwritable(folder, error) from error
    if written is None:
        raise LineageError(explorer.why_not_built() or "there is no explorer in this install")
    console.note(f"{written / 'index.html'} is to be opened")
    return 0


def _edges(lineage: Lineage, selected: tuple[str, ...], direct: bool) -> list[Edge]:
    """The published edges into the nodes and between the columns that are selected; of a column
    that is named alone those into it and out of it."""
    edges = [e for e in lineage.edges() if lineage.is_published(e.to_node)]
    if direct:
        edges = [e for e in edges if e.subtype.type.value == "DIRECT"]
    if not selected:
        return edges
    # What only decides rows would, without the edges by which it does, stand apart.
    picked = select(lineage, selected, indirect=not direct)
    require_picked(picked.nodes, picked.warnings, but="and nothing was written")
    for warning in picked.warnings:
        console.warn(warning)
    touched, alone = picked.nodes, _named_alone(lineage, selected)
    homes = {node for node, _ in alone}

    def is_between(edge: Edge) -> bool:
        """Whether it goes from a picked column into another, or into the rows that one is in."""
        if (edge.from_node, edge.from_column) not in picked:
            return False
        if edge.to_column is None:
            return edge.to_node in touched
        return (edge.to_node, edge.to_column) in picked

    def is_of_one(edge: Edge) -> bool:
        """Whether it ends or starts at a column that was named alone, or decides its rows."""
        if (edge.from_node, edge.from_column) in alone:
            return True
        if edge.to_column is None:
            return edge.to_node in homes
        return (edge.to_node, edge.to_column) in alone

    found = [e for e in edges if e.to_node in picked.whole or is_between(e) or is_of_one(e)]
    if not found:
        console.note("What is selected has no such edge: a constant or a count reads no column.")
    return found


def _without(lineage: Lineage, edges: list[Edge], exclude: tuple[str, ...]) -> list[Edge]:
    """The edges that neither start nor end at what is excluded."""
    if not exclude:
        return edges
    gone = select(lineage, exclude)
    require_picked(lineage.nodes.keys() - gone.whole, gone.warnings, but="and nothing was written")
    for warning in gone.warnings:
        console.warn(warning)

    def is_gone(node: str, column: str | None) -> bool:
        return node in gone.whole or (column is not None and (node, column) in gone.columns)

    return [
        e
        for e in edges
        if not is_gone(e.from_node, e.from_column) and not is_gone(e.to_node, e.to_column)
    ]


def _named_alone(lineage: Lineage, selected: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    """The columns of the selectors that walk nowhere: no + and no @."""
    unions = parse_selection(selected)
    still = [u for u in unions if not any(p.up != 0 or p.down != 0 or p.with_family for p in u)]
    texts = [",".join(part.text for part in union) for union in still]
    return select(lineage, texts).columns if texts else frozenset()


def _events(
    loaded: Loaded,
    seen: View,
    namespace: str | None,
    job_namespace: str | None,
    url: str | None,
    output_file: str | None,
) -> int:
    lineage = seen.lineage
    file = loaded.manifest.with_name("run_results.json")
    results = read_run_results(file) if file.is_file() else None
    project_dir = loaded.places.project_dir
    run = run_from_results(results, lineage.project, project_dir=project_dir) if results else None
    naming = openlineage.Naming(
        namespace or lineage.project.adapter_type, job_namespace or lineage.project.name
    )
    events = list(
        openlineage.events_of(
            lineage,
            run,
            naming=naming,
            results=results.results if results and run else {},
            command=results.command if results and run else None,
        )
    )
    if url is None:
        _write(emit.json_lines(events), output_file)
        return 0
    sent = emit.send(events, url, loaded.places.output_dir / SPOOL)
    console.note(f"{wording.plural(sent.arrived, 'event')} sent")
    if sent.problem:
        console.warn(sent.problem)
    if sent.waiting:
        console.warn(f"{wording.plural(sent.waiting, 'event')} wait for the next time")
    return FINDINGS if sent.problem else 0


def _write(parts: Iterable[str], output_file: str | None) -> None:
    if output_file is None:
        for part in parts:
            click.echo(part, nl=False)
        return
    path = _file(output_file)
    try:
        with path.open("w", encoding="utf-8", newline="\n", errors="replace") as file:
            file.writelines(parts)
    except OSError as error:
        raise _unwritable(path, error) from error


def _file(name: str) -> Path:
    path = Path(name).expanduser()
    if not path.parent.is_dir():
        raise _unwritable(path, "there is no such folder")
    return path


def _unwritable(path: Path, why: Any) -> LineageError:
    return LineageError(f"{path}: cannot be written: {why}", hint="Name another --output-file.")
