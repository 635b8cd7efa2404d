"""A connection that only reads: DuckDB by its file, Postgres by its driver, dbt's adapter.

Nothing is created in the warehouse; every statement has a time limit and a row limit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlglot import exp

from lineage_post.errors import LineageError
from lineage_post.provenance.dialects import render

Row = Sequence[Any]


class Connection(Protocol):
    """What asking needs of a warehouse."""

    dialect: str

    def rows(self, statement: exp.Expr) -> list[Row]:
        """The rows of a query. Raises LineageError with what the engine said."""

    def close(self) -> None:
        """Let the warehouse go."""


class QueryFailed(LineageError):
    """The engine refused a statement, or it took too long."""

    def __init__(self, error: Exception, sql: str) -> None:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
        # dbt puts a heading, such as "Runtime Error", before what the engine said.
        said = lines[1] if len(lines) > 1 and lines[0].endswith(" Error") else lines[0]
        super().__init__(f"The warehouse refused a query: {said}")
        self.sql = sql


@dataclass(slots=True)
class DuckDb:
    """A DuckDB connection (``duckdb.DuckDBPyConnection``)."""

    raw: Any
    timeout: float = 60.0
    dialect: str = "duckdb"

    def rows(self, statement: exp.Expr) -> list[Row]:
        sql = render(statement, self.dialect)
        timer = threading.Timer(self.timeout, self.raw.interrupt)
        timer.start()
        try:
            return list(self.raw.execute(sql).fetchall())
        except Exception as error:
            raise QueryFailed(error, sql) from error
        finally:
            timer.cancel()

    def close(self) -> None:
        self.raw.close()


@dataclass(slots=True)
class Postgres:
    """A DB-API connection to Postgres or Redshift (psycopg2 or psycopg); rolled back after use."""

    raw: Any
    timeout: float = 60.0
    dialect: str = "postgres"

    def __post_init__(self) -> None:
        with self.raw.cursor() as cursor:
            cursor.execute("set default_transaction_read_only = on")
            cursor.execute(f"set statement_timeout = {int(self.timeout * 1000)}")
        self.raw.commit()

    def rows(self, statement: exp.Expr) -> list[Row]:
        sql = render(statement, self.dialect)
        try:
            with self.raw.cursor() as cursor:
                cursor.execute(sql)
                found = list(cursor.fetchall())
            self.raw.rollback()
        except Exception as error:
            self.raw.rollback()
            raise QueryFailed(error, sql) from error
        return found

    def close(self) -> None:
        self.raw.close()


@dataclass(slots=True)
class Adapter:
    """Any warehouse, by a function that runs one SELECT and gives its rows: dbt's adapter."""

    run: Callable[[str], Sequence[Row]]
    dialect: str

    def rows(self, statement: exp.Expr) -> list[Row]:
        sql = render(statement, self.dialect)
        try:
            return list(self.run(sql))
        except LineageError:
            raise
        except Exception as error:
            raise QueryFailed(error, sql) from error

    def close(self) -> None:
        """Nothing: the connection is dbt's."""


def open_duckdb(
    path: str, *, timeout: float = 60.0, settings: Mapping[str, Any] | None = None
) -> DuckDb:
    """A DuckDB file, opened read-only. Raises LineageError where that is not possible."""
    try:
        import duckdb
    except ImportError as error:
        raise LineageError("The Python package duckdb is missing.") from error
    try:
        raw = duckdb.connect(path, read_only=path != ":memory:", config=dict(settings or {}))
    except Exception as error:
        first = str(error).split("\n", 1)[0]
        hint = "Another process may hold it; or use dbt run-operation lineage_post.why."
        raise LineageError(f"The DuckDB file cannot be opened: {first}", hint=hint) from error
    return DuckDb(raw, timeout)


@dataclass(frozen=True, slots=True)
class Stored:
    """What the warehouse knows of a relation: its columns in order, and whether it is a table."""

    columns: Mapping[str, str]
    is_table: bool


def describe(
    connection: Connection, names: Sequence[tuple[str, ...]]
) -> dict[tuple[str, ...], Stored]:
    """What the information schema says of relations named by (database, schema, identifier)."""
    known: dict[tuple[str, ...], dict[tuple[str, ...], Stored]] = {}
    schemas = sorted({parts[-2].lower() for parts in names if len(parts) > 1})
    for key, told in _listed(connection, schemas).items():
        known.setdefault(key[1:], {})[key] = told
    found: dict[tuple[str, ...], Stored] = {}
    for parts in names:
        folded = tuple(part.lower() for part in parts)
        same = known.get(folded[-2:], {})
        # An attached database may hold a relation of the same schema and name.
        stored = same.get(folded) or (next(iter(same.values())) if len(same) == 1 else None)
        if stored is not None:
            found[parts] = stored
    return found


def _listed(connection: Connection, schemas: Sequence[str]) -> dict[tuple[str, ...], Stored]:
    """The relations of ``schemas`` by (catalog, schema, name), all folded."""
    if not schemas:
        return {}
    place = ("table_catalog", "table_schema", "table_name")
    listed = exp.In(
        this=exp.Lower(this=exp.column("table_schema")),
        expressions=[exp.Literal.string(schema) for schema in schemas],
    )
    tables = exp.select(*place, "table_type")
    kinds = {
        (str(catalog).lower(), schema.lower(), name.lower()): kind
        for catalog, schema, name, kind in connection.rows(_of(tables, "tables", listed))
    }
    selected = _of(exp.select(*place, "column_name", "data_type"), "columns", listed)
    columns: dict[tuple[str, str, str], dict[str, str]] = {}
    for catalog, schema, name, column, data_type in connection.rows(
        selected.order_by(*place, "ordinal_position")
    ):
        key = (str(catalog).lower(), schema.lower(), name.lower())
        columns.setdefault(key, {})[column] = data_type
    return {key: Stored(of, kinds.get(key) == "BASE TABLE") for key, of in columns.items()}


def _of(select: exp.Select, view: str, condition: exp.Expr) -> exp.Select:
    table = exp.table_(view, db="information_schema")
    return select.from_(table).where(condition.copy())
