"""``lineage-post build``: trace a target folder and write all that the hook would, without dbt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from lineage_post.artifacts import read_run_results
from lineage_post.cli import FINDINGS, console, wording
from lineage_post.cli.loading import Loaded, Request, artifact_options, load
from lineage_post.cli.places import Places, place_options
from lineage_post.errors import LineageError
from lineage_post.lineage import ColumnLineage, Counts, NodeLineage
from lineage_post.publish import dbt_index, docs, explorer, files, json
from lineage_post.publish.claims import write_claims
from lineage_post.publish.exposures import exposure_set
from lineage_post.publish.rows import rows_of
from lineage_post.publish.run import Run, planned_run, run_from_results
from lineage_post.publish.why_sql import why_templates
from lineage_post.selection import select
from lineage_post.vocabulary import EdgeType, Reason

#: So many unknowns are listed on the terminal; JSON has them all.
LISTED = 12


@click.command("build")
@artifact_options
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if fewer of the columns are known.",
)
@click.option("--select", "-s", "selected", multiple=True, help="Publish these nodes only.")
@click.option("--exclude", multiple=True, help="Publish all but these nodes.")
@click.option("--no-docs", is_flag=True, help="Leave the docs site in the target path as it is.")
@click.option("--no-explorer", is_flag=True, help="Leave the explorer's page out.")
@click.option("--overwrite-dbt-index", is_flag=True, help="Replace column edges that dbt 2 wrote.")
@click.option("--output", type=click.Choice(["text", "json"]), default="text")
@place_options
def command(
    places: Places,
    request: Request,
    fail_under: float | None,
    selected: tuple[str, ...],
    exclude: tuple[str, ...],
    no_docs: bool,
    no_explorer: bool,
    overwrite_dbt_index: bool,
    output: str,
) -> None:
    """Trace the project and write its lineage under target/lineage_post/.

    Needs a manifest with compiled SQL: run dbt compile, build or docs generate before. Writes
    lineage.json and the rows that `dbt run-operation lineage_post.load` loads, and decorates the
    docs site where dbt docs generate has written one. The explorer, a page that opens from disk, is
    written to target/lineage_post/explorer/index.html. Where dbt 2 has written its Parquet index,
    column lineage for its docs site is added there.
    """
    loaded = _narrowed(load(places, request), selected, exclude)
    with_docs = not no_docs and loaded.options.docs
    # Rewriting models takes time: it is done once, for the docs site and the explorer.
    why = why_templates(loaded.lineage) if with_docs and _has_site(loaded) else None
    written = list(_publish(loaded, why))
    if with_docs:
        written += _write_index(loaded, overwrite=overwrite_dbt_index)
    if loaded.options.explorer and not no_explorer:
        written += _write_explorer(loaded, why)
    for line in loaded.warnings:
        console.warn(line)
    if output == "json":
        console.say_json(_report(loaded, written))
    else:
        _show(loaded, written)
    _exit_if_found(loaded, fail_under)


def _narrowed(loaded: Loaded, selected: tuple[str, ...], exclude: tuple[str, ...]) -> Loaded:
    """Only the nodes that were selected are published; all were traced, and lead to them."""
    if not selected and not exclude:
        return loaded
    selection = select(loaded.lineage, selected or ("*",), exclude=exclude)
    loaded.warnings += selection.warnings
    nodes = {key: node for key, node in loaded.lineage.nodes.items() if key in selection.nodes}
    loaded.published = replace(loaded.lineage, nodes=nodes)
    return loaded


def _has_site(loaded: Loaded) -> bool:
    """Whether dbt docs generate has written its site from this manifest."""
    target = loaded.places.target_path
    return loaded.manifest == target / "manifest.json" and (target / "index.html").is_file()


def _publish(loaded: Loaded, why: Mapping[str, Any] | None) -> Iterator[Path]:
    """``why`` is None where the docs site is left as it is."""
    lineage, places = loaded.lineage, loaded.places
    target = places.output_dir / json.LINEAGE_FILE
    document = json.document(loaded.published, loaded.options)
    carried = _carried_over(document, target)
    if carried:
        models = wording.plural(len(carried), "model")
        names = ", ".join(carried[:5]) + (" and others" if carried[5:] else "")
        loaded.warnings.append(
            f"{places.shown(loaded.manifest)} lacks the SQL of {models}; their lineage was kept "
            f"from an earlier build: {names}. dbt compile brings it up to date."
        )
    json.write_document(target, document)
    yield target
    yield files.write_rows(
        rows_of(lineage, _run(loaded), exclude_packages=loaded.options.exclude_packages),
        places.target_path,
    )
    exposures = exposure_set(lineage, loaded.options)
    if exposures.warning:
        loaded.warnings.append(exposures.warning)
    if why is not None:
        decorated = docs.decorate(
            places.target_path,
            lineage,
            exposures=exposures.specs,
            options=loaded.options,
            why=why,
        )
        yield from decorated.files


def _write_index(loaded: Loaded, *, overwrite: bool) -> Iterator[Path]:
    """The files of dbt Docs v2, where dbt 2 has made them; their absence is no fault."""
    for layout in dbt_index.layouts_in(loaded.places.target_path):
        try:
            found = dbt_index.write_index(loaded.lineage, layout, overwrite=overwrite)
        except LineageError as error:
            loaded.warnings.append(f"{error.message}: {error.hint}")
            continue
        if found.is_experimental:
            shown = loaded.places.shown(layout.folder)
            loaded.warnings.append(f"{shown}: support of this layout of dbt's is experimental.")
        if found.kept:
            nodes = wording.plural(found.kept, "node")
            loaded.warnings.append(
                f"{nodes} kept the column edges that dbt wrote; --overwrite-dbt-index replaces them"
            )
            yield _import_kept(loaded, layout)
        yield from found.files


def _import_kept(loaded: Loaded, layout: dbt_index.Layout) -> Path:
    """Edges that dbt wrote, as claims of the producer dbt_index beside our own."""
    from lineage_post.producers import read_dbt_index
    from lineage_post.producers.names import names_of
    from lineage_post.producers.tables import read_rows

    file = layout.lineage_file
    ours = dbt_index.marked_nodes(file)
    claims = read_dbt_index(read_rows(file), names_of(loaded.lineage), ours=ours)
    return write_claims(claims, loaded.places.target_path, loaded.lineage.project)


def _write_explorer(loaded: Loaded, why: Mapping[str, Any] | None) -> Iterator[Path]:
    """The explorer's page; an install without it is told once how to get it."""
    target = loaded.places.target_path
    page = explorer.write_explorer(
        loaded.published,
        target / explorer.DIRECTORY,
        explorer.Beside(
            target_path=target,
            project_dir=loaded.places.project_dir,
            claimed=explorer.claimed_of(target, loaded.lineage, _run_of_results(loaded)),
            why=why,
        ),
    )
    if page is not None:
        yield page / "index.html"
    else:
        console.note(explorer.why_not_built() or "")


