"""The cost of one query: the parse alone, the parse with all edges, and sqlglot's own lineage.

Some queries are run by each contender in turn, several times, and the least CPU time counts:
what else the machine does then weighs on all of them alike. Python's collector is on throughout and
looks once more at the end, at what the contender made alone: each pays for all of its garbage.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot.lineage import lineage as sqlglot_lineage
from sqlglot.schema import MappingSchema

from lineage_post.trace import SchemaIndex, trace
from tests.bench.projects import make_tables
from tests.oracle.tpc import tpcds

DIALECT = "duckdb"
#: So many queries are timed at once: short enough to find a quiet moment on a busy machine.
CHUNK = 5
PARSE = "sqlglot: parse only"
EDGES = "lineage_post.trace, without expressions"
EXPRESSIONS = "lineage_post.trace, with expressions"
BEST = "sqlglot.lineage, its best setting"
DEFAULT = "sqlglot.lineage, its default"

Schema = Mapping[str, Mapping[str, str]]
Contender = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Workload:
    """Queries over one schema."""

    name: str
    queries: Sequence[str]
    schema: Schema


def workloads() -> tuple[Workload, ...]:
    """TPC-DS, and SQL as dbt models have it."""
    decision_support = tpcds()
    tables = make_tables(300)
    models = tuple(table.sql for table in tables if table.sql)
    schema = {".".join(table.parts): dict.fromkeys(table.columns, "bigint") for table in tables}
    return (
        Workload("TPC-DS", decision_support.queries, decision_support.schema),
        Workload("model-like SQL", models, schema),
    )


def milliseconds(
    workload: Workload, *, rounds: int = 5, with_default: bool = True
) -> dict[str, float]:
    """The mean CPU time of a query by each contender, in milliseconds."""
    contenders = _contenders(workload.schema)
    if not with_default:
        del contenders[DEFAULT]
    totals = dict.fromkeys(contenders, 0.0)
    for first in range(0, len(workload.queries), CHUNK):
        for name, seconds in _least(contenders, workload.queries[first : first + CHUNK], rounds):
            totals[name] += seconds
    return {name: total / len(workload.queries) * 1_000 for name, total in totals.items()}


def _least(
    contenders: Mapping[str, Contender], queries: Sequence[str], rounds: int
) -> Iterator[tuple[str, float]]:
    least = dict.fromkeys(contenders, float("inf"))
    for number in range(rounds):
        for name, contender in contenders.items():
            # Once is enough for what takes a hundred times the others.
            if name != DEFAULT or number == 0:
                least[name] = min(least[name], _seconds(contender, queries))
    yield from least.items()


def _seconds(contender: Contender, queries: Sequence[str]) -> float:
    gc.collect()
    gc.freeze()
    try:
        start = time.process_time()
        for query in queries:
            contender(query)
        gc.collect()
        return time.process_time() - start
    finally:
        gc.unfreeze()


def _contenders(schema: Schema) -> dict[str, Contender]:
    index = SchemaIndex(DIALECT)
    theirs = MappingSchema(dialect=DIALECT)
    for name, columns in schema.items():
        index.add(tuple(name.split(".")), columns)
        theirs.add_table(name, dict(columns), dialect=DIALECT)
    dialect = sqlglot.Dialect.get_or_raise(DIALECT)
    return {
        PARSE: dialect.parse,
        EDGES: lambda sql: trace(sql, dialect=DIALECT, schema=index, expressions=False),
        EXPRESSIONS: lambda sql: trace(sql, dialect=DIALECT, schema=index),
        BEST: lambda sql: sqlglot_leaves(sql, theirs, DIALECT),
        DEFAULT: lambda sql: sqlglot_lineage(None, sql, theirs, dialect=DIALECT),
    }


def sqlglot_leaves(sql: str, schema: MappingSchema, dialect: str) -> int:
    """The edges by ``sqlglot.lineage`` at its best: all columns of one tree, nothing copied."""
    nodes = sqlglot_lineage(None, sql, schema, dialect=dialect, trim_selects=False, copy=False)
    return sum(len({id(n) for n in node.walk() if not n.downstream}) for node in nodes.values())
