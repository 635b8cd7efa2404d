"""``lineage-post diff``: what differs from another state of the project, and what that does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from lineage_post.artifacts import (
    CatalogTable,
    Project,
    read_catalog,
    read_kept,
    read_seed_headers,
    require_compiled_sql,
)
from lineage_post.cache import Cache
from lineage_post.cli import console
from lineage_post.cli.commands import SelectingCommand
from lineage_post.cli.impact_told import KINDS
from lineage_post.cli.loading import Loaded, Request, artifact_options, load
from lineage_post.cli.picking import selection_options, spots_of
from lineage_post.cli.places import Places, place_options
from lineage_post.cli.rows import say_rows
from lineage_post.consumers import files_of
from lineage_post.diff import LEVELS, Diff, Level, NodeChange, diff_of
from lineage_post.diff.document import diff_to_dict, selection_of
from lineage_post.diff.wording import (
    before_and_after,
    broken_places,
    doubtful_places,
    forms,
    grouped,
    node_name,
    subject,
    summary,
    what,
)
from lineage_post.errors import ArtifactError
from lineage_post.lineage import ENGINE, Lineage, trace_project
from lineage_post.publish import json
from lineage_post.publish.github import comment

#: Traces of the other state are kept apart: they are not those of the next run.
CACHE_FOLDER = Path("lineage_post", "cache", "state")
#: ``--fail-on`` X fails on X and on all that is worse.
FAILS = {level.value: LEVELS[: LEVELS.index(level) + 1] for level in LEVELS[:-1]}
STYLES = {"breaking": "error", "unknown": "warning", "changed": "partial", "compatible": "known"}


@click.command("diff", cls=SelectingCommand)
@click.option("--state", metavar="DIR", required=True, help="Folder of the artifacts to compare.")
@click.option(
    "--fail-on",
    type=click.Choice(list(FAILS)),
    help="Exit with 1 if there is a change of this level, or a worse one.",
)
@click.option("--select-impacted", is_flag=True, help="Print a dbt selection of what to build.")
@selection_options("Changes")
@artifact_options
@click.option("--output", type=click.Choice(["text", "json", "github"]), default="text")
@place_options
def command(
    places: Places,
    request: Request,
    state: str,
    fail_on: str | None,
    select_impacted: bool,
    selected: tuple[str, ...],
    excluded: tuple[str, ...],
    output: str,
) -> int:
    """Compare with the artifacts of another state, such as those of production.

    Columns added, removed, renamed, retyped or computed in another way, filters, joins and grain;
    for each, what it breaks and which columns and consumers it affects.
    """
    loaded = load(places, request)
    before, after, typed = _sides(places.project_dir / Path(state).expanduser(), loaded, request)
    lineages = (before, after)
    picks = spots_of([after, before], selected, excluded)
    diff = diff_of(before, after, read=files_of(loaded.lineage), typed=typed, picks=picks)
    selection = selection_of(diff, loaded.lineage.project)
    _note_forms(diff, lineages)
    if select_impacted:
        console.say_plain(" ".join(selection))
    elif output == "json":
        metadata = json.metadata_of(loaded.lineage.project, loaded.options)
        metadata["state"] = json.metadata_of(before.project, loaded.options)
        document = {"metadata": metadata, **diff_to_dict(diff), "selection": selection}
        console.say_json(document)
    elif output == "github":
        console.say_plain(comment(diff, lineages, selection).rstrip("\n"))
    else:
        _say(diff, lineages)
    return int(any(diff.of_level(level) for level in FAILS.get(fail_on or "", ())))


def _sides(
    folder: Path, loaded: Loaded, request: Request
) -> tuple[Lineage, Lineage, frozenset[str]]:
    """The lineages of the two states, and the nodes whose types both learned in the same way.

    A catalog is often there of one state alone. What it has of sources and seeds goes for both: a
    pull request does not change these tables.
    """
    manifest = folder / "manifest.json"
    if not manifest.is_file():
        raise ArtifactError(
            f"--state {folder}: there is no manifest.json in it",
            hint="Name the folder with the artifacts of the other state, as dbt's --state does.",
        )
    kept = loaded.places.target_path / CACHE_FOLDER if loaded.options.cache else None
    project = read_kept(manifest, kept)
    require_compiled_sql(project, where=str(manifest))
    given = Path(request.catalog).expanduser() if request.catalog else None
    then = _catalog(folder / "catalog.json")
    now = _catalog(given or loaded.places.target_path / "catalog.json")
    cache = Cache.open(kept, ENGINE) if kept else Cache()

    def traced(
        side: Project, catalog: dict[str, CatalogTable], headers: Mapping[str, Sequence[str]]
    ) -> Lineage:
        options = loaded.options
        return trace_project(
            side, catalog=catalog, options=options, seed_headers=headers, cache=cache
        )

    after = loaded.lineage
    headers = read_seed_headers(after.project, project_dir=loaded.places.project_dir)
    before = traced(
        project, {**_leaves(now, project), **then}, _headers_before(project, after.project, headers)
    )
    more = _leaves(then, after.project)
    if not more.keys() <= now.keys():
        after = traced(after.project, {**more, **now}, headers)
    cache.save()
    return before, after, frozenset(u for u in project.nodes if (u in then) == (u in now))


def _headers_before(
    before: Project, after: Project, headers: Mapping[str, Sequence[str]]
) -> dict[str, Sequence[str]]:
    """The headers of the other state's seeds: those of today where the file is the same one.

    The folder that the other manifest names is mostly this very one, whose files are of today.
    """
    homes = {node.root_path for node in after.nodes.values()}
    elsewhere = [n for n in before.nodes.values() if n.root_path and n.root_path not in homes]
    found: dict[str, Sequence[str]] = dict(
        read_seed_headers(replace(before, nodes={n.unique_id: n for n in elsewhere}))
    )
    for unique_id, header in headers.items():
        node = before.nodes.get(unique_id)
        if node is not None and node.checksum == after.nodes[unique_id].checksum:
            found[unique_id] = header
    return found


def _catalog(path: Path) -> dict[str, CatalogTable]:
    return read_catalog(path) if path.is_file() else {}


def _leaves(catalog: Mapping[str, CatalogTable], project: Project) -> dict[str, CatalogTable]:
    """What a catalog has of the sources and seeds of a project."""
    kinds = ("source", "seed")
    nodes = project.nodes
    return {u: t for u, t in catalog.items() if u in nodes and nodes[u].resource_type in kinds}


def _note_forms(diff: Diff, lineages: tuple[Lineage, Lineage]) -> None:
    names = dict.fromkeys(node_name(c.unique_id, lineages) for c in diff.changes if c.forms)
    if names:
        console.note(
            f"Compiled in another form in the two states: {', '.join(names)}. dbt compile "
            "--full-refresh for both compares like with like."
        )


def _say(diff: Diff, lineages: tuple[Lineage, Lineage]) -> None:
    console.say(f"{summary(diff)}")
    for level in LEVELS:
        for change in diff.of_level(level):
            _say_change(change, lineages)


def _say_change(change: NodeChange, lineages: tuple[Lineage, Lineage]) -> None:
    style = STYLES[change.level.value]
    at = f"{change.file}:{change.line}" if change.line else change.file
    console.say(
        f"[{style}]{change.level.value}[/] [column]{console.marked(subject(change, lineages))}[/] "
        f"{console.marked(what(change))} [quiet]{console.marked(at)}[/]"
    )
    say_rows([(f"[quiet]{k}[/]", console.marked(shown)) for k, shown in _lines(change, lineages)])


def _lines(change: NodeChange, lineages: tuple[Lineage, Lineage]) -> list[tuple[str, str]]:
    lines = []
    if change.level is not Level.COMPATIBLE:
        lines.append(("because", change.because))
    form = forms(change)
    if form is not None:
        lines.append(("compiled", form))
    both = before_and_after(change)
    if both is not None:
        lines += [(label, t) for label, t in zip(("before", "after"), both, strict=True) if t]
    if change.candidates:
        lines.append(("perhaps", f"renamed, but not surely: {', '.join(change.candidates)}"))
    for one, columns in broken_places(change):
        kind = one.role or KINDS.get(one.kind, one.kind)
        name = f"{one.name}: {columns}" if columns else one.name
        lines.append(("breaks", f"{name} ({kind}) {one.file}:{one.line or ''}".rstrip(":")))
    for one, columns, because in doubtful_places(change):
        name = f"{one.name}: {columns or 'rows'}"
        at = f"{one.file}:{one.line or ''}".rstrip(":")
        lines.append(("may break", f"{name} ({KINDS.get(one.kind, one.kind)}) {at} {because}"))
    for label, moved in (("values", change.affected), ("rows only", change.rows)):
        lines += [(label, f"{name}: {names}") for name, names in grouped(moved, lineages)]
    for consumer in change.consumers:
        kind = consumer.split(".", 1)[0]
        name = node_name(consumer, lineages)
        lines.append(("consumer", f"{KINDS.get(kind, kind)} {name}"))
    for maybe in change.possible:
        lines.append(("possibly", f"{maybe.name} ({maybe.reason})"))
    return lines
