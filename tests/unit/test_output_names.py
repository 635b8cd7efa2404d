"""Outputs without an alias are called as DuckDB and SQLite call them, which are asked here."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import duckdb
import pytest

from lineage_post.trace import trace

COLUMNS = {
    "a": "integer", "b": "integer", "s": "varchar", "d": "date", "ts": "timestamp",
    "l": "integer[]", "st": "struct(x integer, y varchar)", "m": "map(varchar, integer)",
    "p": "boolean", "f": "double", "n": "decimal(10, 2)", "Mixed": "integer", "year": "integer",
    "two words": "integer",
}  # fmt: skip
EXPRESSIONS = (
    "a + b", "-a", "- - a", "-(a + b)", "a - (b - 1)", "a + b + 1", "a + b * 2", "a // b", "a ** 2",
    "a & b", "a % 2", "mod(a, 2)", "pow(a, 2)", "s || 'x' || 'y'", '"Mixed" + 1', "t.a + t.b",
    "year + 1", "max(year)", "t.year", '"two words" * 2', '"year"', '"two words"',
    "a > b", "a <> b", "a != b", "a = b and p", "a = 1 and b = 2 and p", "p or p and p",
    "(a > 1 and b > 2) or a < 3 and b < 4", "not p", "not a > b", "not a = b", "not (p and p)",
    "a is null", "a is not null", "a is distinct from b", "a is not distinct from b",
    "a in (1, 2)", "a not in (1, 2)", "a between 1 and 2", "a not between 1 and 2",
    "s like 'x%'", "s not like 'x%'", "s ilike 'x%'", "not (s like 'x%')", "s glob 'x'",
    "case when p then a else b end", "case when a > 1 then 1 when b > 2 then 2 end",
    "case a when 1 then 2 end", "if(p, 1, 2)", "coalesce(a, b)", "ifnull(a, 1)", "nullif(a, 1)",
    "cast(a as varchar)", "a::double", "s::date", "try_cast(s as int)", "a::int::varchar",
    "a::varchar || s", "cast(null as decimal(10, 2))", "date_trunc('day', ts)::date",
    "left(s, 2)", "right(s, 2)", "substring(s, 1, 2)", "trim(s)", "upper(s)", "lower(trim(s))",
    "date_trunc('month', ts)", "DATE_TRUNC('month',ts)", "date_part('year', ts)", "year(ts)",
    "extract(year from ts)", "date_diff('day', d, d)", "datediff('day', d, d)",
    "strftime(ts,'%Y')", "ts at time zone 'UTC'", "now()", "epoch(ts)",
    "COUNT(*)", "count(distinct a)", "count(*) filter (where p)", "sum(a) filter (where b > 1)",
    "sum(distinct a)", "max(a) - min(b)", "sum(a) / count(*)", "array_agg(a order by b desc)",
    "array_agg(a order by b desc nulls first)", "array_agg(distinct a order by a)",
    "100.0 * sum(a) / nullif(sum(b), 0)", "coalesce(sum(a), 0)", "sum(case when p then a end)",
    "arg_max(a,b)", "any_value(a)", "first(a)", "last(a)", "bool_or(p)",
    "row_number() over (partition by a order by b)", "lag(a) over (order by b)",
    "sum(a) over (partition by a, b order by b desc nulls last)",
    "SUM(a) over (order by b rows between 1 preceding and current row)",
    "first_value(a ignore nulls) over (order by b)",
    "l[1]", "l[1:2]", "m['k']", "[1, 2]", "{'x': a}", "struct_pack(x := a)", "row(a, b)",
    "list_transform(l, x -> x + 1)", "list_contains(l, 1)", "list_value(1, a)",
    "json_extract(s, '$.x')", "greatest(a, b)", "round(f, 2)", "concat_ws(',', s, s)",
    "'lit'", "1", "1.5", "null", "true", "md5(s)",
)  # fmt: skip


#: SQLite takes the text as it is, as MySQL does.
AS_WRITTEN = (
    "a+1", "a  + 1", "count(*)", "SUM(a)", "max( a )", "case when a>1 then 2 end", "not a", "-a",
    "cast(a as text)", "'x'", "a>1 and s='x'", "(select max(a) from t)", "a in (1,2)", "(a+1)",
    "lower( trim(s) )", "sum(a) over (order by b)", "count(distinct a)", "exists(select 1)",
)  # fmt: skip


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        columns = ", ".join(f'"{name}" {kind}' for name, kind in COLUMNS.items())
        connection.execute(f"create table t ({columns})")
        yield connection


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_name_is_that_of_duckdb(engine: duckdb.DuckDBPyConnection, expression: str) -> None:
    sql = f"select {expression} from t"
    (column,) = engine.execute(sql).description or ()
    (output,) = trace(sql, dialect="duckdb", schema={"t": COLUMNS}).outputs
    assert output.name == column[0]


@pytest.mark.parametrize("expression", AS_WRITTEN)
def test_the_name_is_that_of_sqlite(expression: str) -> None:
    sql = f"select {expression} from t"
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (a integer, b integer, s text)")
    name = connection.execute(sql).description[0][0]
    connection.close()
    for dialect in ("sqlite", "mysql"):
        (output,) = trace(sql, dialect=dialect, schema={"t": COLUMNS}).outputs
        assert output.name == name
