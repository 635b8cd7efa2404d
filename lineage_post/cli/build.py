"""``lineage-post build``: trace a target folder and write all that the hook would, without dbt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from lineage_post.cli import FINDINGS, console, wording
from lineage_post.cli.commands import SelectingCommand
from lineage_post.cli.loading import Loaded, Request, artifact_options, load
from lineage_post.cli.picking import require_picked
from lineage_post.cli.places import Places, place_options
from lineage_post.cli.written import write_all
from lineage_post.lineage import ColumnLineage, Counts, NodeLineage
from lineage_post.lineage.modes import FULL_REFRESH, INCREMENTAL, mode_of
from lineage_post.publish import json
from lineage_post.selection import select
from lineage_post.vocabulary import EdgeType, Reason

#: So many unknowns are listed on the terminal; JSON has them all.
LISTED = 12


@click.command("build", cls=SelectingCommand)
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
    loaded = _narrowed(load(places, request, keeps_earlier=True), selected, exclude)
    with_docs = not no_docs and loaded.options.docs
    written = write_all(
        loaded,
        with_docs=with_docs,
        with_explorer=loaded.options.explorer and not no_explorer,
        overwrite_index=overwrite_dbt_index,
    )
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
    every = loaded.lineage.nodes
    if selected:
        selection = select(loaded.lineage, selected, exclude=exclude)
        nodes = {key: node for key, node in every.items() if key in selection.nodes}
    else:
        selection = select(loaded.lineage, exclude)
        nodes = {key: node for key, node in every.items() if key not in selection.whole}
    require_picked(nodes, selection.warnings, but="and nothing was written")
    loaded.warnings += selection.warnings
    loaded.published = replace(loaded.lineage, nodes=nodes)
    return loaded


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
        "warnings": [*loaded.told, *loaded.warnings],
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
    _show_forms(loaded)
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


def _show_forms(loaded: Loaded) -> None:
    """That of an incremental model one form was compiled: a hook records each as it is built."""
    lineage = loaded.published
    modes = Counter(mode_of(lineage, n) for n in lineage.nodes if lineage.is_published(n))
    for mode, form in ((INCREMENTAL, "later builds run"), (FULL_REFRESH, "a first build runs")):
        if modes[mode]:
            models = wording.plural(modes[mode], "incremental model")
            console.say(
                f"[quiet]{models} as {form}, with the edges of that form alone; "
                "--other-mode-manifest adds the other's[/]"
            )


def _exit_if_found(loaded: Loaded, fail_under: float | None) -> None:
    percent = _percent(loaded.published.coverage().columns)
    findings = []
    if fail_under is not None and percent < fail_under:
        findings.append(f"{percent:.1f} % of the columns are known, less than {fail_under:g} %.")
    warnings = len(loaded.told) + len(loaded.warnings)
    if loaded.options.strict and warnings:
        findings.append(f"{wording.plural(warnings, 'warning')}, and --strict is set.")
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
