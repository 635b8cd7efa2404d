"""Text that is deep, long, hostile or wrong: a result or an unknown, never an exception."""

from __future__ import annotations

import sys

import pytest

from lineage_post.errors import OptionError
from lineage_post.trace import trace, trace_script
from lineage_post.trace.limits import BARE_JOIN_LIMIT, NESTING_LIMIT
from lineage_post.vocabulary import Reason, State
from tests.cases.reading import all_cases

COLUMNS = {f"a{i}": "int" for i in range(5)}
DEEP = 5_000
TOO_DEEP = {
    "parentheses": "select " + "(" * DEEP + "a0" + ")" * DEEP + " from t",
    "functions": "select " + "abs(" * DEEP + "a0" + ")" * DEEP + " from t",
    "case": "select " + "case when a0 > 1 then a1 else " * DEEP + "0" + " end" * DEEP + " from t",
    "derived tables": "select * from " + "(select * from " * DEEP + "t" + ")" * DEEP,
    "negations": "select " + "not " * DEEP + "a0 from t",
    "brackets": "select " + "[" * DEEP + "a0" + "]" * DEEP + " from t",
    "subscripts": "select a0" + "[1]" * DEEP + " from t",
    "lambdas": "select f(" + "x -> " * DEEP + "a0) from t",
    "joins without a condition": "select 1 from t t0"
    + "".join(f" left join t t{i}" for i in range(1, 60)),
}
LONG = {
    "concatenations": "select " + " || ".join(f"a{i % 5}" for i in range(3_000)) + " as x from t",
    "conditions": "select a0 from t where " + " and ".join(f"a{i % 5} > {i}" for i in range(3_000)),
    "union of 200 arms": " union all ".join(["select a0, a1 from t"] * 200),
    "chain of 200 ctes": "with c0 as (select * from t)"
    + "".join(f", c{i} as (select *, a0 + 1 as b{i} from c{i - 1})" for i in range(1, 200))
    + " select * from c199",
    "5,000 lines": "select\n"
    + ",\n".join(f"a{i % 5} + {i} as c{i}" for i in range(5_000))
    + " from t",
    "aliases that build on aliases": "select a0 + 1 as b0"
    + "".join(f", b{i} + 1 as b{i + 1}" for i in range(500))
    + " from t",
}
HOSTILE = [
    "", ";", "select", "select from", "with", "select * from", "))))((((", "\x00\x01\x02", "'",
    '"', "/*", "select 'unterminated", "{{ ref('x') }}", "select 1 as \"<svg onload=alert(1)>\"",
    "select \U0001f600 from \U0001f4a9", "drop table students; --", "select $$ from t",
    "insert into", "merge into t using", "create table", "x" * 100_000, "select a0 from t where",
    "case else 'u' end", "select * from (", "update t set", "delete", "explain select 1",
]  # fmt: skip


@pytest.mark.parametrize("name", TOO_DEEP)
def test_what_would_crash_or_stall_the_parser_is_too_complex(name: str) -> None:
    found = trace(TOO_DEEP[name], dialect="duckdb", schema={"t": COLUMNS})
    assert (found.state, found.reason) == (State.UNKNOWN, Reason.TOO_COMPLEX)


@pytest.mark.parametrize("name", LONG)
def test_what_is_only_long_is_traced(name: str) -> None:
    found = trace(LONG[name], dialect="duckdb", schema={"t": COLUMNS})
    assert found.state is State.KNOWN
    assert found.edges


def test_thirty_natural_full_joins_are_traced() -> None:
    schema = {f"t{i}": {"id": "int", f"v{i}": "int"} for i in range(30)}
    joins = "".join(f" natural full outer join t{i}" for i in range(1, 30))
    found = trace(f"select * from t0{joins}", dialect="duckdb", schema=schema)
    assert found.state is State.KNOWN
    assert len([e for e in found.edges if e.to == "id"]) == 30


def test_a_table_of_a_thousand_columns_is_traced() -> None:
    schema = {"wide": {f"c{i}": "int" for i in range(1_000)}}
    found = trace("select a.*, b.c1 as d from wide a join wide b using (c0)", dialect="duckdb",
                  schema=schema)  # fmt: skip
    assert len(found.outputs) == 1_001


