"""The recorded lineage as of a time, for commands that show lineage, and what changed in a span."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import click

from lineage_post.bridge.recorded import RecordedTables
from lineage_post.cli import console
from lineage_post.cli.changes import change_to_dict, say_change
from lineage_post.cli.loading import Loaded, Request, options_of
from lineage_post.cli.places import Places
from lineage_post.cli.walk import Walk, limit
from lineage_post.errors import LineageError, SelectionError
from lineage_post.history.moments import is_span, moment, span
from lineage_post.history.replay import Recorded
from lineage_post.selection import target_of


@dataclass(frozen=True, slots=True)
class Asked:
    """The flags of a question about what was recorded."""

    as_of: str | None
    as_recorded: str | None
    profiles_dir: str | None
    target: str | None

    @property
    def is_span(self) -> bool:
        return self.as_of is not None and is_span(self.as_of)


def load_recorded(places: Places, request: Request, asked: Asked) -> Loaded:
    """The lineage that stood at ``as_of``, of what had been recorded by ``as_recorded``."""
    at, known_by = moment(asked.as_of, "--as-of"), _known_by(asked)
    tables = _tables(places, request, asked)
    loaded = _loaded(places, request, tables, at, known_by)
    if not loaded.lineage.nodes:
        raise before_all(tables.refreshes(), at, known_by)
    return loaded


def before_all(
    refreshes: list[Recorded], at: datetime | None, known_by: datetime | None
) -> LineageError:
    """Why nothing stands at a time: all that is recorded came later, or nothing ever was."""
    if not refreshes:
        return LineageError("Nothing is recorded yet", hint="dbt build with the hook records it.")
    built = min(r.refreshed_at for r in refreshes)
    recorded = min(r.recorded_at for r in refreshes)
    if at is not None and at < built:
        return LineageError(f"There is no build as early as {at} (UTC)", hint=_starts(built))
    if known_by is not None and known_by < recorded:
        said = f"Nothing had been recorded by {known_by} (UTC)"
        return LineageError(said, hint=_starts(recorded))
    return LineageError("No build stands at that time", hint=_starts(built))


def _starts(first: datetime) -> str:
    return f"History starts at {first:%Y-%m-%d %H:%M:%S} (UTC)."


def show_span(
    places: Places,
    request: Request,
    asked: Asked,
    target: str,
    depth: int | None,
    indirect: bool,
    output: str,
) -> None:
    """Shows what changed on the way to and from a column between two times."""
    start, end = span(asked.as_of, "--as-of")
    if start is None:
        raise click.UsageError("--as-of A..B needs A, as in 2026-03-01..2026-03-31.")
    known_by = _known_by(asked)
    tables = _tables(places, request, asked)
    sides = [_loaded(places, request, tables, at, known_by) for at in (start, end)]
    if not any(side.lineage.nodes for side in sides):
        raise before_all(tables.refreshes(), end, known_by)
    columns = _on_the_way(sides, target, depth, indirect)
    known = [r for r in tables.refreshes() if _is_known(r, end, known_by)]
    found = [
        change
        for change in tables.changes(sorted(columns), known)
        if change.refresh.refreshed_at > start
        and (change.column is None or change.column in columns[change.node])
    ]
    if output == "json":
        times = sides[1].recalled.times.to_dict() if sides[1].recalled else {}
        console.say_json(
            {
                "metadata": {**times, "target": target, "from": f"{start.isoformat()}Z"},
                "changes": [{"unique_id": c.node, **change_to_dict(c)} for c in found],
            }
        )
        return
    for change in found:
        say_change(change, node=change.node)
    if not found:
        console.say(f"[quiet]Nothing in it changed from {start} to {end or 'now'} (UTC).[/]")


def _is_known(refresh: Recorded, end: datetime | None, known_by: datetime | None) -> bool:
    return (end is None or refresh.refreshed_at <= end) and (
        known_by is None or refresh.recorded_at <= known_by
    )


def _known_by(asked: Asked) -> datetime | None:
    return moment(asked.as_recorded, "--as-recorded")


def _tables(places: Places, request: Request, asked: Asked) -> RecordedTables:
    return RecordedTables(
        _manifest(places, request),
        places.project_dir,
        profiles_dir=asked.profiles_dir,
        target=asked.target,
    )


def _manifest(places: Places, request: Request) -> Path:
    return Path(request.manifest) if request.manifest else places.target_path / "manifest.json"


def _loaded(
    places: Places,
    request: Request,
    tables: RecordedTables,
    at: datetime | None,
    known_by: datetime | None,
) -> Loaded:
    options = options_of(places, request)
    lineage, recalled = tables.lineage(at, known_by, options)
    manifest = _manifest(places, request)
    return Loaded(lineage, lineage, options, places, manifest, recalled=recalled)


def _on_the_way(
    sides: list[Loaded], target: str, depth: int | None, indirect: bool
) -> dict[str, set[str]]:
    """The columns of nodes that the target reaches at either end of the span.

    Raises SelectionError where the target was there at neither.
    """
    found: dict[str, set[str]] = {}
    missing: SelectionError | None = None
    for loaded in sides:
        try:
            named = target_of(target, loaded.lineage)
        except SelectionError as error:
            missing = error
            continue
        own = found.setdefault(named.node, set())
        if named.column is None:
            own.update(c.name or "" for c in loaded.lineage.nodes[named.node].columns)
            continue
        own.add(named.column)
        up, down = limit(named.up, depth), limit(named.down, depth)
        walk = Walk(loaded, named.node, named.column, up, down, indirect)
        for step in (*walk.steps(is_up=True), *walk.steps(is_up=False)):
            found.setdefault(step.node, set()).add(step.column or "")
    if missing is not None and not found:
        raise missing
    return found
