"""``lineage-post history``: when a column's derivation changed, from what to what, in which run."""

from __future__ import annotations

from datetime import datetime, timezone
from difflib import get_close_matches

import click

from lineage_post.cli import console
from lineage_post.cli.changes import change_to_dict, say_change
from lineage_post.cli.places import Places, place_options
from lineage_post.errors import SelectionError
from lineage_post.history.moments import moment, span
from lineage_post.history.replay import Recorded
from lineage_post.selection import without_quotes


@click.command("history")
@click.argument("target", metavar="MODEL[.COLUMN]")
@click.option("--as-of", metavar="T|A..B", help="Only up to this time, or between two times.")
@click.option("--as-recorded", metavar="T", help="Only what had been recorded by this time.")
@click.option("--profiles-dir", help="Folder of profiles.yml.")
@click.option("--target", "target_name", help="Target of the dbt profile.")
@click.option("--output", type=click.Choice(["text", "json"]), default="text")
@place_options
def command(
    places: Places,
    target: str,
    as_of: str | None,
    as_recorded: str | None,
    profiles_dir: str | None,
    target_name: str | None,
    output: str,
) -> None:
    """Show when the derivation of a column changed, from what to what, and in which run.

    Read from the tables that the hook fills, on your dbt profile. Times are in UTC; a date stands
    for its end.
    """
    from lineage_post.bridge.recorded import RecordedTables
    from lineage_post.cli.recorded import before_all

    start, end = span(as_of, "--as-of")
    known_by = moment(as_recorded, "--as-recorded")
    tables = RecordedTables(
        places.target_path / "manifest.json",
        places.project_dir,
        profiles_dir=profiles_dir,
        target=target_name,
    )
    every = tables.refreshes()
    refreshes = [
        r
        for r in every
        if (end is None or r.refreshed_at <= end)
        and (known_by is None or r.recorded_at <= known_by)
    ]
    if not refreshes:
        raise before_all(every, end, known_by)
    node, column = _named(target, refreshes)
    changes = tables.changes([node], refreshes)
    if column is not None:
        _require(node, column, {change.column for change in changes if change.column})
    found = [
        change
        for change in changes
        if (column is None or change.column in (None, column))
        and (start in (None, end) or (start is not None and change.refresh.refreshed_at >= start))
    ]
    if output == "json":
        console.say_json(
            {
                "metadata": {
                    "node": node,
                    "column": column,
                    "as_of": as_of,
                    "as_recorded": as_recorded,
                    "read_at": datetime.now(timezone.utc).isoformat(),
                },
                "changes": [change_to_dict(change) for change in found],
            }
        )
        return
    for change in found:
        say_change(change)
    if not found:
        console.say("[quiet]Nothing is recorded of it in that time.[/]")


def _named(target: str, refreshes: list[Recorded]) -> tuple[str, str | None]:
    """The node and column that are meant, of all that were ever recorded."""
    nodes = {r.node for r in refreshes}
    # A column may have dots itself: the last one that a node stands before begins it.
    dots = [at for at in range(len(target) - 1, 0, -1) if target[at] == "."]
    for name, column in ((target, ""), *((target[:at], target[at + 1 :]) for at in dots)):
        found = sorted(n for n in nodes if n == name or n.endswith(f".{name}"))
        if len(found) == 1:
            return found[0], without_quotes(column) or None
        if found:
            raise SelectionError(f"{name} may be {', '.join(found)}", hint="Name the whole id.")
    names = sorted({n.split(".", 2)[-1] for n in nodes})
    near = _near(target, names) or _near(target.rpartition(".")[0], names)
    raise SelectionError(
        f"Nothing is recorded of {target!r}",
        hint=f"Did you mean {near}?" if near else "dbt build records it; history goes no further.",
    )


def _require(node: str, column: str, recorded: set[str]) -> None:
    """Raises SelectionError with near names where nothing is recorded of ``column``."""
    if column in recorded:
        return
    near = _near(column, sorted(recorded))
    hint = f"Did you mean {near}?" if near else "The model's name alone lists all its columns."
    raise SelectionError(f"Nothing is recorded of a column {column!r} of {node}", hint=hint)


def _near(name: str, names: list[str]) -> str:
    return ", ".join(get_close_matches(name, names, n=3, cutoff=0.5))
