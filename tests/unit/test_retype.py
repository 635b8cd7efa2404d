"""A new type: what is refused as one, and whose SQL may not take it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from lineage_post.cli import run
from lineage_post.errors import SelectionError
from lineage_post.impact import Impact
from lineage_post.impact.retype import TAKES, family_of
from lineage_post.lineage import Lineage

from .lineages import lineage_of
from .manifests import make_manifest, make_model, make_source

RAW = "source.shop.raw.orders"


def project(expression: str, data_type: str = "integer") -> list[Any]:
    """A source's column, a model that hands it on, and one that computes with it."""
    return [
        make_source("orders", {"x": data_type, "k": "integer"}),
        make_model("stg", "select x, k from dev.raw.orders", [RAW]),
        make_model("fct", f"select {expression} from dev.main.stg", ["model.shop.stg"]),
    ]


def retyped(lineage: Lineage, to: str | None) -> Impact:
    [found] = lineage.impact(retype={"raw.orders.x": to})
    return found


def claims(expression: str, before: str, to: str) -> list[str]:
    doubts = retyped(lineage_of(*project(expression, before)), to).doubts
    return [d.because for d in doubts.may_break if d.dependent.name == "fct"]


@pytest.mark.parametrize(
    ("expression", "before", "to", "expected"),
    [
        ("sum(x) as y", "integer", "varchar", ["SUM over varchar"]),
        ("sum(x) as y", "integer", "decimal(12, 2)", []),
        ("sum(x) as y", "integer", "date", ["SUM over date"]),
        ("x * 2 as y", "integer", "varchar", ["* over varchar"]),
        ("-x + k as y", "integer", "boolean", ["- over boolean"]),
        ("round(coalesce(x, 0)) as y", "integer", "varchar", ["ROUND over varchar"]),
        ("upper(x) as y", "varchar", "date", ["UPPER over date"]),
        ("date_trunc('day', x) as y", "date", "varchar", ["DATE_TRUNC over varchar"]),
        ("sum(cast(x as integer)) as y", "integer", "varchar", []),
        ("cast(x as integer) * 2 as y", "integer", "varchar", []),
        ("count(x) as y", "integer", "varchar", []),
        ("min(x) as y", "integer", "varchar", []),
        ("x", "integer", "varchar", []),
        ("x + interval 1 day as y", "date", "timestamp", []),
        ("sum(k) filter (where x > 5) as y", "integer", "varchar", ["> with varchar"]),
        ("case when x in (1, 2) then k end as y", "integer", "varchar", ["IN with varchar"]),
    ],
)  # fmt: skip
def test_what_takes_one_kind_of_type_may_not_take_another(
    expression: str, before: str, to: str, expected: list[str]
) -> None:
    assert claims(expression, before, to) == expected
    sql = f"select {expression} from stg"
    assert not _fails(sql, before), "DuckDB takes it as it was"
    assert expected or not _fails(sql, to), "what DuckDB refuses is told"


def _fails(sql: str, data_type: str) -> bool:
    with duckdb.connect() as connection:
        connection.execute(f"create table stg (x {data_type}, k integer)")
        try:
            connection.execute(sql)
        except duckdb.Error:
            return True
    return False


def test_a_column_that_has_the_type_too_is_followed_and_one_without_is_not() -> None:
    nodes = [
        *project("x as y, count(x) as n"),
        make_model("far", "select sum(y) as a, sum(n) as b from dev.main.fct", ["model.shop.fct"]),
    ]
    doubts = retyped(lineage_of(*nodes), "varchar").doubts
    assert [(d.dependent.name, d.dependent.column) for d in doubts.may_break] == [("far", "a")]


def test_of_a_function_that_is_not_known_nothing_is_claimed_and_that_is_said() -> None:
    found = retyped(lineage_of(*project("to_eur(x) as y")), "varchar")
    assert found.doubts.may_break == ()
    assert [d.because.upper() for d in found.doubts.unjudged] == ["TO_EUR"]


def test_a_join_on_it_compares_it_with_what_stays_as_it_was() -> None:
    nodes = project("x")
    sql = "select a.k from dev.main.stg a join dev.main.stg b on a.x = b.k"
    nodes.append(make_model("joined", sql, ["model.shop.stg"]))
    doubts = retyped(lineage_of(*nodes), "varchar").doubts
    assert [(d.dependent.name, d.because) for d in doubts.may_break] == [
        ("joined", "= with varchar")
    ]


@pytest.mark.parametrize("to", ["banana", "varchar(", "'x'", "int; drop table t", "a b"])
def test_what_is_no_type_is_refused_with_some_that_are(to: str) -> None:
    with pytest.raises(SelectionError) as refused:
        retyped(lineage_of(*project("x")), to)
    assert repr(to) in refused.value.message and "duckdb" in refused.value.message
    assert "varchar" in (refused.value.hint or "")


def test_a_type_that_a_column_has_already_is_one() -> None:
    nodes = [*project("x"), make_source("moods", {"mood": "banana"})]
    assert retyped(lineage_of(*nodes), "Banana").change.to == "Banana"


def test_each_name_is_of_one_family_and_families_are_told_apart() -> None:
    assert TAKES["SUM"] == "number" and TAKES["SIMILAR TO"] == "text"
    types = {"bigint": "number", "text": "text", "timestamp": "time", "boolean": "other"}
    assert {name: family_of(name, "duckdb") for name in types} == types


def test_the_command_does_not_say_that_nothing_breaks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "target").mkdir()
    path = tmp_path / "target/manifest.json"
    path.write_text(json.dumps(make_manifest(*project("sum(x) as y"))), encoding="utf-8")
    words = ["impact", "--project-dir", str(tmp_path), "--retype"]
    assert run([*words, "stg.x=varchar"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "may break 1 model" in out and "SUM over varchar" in out and "nothing" not in out
    assert run([*words, "stg.x=varchar", "--strict"]) == 1
    capsys.readouterr()
    assert run([*words, "stg.x=varchar", "--output", "json"]) == 0
    (change,) = json.loads(capsys.readouterr().out)["changes"]
    assert change["summary"]["may_break"] == {"model": 1}
    assert [d["may_break"] for d in change["dependents"]] == ["SUM over varchar"]
    assert run([*words, "stg.x"]) == 0
    assert "is not judged: name it" in capsys.readouterr().out
    assert run([*words, "stg.x=banana"]) == 2
    streams = capsys.readouterr()
    assert streams.out == "" and "'banana' is no type" in streams.err
