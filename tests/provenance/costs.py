"""What asking for one row costs, as ``why`` asks for it, against the query that makes the row."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
from sqlglot import exp

from lineage_post.provenance.ask import Asker, Question
from lineage_post.provenance.dialects import render
from lineage_post.provenance.plan import make_plan
from lineage_post.provenance.relations import tables
from lineage_post.provenance.settings import Settings
from tests.provenance.engines import Row, schema_of, tpc, tpc_queries

#: So large that queries take tens of milliseconds, and so small that all of them take minutes.
SCALE = 0.1
#: The least of so many runs counts, of the original and of each statement of the question alike.
REPEATS = 5


@dataclass(frozen=True)
class Cost:
    """CPU seconds of a query, and of asking for one row of it.

    ``told``: which rows it comes from, by the question, the side queries of its gates, and the
    count where one is asked for; ``read``: the values of those rows.
    """

    name: str
    original: float
    told: float
    read: float

    @property
    def asked(self) -> float:
        """Times the original, until the witnesses are known."""
        return self.told / self.original

    @property
    def whole(self) -> float:
        """Times the original, until their values are read too: up to 10,000 rows."""
        return (self.told + self.read) / self.original


@dataclass
class _Timed:
    """A connection that adds up what its statements cost; CPU time, since machines are shared."""

    raw: duckdb.DuckDBPyConnection
    dialect: str = "duckdb"
    told: list[float] = field(default_factory=list)
    read: list[float] = field(default_factory=list)

    def rows(self, statement: exp.Expr) -> list[Row]:
        sql = render(statement, self.dialect)
        found: list[Row]
        found, seconds = _timed(lambda: list(self.raw.execute(sql).fetchall()))
        # Witness rows come by their token; all else is asked in order to know them.
        is_read = isinstance(statement, exp.Query) and statement.named_selects[0] == "_t"
        (self.read if is_read else self.told).append(seconds)
        return found

    def close(self) -> None:
        self.raw.close()


def cost(connection: duckdb.DuckDBPyConnection, name: str, sql: str) -> Cost | None:
    """The cost of asking for the middle row of a query, None where it gives none."""
    rows, _ = _timed(lambda: connection.execute(sql).fetchall())
    if not rows:
        return None
    plan = make_plan(sql, "duckdb", tables(schema_of(connection)), [], Settings())
    row = dict(zip(plan.outputs, rows[len(rows) // 2], strict=True))
    original: list[float] = []
    asked: list[_Timed] = []
    for _ in range(REPEATS):
        original.append(_timed(lambda: connection.execute(sql).fetchall())[1])
        timed = _Timed(connection)
        [answer] = Asker(plan, timed, Settings()).answer(Question(name, [row]))
        assert answer.label.value == "reproduced", (name, answer.label)
        asked.append(timed)
    told = _least([timed.told for timed in asked])
    read = _least([timed.read for timed in asked])
    return Cost(name, min(original), told, read)


def _least(runs: Sequence[Sequence[float]]) -> float:
    """The sum over statements, each at its least over all runs."""
    return sum((min(same) for same in zip(*runs, strict=True)), 0.0)


def costs(scale: float = SCALE) -> Iterator[Cost]:
    """Of every query of TPC-H and TPC-DS that gives a row, in 2 GB of memory."""
    for which in ("h", "ds"):
        with tpc(which, scale) as connection:
            for number, sql in tpc_queries(connection, which).items():
                found = cost(connection, f"{which}{number}", sql)
                if found is not None:
                    yield found


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def summed_up(found: Sequence[Cost], of: Callable[[Cost], float]) -> dict[str, float]:
    """``median``, ``p90``, ``max``, and ``q67``: TPC-DS 67, a rollup over eight keys."""
    values = [of(cost) for cost in found]
    return {
        "median": statistics.median(values),
        "p90": quantile(values, 0.9),
        "max": max(values),
        "q67": next(of(cost) for cost in found if cost.name == "ds67"),
    }


def _timed(run: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    found = run()
    return found, time.process_time() - started
