"""TPC-H whole and a part of TPC-DS: no influence without an edge. `fuzz --tpcds` runs them all."""

from __future__ import annotations

import pytest

from tests.oracle.check import claims_of_query, screen
from tests.oracle.tpc import Benchmark, tables_of, tpcds, tpch

#: Few tables or quick plans, and every clause of the set: rollup, grouping, windows, set
#: operations, correlated and scalar subqueries, CTEs read twice, full joins.
SOME_OF_TPCDS = (1, 3, 9, 19, 22, 32, 36, 41, 42, 44, 51, 53, 63, 89, 96)


def assert_nothing_is_missed(benchmark: Benchmark, number: int, trials: int) -> None:
    query = benchmark.queries[number - 1].rstrip().rstrip(";")
    schema = tables_of(benchmark, query)
    result = screen(query, schema, claims_of_query(query, schema), seed=number, trials=trials)
    assert not result.verdict.misses, f"{query}\n\n{result.report()}"


@pytest.mark.parametrize("number", range(1, 23))
def test_no_influence_is_missed_in_tpch(number: int) -> None:
    assert_nothing_is_missed(tpch(), number, trials=3)


@pytest.mark.parametrize("number", SOME_OF_TPCDS)
def test_no_influence_is_missed_in_tpcds(number: int) -> None:
    assert_nothing_is_missed(tpcds(), number, trials=2)


def test_the_benchmarks_are_whole() -> None:
    assert len(tpch().queries) == 22 and len(tpch().schema) == 8
    assert len(tpcds().queries) == 99 and len(tpcds().schema) == 24
