"""Generated exposures in dbt's live Manifest: this run's, and the last run's before selection."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lineage_post.bridge.say import describe, detail
from lineage_post.publish.exposures import GENERATED_PATH
from lineage_post.publish.text_file import write_text

#: Below ``target/``: the set of the last run, in the form of manifest.json.
KEPT = Path("lineage_post") / "exposures.json"


def inject(manifest: Any, entries: Iterable[Mapping[str, Any]]) -> int:
    """Puts exposures into the Manifest in place of generated ones; returns how many went in.

    What an exposure depends on and the project no longer has is left out of it; one whose name a
    user's own exposure has is left out whole.
    """
    flat = _flat_exposures(manifest)
    for unique_id, exposure in list(manifest.exposures.items()):
        if exposure.original_file_path == GENERATED_PATH:
            del manifest.exposures[unique_id]
            flat.pop(unique_id, None)
    added = 0
    for entry in entries:
        exposure = _exposure(manifest, entry)
        if exposure is not None:
            manifest.exposures[exposure.unique_id] = exposure
            flat[exposure.unique_id] = exposure.to_dict(omit_none=False)
            added += 1
    return added


def _flat_exposures(manifest: Any) -> dict[str, Any]:
    """The exposures that Jinja sees. Since dbt 1.12 they are a view of the Manifest's own, which
    shows what is put there; then a dict that nobody reads takes their place here."""
    flat = manifest.flat_graph.setdefault("exposures", {})
    return flat if isinstance(flat, dict) else {}


def _exposure(manifest: Any, entry: Mapping[str, Any]) -> Any:
    from dbt.contracts.graph.nodes import Exposure

    if entry["unique_id"] in manifest.exposures or entry["unique_id"] in manifest.disabled:
        return None
    depends_on = [n for n in entry["depends_on"]["nodes"] if _is_there(manifest, n)]
    if not depends_on or not _is_there(manifest, str(entry["meta"].get("node") or depends_on[0])):
        return None
    try:
        exposure = Exposure.from_dict(
            {**entry, "depends_on": {**entry["depends_on"], "nodes": depends_on}}
        )
        # A badly typed one would crash dbt when it writes the manifest: find that out here.
        exposure.to_dict(omit_none=False)
    except Exception as error:
        detail(f"{entry['unique_id']} left out: {describe(error)}")
        return None
    return exposure


def _is_there(manifest: Any, unique_id: str) -> bool:
    return unique_id in manifest.nodes or unique_id in manifest.sources


def keep(target_path: Path, entries: list[dict[str, Any]]) -> None:
    """Keeps the set for the next run; removes it when there is none."""
    path = target_path / KEPT
    if not entries:
        path.unlink(missing_ok=True)
        return
    write_text(path, json.dumps(entries, ensure_ascii=False, indent=1))


def kept(target_path: Path) -> list[dict[str, Any]]:
    """The set that the last run kept; empty if there is none or it cannot be read."""
    path = target_path / KEPT
    try:
        found = json.loads(path.read_text("utf-8")) if path.is_file() else []
        return [entry for entry in found if isinstance(entry, dict)]
    except (OSError, ValueError) as error:
        detail(f"{path} ignored: {describe(error)}")
        return []
