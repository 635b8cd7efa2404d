"""The recorded lineage as of a time, for commands that show lineage."""

from __future__ import annotations

from pathlib import Path

from lineage_post.bridge.recorded import RecordedTables
from lineage_post.cli.loading import Loaded, Request, options_of
from lineage_post.cli.places import Places
from lineage_post.history.moments import moment


def load_recorded(
    places: Places,
    request: Request,
    as_of: str | None,
    as_recorded: str | None,
    profiles_dir: str | None,
    target: str | None,
) -> Loaded:
    """The lineage that stood at ``as_of``, of what had been recorded by ``as_recorded``.

    The first warning says so, and is to be shown with the answer.
    """
    at, known_by = moment(as_of, "--as-of"), moment(as_recorded, "--as-recorded")
    options = options_of(places, request)
    manifest = places.target_path / "manifest.json"
    if request.manifest:
        manifest = Path(request.manifest)
    tables = RecordedTables(manifest, places.project_dir, profiles_dir=profiles_dir, target=target)
    lineage = tables.lineage(at, known_by, options)
    said = f"As of {at or 'now'}, as recorded by {known_by or 'now'} (UTC)."
    return Loaded(lineage, lineage, options, places, manifest, [said])
