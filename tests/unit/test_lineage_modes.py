"""An incremental model is known in the form that was compiled, and in both where both are given."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from lineage_post.artifacts import NodeResult, RunResults
from lineage_post.cli import run
from lineage_post.diff import diff_of
from lineage_post.diff.document import diff_to_dict
from lineage_post.governance.run_facts import Facts
from lineage_post.history.replay import Derivation, Recorded, changes
from lineage_post.impact import Analysis, BreaksOn
from lineage_post.lineage import Lineage
from lineage_post.lineage.modes import mode_of, with_other_mode
from lineage_post.publish.definition import node_row
from lineage_post.publish.evidence import Evidence
from lineage_post.publish.evidence_markdown import evidence_markdown
from lineage_post.publish.github import comment
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


def written(folder: Path, sql: str) -> Path:
    """A target folder of the log, compiled in one form."""
    folder.mkdir(parents=True)
    sources = ["source.shop.raw.orders"]
    model = make_model("log", sql, sources, materialized="incremental", raw_code=JINJA)
    (folder / "manifest.json").write_text(json.dumps(make_manifest(RAW, model)), encoding="utf-8")
    return folder


def test_a_diff_of_two_forms_of_one_definition_names_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path / "target", LATER)
    state = written(tmp_path / "state", FIRST)
    assert run(["diff", "--state", str(state), "--project-dir", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    said = "as its first build runs it before, as later builds run it after"
    assert out.count(f"{said}; its own code is the same") >= 2
    assert "another form in the two states: log. dbt compile --full-refresh" in err


def test_a_diff_says_whether_the_code_differs_beside_the_form() -> None:
    before, same, edited = log(FIRST), log(LATER), log(LATER, raw=f"{JINJA} -- edited")
    found = diff_of(before, same)
    assert {(c.forms, c.is_same_code) for c in found.changes} == {
        (("full_refresh", "incremental"), True)
    }
    assert "its own code is the same" in comment(found, (before, same), [])
    found = diff_of(before, edited)
    assert {c.is_same_code for c in found.changes} == {False}
    assert "its own code is the same" not in comment(found, (before, edited), [])
    [first, *_] = diff_to_dict(found)["changes"]
    assert first["build_modes"] == ["full_refresh", "incremental"]
    filtered = log(f"{FIRST} where id > 0", raw=f"{JINJA} where id > 0")
    assert {c.forms for c in diff_of(before, filtered).changes} == {None}


def test_an_impact_names_the_form_of_what_it_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The form at hand does not read the column at all: the other one may."""
    written(tmp_path / "target", FIRST)
    words = ["impact", "--drop", "raw.orders.amount", "--project-dir", str(tmp_path)]
    assert run(words) == 0
    out = capsys.readouterr().out
    assert "breaks nothing" in out
    assert "log: judged as its first build runs it" in out and "--other-mode-manifest" in out
    run([*words, "--output", "json"])
    (change,) = json.loads(capsys.readouterr().out)["changes"]
    assert change["build_modes"] == {LOG: "full_refresh"}
    other = written(tmp_path / "other", LATER) / "manifest.json"
    assert run([*words, "--other-mode-manifest", str(other)]) == 1
    assert "judged" not in capsys.readouterr().out


def built(sql: str) -> Facts:
    """What a run's results tell of a build."""
    result = NodeResult(LOG, "success", compiled_code=sql)
    return Facts((RunResults("run-1", "2026-01-01T00:00:00Z", "build", {LOG: result}),))


def loaded(definition: Lineage, build_mode: str) -> Facts:
    """What the tables tell of one."""
    version = node_row(LOG, definition.project.nodes[LOG]).definition_version
    row = {"node": LOG, "run_id": "r", "refreshed_at": "2026-01-01", "status": "success"}
    return Facts(rows=({**row, "definition_version": version, "build_mode": build_mode},))


@pytest.mark.parametrize(
    ("facts", "is_definition", "is_form"),
    [
        (built(LATER), True, True),
        (built(f"{LATER} or id > 0"), False, True),
        (built(FIRST), None, False),
        (loaded(log(LATER), "incremental"), True, True),
        (loaded(log(FIRST), "first"), True, False),
        (loaded(log(FIRST), "full_refresh"), True, False),
        (loaded(log(FIRST, raw=f"{JINJA} -- edited"), "first"), False, False),
        (loaded(log(f"{LATER} or id > 0"), "incremental"), False, True),
    ],
)
def test_evidence_tells_another_form_from_another_definition(
    facts: Facts, is_definition: bool | None, is_form: bool
) -> None:
    evidence = Evidence(log(LATER), (LOG, "x"), facts)
    step = next(s for s in evidence.document["steps"] if s["unique_id"] == LOG)
    refresh = step["refresh"]
    assert (refresh["is_this_definition"], refresh["is_this_form"]) == (is_definition, is_form)
    assert step["build_mode"] == "incremental"
    told = "as its first build runs it; the SQL below is as later builds run it"
    assert (told in evidence_markdown(evidence.document, evidence.sql)) is not is_form


def test_history_tells_a_change_of_the_form_from_one_of_the_definition() -> None:
    def refresh(day: int, fingerprint: str, build_mode: str, raw: str = "raw") -> Recorded:
        at = datetime(2026, 1, day)
        version = f"{raw}.{fingerprint}.s"
        return Recorded(LOG, f"r{day}", "execution", at, at, "success", None, fingerprint, version,
                        build_mode=build_mode)  # fmt: skip

    derivations: dict[str, dict[str | None, Derivation]] = {
        name: {None: Derivation((name,))} for name in "abc"
    }
    listed = [
        refresh(1, "a", "first"),
        refresh(2, "b", "incremental"),
        refresh(3, "a", "full_refresh"),
        refresh(4, "b", "incremental", "edited"),
        refresh(5, "c", "incremental", "again"),
    ]
    found = changes(LOG, listed, derivations)
    forms = [change.forms for change in found]
    both = ("full_refresh", "incremental")
    assert forms == [None, both, both[::-1], None, None]
