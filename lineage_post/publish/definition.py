"""What the project says of a node, and the version of that: a row of ``lineage_nodes``."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from lineage_post import fast_json
from lineage_post.artifacts import Node
from lineage_post.publish.tables import NodeRow

#: How a strategy writes into an incremental model; ``append`` is the one name that is not a verb.
_STRATEGIES = {
    "append": "insert",
    "delete+insert": "delete_insert",
    "insert_overwrite": "insert_overwrite",
    "merge": "merge",
    "microbatch": "microbatch",
}
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
    return fast_json.dumps_text(value, sort_keys=True)


#: The longest SQL that is stored: warehouses limit a statement, and single models reach megabytes.
MOST_SQL = 100_000


def node_row(unique_id: str, node: Node | None, *, queries: bool = True) -> NodeRow:
    """The row of a node; ``node`` is None for an external relation, which no node stands for.

    Its SQL is in it unless ``queries`` is false.
    """
    row = _described(unique_id, node)
    code = node.compiled_code if node else None
    renamed_from = _renamed_from(node)
    version = _version((node.raw_code or node.checksum) if node else None, code, row, renamed_from)
    return row._replace(
        definition_version=version,
        query=_storable_sql(code) if queries else None,
        renamed_from=renamed_from,
    )


def claimed_row(unique_id: str, node: Node | None, query: str | None, *, queries: bool) -> NodeRow:
    """The row of a node as a producer has seen it: made by a statement, not by its definition."""
    row = _described(unique_id, node)
    version = _version(None, query, row, None)
    return row._replace(definition_version=version, query=_storable_sql(query) if queries else None)


def _described(unique_id: str, node: Node | None) -> NodeRow:
    return NodeRow(
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
        native=canonical(dict(node.native)) if node and node.native else None,
    )


def _renamed_from(node: Node | None) -> str | None:
    """The node of ``meta: lineage: renamed_from``; a bare name is one of the node's own kind."""
    settings = node.meta.get("lineage") if node else None
    name = settings.get("renamed_from") if isinstance(settings, Mapping) else None
    if node is None or not isinstance(name, str) or not name:
        return None
    return name if "." in name else f"{node.resource_type}.{node.package_name}.{name}"


def _storable_sql(code: str | None) -> str | None:
    if code is None or len(code) <= MOST_SQL:
        return code
    return f"{code[:MOST_SQL]}\n-- cut: {MOST_SQL} of {len(code)} characters"


def _relation(unique_id: str, node: Node | None) -> str | None:
    if node is None:
        return unique_id.partition(".")[2]
    return str(node.relation) if node.relation else None


#: The columns that a definition version has been made of from the first release on.
_VERSIONED = tuple(c for c in NodeRow._fields if c not in ("query", "renamed_from", "native"))


def _version(raw: str | None, compiled: str | None, row: NodeRow, renamed_from: str | None) -> str:
    """Checksums of the raw SQL, the compiled SQL and the row, joined by dots; ``-`` for none.

    That of the raw SQL is its MD5, which a macro can tell too: a contract that has the tables alone
    holds it against the SQL of now. What dbt writes as a file's checksum is another one in dbt 1.12
    and 2 than before, and the same for texts that differ in white space alone.
    """
    said = [getattr(row, column) for column in _VERSIONED]
    if renamed_from is not None:
        said.append(renamed_from)
    if row.native is not None:
        said.append(row.native)
    parts = (_checksum(part) if part else "-" for part in (compiled, canonical(said)))
    return ".".join((_macro_checksum(raw) if raw else "-", *parts))


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _macro_checksum(text: str) -> str:
    """As ``local_md5`` in dbt's Jinja, which has no other checksum; no secret hangs on it."""
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.md5(data, usedforsecurity=False).hexdigest()[:16]


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
