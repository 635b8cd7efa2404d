"""Postgres gives the witnesses that DuckDB gives, for all of TPC-H."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from lineage_post.provenance.connection import Connection, DuckDb, Postgres
from lineage_post.provenance.expansion import Expander
from lineage_post.provenance.polynomial import parse
from lineage_post.provenance.prepare import prepare
from lineage_post.provenance.relations import tables
from lineage_post.provenance.rewriter import Rewriter
from tests.provenance.checks import normal
from tests.provenance.engines import schema_of, tpc, tpc_queries
from tests.provenance.postgres import KEYS, copy_tables, server


@pytest.fixture(scope="module")
def engines() -> Iterator[tuple[duckdb.DuckDBPyConnection, Any]]:
    with tpc("h") as local, server() as remote:
        copy_tables(local, remote)
        yield local, remote


@pytest.mark.parametrize("number", range(1, 23))
def test_tpch_has_the_same_witnesses(
    number: int, engines: tuple[duckdb.DuckDBPyConnection, Any]
) -> None:
    local, remote = engines
    sql = tpc_queries(local, "h")[number]
    here = _witnesses(DuckDb(local), sql, local)
    there = _witnesses(Postgres(remote, timeout=120), sql, local)
    assert here == there


def _witnesses(
    connection: Connection, sql: str, schema: duckdb.DuckDBPyConnection
) -> list[tuple[str, list[str]]]:
    """Some rows with their witnesses, comparable between engines."""
    prepared = prepare(sql, connection.dialect, tables(schema_of(schema), KEYS))
    rewritten = Rewriter(prepared).rewrite()
    width = len(rewritten.names)
    rows = sorted(
        connection.rows(rewritten.query), key=lambda row: repr([_text(v) for v in row[:width]])
    )
    found = []
    for row in rows[:3]:
        polynomial = parse(row[width])
        expander = Expander(rewritten.gates, connection.rows, connection.dialect, limit=10**9)
        expansion = expander.expand([polynomial])
        assert not expansion.lost
        leaves = sorted(str(token) for token in expansion.leaves(polynomial))
        found.append((repr([_text(value) for value in row[:width]]), leaves))
    return found


def _text(value: Any) -> Any:
    # Years are numeric in one engine and whole numbers in the other.
    value = float(value) if isinstance(value, int) else value
    return value.strip() if isinstance(value, str) else normal(value)
