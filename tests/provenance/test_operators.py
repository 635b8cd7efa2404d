"""Each operator's rule, judged by running the query on changed tables."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from lineage_post.provenance.algebra import Counts
from lineage_post.provenance.connection import DuckDb
from lineage_post.provenance.prepare import prepare
from lineage_post.provenance.refusal import Refusal
from lineage_post.provenance.relations import tables
from lineage_post.provenance.rewriter import Rewriter
from tests.provenance.checks import Examined, bag, is_same
from tests.provenance.engines import Case, cases, schema_of, small

REWRITTEN = [case for case in cases() if case.refused is None]
REFUSED = [case for case in cases() if case.refused is not None]
MONOTONE = [case for case in REWRITTEN if case.monotone]
TRIALS = 6


def named(case: Case) -> str:
    return case.name


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with small() as opened:
        yield opened


@pytest.mark.parametrize("gating", [True, False], ids=["gates", "inline"])
@pytest.mark.parametrize("case", REWRITTEN, ids=named)
def test_a_rewritten_query_gives_the_same_bag_of_rows(
    case: Case, gating: bool, connection: duckdb.DuckDBPyConnection
) -> None:
    assert Examined(connection, case.sql, gating=gating, cells=True, terms=True).same_bag()


@pytest.mark.parametrize("case", REWRITTEN, ids=named)
def test_a_counted_query_gives_the_same_bag_of_rows(
    case: Case, connection: duckdb.DuckDBPyConnection
) -> None:
    prepared = prepare(case.sql, "duckdb", tables(schema_of(connection)))
    counted = Rewriter(prepared, Counts()).rewrite()
    rows = DuckDb(connection).rows(counted.query)
    original = connection.execute(case.sql).fetchall()
    assert bag(row[: len(counted.names)] for row in rows) == bag(original)
    assert all(row[len(counted.names)] >= 0 for row in rows)


@pytest.mark.parametrize("gating", [True, False], ids=["gates", "inline"])
@pytest.mark.parametrize("case", REWRITTEN, ids=named)
def test_witnesses_are_sufficient_and_necessary(
    case: Case, gating: bool, connection: duckdb.DuckDBPyConnection
) -> None:
    examined = Examined(connection, case.sql, gating=gating)
    for row in examined.rows[:3]:
        witnesses = examined.witnesses(row)
        assert examined.is_sufficient(row, witnesses), (row, witnesses)
        if witnesses:
            assert examined.is_necessary(row, witnesses), (row, witnesses)


@pytest.mark.parametrize("gating", [True, False], ids=["gates", "inline"])
@pytest.mark.parametrize("case", MONOTONE, ids=named)
def test_a_polynomial_foretells_every_deletion(
    case: Case, gating: bool, connection: duckdb.DuckDBPyConnection
) -> None:
    examined = Examined(connection, case.sql, gating=gating)
    assert all(examined.deletion_trials(TRIALS, seed=11))


@pytest.mark.parametrize("case", REWRITTEN, ids=named)
def test_a_copied_value_equals_the_cells_it_is_copied_from(
    case: Case, connection: duckdb.DuckDBPyConnection
) -> None:
    examined = Examined(connection, case.sql, cells=True)
    wrong = [pair for pair in examined.claims(examined.rows) if not is_same(*pair)]
    assert not wrong


AGGREGATES = [
    "select k, sum(v) as s, count(*) as n, min(v) as l, max(v) as h, avg(v) as m from a group by k",
    "select count(*) as n, sum(v) as s from a",
    "select k, sum(v) filter (where s = 'x') as f, count(distinct s) as d from a group by k",
    "select k, s, sum(v) as v, count(v) as n from a group by rollup (k, s)",
    "with g as (select k, sum(v) as s, count(*) as n from a group by k) select n, k, s from g",
    "select b.id, g.s from b join (select k, sum(v) as s from a group by k) g on g.k = b.k",
    "select distinct n from (select k, count(*) as n from a group by k)",
]


@pytest.mark.parametrize("sql", AGGREGATES)
def test_the_terms_of_an_aggregate_add_up_to_it(
    sql: str, connection: duckdb.DuckDBPyConnection
) -> None:
    examined = Examined(connection, sql, terms=True)
    assert examined.same_bag()
    assert all(examined.terms_agree(row) for row in examined.rows)


@pytest.mark.parametrize("case", REFUSED, ids=named)
def test_a_refusal_names_the_operator_and_the_line(
    case: Case, connection: duckdb.DuckDBPyConnection
) -> None:
    with pytest.raises(Refusal) as caught:
        prepared = prepare(case.sql, "duckdb", tables(schema_of(connection)))
        Rewriter(prepared).rewrite()
    assert (caught.value.operator, caught.value.line) == case.refused
