"""Functions that engines have and sqlglot has no class for: their arguments are all they read."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

#: Functions that read what a text names: a query, a table, a file. Their arguments do not tell it.
_BY_TEXT = frozenset(
    {
        "crosstab", "crosstab2", "crosstab3", "crosstab4", "connectby", "query", "xpath_table",
        "dblink", "dblink_fetch", "dblink_get_result", "query_to_xml", "query_to_xml_and_xmlschema",
        "table_to_xml", "table_to_xml_and_xmlschema", "schema_to_xml", "database_to_xml",
        "schema_to_xml_and_xmlschema", "database_to_xml_and_xmlschema", "cursor_to_xml", "ts_stat",
        "external_query", "postgres_query", "mysql_query", "sqlite_query", "openquery",
        "result_scan", "pg_read_file", "pg_read_binary_file", "lo_get", "load_file",
    }
)  # fmt: skip


@lru_cache(maxsize=1)
def _names() -> tuple[frozenset[str], frozenset[str]]:
    text = (files("lineage_post.trace") / "builtin_names.txt").read_text(encoding="utf-8")
    scalars, _, aggregates = text.partition("\n# aggregates\n")
    lines = [line for line in scalars.split() if not line.startswith("#")]
    return frozenset(lines), frozenset(aggregates.split())


def reads_by_text(name: str) -> bool:
    """Whether a function of that lower-case name reads what one of its arguments names."""
    return name in _BY_TEXT


def is_builtin(name: str) -> bool:
    """Whether an engine has a function of that lower-case name."""
    return name in _names()[0] or name in _names()[1]


def is_aggregate(name: str) -> bool:
    """Whether an engine has an aggregate of that lower-case name."""
    return name in _names()[1]
