"""The columns that identify a row of a node, as the project declares them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lineage_post.artifacts import Node, Project
from lineage_post.lineage import Lineage

_NAME = re.compile(r"[\"`\[]?(\w+)[\"`\]]?")


def declared_keys(project: Project) -> dict[str, tuple[str, ...]]:
    """Key columns by unique_id.

    In order: a snapshot's ``unique_key`` and the start of a version; a primary key, as a test or a
    constraint; a column with a ``unique`` test, one that is also tested ``not_null`` first; a
    tested combination of columns; a ``unique`` constraint; the model's ``unique_key``.
    """
    tested = _tests(project)
    found: dict[str, tuple[str, ...]] = {}
    for unique_id, node in project.nodes.items():
        key = _of_snapshot(node) if node.resource_type == "snapshot" else None
        key = (
            key
            or _of_constraints(node, "primary_key")
            or _of_tests(tested.get(unique_id, {}))
            or _of_constraints(node, "unique")
            or _names(node.config.get("unique_key"))
        )
        if key:
            found[unique_id] = key
    return found


def _of_constraints(node: Node, kind: str) -> tuple[str, ...] | None:
    """The columns of the first constraint of a kind, on the model or on one of its columns."""
    declared = node.details.get("constraints") or ()
    keys = [_names(c.get("columns")) for c in declared if c.get("type") == kind]
    return next((key for key in keys if key), None)


def snapshot_key(node: Node) -> tuple[str, ...] | None:
    """The columns that say which thing a row of a snapshot is a version of."""
    return _names(node.config.get("unique_key"))


def _of_snapshot(node: Node) -> tuple[str, ...] | None:
    key = snapshot_key(node)
    names: Mapping[str, Any] = node.config.get("snapshot_meta_column_names") or {}
    return (*key, str(names.get("dbt_valid_from") or "dbt_valid_from")) if key else None


def _tests(project: Project) -> dict[str, dict[str, list[tuple[str, ...]]]]:
    """Tests by the node they are on: name of the test -> the columns it is on."""
    found: dict[str, dict[str, list[tuple[str, ...]]]] = {}
    for node in project.nodes.values():
        test = node.details.get("test") if node.resource_type == "test" else None
        if test not in ("unique", "not_null", "unique_combination_of_columns", "primary_key"):
            continue
        on = node.details.get("attached_node") or next(iter(node.depends_on), None)
        kwargs = node.details.get("kwargs") or {}
        if kwargs.get("where"):
            continue
        listed = kwargs.get("combination_of_columns") or node.details.get("column")
        columns = _names(listed or kwargs.get("column_name") or kwargs.get("columns"))
        if on and columns:
            found.setdefault(on, {}).setdefault(str(test), []).append(columns)
    return found


def _of_tests(tests: Mapping[str, list[tuple[str, ...]]]) -> tuple[str, ...] | None:
    filled = tests.get("not_null", [])
    unique = sorted(tests.get("unique", []), key=lambda columns: (columns not in filled, columns))
    ordered = [*tests.get("primary_key", []), *unique]
    ordered += sorted(tests.get("unique_combination_of_columns", []))
    return ordered[0] if ordered else None


def _names(value: Any) -> tuple[str, ...] | None:
    """Plain column names; None for an expression, which is no column."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not listed:
        return None
    matches = [_NAME.fullmatch(str(name).strip()) for name in listed]
    if any(match is None for match in matches):
        return None
    return tuple(match[1] for match in matches if match is not None)


def self_reading(lineage: Lineage, unique_id: str) -> list[str]:
    """Incremental models at or above a node whose compiled SQL reads the model itself."""
    found: list[str] = []
    seen: set[str] = set()
    pending = [unique_id]
    while pending:
        name = pending.pop()
        node = lineage.project.nodes.get(name)
        if name in seen or node is None:
            continue
        seen.add(name)
        pending.extend(node.depends_on)
        traced = lineage.nodes.get(name)
        if node.materialized == "incremental" and traced is not None and name in traced.inputs:
            found.append(name)
    return sorted(found)
