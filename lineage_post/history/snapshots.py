"""The query that tells which snapshot of a table stands, for table formats that keep snapshots."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lineage_post.artifacts import Node

#: Databases of this type keep snapshots of all their tables.
_DUCKLAKE = "ducklake"
#: A source of dbt-duckdb's that reads a table by its folder: ``iceberg_scan('lake/orders')``.
_SCAN = re.compile(r"^(iceberg|delta)_scan\(\s*'((?:[^']|'')+)'", re.IGNORECASE)


def table_format(node: Node, database_types: Mapping[str, str]) -> str | None:
    """``iceberg``, ``delta``, ``ducklake``, or None for a table without snapshots.

    ``database_types`` are DuckDB's attached databases; the rest is what the project declares:
    ``table_format`` or ``file_format``, of a source in its ``meta: lineage``.
    """
    database = node.relation.database if node.relation else None
    if database and database_types.get(database.casefold()) == _DUCKLAKE:
        return _DUCKLAKE
    scanned = _SCAN.match(node.relation_name or "")
    if scanned:
        return scanned[1].lower()
    settings: Any = node.meta.get("lineage")
    declared = settings if isinstance(settings, Mapping) else {}
    for name in ("table_format", "file_format"):
        value = str(node.config.get(name) or declared.get(name) or "").lower()
        if value in ("iceberg", "delta"):
            return value
    return None


def snapshot_query(node: Node, adapter_type: str, form: str) -> str | None:
    """A query with the id of a table's current snapshot; None where the warehouse tells none."""
    relation, name = node.relation, node.relation_name or ""
    if form == _DUCKLAKE and relation is not None and relation.database:
        text = relation.database.replace("'", "''")
        return f"select max(snapshot_id) from ducklake_snapshots('{text}')"
    if adapter_type == "duckdb":
        scanned = _SCAN.match(name)
        return _of_folder(form, scanned[2]) if scanned else None
    if relation is None or not name:
        return None
    if adapter_type in ("spark", "databricks", "glue"):
        # It is no query that another could select from; the last version comes first.
        if form == "delta":
            return f"describe history {name} limit 1"
        return f"select snapshot_id from {name}.snapshots order by committed_at desc limit 1"
    if form == "iceberg" and adapter_type in ("trino", "athena"):
        parts = name.rsplit(".", 1)
        hidden = '"' + parts[-1].strip('"') + '$snapshots"'
        listed = ".".join([*parts[:-1], hidden])
        return f"select snapshot_id from {listed} order by committed_at desc limit 1"
    return None


def _of_folder(form: str, escaped: str) -> str:
    """The query for a table that DuckDB reads by its folder. Delta's version is the number of its
    last commit (https://github.com/delta-io/delta/blob/master/PROTOCOL.md#delta-log-entries)."""
    if form == "iceberg":
        return (
            f"select snapshot_id from iceberg_snapshots('{escaped}')"
            " order by sequence_number desc limit 1"
        )
    return (
        r"select max(cast(regexp_extract(file, '(\d{20})\.json$', 1) as bigint))"
        f" from glob('{escaped}/_delta_log/*.json')"
    )
