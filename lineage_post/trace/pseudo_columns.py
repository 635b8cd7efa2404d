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
    "clickhouse": {
        "_part", "_part_index", "_part_offset", "_part_uuid", "_partition_id", "_partition_value",
        "_sample_factor", "_shard_num", "_table", "_file", "_path", "_size", "_time",
    },
    "duckdb": {"rowid", "user", "current_schema", "current_catalog", "current_role"},
    "exasol": {"rownum", "rowid", "sysdate", "systimestamp", "user"},
    "mysql": {"utc_date", "utc_time", "utc_timestamp"},
    "oracle": {
        "rownum", "rowid", "ora_rowscn", "sysdate", "systimestamp", "user", "uid",
        "sessiontimezone", "dbtimezone",
    },
    "postgres": {
        "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid", "user", "current_schema",
        "current_catalog", "current_role", "system_user",
    },
    "spark": {"_metadata", "input__file__name", "block__offset__inside__file"},
    "sqlite": {"rowid", "_rowid_"},
    "teradata": {"date", "time", "user"},
    "trino": {
        "$path", "$file_size", "$file_modified_time", "$partition", "$bucket", "$row_id",
        "current_path", "current_role", "current_schema",
    },
    "tsql": {"$action", "user"},
}  # fmt: skip
#: What a statement with CONNECT BY has beside its columns.
_OF_HIERARCHIES = frozenset({"level", "connect_by_isleaf", "connect_by_iscycle"})


#: Of them those that are functions, which no table is named before.
_FUNCTIONS = _EVERYWHERE | {
    "current_catalog", "current_path", "current_role", "current_schema", "date", "dbtimezone",
    "sessiontimezone", "sysdate", "systimestamp", "time", "uid", "user", "utc_date", "utc_time",
    "utc_timestamp",
}  # fmt: skip


def is_pseudo_column_of_row(t: Tracer, identifier: Any, spelling: str) -> bool:
    """Whether ``t.ctid`` is answered by the engine, and ``t.user`` is not."""
    return spelling.lower() not in _FUNCTIONS and is_pseudo_column(t, identifier, spelling)


def is_pseudo_column(t: Tracer, identifier: Any, spelling: str) -> bool:
    """Whether a name that no known column has is answered by the engine: never a quoted one, but
    for those that begin with a dollar sign, and those of BigQuery, which no column can have."""
    name = spelling.lower()
    if name.startswith("@"):
        return True
    is_quoted = identifier.args.get("quoted") and not name.startswith("$")
    if is_quoted and t.rules.name != "bigquery":
        return False
    if is_quoted:
        return name in _OF_DIALECT["bigquery"]
    if name in _EVERYWHERE or name in _OF_DIALECT.get(t.rules.family, ()):
        return True
    return name in _OF_HIERARCHIES and "connect" in t.tokens.sql.lower()
