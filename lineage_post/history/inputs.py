"""Versions of inputs that are established beside dbt's own runs: files, freshness, commits."""

from __future__ import annotations

import glob
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lineage_post.artifacts import Node, Project
from lineage_post.history.claims import InputVersion

#: A file up to this size is hashed; of a larger one path, size and time stand for the content.
MOST_HASHED = 256 * 2**20
_IN_QUOTES = re.compile(r"'((?:[^']|'')+)'")
_REMOTE = re.compile(r"^[a-z][a-z0-9+.-]+://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FileState:
    """A file at one moment."""

    path: str
    size: int
    modified_at: float


def files_of(node: Node, project_dir: Path) -> list[FileState]:
    """The local files that a source stands for, by dbt-duckdb's ``external_location``."""
    if node.resource_type != "source" or "'" not in (node.relation_name or ""):
        return []
    found: list[FileState] = []
    for text in _IN_QUOTES.findall(node.relation_name or ""):
        name = text.replace("''", "'")
        if not _REMOTE.match(name):
            found += _states(name, project_dir)
    return found


def _states(pattern: str, project_dir: Path) -> Iterator[FileState]:
    """Paths are shown as the project names them: relative ones stay so."""
    for path in sorted(glob.glob(str(project_dir / pattern), recursive=True)):
        file = Path(path)
        if file.is_file():
            state = file.stat()
            shown = pattern if not glob.has_magic(pattern) else _relative(file, project_dir)
            yield FileState(shown, state.st_size, state.st_mtime)


def file_versions(
    unique_id: str, before: Iterable[FileState], project_dir: Path
) -> tuple[InputVersion, ...]:
    """The version of each file as it was ``before`` the build that read it: its SHA-256.

    A file that was written since has no hash any more: its version is null, its size and time stay.
    """
    return tuple(_file_version(unique_id, state, project_dir) for state in before)


def _file_version(unique_id: str, state: FileState, project_dir: Path) -> InputVersion:
    at = datetime.fromtimestamp(state.modified_at, timezone.utc).replace(tzinfo=None)
    facts = {"path": state.path, "size": state.size, "modified_at": at.isoformat(" ")}
    return InputVersion(unique_id, _hash(state, project_dir / state.path), "file", facts)


def _hash(state: FileState, path: Path) -> str | None:
    try:
        now = path.stat()
        is_same = (now.st_size, now.st_mtime) == (state.size, state.modified_at)
        if not is_same or state.size > MOST_HASHED:
            return None
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while chunk := file.read(2**20):
                digest.update(chunk)
        return digest.hexdigest()
    except OSError:
        return None


def freshness_versions(target_path: Path) -> dict[str, InputVersion]:
    """``max_loaded_at`` of sources, from the ``sources.json`` of the last dbt source freshness."""
    try:
        document = json.loads((target_path / "sources.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    found = {}
    results = document.get("results") if isinstance(document, dict) else None
    for result in results if isinstance(results, list) else ():
        loaded, seen = result.get("max_loaded_at"), result.get("snapshotted_at")
        if isinstance(result.get("unique_id"), str) and isinstance(loaded, str):
            facts = {"observed_at": seen} if isinstance(seen, str) else {}
            found[result["unique_id"]] = InputVersion(
                result["unique_id"], loaded, "freshness", facts
            )
    return found


def commit_versions(project: Project, commits: Mapping[str, Any]) -> dict[str, InputVersion]:
    """Commits that ``meta: lineage: commit`` of a node or the option ``commits`` declare."""
    found = {}
    for node in project.nodes.values():
        settings = node.meta.get("lineage")
        own = settings.get("commit") if isinstance(settings, Mapping) else None
        for value in (own, *(commits.get(name) for name in _names(node))):
            if value:
                found[node.unique_id] = InputVersion(node.unique_id, str(value), "commit")
                break
    return found


def _names(node: Node) -> Iterator[str]:
    yield node.unique_id
    if node.resource_type == "source":
        source, table = node.unique_id.split(".")[2:4]
        yield f"{source}.{table}"
        yield source
    else:
        yield node.name


def _relative(file: Path, folder: Path) -> str:
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.as_posix()
