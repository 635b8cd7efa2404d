"""``lineage-post history``: when a column's derivation changed, from what to what, in which run."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import click

from lineage_post.cli import console
from lineage_post.cli.places import Places, place_options
from lineage_post.errors import SelectionError
from lineage_post.history.moments import moment, span
from lineage_post.history.replay import Change, Derivation, Recorded, changes, identities

_WORDS = {
    "first": "first recorded",
    "added": "added",
    "changed": "changed",
    "removed": "removed",
    "break": "another node under the same name",
}


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

    start, end = span(as_of, "--as-of")
    known_by = moment(as_recorded, "--as-recorded")
    tables = RecordedTables(
        places.target_path / "manifest.json",
        places.project_dir,
        profiles_dir=profiles_dir,
        target=target_name,
    )
    refreshes = [
        r
        for r in tables.refreshes()
        if (end is None or r.refreshed_at <= end)
        and (known_by is None or r.recorded_at <= known_by)
    ]
    renames = tables.renames()
    node, column = _named(target, refreshes)
    own = [r for name, r in identities(refreshes, renames) if name == node]
    derivations = tables.derivations({r.fingerprint for r in own if r.fingerprint})
    found = [
        change
        for change in changes(node, refreshes, derivations, renames)
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
                "changes": [_to_dict(change) for change in found],
            }
        )
        return
    for change in found:
        _say(change)
    if not found:
        console.say("[quiet]Nothing is recorded of it in that time.[/]")


def _named(target: str, refreshes: list[Recorded]) -> tuple[str, str | None]:
    """The node and column that are meant, of all that were ever recorded."""
    nodes = {r.node for r in refreshes}
    for name, column in ((target, None), tuple(target.rpartition(".")[::2])):
        found = sorted(n for n in nodes if name and (n == name or n.endswith(f".{name}")))
        if len(found) == 1:
            return found[0], column or None
        if found:
            raise SelectionError(f"{name} may be {', '.join(found)}", hint="Name the whole id.")
    raise SelectionError(
        f"Nothing is recorded of {target!r}", hint="dbt build records it; history goes no further."
    )


def _say(change: Change) -> None:
    refresh = change.refresh
    name = change.column or "rows"
    revision = f", commit {refresh.git_revision[:10]}" if refresh.git_revision else ""
    console.say(
        f"[quiet]{refresh.refreshed_at:%Y-%m-%d %H:%M:%S}[/] [column]{console.marked(name)}[/] "
        f"{_WORDS[change.kind]} [quiet]by {console.marked(refresh.producer)}, "
        f"run {console.marked(refresh.run_id)}{revision}[/]"
    )
    for sign, style, side in (("-", "remove", change.before), ("+", "add", change.after)):
        if side is not None:
            console.say(f"  [{style}]{sign} {console.marked(_text(side))}[/]")


def _text(side: Derivation) -> str:
    sources = ", ".join(side.sources) or "no column"
    return f"{sources}: {side.expression}" if side.expression else sources


def _to_dict(change: Change) -> dict[str, Any]:
    refresh = change.refresh
    return {
        "column": change.column,
        "change": change.kind,
        "changed_at": refresh.refreshed_at.isoformat(),
        "recorded_at": refresh.recorded_at.isoformat(),
        "run_id": refresh.run_id,
        "producer": refresh.producer,
        "git_revision": refresh.git_revision,
        "recorded_as": refresh.node,
        "before": _side(change.before),
        "after": _side(change.after),
    }


def _side(side: Derivation | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {"sources": list(side.sources), "expression": side.expression, "state": side.state}
