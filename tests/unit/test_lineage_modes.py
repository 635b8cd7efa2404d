"""An incremental model is known in the form that was compiled, and in both where both are given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lineage_post.cli import run
from lineage_post.impact import Analysis, BreaksOn
from lineage_post.lineage import Lineage
from lineage_post.lineage.modes import mode_of, with_other_mode
from lineage_post.publish.json import document

from .lineages import edges_of, lineage_of
from .manifests import make_manifest, make_model, make_source

RAW = make_source("orders", {"id": "int", "amount": "double", "changed": "timestamp"})
LOG = "model.shop.log"
JINJA = """select id, {% if is_incremental() %}amount + 0.5{% else %}changed{% endif %} as x
from {{ source('raw', 'orders') }}
{% if is_incremental() %}
where changed > (select max(id) from {{ this }})
{% endif %}"""
FIRST = "select id, changed as x from dev.raw.orders"
LATER = """select id, amount + 0.5 as x from dev.raw.orders
where changed > (select max(id) from dev.main.log)"""


def log(sql: str, raw: str = JINJA, **more: Any) -> Lineage:
    model = make_model("log", sql, ["source.shop.raw.orders"], materialized="incremental",
                       raw_code=raw, **more)  # fmt: skip
    return lineage_of(RAW, model)


def test_the_mode_that_was_compiled_is_recorded() -> None:
    """UK-08"""
    assert mode_of(log(FIRST), LOG) == "full_refresh"
    assert mode_of(log(LATER), LOG) == "incremental"
    [entry] = [
        n for n in document(log(LATER), log(LATER).options)["nodes"] if n["unique_id"] == LOG
    ]
    assert entry["build_mode"] == "incremental"


@pytest.mark.parametrize(
    ("sql", "form"), [(FIRST, "a first build runs"), (LATER, "later builds run")]
)
def test_build_says_that_its_edges_are_those_of_one_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sql: str, form: str
) -> None:
    """The hook, which records each form as it is built, counts other edges."""
    source = ["source.shop.raw.orders"]
    model = make_model("log", sql, source, materialized="incremental", raw_code=JINJA)
    (tmp_path / "target").mkdir()
    path = tmp_path / "target" / "manifest.json"
    path.write_text(json.dumps(make_manifest(RAW, model)), encoding="utf-8")
    assert run(["build", "--project-dir", str(tmp_path)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"1 incremental model as {form}, with the edges of that form alone" in out


def test_a_mode_that_jinja_does_not_tell_is_not_guessed() -> None:
    assert mode_of(log(FIRST, raw="{% set on = is_incremental() %}{{ body(on) }}"), LOG) is None
    assert mode_of(log(FIRST, raw="select * from x"), LOG) is None


def test_two_manifests_give_both_and_mark_what_one_mode_alone_has() -> None:
    """UK-08"""
    lineage = with_other_mode(log(LATER), log(FIRST))
    assert mode_of(lineage, LOG) == "both"
    assert edges_of(lineage.nodes[LOG]) >= {
        "orders.amount -> x TRANSFORMATION",
        "orders.changed -> x IDENTITY",
        "orders.id -> id IDENTITY",
        "log.id -> * FILTER",
    }
    [entry] = [n for n in document(lineage, lineage.options)["nodes"] if n["unique_id"] == LOG]
    told = {(e["from_column"], e["to_column"]): e["build_mode"] for e in entry["edges"]}
    assert told["amount", "x"] == "incremental"
    assert told["changed", "x"] == "full_refresh"
    assert told["id", "id"] == "both"
    assert told["changed", None] == "incremental"


def test_a_rename_breaks_what_either_mode_reads() -> None:
    lineage = with_other_mode(log(LATER), log(FIRST))
    [impact] = lineage.impact(rename={"raw.orders.changed": "changed_at"})
    assert {(d.column, BreaksOn.REMOVE in d.breaks_on) for d in impact.dependents} >= {("x", True)}
    assert Analysis(lineage).impact(impact.change) == impact


def test_an_incremental_model_that_is_changed_is_not_put_together() -> None:
    lineage = with_other_mode(log(LATER), log(FIRST, raw=JINJA + "\nlimit 1"))
    assert mode_of(lineage, LOG) == "incremental"
