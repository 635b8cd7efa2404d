"""The versions of the inputs of a run, beside those that dbt's own runs give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lineage_post.artifacts import Project
from lineage_post.bridge.observed import Existence
from lineage_post.bridge.say import describe, detail
from lineage_post.bridge.warehouse import Warehouse
from lineage_post.history.claims import InputVersion
from lineage_post.history.inputs import commit_versions, file_versions, freshness_versions
from lineage_post.history.snapshots import snapshot_query, table_format
from lineage_post.options import Options


def input_versions(
    project: Project,
    built: set[str],
    existence: Existence,
    warehouse: Warehouse,
    options: Options,
    target_path: Path,
) -> dict[str, tuple[InputVersion, ...]]:
    """The versions of what the built nodes read, by node. What cannot be told is left out."""
    read = _read(project, built)
    root = Path(str(warehouse.adapter.config.project_root))
    found: dict[str, list[InputVersion]] = {n: [] for n in sorted(read)}
    for unique_id in read & existence.files.keys():
        found[unique_id] += file_versions(unique_id, existence.files[unique_id], root)
    for versions in (
        freshness_versions(target_path),
        commit_versions(project, options.commits),
        dict(_snapshots(project, read, warehouse)),
    ):
        for unique_id in read & versions.keys():
            found[unique_id].append(versions[unique_id])
    return {unique_id: tuple(versions) for unique_id, versions in found.items() if versions}


def _read(project: Project, built: set[str]) -> set[str]:
    """The inputs of the built nodes, those behind ephemeral models too."""
    found: set[str] = set()
    queue = [n for n in sorted(built) if n in project.nodes]
    while queue:
        for parent in project.nodes[queue.pop()].depends_on:
            if parent in project.nodes and parent not in found:
                found.add(parent)
                if project.nodes[parent].is_ephemeral:
                    queue.append(parent)
    return found


def _snapshots(
    project: Project, read: set[str], warehouse: Warehouse
) -> Iterator[tuple[str, InputVersion]]:
    adapter_type = warehouse.adapter.type()
    types = _database_types(warehouse) if adapter_type == "duckdb" else {}
    answers: dict[str, str | None] = {}
    for unique_id in sorted(read):
        node = project.nodes[unique_id]
        form = table_format(node, types)
        sql = snapshot_query(node, adapter_type, form) if form else None
        if sql is None:
            continue
        if sql not in answers:
            answers[sql] = _one(warehouse, sql)
        if answers[sql] is not None:
            yield unique_id, InputVersion(unique_id, answers[sql], "snapshot", {"format": form})


def _database_types(warehouse: Warehouse) -> Mapping[str, str]:
    rows = warehouse.query("select database_name, type from duckdb_databases()")
    return {str(name).casefold(): str(kind).lower() for name, kind in rows}


def _one(warehouse: Warehouse, sql: str) -> str | None:
    try:
        rows: list[Any] = list(warehouse.query(sql))
    except Exception as error:
        detail(f"no snapshot told by {sql}: {describe(error)}")
        warehouse.rollback()
        return None
    return str(rows[0][0]) if rows and rows[0][0] is not None else None
