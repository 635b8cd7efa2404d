"""The query that tells which snapshot of a table stands, for table formats that keep snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lineage_post.artifacts import Node

#: Databases of these types keep snapshots of all their tables.
_DUCKLAKE = "ducklake"


def table_format(node: Node, database_types: Mapping[str, str]) -> str | None:
    """``iceberg``, ``delta``, ``ducklake``, or None for a table without snapshots.

    ``database_types`` are DuckDB's attached databases; the rest is what the project declares:
    ``table_format`` or ``file_format``, of a source in its ``meta: lineage``.
    """
    database = node.relation.database if node.relation else None
    if database and database_types.get(database.casefold()) == _DUCKLAKE:
        return _DUCKLAKE
    settings: Any = node.meta.get("lineage")
    declared = settings if isinstance(settings, Mapping) else {}
    for name in ("table_format", "file_format"):
        value = str(node.config.get(name) or declared.get(name) or "").lower()
        if value in ("iceberg", "delta"):
            return value
    return None


def snapshot_query(node: Node, adapter_type: str, form: str) -> str | None:
    """A query with the id of a table's current snapshot; None where the warehouse tells none."""
    relation, name = node.relation, node.relation_name
    if relation is None or not name:
        return None
    if form == _DUCKLAKE and relation.database:
        text = relation.database.replace("'", "''")
        return f"select max(snapshot_id) from ducklake_snapshots('{text}')"
    if adapter_type in ("spark", "databricks", "glue"):
        if form == "delta":
            return f"select max(version) from (describe history {name})"
        return f"select snapshot_id from {name}.snapshots order by committed_at desc limit 1"
    if form == "iceberg" and adapter_type in ("trino", "athena"):
        parts = name.rsplit(".", 1)
        hidden = '"' + parts[-1].strip('"') + '$snapshots"'
        listed = ".".join([*parts[:-1], hidden])
        return f"select snapshot_id from {listed} order by committed_at desc limit 1"
    return None
