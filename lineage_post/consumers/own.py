"""What a node's own configuration says of its columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lineage_post.artifacts import Node
from lineage_post.consumers.use import Use, words

#: Settings whose value names columns of the node itself.
SETTINGS = (
    "unique_key",
    "updated_at",
    "check_cols",
    "partition_by",
    "cluster_by",
    "event_time",
    "merge_update_columns",
    "merge_exclude_columns",
    "sort",
    "dist",
    "indexes",
    "order_by",
    "primary_key",
    "distributed_by",
    "liquid_clustered_by",
    "zorder",
    "row_filter",
    "row_access_policy",
)
#: What tells how fresh a source is: a column, or SQL over its columns.
FRESHNESS = ("loaded_at_field", "loaded_at_query", "filter")


def own_uses(node: Node) -> Iterator[Use]:
    """Contract, constraints, settings and descriptions: each word of them that may be a column."""
    contract = node.config.get("contract")
    is_enforced = isinstance(contract, Mapping) and bool(contract.get("enforced"))
    for column in node.columns:
        yield Use(
            node.unique_id,
            "contract" if is_enforced else "description",
            node.unique_id,
            column.name,
            "contract" if is_enforced else "columns",
            ("columns", column.name),
            is_text=not is_enforced,
        )
    for key in (key for key in SETTINGS if key in node.config):
        for name in _once(words(_names(key, node.config[key]))):
            yield Use(node.unique_id, "config", node.unique_id, name, key, ("config", key))
    for key, named in (node.details.get("named_in_hooks") or {}).items():
        for name in named:
            yield Use(node.unique_id, "config", node.unique_id, name, key, ("config", key))
    freshness = node.details.get("freshness") or {}
    for key in FRESHNESS if freshness else ():
        for name in _once(words(freshness.get(key) or "")):
            role = key if key.startswith("loaded") else f"freshness {key}"
            yield Use(node.unique_id, "freshness", node.unique_id, name, role, (key,))
    for name in node.config.get("column_types") or ():
        yield Use(node.unique_id, "config", node.unique_id, str(name), "column_types")
    for constraint in node.details.get("constraints") or ():
        named = [*constraint["columns"], *words(constraint["expression"] or "")]
        for name in _once(named):
            role = f"constraint {constraint['type']}"
            yield Use(node.unique_id, "constraint", node.unique_id, name, role, ("constraints",))


def _names(key: str, value: Any) -> Any:
    """BigQuery's partition_by is a mapping, of which only ``field`` names a column."""
    if key == "partition_by" and isinstance(value, Mapping):
        return value.get("field") or ""
    return value


def _once(names: Any) -> list[str]:
    return list(dict.fromkeys(names))
