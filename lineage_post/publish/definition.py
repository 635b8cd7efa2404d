"""What the project says of a node, and the version of that: a row of ``lineage_nodes``."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

from lineage_post.artifacts import Node
from lineage_post.publish.tables import NodeRow, values_of

#: How a strategy writes into an incremental model; ``append`` is the one name that is not a verb.
_STRATEGIES = {
    "append": "insert",
    "delete+insert": "delete_insert",
    "insert_overwrite": "insert_overwrite",
    "merge": "merge",
    "microbatch": "microbatch",
}
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
_MERGES_BY_DEFAULT = frozenset({"snowflake", "bigquery", "databricks"})
_OPERATIONS = {
    "seed": "seed",
    "snapshot": "snapshot",
    "table": "create_table_as",
    "view": "create_view",
    "materialized_view": "create_materialized_view",
}


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces: the same value has the same text."""
    return _ENCODER.encode(value)


def node_row(unique_id: str, node: Node | None, compiled_code: str | None = None) -> NodeRow:
    """The row of a node; ``node`` is None for an external relation, which no node stands for."""
    row = NodeRow(
        node=unique_id,
        definition_version="",
        resource_type=node.resource_type if node else unique_id.split(".", 1)[0],
        relation=_relation(unique_id, node),
        package=node.package_name if node else "",
        materialization=node.materialized if node else None,
        owner=node.owner if node else None,
        tags=canonical(sorted(node.tags) if node else []),
        access=node.access if node else None,
        group_name=node.group if node else None,
    )
    return replace(row, definition_version=_version(node, compiled_code, row))


def _relation(unique_id: str, node: Node | None) -> str | None:
    if node is None:
        return unique_id.partition(".")[2]
    return str(node.relation) if node.relation else None


def _version(node: Node | None, compiled_code: str | None, row: NodeRow) -> str:
    """Checksums of the raw SQL, the compiled SQL and the row, joined by dots; ``-`` for none."""
    raw = (node.raw_code or node.checksum) if node else None
    compiled = compiled_code or (node.compiled_code if node else None)
    parts = (raw, compiled, canonical(values_of(row)))
    return ".".join(_checksum(part) if part else "-" for part in parts)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def operation_of(node: Node, build_mode: str | None, adapter_type: str) -> str | None:
    """What a build of the node does to its relation; None where that is not known."""
    kind = node.resource_type if node.resource_type in ("seed", "snapshot") else node.materialized
    if kind != "incremental":
        return _OPERATIONS.get(kind or "")
    if build_mode in ("first", "full_refresh"):
        return "create_table_as"
    strategy = node.config.get("incremental_strategy")
    if strategy is None and adapter_type in _MERGES_BY_DEFAULT:
        strategy = "merge"
    if strategy is None:
        strategy = "delete+insert" if node.config.get("unique_key") else "append"
    return _STRATEGIES.get(str(strategy), str(strategy))
