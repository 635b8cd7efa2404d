"""A DuckDB database that holds many versions of every table at once.

A table is a view over rows marked with a version, and shows the version that a table of one row
names. So a trial loads all its changed tables with one insert, the query's text stays as it was
written, and the query is planned once and runs again and again.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import duckdb

from tests.oracle.kinds import Kind, literal

Row = tuple[Any, ...]
Rows = Sequence[Row]
MAX_ROWS = 20_000
MOST_LOADED = 3_000


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
        return (
            [list(column) for column in zip(*self.rows)] if self.rows else [[] for _ in self.names]
        )

    @cached_property
    def bags(self) -> list[Counter[Any]]:
        return [Counter(column) for column in self.columns]


class Watchdog:
    """Interrupts a connection whose query runs past its deadline."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._deadline: float | None = None
        self._stopped = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def start(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds

    def end(self) -> None:
        self._deadline = None

    def stop(self) -> None:
        self._stopped.set()

    def _watch(self) -> None:
        while not self._stopped.wait(0.05):
            deadline = self._deadline
            if deadline is not None and time.monotonic() > deadline:
                self._deadline = None
                self._connection.interrupt()


class Database:
    """The tables of ``schema`` ({table: {column: kind}}), empty until ``load``.

    Raises QueryFailed where DuckDB cannot have such tables.
    """

    #: Plans outlive the data they were made for, so they must not lean on its statistics.
    SETTINGS = """
        set threads = 1; set memory_limit = '1GB'; set timezone = 'UTC';
        set disabled_optimizers = 'statistics_propagation';
    """

    def __init__(self, schema: Mapping[str, Mapping[str, Kind]], timeout: float = 2.0) -> None:
        self.schema = schema
        self.timeout = timeout
        self.is_broken = False
        self.connection = duckdb.connect()
        self._dog = Watchdog(self.connection)
        self._shown: dict[str, int] = {}
        self._plans: dict[str, str] = {}
        self._newest = 0
        self._loaded = 0
        try:
            self.connection.execute(self.SETTINGS)
            self._columns = {table: f"version_{at}" for at, table in enumerate(schema)}
            shown = ", ".join(f"0 as {column}" for column in self._columns.values()) or "0 as none"
            self.connection.execute(f"create table __shown as select {shown}")
            for table in schema:
                self._create(table)
        except duckdb.Error as fault:
            self.close()
            raise QueryFailed(str(fault)) from fault

    def close(self) -> None:
        self._dog.stop()
        self.connection.close()

    def _create(self, table: str) -> None:
        parts = [quoted(part) for part in table.split("\x1f")]
        if len(parts) == 3:
            self.connection.execute(f"attach if not exists ':memory:' as {parts[0]}")
        if len(parts) > 1:
            self.connection.execute(f"create schema if not exists {'.'.join(parts[:-1])}")
        columns = ", ".join(
            f"{quoted(name)} {kind.sql}" for name, kind in self.schema[table].items()
        )
        names = ", ".join(quoted(name) for name in self.schema[table])
        self.connection.execute(f"create table {_store(table)} (__version integer, {columns})")
        self.connection.execute(
            f"create view {'.'.join(parts)} as select {names} from {_store(table)} "
            f"where __version in (select {self._columns[table]} from memory.main.__shown)"
        )

    def clear(self) -> None:
        """Forget all versions and plans."""
        self._truncate()
        for plan in self._plans.values():
            if plan.startswith("execute "):
                self.connection.execute(f"deallocate {plan.removeprefix('execute ')}")
        self._plans = {}

    def _truncate(self) -> None:
        """Raises QueryFailed where an earlier query has broken the database."""
        try:
            for table in self.schema:
                self.connection.execute(f"truncate {_store(table)}")
        except duckdb.Error as fault:
            self.is_broken = True
            raise QueryFailed(str(fault)) from fault

    def next_version(self, count: int = 1) -> int:
        """A number that no version has yet, the first of ``count`` such numbers in a row."""
        self._newest += count
        return self._newest - count + 1

    def make_room(self) -> None:
        """Forget old versions once there are many: scans read them all."""
        if self._loaded > MOST_LOADED:
            self._loaded = 0
            self._truncate()

    def load(self, table: str, versions: Mapping[int, Rows]) -> None:
        """Add versions of a table. Raises QueryFailed when a value does not fit its type."""
        kinds = list(self.schema[table].values())
        tuples = [
            f"({version}, {', '.join(literal(value, kind) for value, kind in zip(row, kinds))})"
            for version, rows in versions.items()
            for row in rows
        ]
        self._loaded += len(tuples)
        if tuples:
            try:
                self.connection.execute(f"insert into {_store(table)} values {', '.join(tuples)}")
            except duckdb.Error as fault:
                raise QueryFailed(str(fault)) from fault

    def run(self, sql: str, versions: Mapping[str, int] | None = None) -> Result:
        """The query's result where the tables show the given versions; others are empty."""
        self._dog.start(self.timeout)
        try:
            self._show(versions or {})
            plan = self._plan(sql)
            cursor = self.connection.execute(plan)
            rows = cursor.fetchmany(MAX_ROWS + 1)
            names = tuple(column[0] for column in cursor.description or ())
        except duckdb.Error as fault:
            # some random queries meet a fault of the engine itself, which ends the whole database
            self.is_broken |= isinstance(fault, (duckdb.FatalException, duckdb.InternalException))
            raise QueryFailed(str(fault)) from fault
        finally:
            self._dog.end()
        if len(rows) > MAX_ROWS:
            raise QueryFailed("too many rows")
        return Result(names, [tuple(comparable(value) for value in row) for row in rows])

    def _plan(self, sql: str) -> str:
        """The text that executes the query: its plan where it can be prepared."""
        if sql not in self._plans:
            name = f"plan_{len(self._plans)}"
            try:
                self.connection.execute(f"prepare {name} as {sql}")
                self._plans[sql] = f"execute {name}"
            except duckdb.Error:  # a pivot over unknown values cannot be prepared
                self._plans[sql] = sql
        return self._plans[sql]

    def _show(self, versions: Mapping[str, int]) -> None:
        wanted = {column: versions.get(table, 0) for table, column in self._columns.items()}
        changes = [f"{c} = {v}" for c, v in wanted.items() if self._shown.get(c, 0) != v]
        if changes:
            self.connection.execute(f"update __shown set {', '.join(changes)}")
            self._shown = wanted


def _store(table: str) -> str:
    """The table of all versions, beside the view."""
    *path, name = table.split("\x1f")
    return ".".join(quoted(part) for part in (*path, f"__rows_of_{name}"))


def table_key(parts: Iterable[str]) -> str:
    """The key of a table in a Database: its name parts, which may hold dots."""
    return "\x1f".join(parts)
