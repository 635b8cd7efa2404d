"""Stored rows beside what the query gives now: the condition that asks, and what is matched."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from itertools import product
from typing import Any

import duckdb
import pytest
from sqlglot import exp

from lineage_post.provenance.answer import Label
from lineage_post.provenance.ask import Asker, Question
from lineage_post.provenance.connection import DuckDb
from lineage_post.provenance.matching import Matcher, among
from lineage_post.provenance.plan import make_plan
from lineage_post.provenance.relations import tables
from lineage_post.provenance.settings import Settings

ROWS = list(product([1, None, -2], ["a", "it's", None], [date(2024, 1, 1), None]))


@pytest.mark.parametrize("step", [1, 2, 5, len(ROWS)])
def test_the_condition_picks_the_rows_and_no_others(step: int) -> None:
    connection = duckdb.connect()
    connection.execute("create table t (n int, s varchar, d date)")
    connection.executemany("insert into t values (?, ?, ?)", ROWS)
    wanted = [dict(zip("nsd", row, strict=True)) for row in ROWS[::step]]
    condition = among({name: exp.column(name) for name in "nsd"}, wanted)
    picked = connection.execute(f"select * from t where {condition.sql('duckdb')}").fetchall()
    assert sorted(picked, key=repr) == sorted(ROWS[::step], key=repr)


def test_floats_are_left_out_of_the_condition() -> None:
    condition = among({"f": exp.column("f"), "n": exp.column("n")}, [{"f": 0.1, "n": 1}])
    assert condition.sql() == "n = 1"
    assert among({"f": exp.column("f")}, [{"f": 0.1}]).sql() == "TRUE"


@pytest.mark.parametrize(
    ("stored", "now", "key", "label", "changed"),
    [
        ({"k": 1, "v": 2.0}, {"k": 1, "v": 2.0 + 1e-12}, ("k",), Label.REPRODUCED, ()),
        ({"k": 1, "v": 2}, {"k": 1, "v": Decimal("2.00")}, ("k",), Label.REPRODUCED, ()),
        ({"k": Decimal("1.0"), "v": 2}, {"k": 1.0, "v": 2}, ("k",), Label.REPRODUCED, ()),
        ({"k": 1, "v": 2}, {"k": 1, "v": 3}, ("k",), Label.CHANGED, ("v",)),
        ({"k": 1, "v": 2}, {"k": 2, "v": 2}, ("k",), Label.GONE, ()),
        ({"k": 1, "v": 2}, {"k": 1, "v": 3}, (), Label.GONE, ()),
        ({"k": None, "v": 2}, {"k": None, "v": 2}, ("k",), Label.REPRODUCED, ()),
        ({"k": "1", "v": 2}, {"k": 1, "v": 2}, ("k",), Label.REPRODUCED, ()),
    ],
)
def test_rows_belong_together_by_key_or_else_by_all_that_is_compared(
    stored: dict[str, Any],
    now: dict[str, Any],
    key: tuple[str, ...],
    label: Label,
    changed: tuple[str, ...],
) -> None:
    match = Matcher([stored], [(now, "extra")], key, frozenset()).match(stored)
    assert (match.label, match.changed) == (label, changed)


@pytest.mark.parametrize("key", [("a", "b"), ()])
def test_thousands_of_rows_are_asked_for_together(key: tuple[str, ...]) -> None:
    connection = duckdb.connect()
    connection.execute("create table s as select i // 3 as a, i % 3 as b from range(2000) t(i)")
    sql = "select a, b, count(*) as n from s group by a, b"
    known = tables({"s": {"a": "BIGINT", "b": "BIGINT"}})
    plan = make_plan(sql, "duckdb", known, ["a", "b", "n"], Settings())
    rows = [dict(zip("abn", row, strict=True)) for row in connection.execute(sql).fetchall()]
    answers = Asker(plan, DuckDb(connection), Settings()).answer(Question("m", rows, key))
    assert len(answers) == 2000
    assert {(a.label, len(a.witnesses)) for a in answers} == {(Label.REPRODUCED, 1)}
