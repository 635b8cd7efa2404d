"""Contracts as they are declared: arguments, tags, age, severity, and how findings are told."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from lineage_post.artifacts import Node, Project
from lineage_post.consumers.yaml_places import Places
from lineage_post.contracts import ContractTest, Evaluator, Finding, Proof
from lineage_post.contracts.checked import Check, Checked, checked
from lineage_post.contracts.declared import Outcome
from lineage_post.contracts.fresh import Recorded
from lineage_post.lineage import Lineage
from lineage_post.publish import findings as written

from .contracted import EMAIL, FROM, PII, SOURCE, USERS, M, S, found, one_edge, shop
from .lineages import lineage_of
from .manifests import make_model

NOW = datetime(2026, 5, 1, 12)
FRESH = {
    "recorded an hour ago": (Recorded(NOW - timedelta(hours=1), NOW), None),
    "recorded days ago": (Recorded(NOW - timedelta(hours=50), NOW), "50.0 hours ago"),
    "of another definition": (Recorded(NOW, NOW, "of another definition"), "another definition"),
    "at an unknown time": (Recorded(None, NOW), "not known when"),
    "not at all": (None, "no lineage of it is recorded"),
}


@pytest.mark.parametrize(("recorded", "said"), FRESH.values(), ids=FRESH)
def test_lineage_is_fresh_by_what_is_recorded(recorded: Recorded | None, said: str | None) -> None:
    evaluator = Evaluator(one_edge(), lambda unique_id: recorded)
    rows = evaluator.findings("lineage_fresh", M, {"max_age_hours": 24})
    assert [said in row.because for row in rows if said] == ([True] if said else [])
    assert bool(rows) == bool(said)


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("derives_fom", EMAIL, "Did you mean derives_from"),
    ("derives_from", {}, "derives_from names no column"),
    ("derives_from", {"colums": ["a.b"]}, "Did you mean columns"),
    ("derives_from", {"columns": 5}, "must be a text or a list of texts"),
    ("derives_from", {**EMAIL, "require": "some"}, "must be all or any"),
    ("masked_from", {**EMAIL, "include_indirect": "yes"}, "must be true or false"),
    ("masked_from", {"columns": ["users.emial"]}, "Did you mean email?"),
    ("masked_from", {"columns": ["usres.email"]}, "Did you mean"),
    ("masked_from", {"column_tags": ["pi"]}, "Did you mean pii?"),
    (
        "masked_from",
        {"columns": ["raw.*.emial"]},
        "names no column. Did you mean email?",
    ),
    ("is_identity_of", PII, "has no argument 'column_tags'"),
    ("lineage_known", {"max_assumed": -1}, "must be a whole number"),
    ("lineage_fresh", {"max_age_hours": "1"}, "must be a number of hours"),
]


@pytest.mark.parametrize(("kind", "given", "said"), WRONG)
def test_a_contract_that_is_not_understood_fails(
    kind: str, given: dict[str, Any], said: str
) -> None:
    (row,) = found(shop(mart=f"select md5(email) as v {FROM}"), kind, "v", **given)
    assert row.proof is Proof.UNCHECKED and said in row.because


def test_a_contract_on_what_is_not_there_fails() -> None:
    lineage = shop(mart=f"select md5(email) as hashed {FROM}")
    (row,) = found(lineage, "masked_from", "hased", **PII)
    assert row.because == "the model has no column 'hased'. Did you mean hashed?"
    (row,) = found(lineage, "masked_from", "x", "model.shop.gone", **PII)
    assert row.because == "there is no lineage of model.shop.gone"


def with_tag(column: str, sql: str) -> Lineage:
    """``mart`` over ``stg``, whose YAML has the tag ``secret`` on one column."""
    stg = make_model("stg", sql, [SOURCE])
    stg["columns"] = {column: {"name": column, "tags": ["secret"]}}
    mart = make_model("mart", "select * from dev.main.stg", ["model.shop.stg"])
    return lineage_of(USERS, stg, mart)


def test_a_tag_on_a_column_that_is_not_there_leaves_nothing_proven() -> None:
    lineage = with_tag("emial", f"select email, id as v {FROM}")
    (row,) = found(lineage, "does_not_derive_from", "v", column_tags=["secret"])
    assert row.proof is Proof.UNCHECKED
    assert row.because == (
        "the tag secret is declared on stg.emial, a column that is not there. Did you mean email?"
    )
    (row,) = found(lineage, "does_not_derive_from", "v", columns=["stg.emial"])
    assert row.because == "model.shop.stg has no column 'emial'. Did you mean email?"
    # What the contract's column is not built from does not matter to it.
    assert found(lineage, "does_not_derive_from", "id", SOURCE, column_tags=["secret"]) == ()
    right = with_tag("EMAIL", f"select email, id as v {FROM}")
    assert found(right, "does_not_derive_from", "v", column_tags=["secret"]) == ()
    assert found(right, "does_not_derive_from", "email", column_tags=["secret"])


def test_a_tag_on_a_nested_field_is_one_on_the_column_that_holds_it() -> None:
    lineage = with_tag("address.city", f"select address, id as v {FROM}")
    (row,) = found(lineage, "does_not_derive_from", "address", column_tags=["secret"])
    assert row.path == "stg.address -> mart.address"
    assert found(lineage, "does_not_derive_from", "v", column_tags=["secret"]) == ()


HOSTILE = "100% of\r\n::error::x"


def a_check(outcome: Outcome = Outcome.FAIL, line: int | None = 7) -> Checked:
    test = Node(
        unique_id="test.shop.t", resource_type="test", name="t", package_name="shop", path="m.yml"
    )
    row = Finding(
        "masked_from", M, "a,b:c", "users.email -> mart.v", HOSTILE, steps=((S, "email"),)
    )
    contract = ContractTest(test, M, "masked_from")
    return Checked((Check(contract, "v", (row,), outcome, "models/my mart,1.yml", line),))


def test_an_annotation_is_one_line_whatever_it_says() -> None:
    (line,) = written.github(a_check())
    assert line == (
        "::error file=models/my mart%2C1.yml,line=7,title=masked_from model.shop.mart.a%2Cb%3Ac::"
        "a,b:c: 100%25 of%0D%0A::error::x (users.email -> mart.v)"
    )
    (line,) = written.github(a_check(Outcome.WARN, None))
    assert line.startswith("::warning file=models/my mart%2C1.yml,title=")
    assert list(written.github(a_check(Outcome.PASS))) == []


def test_sarif_names_file_and_line_and_keeps_its_fingerprint() -> None:
    (run,) = written.sarif(a_check())["runs"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "models/my%20mart%2C1.yml"}
    assert place["region"] == {"startLine": 7} and result["level"] == "error"
    (moved,) = written.sarif(a_check(Outcome.WARN, None))["runs"][0]["results"]
    assert "region" not in moved["locations"][0]["physicalLocation"]
    assert moved["level"] == "warning"
    assert moved["partialFingerprints"] == result["partialFingerprints"]


OUTCOMES: list[tuple[dict[str, Any], int, Outcome]] = [
    ({}, 0, Outcome.PASS),
    ({}, 1, Outcome.FAIL),
    ({"severity": "warn"}, 1, Outcome.WARN),
    ({"error_if": ">10"}, 5, Outcome.WARN),
    ({"error_if": ">10", "warn_if": ">= 6"}, 5, Outcome.PASS),
    ({"error_if": "between 1 and 2"}, 5, Outcome.FAIL),
]


@pytest.mark.parametrize(("details", "failures", "outcome"), OUTCOMES)
def test_severity_and_thresholds_are_dbts(
    details: dict[str, Any], failures: int, outcome: Outcome
) -> None:
    test = Node(
        unique_id="test.shop.t", resource_type="test", name="t", package_name="shop", path="m.yml",
        details=details,
    )  # fmt: skip
    assert ContractTest(test, M, "masked_from").outcome(failures) is outcome


def test_nothing_declared_is_nothing_found() -> None:
    lineage = one_edge()
    empty = Project("shop", "duckdb", {})
    assert checked(Evaluator(lineage), [], Places(empty, lambda *_: None)) == Checked(())
