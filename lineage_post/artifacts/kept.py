"""The project of a large manifest, kept as little JSON until the manifest changes.

Most of a manifest is nothing that lineage needs, and reading it is most of what a command costs
whose traces are all there already. JSON only: a hostile file can at worst be wrong, and a file that
is damaged, of another manifest or of another version is as good as none.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

import lineage_post
from lineage_post import fast_json
from lineage_post.artifacts.access import read_bytes
from lineage_post.artifacts.manifest import MANIFEST_HINT, project_of_manifest
from lineage_post.artifacts.model import (
    DeclaredColumn,
    Hook,
    InlinedCte,
    Node,
    Project,
    RelationName,
)
from lineage_post.cache import installed, write_whole

#: Smaller manifests are read as fast as what is kept of them.
MIN_BYTES = 1_000_000
FILE = "project.json"


def read_kept(manifest: Path, folder: Path | None) -> Project:
    """``read_manifest``, or what an earlier call kept of the same bytes in ``folder``; None keeps
    nothing. Raises ArtifactError naming the manifest."""
    data = read_bytes(manifest, what="manifest", hint=MANIFEST_HINT)
    if folder is None or len(data) < MIN_BYTES:
        return project_of_manifest(manifest, data)
    key = _key(data)
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return _kept(folder / FILE, key)
    project = project_of_manifest(manifest, data)
    with suppress(OSError, ValueError, TypeError, RecursionError):
        write_whole(folder / FILE, [_written(project, key)])
    return project


def _key(manifest: bytes) -> str:
    version = f"{lineage_post.__version__} {installed('artifacts')}"
    return f"{hashlib.sha256(manifest).hexdigest()} {version}"


def _kept(path: Path, key: str) -> Project:
    """Raises an error of any of the kinds above where this is not what is asked for."""
    with path.open("rb") as file:
        head, text = file.readline(200).decode(), file.read()
    if head != _head(key, text):
        raise ValueError("of another manifest, or damaged")
    values = fast_json.loads(text)
    nodes = {unique_id: _node(of) for unique_id, of in values.pop("nodes").items()}
    for name in _PROJECT.keys() & values.keys():
        values[name] = _PROJECT[name](values[name])
    return Project(nodes=nodes, **values)


def _node(values: dict[str, Any]) -> Node:
    for name in _NODE.keys() & values.keys():
        values[name] = _NODE[name](values[name])
    return Node(**values)


def _written(project: Project, key: str) -> bytes:
    values = _differing(project, _PROJECT_FIELDS)
    values["nodes"] = {
        unique_id: _differing(node, _NODE_FIELDS) for unique_id, node in project.nodes.items()
    }
    text = fast_json.dumps(values, default=_plain)
    return _head(key, text).encode() + text


def _head(key: str, text: bytes) -> str:
    return f"{key} {zlib.crc32(text):08x}\n"


def _differing(item: Any, known: dict[str, Any]) -> dict[str, Any]:
    """The fields that do not have their default."""
    return {
        name: value for name, default in known.items() if (value := getattr(item, name)) != default
    }


def _plain(value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(value)
    return [getattr(value, field.name) for field in fields(value)]


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _each(make: Callable[..., Any]) -> Callable[[list[list[Any]]], tuple[Any, ...]]:
    return lambda rows: tuple(make(*row) for row in rows)


def _relation(row: list[Any]) -> RelationName:
    return RelationName(*row)


def _column(name: str, data_type: str | None, description: str, meta: Any, tags: Any) -> Any:
    return DeclaredColumn(name, data_type, description, meta, tuple(tags))


_PROJECT_FIELDS = {
    field.name: _default(field) for field in fields(Project) if field.name != "nodes"
}
_NODE_FIELDS = {field.name: _default(field) for field in fields(Node)}
#: What JSON has as a list.
_PROJECT: dict[str, Callable[[Any], Any]] = {
    "external_packages": frozenset,
    "home": tuple,
    "writing_macros": frozenset,
}
_NODE: dict[str, Callable[[Any], Any]] = {
    "relation": _relation,
    "defer_relation": _relation,
    "depends_on": tuple,
    "columns": _each(_column),
    "tags": tuple,
    "fqn": tuple,
    "ctes": _each(InlinedCte),
    "macros": tuple,
    "hooks": _each(Hook),
}