@pytest.mark.parametrize("sql", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("dialect", ["duckdb", "snowflake", "bigquery", "tsql", None])
def test_hostile_text_raises_nothing(sql: str, dialect: str | None) -> None:
    assert trace_script(sql, dialect=dialect, schema={"t": COLUMNS})


def test_the_sql_of_every_case_is_taken_for_another_dialect_without_a_fault() -> None:
    dialects = ("duckdb", "snowflake", "bigquery", "tsql", "clickhouse", "spark", None)
    cases = {case.id: case for case in all_cases()}
    for n, case in enumerate(cases.values()):
        found = trace_script(case.sql, dialect=dialects[n % 7], schema=case.schema)
        faults = [one.detail for one in found if one.reason is Reason.INTERNAL_ERROR]
        assert not faults, f"{case.id} as {dialects[n % 7]}: {faults}"


def test_a_wrong_dialect_is_the_users_fault() -> None:
    with pytest.raises(OptionError):
        trace("select 1", dialect="klingon", schema={})


NESTED = {
    "functions": ("abs(", "a0", ")"),
    "parentheses": ("(", "a0", ")"),
    "branches": ("case when a0 > 1 then a1 else ", "0", " end"),
    "subqueries": ("(select ", "a0 from t", ")"),
    "casts": ("cast(", "a0", " as int)"),
}


@pytest.mark.parametrize("name", NESTED)
def test_deep_nesting_is_traced_with_and_without_the_compiled_parser(name: str) -> None:
    depth = 100
    assert depth < NESTING_LIMIT
    opening, inside, closing = NESTED[name]
    sql = f"select {opening * depth}{inside}{closing * depth} as x from t"
    limit = sys.getrecursionlimit()
    found = trace(sql, dialect="duckdb", schema={"t": COLUMNS})
    assert (found.state, found.detail) == (State.KNOWN, None)
    assert found.edges
    assert sys.getrecursionlimit() == limit


def test_joins_without_a_condition_up_to_the_limit_are_traced() -> None:
    joins = "".join(f" join t t{i}" for i in range(BARE_JOIN_LIMIT - 2))
    found = trace(f"select t.a0 from t{joins}", dialect="duckdb", schema={"t": COLUMNS})
    assert found.state is State.KNOWN


def test_a_long_chain_is_named_as_duckdb_names_it_without_going_over_it_again_and_again() -> None:
    count = 3000
    sql = f"select {' || '.join(['a0'] * count)} from t"
    (output,) = trace(sql, dialect="duckdb", schema={"t": COLUMNS}).outputs
    assert output.name == "(" * (count - 1) + "a0" + " || a0)" * (count - 1)


def test_objects_read_out_of_objects_are_worked_out_once_each() -> None:
    expression = "a"
    for _ in range(40):
        expression = f"object_construct('p', {expression})::variant:p"
    found = trace(
        f"select {expression} as x from t", dialect="snowflake", schema={"T": {"A": "int"}}
    )
    assert [(e.source.column, e.subtype.value) for e in found.edges] == [("A", "TRANSFORMATION")]


def test_arms_of_arms_are_worked_out_once_each() -> None:
    steps = "".join(
        f", a{i} as (select {{'l': s, 'r': s}} as s, k from a{i - 1} "
        f"union all select {{'r': s, 'l': s}}, k from a{i - 1})"
        for i in range(1, 30)
    )
    sql = (
        f"with a0 as (select {{'x': a0}} as s, 1 as k from t){steps} select s{'.l' * 29}.x from a29"
    )
    found = trace(sql, dialect="duckdb", schema={"t": COLUMNS})
    assert [(e.source.column, e.subtype.value) for e in found.edges] == [("a0", "IDENTITY")]


def test_unlisted_columns_of_arms_of_arms_are_worked_out_once_each() -> None:
    steps = "".join(
        f", a{i} as (select * from a{i - 1} union all by name select * from u{i} "
        f"union all by name select * from a{i - 1})"
        for i in range(1, 30)
    )
    sql = f"with a0 as (select * from u0){steps} select b from a29"
    assert len(trace(sql, dialect="duckdb", schema={}).edges) == 30


def test_a_long_chain_of_names_over_an_unlisted_table_is_doubted_once() -> None:
    chain = ", ".join(f"x{i - 1} + 1 as x{i}" for i in range(1, 500))
    found = trace(f"select a as x0, {chain} from u", dialect="duckdb", schema={})
    assert {output.state for output in found.outputs[1:]} == {State.PARTIAL}
    assert len({output.detail for output in found.outputs}) == 2
