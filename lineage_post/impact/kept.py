"""Verdicts kept between runs, by content: what a statement does with a column's name.

Another file beside the traces, under the same rules: JSON only, and a file that is damaged, of
another engine or not ours is as good as none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from lineage_post import fast_json
from lineage_post.cache import installed, write_whole
from lineage_post.lineage import ENGINE, Lineage

FILE = "verdicts.json"
#: So many are kept, the newest ones.
MOST = 20_000


class KeptVerdicts:
    """``KeptVerdicts(folder)``: verdicts as lists, by key; a folder of None keeps nothing."""

    def __init__(self, folder: Path | None = None) -> None:
        self._path = folder / FILE if folder is not None else None
        self._engine = f"{ENGINE} {installed('impact')}"
        self._is_dirty = False
        self._values: dict[str, Any] = self._read()

    def _read(self) -> dict[str, Any]:
        with suppress(OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            found = fast_json.loads(self._path.read_bytes()) if self._path is not None else {}
            if found["engine"] == self._engine:
                return dict(found["verdicts"])
        return {}

    def find(self, key: str) -> Any:
        return self._values.get(key)

    def add(self, key: str, value: Any) -> None:
        self._is_dirty = True
        self._values[key] = value

    def save(self) -> None:
        """Writes the file where anything is new, whole or not at all; no way to is no fault."""
        if self._path is not None and self._is_dirty:
            kept = dict(list(self._values.items())[-MOST:])
            document = {"engine": self._engine, "verdicts": kept}
            with suppress(OSError):
                write_whole(self._path, [fast_json.dumps(document)])
            self._is_dirty = False


def key_of(content: str, seen: Iterable[str], lineage: Lineage, asked: object) -> str:
    """A hash of all that a verdict depends on: the statement, what it sees, what was asked."""
    known = [(u, lineage.nodes[u].fingerprint) for u in sorted(seen) if u in lineage.nodes]
    return hashlib.sha256(repr((content, known, asked)).encode()).hexdigest()
