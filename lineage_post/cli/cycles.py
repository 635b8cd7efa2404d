"""``lineage-post cycles``: the columns that depend on themselves."""

from __future__ import annotations

from typing import Any

import click

from lineage_post.cli import console, wording
from lineage_post.cli.commands import SelectingCommand
from lineage_post.cli.loading import Request, artifact_options, load
from lineage_post.cli.picking import selection_options, spots_of
from lineage_post.cli.places import Places, place_options
from lineage_post.graph import Cycle, CycleKind
from lineage_post.lineage import Lineage
from lineage_post.publish import json


@click.command("cycles", cls=SelectingCommand)
@selection_options("Cycles")
@artifact_options
@click.option("--output", type=click.Choice(["text", "json"]), default="text")
@place_options
def command(
    places: Places,
    request: Request,
    selected: tuple[str, ...],
    excluded: tuple[str, ...],
    output: str,
) -> int:
    """List the cycles between columns.

    A feedback crosses a table that is built at another time, such as {{ this }}; what crosses none
    is an error, and the exit code is 1.
    """
    loaded = load(places, request)
    lineage = loaded.lineage
    picks = spots_of([lineage], selected, excluded)
    cycles = (c for c in lineage.graph.cycles if any(map(picks, c.columns)))
    found = [c for c in cycles if _is_published(c, lineage)]
    if output == "json":
        metadata = json.metadata_of(lineage.project, loaded.options)
        console.say_json({"metadata": metadata, "cycles": [_to_dict(cycle) for cycle in found]})
    else:
        _say(found, lineage)
    return int(any(cycle.kind is CycleKind.ERROR for cycle in found))


def _is_published(cycle: Cycle, lineage: Lineage) -> bool:
    return any(lineage.is_published(node) for node, _ in cycle.columns)


def _say(found: list[Cycle], lineage: Lineage) -> None:
    if not found:
        console.say("No column depends on itself.")
    for cycle in found:
        style = "error" if cycle.kind is CycleKind.ERROR else "partial"
        names = [
            wording.column_name(lineage, node, column)
            if column is not None
            else f"rows of [node]{console.marked(wording.node_name(lineage, node))}[/]"
            for node, column in cycle.columns
        ]
        console.say(f"[{style}]{cycle.kind.value}[/] {', '.join(names)}")


def _to_dict(cycle: Cycle) -> dict[str, Any]:
    return {
        "kind": cycle.kind.value,
        "columns": [{"unique_id": node, "column": column} for node, column in cycle.columns],
    }
