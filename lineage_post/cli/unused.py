"""``lineage-post unused``: the columns that nothing depends on."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import click
from rich.table import Table

from lineage_post.cli import console, wording
from lineage_post.cli.commands import SelectingCommand
from lineage_post.cli.loading import Loaded, Request, artifact_options, load
from lineage_post.cli.picking import selection_options, spots_of
from lineage_post.cli.places import Places, place_options
from lineage_post.publish import json
from lineage_post.unused import Unused, unused_columns


@click.command("unused", cls=SelectingCommand)
@selection_options("Columns")
@artifact_options
@click.option("--output", type=click.Choice(["text", "json"]), default="text")
@place_options
def command(
    places: Places,
    request: Request,
    selected: tuple[str, ...],
    excluded: tuple[str, ...],
    output: str,
) -> None:
    """List the columns that no value, row, consumer or setting depends on.

    Only what is sure is listed. What no model reads counts as an output, whose readers are outside.
    """
    loaded = load(places, request)
    picks = spots_of([loaded.lineage], selected, excluded)
    every = unused_columns(loaded.lineage)
    found = Unused(
        tuple(c for c in every.columns if picks((c.node, c.column))),
        tuple(u for u in every.unsure if picks((u.node, None))),
    )
    if output == "json":
        console.say_json(_document(loaded, found))
    else:
        _say(loaded, found)


def _say(loaded: Loaded, found: Unused) -> None:
    console.say(f"{wording.plural(len(found.columns), 'column')} that nothing depends on")
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
    for node, columns in groupby(found.columns, key=lambda c: c.node):
        listed = list(columns)
        names = ", ".join(console.marked(c.column) for c in listed)
        readers = wording.plural(len(listed[0].readers), "reader")
        name = console.marked(wording.node_name(loaded.lineage, node))
        table.add_row(f"[node]{name}[/]", f"[column]{names}[/]", f"[quiet]{readers}[/]")
    if found.columns:
        console.say(table)
    if found.unsure:
        console.say(f"nothing claimed of {wording.plural(len(found.unsure), 'node')}, since")
        rest = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
        for one in found.unsure:
            reader = console.marked(wording.node_name(loaded.lineage, one.reader))
            name = console.marked(wording.node_name(loaded.lineage, one.node))
            why = "its columns" if one.reader == one.node else f"what {reader} reads"
            rest.add_row(f"[node]{name}[/]", f"{why} [unknown]not known[/] ({one.reason})")
        console.say(rest)


def _document(loaded: Loaded, found: Unused) -> dict[str, Any]:
    return {
        "metadata": json.metadata_of(loaded.lineage.project, loaded.options),
        "unused": [
            {
                "unique_id": c.node,
                "column": c.column,
                "because": c.because,
                "readers": list(c.readers),
                "feeds": [{"unique_id": node, "column": name} for node, name in c.feeds],
            }
            for c in found.columns
        ],
        "unsure": [
            {"unique_id": u.node, "reader": u.reader, "reason": u.reason} for u in found.unsure
        ],
    }
