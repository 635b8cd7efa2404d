"""Names that engines answer themselves where no column has them."""

from __future__ import annotations

from typing import Any

from lineage_post.trace.tracer import Tracer

_EVERYWHERE = frozenset(
    {
        "current_date", "current_time", "current_timestamp", "current_user", "session_user",
        "localtime", "localtimestamp", "default",
    }
)  # fmt: skip
_OF_DIALECT = {
    "bigquery": {"_partitiontime", "_partitiondate", "_file_name", "_table_suffix"},
    "clickhouse": {"_part", "_file", "_path", "_partition_id", "_table", "today", "now"},
    "duckdb": {"rowid", "user", "today", "now", "yesterday", "tomorrow"},
    "oracle": {"rownum", "rowid", "ora_rowscn", "sysdate", "systimestamp", "user"},
    "postgres": {"ctid", "xmin", "xmax", "tableoid", "oid", "user", "sysdate", "getdate"},
    "spark": {"_metadata"},
    "sqlite": {"rowid"},
    "tsql": {"$action", "user", "getdate"},
    "trino": {"$path", "$file_size", "$file_modified_time", "$partition", "$bucket", "$row_id"},
}
#: What a statement with CONNECT BY has beside its columns.
_OF_HIERARCHIES = frozenset({"level", "connect_by_isleaf", "connect_by_iscycle"})


def is_pseudo_column(t: Tracer, identifier: Any, spelling: str) -> bool:
    """Whether a name that no known column has is answered by the engine: never a quoted one, but
    for those that begin with a dollar sign."""
    name = spelling.lower()
    if name.startswith("@"):
        return True
    if identifier.args.get("quoted") and not name.startswith("$"):
        return False
    if name in _EVERYWHERE or name in _OF_DIALECT.get(t.rules.family, ()):
        return True
    return name in _OF_HIERARCHIES and "connect" in t.tokens.sql.lower()
