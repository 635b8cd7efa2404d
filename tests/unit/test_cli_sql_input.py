"""What `lineage-post sql` is given, as it comes: pasted, saved by an editor, piped, mistyped."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from lineage_post.cli import run

QUERY = "select * from prod.shop.orders"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def outputs(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The outputs and where each comes from."""
    assert run(["sql", *arguments, "--output", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    edges = [(e["to"], f"{e['from']['relation']}.{e['from']['column']}") for e in found["edges"]]
    return {out["name"]: [a for to, a in edges if to == out["name"]] for out in found["outputs"]}


@pytest.mark.parametrize(
    "text",
    [
        "prod: {shop: {orders: {id: int, amount: double}}}",
        "prod:\n  shop:\n    orders: [id, amount]\n    customers: {id: int}\n",
        "prod.shop:\n  orders: [id, amount]\n",
        "prod.shop.orders:\n  - {name: id, data_type: int}\n  - name: amount\n    type: double\n",
        '\ufeff{"prod.shop.orders": {"id": "int", "amount": null}}',
        '{\n\t"prod": {"shop": {"orders": ["id", "amount"]}}\n}',
        "prod.shop.orders: {id: , amount: null}",
    ],
)
def test_a_file_of_columns_may_have_any_of_these_forms(
    text: str, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "my columns.yml").write_text(text, encoding="utf-8")
    assert outputs(capsys, QUERY, "--schema", "my columns.yml") == {
        "id": ["prod.shop.orders.id"],
        "amount": ["prod.shop.orders.amount"],
    }


def test_columns_may_be_called_as_yaml_calls_truth_and_nothing(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "columns.yml").write_text("t: {no: int, on: , 1: int}\nu: [yes, null, ~]\n")
    assert list(outputs(capsys, "select * from t", "--schema", "columns.yml")) == ["no", "on", "1"]
    assert list(outputs(capsys, "select * from u", "--schema", "columns.yml")) == [
        "yes", "null", "~",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models:\n  - name: orders\n    columns: [{name: id}]\n", "is no column"),
        ("t: [{id: int}]", "is no column"),
        ("t: [[id]]", "is no column"),
        ("db: {t: {id: int}, u: int}", "'db.u' is neither"),
        ("t:\n", "'t' is neither"),
        ("[a, b]", "not a mapping"),
        ("t: {a", "not readable"),
    ],
)
def test_another_form_is_refused_with_the_place(
    text: str, said: str, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "columns.yml").write_text(text, encoding="utf-8")
    assert run(["sql", QUERY, "--schema", "columns.yml"]) == 2
    err = capsys.readouterr().err
    assert said in err and err.startswith("Error: columns.yml: ") and "Write" in err


@pytest.mark.parametrize("comment", ["-- the orders\n", "--the orders\n", "-- a = b\n-- c\n"])
def test_sql_that_begins_with_a_comment_is_no_option(
    comment: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"{comment}select id from orders"
    for arguments in ([text], ["--dialect", "duckdb", text], [text, "--steps"], ["--", text]):
        assert run(["sql", *arguments]) == 0
        assert "← orders.id identity" in capsys.readouterr().out
    assert run(["sql", "--stepps", "select 1"]) == 2
    assert "No such option" in capsys.readouterr().err


def test_a_byte_order_mark_is_no_part_of_the_sql(
    elsewhere: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\ufeffselect id\r\nfrom orders"
    (elsewhere / "q.sql").write_text(text, encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="ascii"))
    for argument in (text, "q.sql", "-"):
        assert outputs(capsys, argument) == {"id": ["orders.id"]}


def test_what_is_no_utf8_is_refused(
    elsewhere: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = "select größe from orders".encode("latin-1")
    (elsewhere / "q.sql").write_bytes(data)
    piped = io.TextIOWrapper(io.BytesIO(data), encoding="ascii", errors="surrogateescape")
    monkeypatch.setattr("sys.stdin", piped)
    for argument in ("q.sql", "-", data.decode("ascii", "surrogateescape")):
        assert run(["sql", argument]) == 2
        out, err = capsys.readouterr()
        assert "not UTF-8" in err and not out


def test_a_closed_standard_input_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert run(["sql", "-"]) == 2
    assert "standard input is closed" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["models/orders", "orders.SQL", "../my models/orders.sql", "./q"])
def test_the_name_of_no_file_is_no_sql(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sql", name]) == 2
    assert f"{name}: there is no such file" in capsys.readouterr().err


def test_a_folder_is_no_sql(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (elsewhere / "models").mkdir()
    assert run(["sql", "models"]) == 2
    assert "models: this is a folder" in capsys.readouterr().err