def _carried_over(document: dict[str, Any], earlier: Path) -> list[str]:
    """What is taken from the earlier document, which is read only where something lacks its SQL."""
    if any(node["reason"] == Reason.NOT_COMPILED.value for node in document["nodes"]):
        return json.carry_over(document, json.read_document(earlier))
    return []


def _run(loaded: Loaded) -> Run:
    """The run that the results file is of; SQL that was compiled only is planned."""
    project = loaded.lineage.project
    run = _run_of_results(loaded)
    if run is not None:
        published = loaded.published.nodes
        return replace(run, builds={k: b for k, b in run.builds.items() if k in published})
    compiled = [n.unique_id for n in project.nodes.values() if n.compiled_code]
    return planned_run(project, [n for n in compiled if n in loaded.published.nodes])


def _run_of_results(loaded: Loaded) -> Run | None:
    results = loaded.manifest.with_name("run_results.json")
    if not results.is_file():
        return None
    project, places = loaded.lineage.project, loaded.places
    return run_from_results(read_run_results(results), project, project_dir=places.project_dir)


def _report(loaded: Loaded, written: list[Path]) -> dict[str, Any]:
    lineage = loaded.published
    coverage = lineage.coverage()
    kinds = _edge_counts(loaded)
    return {
        "metadata": json.metadata_of(lineage.project, loaded.options),
        "coverage": {
            "nodes": _counts(coverage.nodes),
            "columns": _counts(coverage.columns),
            "percent_known": round(_percent(coverage.columns), 2),
        },
        "edges": {"direct": kinds[EdgeType.DIRECT], "indirect": kinds[EdgeType.INDIRECT]},
        "unknowns": [
            {
                "unique_id": node.unique_id,
                "column": column and column.name,
                "state": (column or node).state.value,
                "reason": _value((column or node).reason),
                "detail": (column or node).detail,
            }
            for node, column in _unknowns(loaded)
        ],
        "warnings": loaded.warnings,
        "files": [loaded.places.shown(path) for path in written],
    }


