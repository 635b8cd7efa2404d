"""The columns that engines give to their own table functions."""

from __future__ import annotations

from typing import NamedTuple


class Columns(NamedTuple):
    """Column names, and which of them are ordinals: known, without a value edge."""

    names: tuple[str, ...]
    ordinals: frozenset[str] = frozenset()


_VALUE = Columns(("value",))
_KEY_VALUE = Columns(("key", "value"))
_SPLIT = Columns(("SEQ", "INDEX", "VALUE"), frozenset({"SEQ", "INDEX"}))
_JSON_EACH = Columns(
    ("key", "value", "type", "atom", "id", "parent", "fullkey", "path"), frozenset({"id", "parent"})
)

_EXTERNAL_FILES = Columns(
    ("FILE_NAME", "REGISTERED_ON", "FILE_SIZE", "LAST_MODIFIED", "ETAG", "MD5")
)
_INFERRED = Columns(("COLUMN_NAME", "TYPE", "NULLABLE", "EXPRESSION", "FILENAMES", "ORDER_ID"))

_BY_DIALECT: dict[str, dict[str, Columns]] = {
    "duckdb": {
        "json_each": _JSON_EACH,
        "json_tree": _JSON_EACH,
        "glob": Columns(("file",)),
        "repeat": Columns(("unnamed",)),
    },
    "sqlite": {"json_each": _JSON_EACH, "json_tree": _JSON_EACH},
    "tsql": {
        "string_split": Columns(("value", "ordinal"), frozenset({"ordinal"})),
        "openjson": Columns(("key", "value", "type")),
        "generate_series": _VALUE,
    },
    "snowflake": {
        "split_to_table": _SPLIT,
        "strtok_split_to_table": _SPLIT,
        "external_table_files": _EXTERNAL_FILES,
        "infer_schema": _INFERRED,
    },
    "clickhouse": {
        "numbers": Columns(("number",), frozenset({"number"})),
        "numbers_mt": Columns(("number",), frozenset({"number"})),
        "zeros": Columns(("zero",), frozenset({"zero"})),
    },
    "spark": {
        "range": Columns(("id",)),
        "json_tuple": Columns(("c0",)),
        "variant_explode": Columns(("pos", "key", "value")),
    },
    "trino": {"sequence": Columns(("sequential_number",))},
}
_ANYWHERE: dict[str, Columns] = {
    **dict.fromkeys(
        (
            "json_array_elements", "jsonb_array_elements", "json_array_elements_text",
            "jsonb_array_elements_text",
        ),
        _VALUE,
    ),
    **dict.fromkeys(("json_each", "jsonb_each", "json_each_text", "jsonb_each_text"), _KEY_VALUE),
}  # fmt: skip
#: Functions of one column that is called by the alias of the function, else by its name.
_SINGLE = frozenset(
    {
        "generate_series", "generateseries", "explodinggenerateseries", "range", "sequence",
        "generate_date_array", "generatedatearray", "generate_array", "generate_subscripts",
        "regexp_split_to_table", "regexp_matches", "string_to_table", "json_object_keys",
        "jsonb_object_keys", "jsonb_path_query", "exploding_generate_series", "pg_ls_dir",
        "unnest_tokens", "generate_timestamp_array",
    }
)  # fmt: skip
_READERS = frozenset(
    {
        "read_csv", "read_csv_auto", "read_parquet", "parquet_scan", "read_json", "read_json_auto",
        "read_ndjson", "read_ndjson_auto", "read_json_objects", "read_text", "read_blob",
        "read_xlsx", "st_read", "delta_scan", "iceberg_scan", "sqlite_scan", "postgres_scan",
        "mysql_scan", "read_files", "s3", "s3cluster", "gcs", "url", "file", "hdfs", "openrowset",
        "readcsv", "readparquet", "arrow_scan", "iceberg", "deltalake", "azureblobstorage",
    }
)  # fmt: skip


def columns_of(name: str, dialect: str, alias: str | None) -> Columns | None:
    """The columns of a built-in table function, or None where it is not one."""
    name = name.rsplit(".", 1)[-1]
    built_in = _BY_DIALECT.get(dialect, {})
    # sqlglot spells the class OpenJSON as OPEN_J_S_O_N
    found = built_in.get(name) or built_in.get(name.replace("_", "")) or _ANYWHERE.get(name)
    if found is not None:
        return found
    if name not in _SINGLE:
        return None
    return Columns(((name if dialect == "duckdb" or alias is None else alias),))


def is_reader(name: str) -> bool:
    """Whether the function reads a file or an external location."""
    return name in _READERS
