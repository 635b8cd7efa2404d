"""The commands over small manifests: exit codes and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lineage_post.cli import run

from .manifests import make_manifest, make_model, make_source

SOURCE = make_source("orders", {"id": "int", "total": "double"})


def answer(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, *nodes: Any
) -> tuple[int, Any]:
    target = folder / "target"
    target.mkdir(exist_ok=True)
    (target / "manifest.json").write_text(
        json.dumps(make_manifest(SOURCE, *nodes)), encoding="utf-8"
    )
    words = [*command.split(), "--project-dir", str(folder), "--output", "json"]
    code = run(words)
    out = capsys.readouterr().out
    return code, json.loads(out) if out else None


def stg(sql: str) -> Any:
    return make_model("stg", sql, ["source.shop.raw.orders"])


def test_a_cycle_across_a_table_is_a_feedback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = "select id, total from dev.raw.orders where id > (select max(id) from dev.main.inc)"
    inc = make_model("inc", sql, ["source.shop.raw.orders"], materialized="incremental")
    code, document = answer(tmp_path, capsys, "cycles", inc)
    (cycle,) = document["cycles"]
    assert (code, cycle["kind"]) == (0, "feedback")
    assert {"unique_id": "model.shop.inc", "column": "id"} in cycle["columns"]


def test_a_cycle_of_views_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = make_model("one", "select id from dev.main.two")
    two = make_model("two", "select id from dev.main.one", ["model.shop.one"])
    code, document = answer(tmp_path, capsys, "cycles", one, two)
    assert (code, [c["kind"] for c in document["cycles"]]) == (1, ["error"])
    assert {c["column"] for c in document["cycles"][0]["columns"]} >= {"id"}


def test_unused_columns_are_listed_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document = answer(tmp_path, capsys, "unused", stg("select id from dev.raw.orders"))
    assert code == 0
    assert [(u["unique_id"], u["column"]) for u in document["unused"]] == [
        ("source.shop.raw.orders", "total")
    ]
    assert document["unused"][0]["because"].startswith("1 reader, all of them known")


def test_impact_exits_with_one_when_something_breaks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = stg("select id from dev.raw.orders")
    code, document = answer(tmp_path, capsys, "impact --rename orders.id=key", model)
    assert (code, document["changes"][0]["summary"]["breaks"]) == (1, {"model": 1})
    code, document = answer(tmp_path, capsys, "impact --drop raw.orders.total", model)
    assert (code, document["changes"][0]["dependents"]) == (0, [])


def test_strict_makes_what_is_possible_a_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = stg("select (((")
    assert answer(tmp_path, capsys, "impact --drop orders.total", broken)[0] == 0
    code, document = answer(tmp_path, capsys, "impact --drop orders.total --strict", broken)
    assert (code, [p["name"] for p in document["changes"][0]["possibly_affected"]]) == (1, ["stg"])
