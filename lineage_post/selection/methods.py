"""dbt's selection methods: which nodes a value means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from lineage_post.artifacts import Node, Project
from lineage_post.errors import SelectionError

Method = Callable[[Node, str, "str | None", Project], bool]

_WILD = ("*", "?", "[", "]")


def matching(
    method: str, value: str, key: str | None, project: Project, nodes: Iterable[Node]
) -> set[str]:
    """The unique_ids a method picks. Raises SelectionError for a method that is not known."""
    if method not in METHODS:
        known = ", ".join(sorted(METHODS))
        raise SelectionError(
            f"the selection method {method!r} is not known", hint=f"The methods are {known}."
        )
    is_match = METHODS[method]
    return {node.unique_id for node in nodes if is_match(node, value, key, project)}


def is_wild(text: str) -> bool:
    """Whether a text has a glob's characters."""
    return any(character in text for character in _WILD)


def _fqn(node: Node, value: str, key: str | None, project: Project) -> bool:
    if value == node.unique_id:
        return True
    if node.resource_type in ("source", "exposure", "metric", "semantic_model", "saved_query"):
        return False
    fqn = node.fqn or (node.package_name, node.name)
    return _is_name(node, fqn, value) or _is_path(fqn, value) or _is_path(fqn[1:], value)


def _is_name(node: Node, fqn: Sequence[str], value: str) -> bool:
    if node.version is None or len(fqn) < 2:
        return value == fqn[-1] or (is_wild(value) and fnmatchcase(fqn[-1], value))
    # A version goes by its model's name, by ver.v1 and by ver_v1.
    return value == fqn[-2] or "_".join(fqn[-2:]) == "_".join(value.split(".")[-2:])


def _is_path(fqn: Sequence[str], value: str) -> bool:
    """Whether a dotted value is the beginning of the fqn, or matches all of it as a glob."""
    flat = [part for segment in fqn for part in segment.split(".")]
    wanted = value.split(".")
    if len(flat) < len(wanted):
        return False
    for i, part in enumerate(wanted):
        if is_wild(part):
            return fnmatchcase(".".join(flat[i:]), ".".join(wanted[i:]))
        if flat[i] != part:
            return False
    return True


def _tag(node: Node, value: str, key: str | None, project: Project) -> bool:
    return any(fnmatchcase(tag, value) for tag in node.tags)


def _package(node: Node, value: str, key: str | None, project: Project) -> bool:
    return fnmatchcase(node.package_name, project.name if value == "this" else value)


def _path(node: Node, value: str, key: str | None, project: Project) -> bool:
    wanted = value.replace("\\", "/").rstrip("/").removeprefix("./")
    if node.path == wanted or node.path.startswith(f"{wanted}/"):
        return True
    folders = [str(folder) for folder in PurePosixPath(node.path).parents]
    return is_wild(wanted) and any(fnmatchcase(path, wanted) for path in (node.path, *folders))


def _file(node: Node, value: str, key: str | None, project: Project) -> bool:
    path = PurePosixPath(node.path)
    return fnmatchcase(path.name, value) or fnmatchcase(path.stem, value)


def _source(node: Node, value: str, key: str | None, project: Project) -> bool:
    if node.resource_type != "source":
        return False
    full = (node.package_name, str(node.details.get("source_name") or ""), node.name)
    wanted = tuple(value.split("."))
    by_length = {1: full[1:2], 2: full[1:], 3: full}
    parts = by_length.get(len(wanted))
    return parts is not None and all(map(fnmatchcase, parts, wanted))


def _named(resource_type: str) -> Method:
    def is_match(node: Node, value: str, key: str | None, project: Project) -> bool:
        if node.resource_type != resource_type:
            return False
        return fnmatchcase(node.name, value) or fnmatchcase(
            f"{node.package_name}.{node.name}", value
        )

    return is_match


def _resource_type(node: Node, value: str, key: str | None, project: Project) -> bool:
    return node.resource_type == value


def _group(node: Node, value: str, key: str | None, project: Project) -> bool:
    return node.group is not None and fnmatchcase(node.group, value)


def _access(node: Node, value: str, key: str | None, project: Project) -> bool:
    return node.resource_type == "model" and (node.access or "protected") == value


def _schema(node: Node, value: str, key: str | None, project: Project) -> bool:
    """Not dbt's: a policy speaks of schemas as the warehouse has them."""
    schema = node.relation.schema if node.relation is not None else None
    return schema is not None and fnmatchcase(schema, value)


def _config(node: Node, value: str, key: str | None, project: Project) -> bool:
    parts = (key or "").split(".")
    found: Any = {**node.config, "meta": node.meta, "tags": node.tags, "group": node.group}
    for part in parts:
        found = found.get(part) if isinstance(found, dict) else None
    if isinstance(found, (list, tuple)):
        return value in map(str, found)
    if isinstance(found, bool):
        return str(found).lower() == value.lower()
    return found is not None and str(found) == value


def _version(node: Node, value: str, key: str | None, project: Project) -> bool:
    if value == "none":
        return node.resource_type == "model" and node.version is None
    if value == "latest":
        return node.is_latest_version
    return node.version is not None and node.version == value


def _test_name(node: Node, value: str, key: str | None, project: Project) -> bool:
    return node.resource_type == "test" and fnmatchcase(str(node.details.get("test")), value)


METHODS: dict[str, Method] = {
    "access": _access,
    "config": _config,
    "exposure": _named("exposure"),
    "file": _file,
    "fqn": _fqn,
    "group": _group,
    "metric": _named("metric"),
    "package": _package,
    "path": _path,
    "resource_type": _resource_type,
    "saved_query": _named("saved_query"),
    "schema": _schema,
    "semantic_model": _named("semantic_model"),
    "source": _source,
    "tag": _tag,
    "test_name": _test_name,
    "unit_test": _named("unit_test"),
    "version": _version,
}
