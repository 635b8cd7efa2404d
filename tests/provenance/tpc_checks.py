"""One TPC query examined: what the full run reports and what the small one asserts."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
from sqlglot import exp

from lineage_post.provenance.building import derived, output
from lineage_post.provenance.connection import DuckDb
from lineage_post.provenance.expansion import Expander, lifted
from lineage_post.provenance.literals import same_row
from lineage_post.provenance.polynomial import parse
from tests.provenance.checks import Examined, is_same
from tests.provenance.engines import Row


@dataclass
class Record:
    """What was found of one query; ``unwitnessed`` rows are reported to have no witness."""

    number: int
    rows: int = 0
    same: bool = False
    sufficient: int = 0
    necessary: int = 0
    examined: int = 0
    unwitnessed: int = 0
    claims: int = 0
    wrong_claims: int = 0
    error: str = ""

    @property
    def is_fine(self) -> bool:
        return (
            not self.error
            and self.same
            and self.sufficient == self.examined
            and self.necessary + self.unwitnessed == self.examined
            and not self.wrong_claims
        )


def examine(
    connection: duckdb.DuckDBPyConnection, number: int, sql: str, *, rows: int = 5
) -> Record:
    """A query, and up to ``rows`` of its rows."""
    record = Record(number)
    try:
        examined = Examined(connection, sql)
        record.rows, record.same = len(examined.original), examined.same_bag()
        for row in _some(examined.rows, rows):
            witnesses = examined.witnesses(row)
            record.examined += 1
            record.sufficient += examined.is_sufficient(row, witnesses)
            if not witnesses:
                record.unwitnessed += 1
            else:
                record.necessary += examined.is_necessary(row, witnesses)
        _claims(connection, sql, rows, record)
    except Exception as error:
        record.error = f"{type(error).__name__}: {str(error)[:200]}"
    return record


def _claims(connection: duckdb.DuckDBPyConnection, sql: str, rows: int, record: Record) -> None:
    celled = Examined(connection, sql, cells=True)
    if not celled.same_bag():
        record.error = "with cells the rows differ"
    for value, source in celled.claims(_some(celled.rows, rows)):
        record.claims += 1
        record.wrong_claims += not is_same(value, source)


def _some(rows: Sequence[Row], most: int) -> Sequence[Row]:
    return random.Random(5).sample(list(rows), min(most, len(rows)))


@dataclass(frozen=True)
class Ratio:
    """Times in CPU seconds: the original, the rewritten query for one row, and its side queries."""

    number: int
    original: float
    rewritten: float
    sides: float

    @property
    def asked(self) -> float:
        return (self.rewritten + self.sides) / self.original


def ratio(
    connection: duckdb.DuckDBPyConnection, number: int, sql: str, repeats: int = 3
) -> Ratio | None:
    """The cost of asking for one row, against the original query; None for a query without rows."""
    examined = Examined(connection, sql)
    if not examined.rows:
        return None
    row = examined.rows[len(examined.rows) // 2]
    names = examined.rewritten.names
    columns = {name: output(name, "_ask") for name in names}
    condition = same_row(columns, dict(zip(names, row, strict=False)))
    asked = exp.select("*").from_(derived(examined.rewritten.query.copy(), "_ask"))
    statement = lifted(asked.where(condition)).sql("duckdb")
    engine = _Timed(connection)
    original = min(engine.time(sql) for _ in range(repeats))
    rewritten = min(engine.time(statement) for _ in range(repeats))
    found = connection.execute(statement).fetchall()
    sides = []
    for _ in range(repeats):
        engine.spent = 0.0
        expander = Expander(examined.rewritten.gates, engine.rows, "duckdb", limit=10**9)
        expander.expand([parse(r[len(names)]) for r in found])
        sides.append(engine.spent)
    return Ratio(number, original, rewritten, min(sides))


class _Timed:
    """A connection that adds up what its queries cost; CPU time, since the machine is shared."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.spent = 0.0

    def time(self, sql: str) -> float:
        started = time.process_time()
        self.connection.execute(sql).fetchall()
        return time.process_time() - started

    def rows(self, statement: exp.Expr) -> list[Row]:
        sql = statement.sql("duckdb")
        started = time.process_time()
        found = DuckDb(self.connection).raw.execute(sql).fetchall()
        self.spent += time.process_time() - started
        return list(found)


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
