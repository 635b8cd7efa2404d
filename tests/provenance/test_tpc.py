"""TPC-H, and some of TPC-DS, rewritten: the same rows, with the witnesses that make them."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from tests.provenance.engines import tpc, tpc_queries
from tests.provenance.tpc_checks import examine

#: Rollups, windows, set operations, gates in gates, absence: the others are in ``full``.
SOME_OF_DS = (1, 6, 12, 22, 27, 36, 51, 67, 69, 78, 84, 98)


@pytest.fixture(scope="module")
def tpch() -> Iterator[duckdb.DuckDBPyConnection]:
    with tpc("h") as connection:
        yield connection


@pytest.fixture(scope="module")
def tpcds() -> Iterator[duckdb.DuckDBPyConnection]:
    with tpc("ds") as connection:
        yield connection


@pytest.mark.parametrize("number", range(1, 23))
def test_tpch_is_explained(number: int, tpch: duckdb.DuckDBPyConnection) -> None:
    record = examine(tpch, number, tpc_queries(tpch, "h")[number], rows=1)
    assert record.is_fine, record


@pytest.mark.parametrize("number", SOME_OF_DS)
def test_tpcds_is_explained(number: int, tpcds: duckdb.DuckDBPyConnection) -> None:
    record = examine(tpcds, number, tpc_queries(tpcds, "ds")[number], rows=1)
    assert record.is_fine, record
