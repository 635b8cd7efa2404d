"""A DuckDB database that holds many versions of every table at once.

A table is a view over rows marked with a version; which version each view shows is a variable. So
a trial loads all its changed tables with one insert, and the query's text stays as it was written.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

import duckdb

from tests.oracle.kinds import Kind, literal

Row = tuple[Any, ...]
Rows = Sequence[Row]
MAX_ROWS = 20_000


class QueryFailed(Exception):
    """The engine refused the query on these data, or it gave too much."""


def quoted(name: str) -> str:
    """The name as a quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


def comparable(value: Any) -> Any:
    """The value in a hashable form in which equal results are equal."""
    if isinstance(value, float):
        return str(value) if math.isnan(value) or math.isinf(value) else float(f"{value:.9g}")
    if isinstance(value, Decimal):
        return value.normalize()
    if isinstance(value, list):
        return tuple(comparable(item) for item in value)
    if isinstance(value, dict):
        return tuple((key, comparable(item)) for key, item in value.items())
    return bytes(value) if isinstance(value, bytearray) else value


@dataclass(frozen=True)
class Result:
    """The rows a query gave."""

    names: tuple[str, ...]
    rows: list[Row]

    @cached_property
    def joint(self) -> Counter[Row]:
        return Counter(self.rows)

    @cached_property
    def columns(self) -> list[list[Any]]:
        return [list(column) for column in zip(*self.rows)] if self.rows else [[] for _ in self.names]

    @cached_property
    def bags(self) -> list[Counter[Any]]:
        return [Counter(column) for column in self.columns]


@dataclass
class Database:
    """The tables of ``schema`` ({table: {column: kind}}), empty until ``load``."""

    schema: Mapping[str, Mapping[str, Kind]]
    timeout: float = 2.0
    connection: duckdb.DuckDBPyConnection = field(default_factory=duckdb.connect)
    _variables: dict[str, str] = field(default_factory=dict)
    _shown: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.connection.execute("set threads = 1; set memory_limit = '1GB'; set timezone = 'UTC'")
        self.connection.execute("set allow_persistent_secrets = false; set autoinstall_known_extensions = false")
        for number, table in enumerate(self.schema):
            self._variables[table] = f"version_{number}"
            try:
                self._create(table)
            except duckdb.Error as fault:
                raise QueryFailed(str(fault)) from fault

    def close(self) -> None:
        self.connection.close()

    def _create(self, table: str) -> None:
        parts = [quoted(part) for part in table.split("\x1f")]
        if len(parts) == 3:
            self.connection.execute(f"attach if not exists ':memory:' as {parts[0]}")
        if len(parts) > 1:
            self.connection.execute(f"create schema if not exists {'.'.join(parts[:-1])}")
        columns = ", ".join(f"{quoted(name)} {kind.sql}" for name, kind in self.schema[table].items())
        names = ", ".join(quoted(name) for name in self.schema[table])
        store, view = self._store(table), ".".join(parts)
        self.connection.execute(f"create table {store} (__version integer, {columns})")
        self.connection.execute(
            f"create view {view} as select {names} from {store} "
            f"where __version = getvariable('{self._variables[table]}')"
        )

    def _store(self, table: str) -> str:
        *path, name = table.split("\x1f")
        return ".".join(quoted(part) for part in (*path, f"__rows_of_{name}"))

    def clear(self) -> None:
        """Forget all versions."""
        for table in self.schema:
            self.connection.execute(f"truncate {self._store(table)}")
        self._show({})

    def load(self, table: str, versions: Mapping[int, Rows]) -> None:
        """Add versions of a table. Raises QueryFailed when a value does not fit its type."""
        kinds = list(self.schema[table].values())
        tuples = [
            f"({version}, {', '.join(literal(value, kind) for value, kind in zip(row, kinds))})"
            for version, rows in versions.items()
            for row in rows
        ]
        if tuples:
            try:
                self.connection.execute(f"insert into {self._store(table)} values {', '.join(tuples)}")
            except duckdb.Error as fault:
                raise QueryFailed(str(fault)) from fault

    def run(self, sql: str, versions: Mapping[str, int] | None = None) -> Result:
        """The query's result where the tables show the given versions, 0 if not named."""
        self._show(versions or {})
        timer = threading.Timer(self.timeout, self.connection.interrupt)
        timer.start()
        try:
            cursor = self.connection.execute(sql)
            rows = cursor.fetchmany(MAX_ROWS + 1)
            names = tuple(column[0] for column in cursor.description or ())
        except duckdb.Error as fault:
            raise QueryFailed(str(fault)) from fault
        finally:
            timer.cancel()
        if len(rows) > MAX_ROWS:
            raise QueryFailed("too many rows")
        return Result(names, [tuple(comparable(value) for value in row) for row in rows])

    def _show(self, versions: Mapping[str, int]) -> None:
        for table, variable in self._variables.items():
            version = versions.get(table, 0)
            if self._shown.get(table) != version:
                self.connection.execute(f"set variable {variable} = {version}")
                self._shown[table] = version


def table_key(parts: Iterable[str]) -> str:
    """The key of a table in a Database: its name parts, which may hold dots."""
    return "\x1f".join(parts)
