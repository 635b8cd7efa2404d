"""Rows as SQL: literals escaped as the adapter's SQL reads them, batches cut by bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lineage_post import fast_json
from lineage_post.publish.fitting import fitting
from lineage_post.publish.tables import Row, Rows, Value, type_of

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
#: A text of so few characters fits everywhere.
SHORT = 5_000
_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
TIME = "%Y-%m-%d %H:%M:%S.%f"


@dataclass(frozen=True, slots=True)
class Batch:
    """One statement's worth of rows: ``insert into table (columns)``, then ``source``.

    ``source`` is ``values (..), (..)``, or a query over ``parameter`` where that is faster.
    """

    table: str
    columns: tuple[str, ...]
    source: str
    rows: int
    parameter: str | None = None


def storable(value: str) -> str:
    """The text without NULs and lone surrogates, which no warehouse stores."""
    if not value.isascii():
        value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value.replace("\0", "\ufffd")


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
        """A string literal."""
        value = storable(value)
        if self.adapter_type in BACKSLASH_ADAPTERS:
            return f"'{value.translate(_ESCAPES)}'"
        return "'" + value.replace("'", "''") + "'"

    def row(self, values: Sequence[Value]) -> str:
        """``(1, 'a', null)``."""
        return "(" + ", ".join(map(self.literal, values)) + ")"

    def _boolean(self, value: bool) -> str:
        if self.adapter_type in BIT_ADAPTERS:
            return str(int(value))
        return "true" if value else "false"


def batches(
    rows: Rows,
    literals: Literals,
    *,
    most_bytes: int,
    columns: Mapping[str, tuple[str, ...]] | None = None,
) -> Iterator[Batch]:
    """The batches of a load, in the order to run them. A row over the limit stands alone.

    ``columns`` are those of a table that has not all of them.
    """
    most_bytes = min(most_bytes, MOST_BYTES.get(literals.adapter_type, most_bytes))
    most_rows = MOST_ROWS.get(literals.adapter_type, 100_000)
    as_json = literals.adapter_type == "duckdb"
    for table, row_class, table_rows in rows.tables():
        names = (columns or {}).get(table) or row_class._fields
        values = (_values(row, names, literals.adapter_type) for row in table_rows)
        rendered = (_object(names, row) for row in values) if as_json else map(literals.row, values)
        for chunk in _chunks(rendered, most_bytes, most_rows):
            if as_json:
                yield Batch(table, names, _unnested(names), len(chunk), _array(chunk))
            else:
                yield Batch(table, names, "values\n" + ",\n".join(chunk), len(chunk))


def _values(row: Row, names: Sequence[str], adapter_type: str) -> list[Value]:
    """The values of these columns, none longer than the warehouse takes."""
    every = row._fields
    values: tuple[Value, ...] = row
    if len(names) != len(every):
        known = dict(zip(every, values, strict=True))
        values = tuple(known[name] for name in names)
    return [
        fitting(name, value, adapter_type)
        if isinstance(value, str) and len(value) > SHORT
        else value
        for name, value in zip(names, values, strict=True)
    ]


def _chunks(rendered: Iterable[str], most_bytes: int, most_rows: int) -> Iterator[list[str]]:
    chunk: list[str] = []
    size = 0
    for row in rendered:
        length = len(row) if row.isascii() else len(row.encode("utf-8"))
        if chunk and (size + length > most_bytes or len(chunk) == most_rows):
            yield chunk
            chunk, size = [], 0
        chunk.append(row)
        size += length + 2
    if chunk:
        yield chunk


def _unnested(columns: Sequence[str]) -> str:
    """DuckDB takes a JSON array in a parameter far faster than it parses a list of values, as long
    as the parameter is a row: a constant is folded first, in the square of its rows' number."""
    shape = json.dumps([{column: type_of(column).upper() for column in columns}])
    rows = f"unnest(from_json(given.rows, '{shape}'), recursive := true)"
    return f"select {rows} from (values (?)) as given (rows)"


def _object(columns: Sequence[str], values: Sequence[Value]) -> str:
    return fast_json.dumps_text(dict(zip(columns, map(_plain, values), strict=True)))


def _plain(value: Value) -> Value:
    if isinstance(value, str):
        return storable(value)
    return value.strftime(TIME) if isinstance(value, datetime) else value


def _array(objects: Sequence[str]) -> str:
    return "[" + ",".join(objects) + "]"
