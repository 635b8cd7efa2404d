"""The text of an expression is what the author wrote, to the letter."""

from __future__ import annotations

import random

import pytest
from sqlglot import TokenType

from lineage_post.trace import trace
from lineage_post.trace.errors import TooComplex
from lineage_post.trace.limits import NESTING_LIMIT, _check_nesting, _is_flat

SCHEMA = {"t": dict.fromkeys("abck", "int"), "u": {"k": "int", "v": "int"}}
#: dialect, the expression as written, and the select item that has it.
ITEMS = (
    ("duckdb", "a  +  b", "{} as x"),
    ("duckdb", "a  +  b", "{} x"),
    ("duckdb", "a  +  b", "x: {}"),
    ("tsql", "a  +  b", "x = {}"),
    ("duckdb", "sum(a)  over (partition by b  order by c)", "{} as x"),
    ("postgres", "a :: decimal(10, 2)", "{} as x"),
    ("snowflake", "iff( a > 1, b, c )", "{} as x"),
    ("spark", "case  a when 1 then b else c  end", "{} x"),
)
#: dialect and the predicate as written.
PREDICATES = (
    ("duckdb", "a  is not null"),
    ("duckdb", "not  a is null"),
    ("postgres", "a  not in (1,  2)"),
    ("postgres", "not a in (1,  2)"),
    ("snowflake", "a  not between 1 and  2"),
    ("duckdb", "a  between cast(b as int) and  c::bigint"),
    ("duckdb", "a in  (select k from u)"),
    ("duckdb", "a >  (select max(v) from u)"),
    ("postgres", "exists  (select * from u where u.k = t.k)"),
    ("postgres", "not exists (select  1 from u where u.k = t.k)"),
    ("bigquery", "case when a > 1  then b else c end =  -5"),
    ("mysql", "substring(a,  1, 2) =  true"),
    ("redshift", "(a =  1 or b <> 2)"),
    ("trino", "cast(a  as varchar) like 'x%'"),
    ("clickhouse", "a::Int64  = 3"),
    ("postgres", "coalesce(a,  b)  is not null"),
    ("postgres", "not  a is not null"),
    ("postgres", "a is not null  and b is  not true"),
    ("duckdb", "(a  is not true) or b is  not null"),
    ("snowflake", "a:x.y[0]:z::text  = 'v'"),
    ("snowflake", "a:\"x y\".z  is not null and b['k']:x =  1"),
    ("databricks", "a:x:y[0].z  > a:['k']"),
)


@pytest.mark.parametrize(("dialect", "text", "item"), ITEMS)
def test_a_select_item_is_told_as_it_is_written(dialect: str, text: str, item: str) -> None:
    found = trace(f"select k, {item.format(text)} from t", dialect=dialect, schema=SCHEMA)
    assert (found.outputs[1].name.lower(), found.outputs[1].expression) == ("x", text)


@pytest.mark.parametrize(("dialect", "text"), PREDICATES)
def test_a_predicate_is_told_as_it_is_written(dialect: str, text: str) -> None:
    found = trace(f"select k from t where  {text}", dialect=dialect, schema=SCHEMA)
    assert {edge.expression for edge in found.edges if edge.to is None} >= {text}


def test_a_distinct_is_told_by_its_word() -> None:
    found = trace("select distinct  a from t", dialect="snowflake", schema=SCHEMA)
    assert {edge.expression for edge in found.edges if edge.to is None} == {"DISTINCT"}


def test_snowflake_names_an_output_as_it_is_written() -> None:
    found = trace("select max( a ) from t", dialect="snowflake", schema=SCHEMA)
    assert [output.name for output in found.outputs] == ["MAX( A )"]


@pytest.mark.parametrize("word", ["union", "intersect", "except"])
def test_what_a_set_operation_compares_is_told_by_its_word(word: str) -> None:
    found = trace(f"select a from t {word} select v from u", dialect="duckdb", schema=SCHEMA)
    assert {edge.expression for edge in found.edges if edge.to is None} == {word.upper()}


def test_what_is_flat_by_the_quick_bound_is_flat_by_the_exact_one() -> None:
    kinds = [
        TokenType.L_PAREN, TokenType.R_PAREN, TokenType.CASE, TokenType.END, TokenType.NOT,
        TokenType.DASH, TokenType.ARROW, TokenType.STRUCT, TokenType.LT, TokenType.GT,
        TokenType.L_BRACKET, TokenType.R_BRACKET, TokenType.VAR,
    ]  # fmt: skip
    outcomes = set()
    for seed in range(150):
        dice = random.Random(seed)
        used = dice.sample(kinds, dice.randint(1, 4))
        tokens = dice.choices(used, k=dice.randint(1, 5 * NESTING_LIMIT))
        outcomes.add((_is_flat(tokens), _passes(tokens)))
    assert outcomes >= {(True, True), (False, False)}
    assert (True, False) not in outcomes


def _passes(tokens: list[TokenType]) -> bool:
    try:
        _check_nesting(tokens)
    except TooComplex:
        return False
    return True
