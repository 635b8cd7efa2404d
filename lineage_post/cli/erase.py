"""``lineage-post erase``: where a value is, and how it gets out of everything."""

from __future__ import annotations

from collections.abc import Iterable

import click
from rich.table import Table

from lineage_post.cli import console, wording
from lineage_post.cli.loading import Loaded, Request, artifact_options, load
from lineage_post.cli.places import Places, place_options
from lineage_post.errors import SelectionError
from lineage_post.governance.classification import Column
from lineage_post.governance.erasure import Derived, Erasure, Step, erasure_of
from lineage_post.lineage import Lineage
from lineage_post.publish import json
from lineage_post.publish.erasure import (
    BEYOND,
    ORDER,
    consumers_of,
    erasure_markdown,
    erasure_to_dict,
    gap_reason,
)
from lineage_post.selection import target_of
from lineage_post.vocabulary import Certainty


@click.command("erase")
@click.argument("columns", metavar="MODEL.COLUMN...", nargs=-1, required=True)
@artifact_options
@click.option("--output", type=click.Choice(["text", "json", "markdown"]), default="text")
@place_options
def command(places: Places, request: Request, columns: tuple[str, ...], output: str) -> None:
    """Say what it takes to erase a column's values, or to give access to them.

    Every column derived from it, every relation in the order to delete, keys to find the rows by,
    and what cannot be known. Nothing is deleted.
    """
    loaded = load(places, request)
    project = loaded.lineage.project
    erasure = erasure_of(loaded.lineage, [column_of(text, loaded.lineage) for text in columns])
    metadata = json.metadata_of(project, loaded.options)
    if output == "json":
        console.say_json({"metadata": metadata, **erasure_to_dict(erasure, project)})
    elif output == "markdown":
        console.say_plain(erasure_markdown(erasure, project, metadata).rstrip("\n"))
    else:
        _say(loaded, erasure)


def column_of(text: str, lineage: Lineage) -> Column:
    """The column that a text names. Raises SelectionError where it names a node."""
    target = target_of(text, lineage)
    if target.column is None:
        names = ", ".join(lineage.graph.columns(target.node)[:12])
        raise SelectionError(f"{text!r} is a node; name a column of it", hint=f"It has {names}.")
    return target.node, target.column


def _say(loaded: Loaded, erasure: Erasure) -> None:
    lineage = loaded.lineage
    names = ", ".join(wording.column_name(lineage, *column) for column in erasure.subjects)
    console.say(
        f"erase {names}: {wording.plural(len(erasure.derived) - len(erasure.subjects), 'column')}"
        f" derived, {wording.plural(len(erasure.steps), 'relation')}"
    )
    if erasure.upstream:
        came = ", ".join(wording.column_name(lineage, *column) for column in erasure.upstream)
        console.say(f"[warning]its values come from[/] {came}: erase them there, or they come back")
    table = _table()
    for step in erasure.steps:
        table.add_row(*_cells(lineage, step))
    console.say(table)
    console.say(f"[quiet]{ORDER}[/]")
    _say_indirect(lineage, erasure)
    _say_unknown(lineage, erasure)


def _cells(lineage: Lineage, step: Step) -> tuple[str, ...]:
    found = [f"{one.column[1]} (of {_plain(lineage, one.key)})" for one in step.locators]
    keys = [f"{', '.join(key.columns)} ({key.by})" for key in step.keys]
    by = f"by {'; '.join(found)}" if found else "no key known"
    key = f"; row key {'; '.join(keys)}" if keys else ""
    return (
        f"{step.number}",
        f"[node]{console.marked(wording.node_name(lineage, step.unique_id))}[/]",
        f"[bold]{step.action}[/]",
        _columns(step.columns),
        f"[quiet]{console.marked(by + key)}[/]",
        f"[warning]{console.marked('; '.join(step.notes))}[/]" if step.notes else "",
    )


def _columns(columns: Iterable[Derived]) -> str:
    parts = []
    for one in columns:
        marks = ["masked"] if one.is_masked else []
        marks += ["assumed"] if one.certainty is Certainty.ASSUMED else []
        said = f" [warning]({', '.join(marks)})[/]" if marks else ""
        parts.append(f"[column]{console.marked(one.column[1])}[/]{said}")
    return ", ".join(parts)


def _say_indirect(lineage: Lineage, erasure: Erasure) -> None:
    if not erasure.indirect:
        return
    nodes = wording.plural(len(erasure.indirect), "node")
    console.say(f"[indirect]decides, without a value of it:[/] {nodes}")
    table = _table()
    for one in erasure.indirect:
        how = ", ".join(subtype.value.lower().replace("_", " ") for subtype in one.how)
        table.add_row(
            f"[node]{console.marked(wording.node_name(lineage, one.unique_id))}[/]",
            f"[column]{console.marked(', '.join(one.columns) or 'rows')}[/]",
            f"[indirect]{how or 'by rows of what it reads'}[/]",
        )
    console.say(table)


def _say_unknown(lineage: Lineage, erasure: Erasure) -> None:
    console.say("[warning]not known:[/]")
    table = _table()
    for gap in erasure.gaps:
        columns = console.marked(", ".join(gap.columns) or "any column")
        name = console.marked(wording.node_name(lineage, gap.unique_id))
        reason = console.marked(gap_reason(gap.reason))
        table.add_row(f"[node]{name}[/] may hold it: {columns}, [unknown]{reason}[/]")
    for unique_id in consumers_of(erasure, lineage.project):
        name = console.marked(wording.node_name(lineage, unique_id))
        table.add_row(f"read by [node]{name}[/]: what it keeps")
    for beyond in BEYOND:
        table.add_row(beyond)
    console.say(table)


def _plain(lineage: Lineage, column: Column) -> str:
    return f"{wording.node_name(lineage, column[0])}.{column[1]}"


def _table() -> Table:
    return Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
