"""The rewritten queries in the dialects of warehouses that are not here, by parsing them back."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from lineage_post.provenance.dialects import render
from lineage_post.provenance.prepare import prepare
from lineage_post.provenance.relations import tables
from lineage_post.provenance.rewriter import Rewriter
from tests.provenance.engines import cases, schema_of, small

DIALECTS = ("snowflake", "bigquery", "spark", "databricks", "redshift", "trino")
#: What only DuckDB has.
OWN = ("unnest", "asof", "generate_series")
PORTABLE = [
    case for case in cases() if case.refused is None and not any(word in case.sql for word in OWN)
]


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with small() as opened:
        yield opened


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_rewritten_query_parses_back(
    dialect: str, connection: duckdb.DuckDBPyConnection
) -> None:
    for case in PORTABLE:
        prepared = prepare(case.sql, "duckdb", tables(schema_of(connection), stored=False))
        rewritten = Rewriter(prepared, gating=False).rewrite()
        sql = render(rewritten.query, dialect)
        back = sqlglot.parse_one(sql, dialect=dialect)
        assert isinstance(back, exp.Query), (case.name, sql)
        assert names(back) == names(rewritten.query), case.name


def names(query: exp.Expr) -> list[str]:
    assert isinstance(query, exp.Query)
    return [name.lower() for name in query.named_selects]
