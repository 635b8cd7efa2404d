"""The rewritten queries in the dialects of warehouses that are not here, by parsing them back."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from lineage_post.provenance.dialects import render
from lineage_post.provenance.prepare import prepare
from lineage_post.provenance.relations import NamedRelations, tables
from lineage_post.provenance.rewriter import Rewriter
from tests.oracle.tpc import tpcds, tpch
from tests.provenance.engines import cases, schema_of, small
from tests.provenance.rendering import DIALECTS, faults, relations

#: What only DuckDB has.
OWN = ("unnest", "asof", "generate_series")
PORTABLE = [
    case for case in cases() if case.refused is None and not any(word in case.sql for word in OWN)
]


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with small() as opened:
        yield opened


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """What sqlglot says of constructs that a dialect lacks is looked at, not read."""
    caplog.set_level(logging.CRITICAL, logger="sqlglot")


@pytest.fixture(scope="module")
def rewritten(connection: duckdb.DuckDBPyConnection) -> dict[str, exp.Expr]:
    """The operators' cases, rewritten in DuckDB's dialect."""
    known = tables(schema_of(connection), stored=False)
    prepared = {case.name: prepare(case.sql, "duckdb", known) for case in PORTABLE}
    return {name: Rewriter(p, gating=False).rewrite().query for name, p in prepared.items()}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_rewritten_query_parses_back(dialect: str, rewritten: dict[str, exp.Expr]) -> None:
    for name, query in rewritten.items():
        sql = render(query, dialect)
        back = sqlglot.parse_one(sql, dialect=dialect)
        assert isinstance(back, exp.Query), (name, sql)
        assert names(back) == names(query), name


def names(query: exp.Expr) -> list[str]:
    assert isinstance(query, exp.Query)
    return [name.lower() for name in query.named_selects]


Query = tuple[str, str, NamedRelations]


def operators(connection: duckdb.DuckDBPyConnection, dialect: str) -> list[Query]:
    """(name, SQL, relations) of every operator's case."""
    known = relations(schema_of(connection), dialect)
    return [(case.name, case.sql, known) for case in PORTABLE]


def benchmarks(dialect: str) -> list[Query]:
    """The same of the queries of TPC-H and TPC-DS."""
    found: list[Query] = []
    for benchmark in (tpch(), tpcds()):
        known = relations(benchmark.schema, dialect)
        found += [
            (f"{benchmark.name} {number}", sql.strip().rstrip(";"), known)
            for number, sql in enumerate(benchmark.queries, 1)
        ]
    return found


@pytest.mark.parametrize("dialect", DIALECTS)
def test_queries_rewritten_in_a_dialect_parse_back_to_the_same_tree(
    dialect: str, connection: duckdb.DuckDBPyConnection
) -> None:
    """Some of the queries in each dialect; ``make test-long`` takes all of them in all."""
    first = DIALECTS.index(dialect)
    part = operators(connection, dialect)[first::12] + benchmarks(dialect)[first::48]
    found = {name: list(faults(sql, dialect, known)) for name, sql, known in part}
    assert len(found) >= 8
    assert not {name: said for name, said in found.items() if said}


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_query_rewritten_in_a_dialect_parses_back_to_the_same_tree(
    dialect: str, connection: duckdb.DuckDBPyConnection
) -> None:
    every = operators(connection, dialect) + benchmarks(dialect)
    found = {name: list(faults(sql, dialect, known)) for name, sql, known in every}
    assert len(found) > 22 + 99 + 80
    assert not {name: said for name, said in found.items() if said}