def _show(loaded: Loaded, written: list[Path]) -> None:
    lineage, places = loaded.published, loaded.places
    project, coverage, kinds = lineage.project, lineage.coverage(), _edge_counts(loaded)
    console.say(
        f"[bold]{console.marked(project.name)}[/] on {console.marked(project.adapter_type)}: "
        f"{kinds[EdgeType.DIRECT]:,} direct and {kinds[EdgeType.INDIRECT]:,} indirect edges"
    )
    table = Table(box=None, pad_edge=False, header_style="quiet")
    for heading in ("", "known", "partial", "unknown", ""):
        table.add_column(heading, justify="left" if heading == "" else "right")
    for name, counts in (("columns", coverage.columns), ("nodes", coverage.nodes)):
        percent = _percent(counts)
        table.add_row(
            name,
            f"[known]{counts.known:,}[/]",
            f"[partial]{counts.partial:,}[/]",
            f"[unknown]{counts.unknown:,}[/]",
            f"{_bar(percent)} {percent:.1f} %",
        )
    console.say(table)
    _show_unknowns(loaded)
    shown = [places.shown(path) for path in written]
    console.say(f"[quiet]Wrote {console.marked(', '.join(shown))}[/]")


def _show_unknowns(loaded: Loaded) -> None:
    unknowns = [(node, column) for node, column in _unknowns(loaded) if column is None]
    for node, _ in unknowns[:LISTED]:
        name = console.marked(wording.node_name(loaded.lineage, node.unique_id))
        detail = (
            f" [quiet]{console.marked(wording.shortened(node.detail))}[/]" if node.detail else ""
        )
        console.say(f"  [node]{name}[/] {wording.state(node.state, node.reason)}{detail}")
    if len(unknowns) > LISTED:
        console.say(f"  [quiet]and {len(unknowns) - LISTED} more: --output json lists them all[/]")


def _exit_if_found(loaded: Loaded, fail_under: float | None) -> None:
    percent = _percent(loaded.published.coverage().columns)
    findings = []
    if fail_under is not None and percent < fail_under:
        findings.append(f"{percent:.1f} % of the columns are known, less than {fail_under:g} %.")
    if loaded.options.strict and loaded.warnings:
        findings.append(f"{wording.plural(len(loaded.warnings), 'warning')}, and --strict is set.")
    for finding in findings:
        console.complain(finding)
    if findings:
        click.get_current_context().exit(FINDINGS)


def _unknowns(loaded: Loaded) -> Iterator[tuple[NodeLineage, ColumnLineage | None]]:
    for node, column in loaded.published.unknowns():
        if loaded.published.is_published(node.unique_id):
            yield node, column


def _edge_counts(loaded: Loaded) -> Counter[EdgeType]:
    lineage = loaded.published
    return Counter(e.type for e in lineage.edges() if lineage.is_published(e.to_node))


def _counts(counts: Counts) -> dict[str, int]:
    return {"known": counts.known, "partial": counts.partial, "unknown": counts.unknown}


def _percent(counts: Counts) -> float:
    return 100.0 * counts.known / counts.total if counts.total else 100.0


def _bar(percent: float, width: int = 24) -> str:
    full = int(width * percent / 100)
    return f"[known]{'━' * full}[/][quiet]{'━' * (width - full)}[/]"


def _value(reason: Reason | None) -> str | None:
    return reason.value if reason else None
