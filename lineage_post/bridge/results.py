"""Copies of the results of earlier runs: each dbt command overwrites those of the one before.

The evidence for a figure names the last build and the last test of everything on the way, and
``dbt docs generate`` or ``dbt compile`` would leave neither.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

#: Below the target path, one file a run, named by when it ended.
FOLDER = Path("lineage_post", "results")
#: So many runs are kept.
MOST_RUNS = 10
#: dbt writes its arguments last; the command is found without reading all the results.
_TAIL_BYTES = 32_768
_BUILDS_OR_TESTS = re.compile(rb'"which":\s*"(?:build|run|seed|snapshot|test|retry)"')


def keep_results(target_path: Path) -> None:
    """Copies what the last command left, if it built or tested anything and is not there yet."""
    last = target_path / "run_results.json"
    if not last.is_file():
        return
    kept = target_path / FOLDER / f"{last.stat().st_mtime_ns:020d}.json"
    if kept.exists() or not _BUILDS_OR_TESTS.search(_tail(last)):
        return
    kept.parent.mkdir(parents=True, exist_ok=True)
    partial = kept.with_suffix(".partial")
    shutil.copyfile(last, partial)
    partial.replace(kept)
    for old in kept_results(target_path)[:-MOST_RUNS]:
        old.unlink(missing_ok=True)


def kept_results(target_path: Path) -> list[Path]:
    """The copies there are, the oldest first."""
    return sorted((target_path / FOLDER).glob("*.json"))


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        return file.read()
