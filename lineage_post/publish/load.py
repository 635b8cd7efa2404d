"""Rows as SQL: literals escaped as the adapter's SQL reads them, batches cut by bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from lineage_post.publish.tables import Row, Rows, Value, columns_of, values_of

#: Warehouses whose string literals read a backslash as an escape. SQL's own rule, a doubled
#: quote and nothing else, is right for the others.
BACKSLASH_ADAPTERS = frozenset(
    {
        "athena_spark",
        "bigquery",
        "clickhouse",
        "databricks",
        "doris",
        "glue",
        "hive",
        "impala",
        "maxcompute",
        "mysql",
        "redshift",
        "singlestore",
        "snowflake",
        "spark",
        "sparksession",
        "starrocks",
    }
)
#: Warehouses without the words true and false.
BIT_ADAPTERS = frozenset({"fabric", "sqlserver", "synapse", "oracle"})
#: What a statement may hold at most, where the warehouse is stricter than any setting.
MOST_BYTES = {"bigquery": 900_000, "athena": 200_000, "redshift": 8_000_000}
MOST_ROWS = {"sqlserver": 1_000, "synapse": 1_000, "fabric": 1_000, "snowflake": 16_000}
_ESCAPES = str.maketrans(
    {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\ufffd"}
)
_NO_NULS = str.maketrans({"\0": "\ufffd"})
TIME = "%Y-%m-%d %H:%M:%S.%f"


@dataclass(frozen=True, slots=True)
class Batch:
    """One statement's worth of rows: ``values`` is ``(..), (..)`` for the columns of ``table``."""

    table: str
    columns: tuple[str, ...]
    values: str
    rows: int


@dataclass(frozen=True, slots=True)
class Literals:
    """Writes values as SQL literals of one warehouse."""

    adapter_type: str
    timestamp_type: str = "timestamp"

    def literal(self, value: Value) -> str:
        """``O'Brien`` -> ``'O''Brien'``, or ``'O\\'Brien'`` where a backslash escapes."""
        if value is None:
            return "null"
        if isinstance(value, bool):
            return self._boolean(value)
        if isinstance(value, int):
            return str(value)
        if isinstance(value, datetime):
            return f"cast('{value.strftime(TIME)}' as {self.timestamp_type})"
        return self.text(value)

    def text(self, value: str) -> str:
        """A string literal; a NUL or a lone surrogate, which no warehouse stores, is replaced."""
        if not value.isascii():
            value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if self.adapter_type in BACKSLASH_ADAPTERS:
            return f"'{value.translate(_ESCAPES)}'"
        return "'" + value.translate(_NO_NULS).replace("'", "''") + "'"

    def row(self, values: Sequence[Value]) -> str:
        """``(1, 'a', null)``."""
        return "(" + ", ".join(map(self.literal, values)) + ")"

    def _boolean(self, value: bool) -> str:
        if self.adapter_type in BIT_ADAPTERS:
            return str(int(value))
        return "true" if value else "false"


def batches(rows: Rows, literals: Literals, *, most_bytes: int) -> Iterator[Batch]:
    """The batches of a load, in the order to run them. A row over the limit stands alone."""
    most_bytes = min(most_bytes, MOST_BYTES.get(literals.adapter_type, most_bytes))
    most_rows = MOST_ROWS.get(literals.adapter_type, 100_000)
    for table, row_class, table_rows in rows.tables():
        for chunk in _chunks(table_rows, literals, most_bytes, most_rows):
            yield Batch(table, columns_of(row_class), ",\n".join(chunk), len(chunk))


def _chunks(
    rows: Sequence[Row], literals: Literals, most_bytes: int, most_rows: int
) -> Iterator[list[str]]:
    chunk: list[str] = []
    size = 0
    for row in rows:
        rendered = literals.row(values_of(row))
        length = len(rendered) if rendered.isascii() else len(rendered.encode("utf-8"))
        if chunk and (size + length > most_bytes or len(chunk) == most_rows):
            yield chunk
            chunk, size = [], 0
        chunk.append(rendered)
        size += length + 2
    if chunk:
        yield chunk
