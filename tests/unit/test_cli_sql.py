"""`lineage-post sql`: a pasted statement, a file, a script."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from lineage_post.cli import run
from lineage_post.trace import trace

SCHEMA = {"shop.orders": {"id": "int", "amount": "double", "status": "varchar"}}
SQL = "select id, sum(amount) as revenue from shop.orders where status = 'paid' group by id"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    return tmp_path


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    run(["sql", *arguments, "--output", "json"])
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def edges(found: dict[str, Any]) -> set[tuple[str, str | None, str]]:
    return {(e["from"]["column"], e["to"], e["subtype"]) for e in found["edges"]}


def test_the_json_has_the_keys_of_the_python_face(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, SQL, "--schema", "schema.json", "--dialect", "duckdb")
    expected = trace(SQL, dialect="duckdb", schema=SCHEMA).to_dict()
    assert {key: found[key] for key in expected} == expected
    assert found["metadata"]["tool"] == "lineage_post"
    assert found["statements"] == [expected]


def test_text_names_each_output_with_its_sources(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sql", SQL, "--schema", "schema.json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "select known"
    assert "  ← shop.orders.amount aggregation" in lines
    assert lines[lines.index("rows are decided by") + 1 :] == [
        "  ← shop.orders.id group by",
        "  ← shop.orders.status filter",
    ]


def test_a_statement_is_read_from_a_file_and_from_stdin(
    elsewhere: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (elsewhere / "query.sql").write_text(SQL, encoding="utf-8")
    from_file = document(capsys, "query.sql")
    monkeypatch.setattr("sys.stdin", io.StringIO(SQL))
    assert document(capsys, "-")["statements"] == from_file["statements"]


def test_each_statement_of_a_script_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    run(["sql", "create table t as select 1 as a; select a from t"])
    out = capsys.readouterr().out
    assert "statement 1: create_table_as into t" in out and "statement 2: select" in out


def test_conservative_lets_outputs_inherit_what_decides_their_rows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    plain = document(capsys, SQL, "--schema", "schema.json")
    folded = document(capsys, SQL, "--schema", "schema.json", "--conservative")
    assert ("status", None, "FILTER") in edges(plain)
    assert {("status", "id", "FILTER"), ("status", "revenue", "FILTER")} <= edges(folded)
    assert not any(to is None for _, to, _ in edges(folded))
    assert folded["metadata"]["conservative"] is True
    run(["sql", SQL, "--conservative"])
    assert "Conservative" in capsys.readouterr().out


def test_steps_show_each_column_after_every_stage(capsys: pytest.CaptureFixture[str]) -> None:
    sql = (
        "with paid as (select * from shop.orders where status = 'paid')"
        " select sum(amount) as a from paid group by id"
    )
    found = document(capsys, sql, "--schema", "schema.json", "--steps")["steps"]
    assert [(step["scope"], step["kind"]) for step in found] == [
        ("paid", "scan"),
        ("paid", "filter"),
        ("paid", "project"),
        ("final", "scan"),
        ("final", "aggregate"),
        ("final", "project"),
    ]
    assert found[0]["rows"] == []
    assert [(r["from"]["column"], r["subtype"]) for r in found[1]["rows"]] == [("status", "FILTER")]
    (last,) = found[-1]["columns"]
    assert (last["name"], last["annotations"][0]["subtype"]) == ("a", "AGGREGATION")
    run(["sql", sql, "--schema", "schema.json", "--steps"])
    out = capsys.readouterr().out
    assert "2 paid filter status = 'paid'" in out and "the same columns" in out


def test_a_schema_may_list_columns_without_types(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "schema.yml").write_text("t: [a, b]\n", encoding="utf-8")
    assert edges(document(capsys, "select * from t", "--schema", "schema.yml")) == {
        ("a", "a", "IDENTITY"),
        ("b", "b", "IDENTITY"),
    }


def test_declared_commands_of_the_project_are_used(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "dbt_project.yml").write_text(
        "name: shop\nvars:\n  lineage_post:\n    masking_functions: [scramble]\n", encoding="utf-8"
    )
    found = document(capsys, "select scramble(status) as s from shop.orders")
    assert [edge["masking"] for edge in found["edges"]] == [True]


def test_what_cannot_be_parsed_is_a_finding_and_not_an_empty_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["sql", "select from where", "--output", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["state"], found["reason"], found["edges"]) == ("unknown", "parse_error", [])


def test_an_unknown_dialect_is_refused_with_those_that_are_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["sql", "select 1", "--dialect", "dukdb"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "'dukdb'" in said.err and "duckdb, exasol" in said.err


def test_an_adapter_type_is_taken_for_its_dialect(capsys: pytest.CaptureFixture[str]) -> None:
    assert document(capsys, "select top 1 a from t", "--dialect", "sqlserver")["outputs"]


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["gone.sql"], "gone.sql: there is no such file"),
        (["select 1", "--schema", "gone.yml"], "gone.yml: there is no such file"),
    ],
)
def test_a_missing_file_is_named(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["sql", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "  \n", ";", "/* none */", "-- none"])
def test_a_text_without_a_statement_is_refused(
    text: str, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "empty.sql").write_text(text, encoding="utf-8")
    for form in ("text", "json"):
        assert run(["sql", "empty.sql", "--output", form]) == 2
        streams = capsys.readouterr()
        assert streams.out == "" and "there is no statement in the text" in streams.err


@pytest.mark.parametrize("text", ["select 1 +", "select * from", "select a from t where"])
def test_a_fault_of_the_text_is_told_without_the_parsers_own_words(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["sql", text]) == 1
    out = capsys.readouterr().out
    assert "Line 1" in out
    assert "<class" not in out and "SENTINEL" not in out and "star" not in out


@pytest.mark.parametrize(
    ("adapter", "flags", "dialect"),
    [
        ("sqlserver", [], "tsql"),
        ("sqlserver", ["--dialect", "duckdb"], "duckdb"),
        ("homegrown", [], None),
    ],
)
def test_in_a_project_the_dialect_is_that_of_its_adapter(
    adapter: str,
    flags: list[str],
    dialect: str | None,
    elsewhere: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (elsewhere / "target").mkdir()
    manifest = {"metadata": {"adapter_type": adapter}, "nodes": {}}
    (elsewhere / "target/manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert run(["sql", "select 1 as a", *flags, "--output", "json"]) == 0
    streams = capsys.readouterr()
    assert json.loads(streams.out)["metadata"]["options"]["dialect"] == dialect
    is_told = not flags and dialect is not None
    assert (f"Read as {dialect}, of target/manifest.json" in streams.err) is is_told


def test_names_cannot_write_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    evil = 'select 1 as "\x1b[2J\u202eevil[bold]"'
    run(["sql", evil, "--dialect", "duckdb"])
    text = capsys.readouterr().out
    assert "\x1b" not in text and "\\x1b[2J\\u202eevil[bold]" in text
    name = document(capsys, evil, "--dialect", "duckdb")["outputs"][0]["name"]
    assert name == "\x1b[2J\u202eevil[bold]"


def project(elsewhere: Path, **variables: Any) -> None:
    """A dbt_project.yml with these vars of lineage_post."""
    text = json.dumps({"name": "shop", "vars": {"lineage_post": variables}})
    (elsewhere / "dbt_project.yml").write_text(text, encoding="utf-8")


def test_the_expression_is_the_first_that_computes_and_those_behind_it_are_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sql = (
        "with a as (select id, amount * 2 as twice from shop.orders),"
        " b as (select id, twice + 1 as more from a union all select id, 0 from a),"
        " c as (select id, sum(more) as total from b group by id)"
        " select id, total, round(total) as rounded from c"
    )
    found = document(capsys, sql, "--schema", "schema.json", "--dialect", "duckdb")
    told = {o["name"]: (o["expression"], o["steps"]) for o in found["outputs"]}
    assert told == {
        "id": (None, []),
        "total": ("sum(more)", ["twice + 1", "amount * 2"]),
        "rounded": ("round(total)", ["sum(more)", "twice + 1", "amount * 2"]),
    }
    run(["sql", sql, "--schema", "schema.json"])
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("total sum(more) ")
    assert lines[at + 1 : at + 3] == ["  of twice + 1", "  of amount * 2"]


@pytest.mark.parametrize(
    "inputs, columns, warned",
    [
        (None, ["amount", "id", "status"], []),
        (["shop.orders"], ["amount", "id", "status"], []),
        (["amount"], ["amount"], ["enrich: no declared input covers id, status"]),
        (["shop.orders.id", "amount"], ["amount", "id"],
         ["enrich: no declared input covers status"]),
        (["price"], [],
         ["enrich: there is no input price",
          "enrich: no declared input covers amount, id, status"]),
    ],
)  # fmt: skip
def test_a_contract_reads_what_it_declares_of_the_relation_an_argument_names(
    inputs: list[str] | None,
    columns: list[str],
    warned: list[str],
    elsewhere: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    declared = (
        {"outputs": ["score"]} if inputs is None else {"inputs": inputs, "outputs": ["score"]}
    )
    project(elsewhere, commands={"enrich": declared})
    sql = "select score from enrich('shop.orders')"
    found = document(capsys, sql, "--schema", "schema.json")
    assert sorted(column for column, _, _ in edges(found)) == columns
    assert found["warnings"] == warned
    run(["sql", sql, "--schema", "schema.json"])
    out = capsys.readouterr().out
    assert all(f"Note: {text}" in out for text in warned)


def test_a_fault_of_the_engine_is_an_unknown_and_no_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("as if by mistake")

    monkeypatch.setattr("lineage_post.trace.running.written", fail)
    monkeypatch.setattr("lineage_post.trace.steps.written", fail)
    assert run(["sql", SQL, "--steps", "--output", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["state"], found["reason"]) == ("unknown", "internal_error")
    assert found["detail"] == "ZeroDivisionError: as if by mistake"
    assert found["steps"] == []


def test_a_column_that_is_not_known_says_what_it_hangs_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sql = "select nothing, id from shop.orders"
    found = document(capsys, sql, "--schema", "schema.json")
    first, second = found["outputs"]
    assert "nothing" in first["detail"] and second["detail"] is None


@pytest.mark.parametrize("length", (254, 255, 256, 999, 5_000, 200_000))
def test_a_statement_may_be_longer_than_the_name_of_a_file(
    length: int, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = "select id from shop.orders where status in ('".ljust(length - 2, "x") + "')"
    assert len(sql) == length
    assert edges(document(capsys, sql, "--schema", "schema.json")) == {
        ("id", "id", "IDENTITY"),
        ("status", None, "FILTER"),
    }


def test_a_file_that_is_no_text_is_named(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "query.sql").write_bytes(b"select '\xff\xfe' as a")
    assert run(["sql", "query.sql"]) == 2
    assert "query.sql: not UTF-8" in capsys.readouterr().err


def test_a_byte_order_mark_is_no_part_of_the_sql(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "query.sql").write_text(SQL, encoding="utf-8-sig")
    assert document(capsys, "query.sql")["outputs"] == document(capsys, SQL)["outputs"]
