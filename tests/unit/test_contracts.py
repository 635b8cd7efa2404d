"""Contracts on small lineages: what holds, what breaks them, and what cannot be proven."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from lineage_post.artifacts import Node, Project
from lineage_post.consumers.yaml_places import Places
from lineage_post.contracts import ContractTest, Evaluator, Finding, Proof
from lineage_post.contracts.checked import Check, Checked, checked
from lineage_post.contracts.declared import Outcome
from lineage_post.contracts.fresh import Recorded
from lineage_post.lineage import Edge, Lineage
from lineage_post.publish import findings as written
from lineage_post.vocabulary import Certainty, Reason, State, Subtype

from .handmade import column, edge, make_lineage
from .lineages import lineage_of
from .manifests import make_model, make_source

USERS = make_source(
    "users", {"id": "integer", "email": "text", "amount": "integer", "address": "struct(city text)"}
)
#: Every column of it is personal, so that it can be spoken of by tag and meta key.
for _name, _tags in {"email": ["pii"], "address": ["pii", "place"]}.items():
    USERS["columns"][_name] |= {"tags": _tags, "meta": {"sensitive": True}}
SOURCE = "source.shop.raw.users"
MART = "model.shop.mart"
EMAIL: dict[str, Any] = {"columns": ["raw.users.email"]}
AMOUNT: dict[str, Any] = {"columns": ["raw.users.amount"]}
PII: dict[str, Any] = {"column_tags": ["pii"]}


def shop(**models: str) -> Lineage:
    """Models one after another, each over those before it; ``eph_*`` are ephemeral."""
    made, parents = [], [SOURCE]
    for name, sql in models.items():
        kind = "ephemeral" if name.startswith("eph_") else "view"
        made.append(make_model(name, sql, parents, materialized=kind))
        parents = [*parents, f"model.shop.{name}"]
    return lineage_of(USERS, *made)


def found(
    lineage: Lineage, kind: str, name: str | None, node: str = MART, **given: Any
) -> tuple[Finding, ...]:
    return Evaluator(lineage).findings(kind, node, {"column_name": name, **given})


FROM = "from dev.raw.users"
#: kind, the SQL of the column ``v`` over the source, arguments, what is said (None: it holds).
OF_ONE_STEP: list[tuple[str, str, Mapping[str, Any], str | None]] = [
    ("derives_from", "upper(email)", EMAIL, None),
    (
        "derives_from",
        "amount",
        EMAIL,
        "raw.users.email, but from raw.users.amount",
    ),
    ("derives_from", "1", EMAIL, "it does not come from raw.users.email, nor from any column"),
    (
        "derives_from",
        "amount",
        {"columns": ["raw.users.email", "raw.users.amount"]},
        "raw.users.email",
    ),
    (
        "derives_from",
        "amount",
        {"columns": ["raw.*.em*", "raw.*.am*"], "require": "any"},
        None,
    ),
    ("derives_from", "case when email = 'x' then 1 end", EMAIL, "it does not come from"),
    ("does_not_derive_from", "amount", EMAIL, None),
    ("does_not_derive_from", "md5(email)", EMAIL, "it comes from raw.users.email"),
    ("does_not_derive_from", "case when email = 'x' then 1 end", EMAIL, None),
    (
        "does_not_derive_from",
        "case when email = 'x' then 1 end",
        {**EMAIL, "include_indirect": True},
        "it is influenced by raw.users.email",
    ),
    (
        "does_not_derive_from",
        "address.city",
        {"column_tags": ["pl*"]},
        "users.address (tag pl*)",
    ),
    ("does_not_derive_from", "amount", {"column_meta": ["sensitive"]}, None),
    ("does_not_derive_from", "email", {"column_meta": ["sensitive"]}, "(meta sensitive)"),
    ("masked_from", "md5(email)", PII, None),
    ("masked_from", "md5(address.city)", PII, None),
    ("masked_from", "email", PII, "raw.users.email (tag pii) reaches it unmasked"),
    ("masked_from", "md5(email) || email", PII, "reaches it unmasked"),
    ("masked_from", "coalesce(md5(email), email)", PII, "reaches it unmasked"),
    ("masked_from", "case when email = 'x' then 1 end", PII, None),
    (
        "masked_from",
        "case when email = 'x' then 1 end",
        {**PII, "include_indirect": True},
        "reaches it unmasked",
    ),
    ("only_derives_from", "amount + 1", AMOUNT, None),
    ("only_derives_from", "amount || email", AMOUNT, "it also comes from raw.users.email"),
    ("only_derives_from", "1", AMOUNT, None),
    ("is_identity_of", "amount", AMOUNT, None),
    ("is_identity_of", "amount * 2", AMOUNT, "raw.users.amount is changed on the way to mart.v"),
    ("is_identity_of", "email", AMOUNT, "it is a copy of raw.users.email"),
    ("is_identity_of", "address.city", {"columns": ["raw.users.address"]}, None),
    ("is_identity_of", "1", AMOUNT, "it is no copy of raw.users.amount"),
    ("is_aggregated", "sum(amount)", {}, None),
    ("is_aggregated", "round(sum(amount) / count(id), 2)", {}, None),
    ("is_aggregated", "amount", {}, "raw.users.amount reaches it without an aggregation"),
    ("is_aggregated", "sum(amount) + id", AMOUNT, None),
    ("is_aggregated", "sum(amount) + id", {}, "raw.users.id reaches it without an aggregation"),
    # A value that also comes in as it is, is not aggregated.
    ("is_aggregated", "sum(amount) + amount", {}, "raw.users.amount reaches it without"),
    (
        "is_aggregated",
        "amount / sum(amount) over (partition by id)",
        {},
        "raw.users.amount reaches",
    ),
    ("is_aggregated", "sum(amount) over (partition by amount)", {}, None),
    ("is_aggregated", "case when amount > 1 then sum(amount) end", {}, None),
    ("is_aggregated", "case when id > 1 then sum(amount) else amount end", {}, "raw.users.amount"),
    ("lineage_known", "amount", {}, None),
]


@pytest.mark.parametrize(("kind", "sql", "given", "said"), OF_ONE_STEP)
def test_a_contract_on_one_step(
    kind: str, sql: str, given: Mapping[str, Any], said: str | None
) -> None:
    rows = found(shop(mart=f"select {sql} as v {FROM}"), kind, "v", **given)
    assert bool(rows) == (said is not None), rows
    assert said is None or said in rows[0].because
    assert all(row.column == "v" and row.unique_id == MART for row in rows)


MIXED = "raw.users.amount reaches it without an aggregation"
#: Ways within one model to ``v`` from ``amount``, and what is said (None: it holds).
AGGREGATED = {
    "through a CTE under other names": (
        f"with c as (select sum(amount) as s, amount as a {FROM} group by amount)"
        " select s + a as v from c", MIXED,
    ),
    "in another arm of a union": (
        f"select sum(amount) as v {FROM} union all select amount {FROM}", MIXED,
    ),
    "in a deeper arm": (
        f"with u as (select sum(amount) as s {FROM} union all select amount {FROM})"
        " select s * 2 as v from u", MIXED,
    ),
    "from the join of the table with its own sum": (
        f"select amount / s as v {FROM} cross join (select sum(amount) as s {FROM}) as t", MIXED,
    ),
    "aggregated once more over both arms": (
        f"select max(s) as v from (select sum(amount) as s {FROM} union all"
        f" select amount {FROM}) as u", None,
    ),
    "aggregated in both arms": (
        f"select sum(amount) as v {FROM} union all select max(amount) {FROM}", None,
    ),
    "aggregated in a CTE, then computed with": (
        f"with c as (select id, sum(amount) as s, count(*) as n {FROM} group by id)"
        " select coalesce(s, 0) / n as v from c", None,
    ),
    "a recursion over the aggregate": (
        f"with recursive r as (select sum(amount) as v {FROM} union all"
        " select v + 1 from r where v < 5) select v from r", None,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("sql", "said"), AGGREGATED.values(), ids=AGGREGATED)
def test_every_way_to_an_aggregated_column_passes_an_aggregate(sql: str, said: str | None) -> None:
    rows = found(shop(mart=sql), "is_aggregated", "v")
    assert [row.because for row in rows] == ([] if said is None else [said])


RENAMED = {"stg": f"select email as mail {FROM}", "mid": "select mail as m from dev.main.stg"}
DIAMOND = {
    "l": f"select id, md5(email) as v {FROM}",
    "r": f"select id, email as v {FROM}",
    "mart": "select l.v || r.v as v from dev.main.l join dev.main.r using (id)",
}
#: Models, kind, arguments, and the path (None: it holds).
OF_MANY: dict[str, tuple[dict[str, str], str, Mapping[str, Any], str | None]] = {
    "renamed on the way, masked at the end": (
        {**RENAMED, "mart": "select md5(m) as v from dev.main.mid"}, "masked_from", PII, None,
    ),
    "renamed on the way, never masked": (
        {**RENAMED, "mart": "select lower(m) as v from dev.main.mid"}, "masked_from", PII,
        "raw.users.email -> stg.mail -> mid.m -> mart.v (transformation)",
    ),
    "a masked path and a plain one": (
        DIAMOND, "masked_from", PII, "raw.users.email -> r.v -> mart.v (transformation)",
    ),
    "both paths masked": (
        {**DIAMOND, "r": f"select id, sha256(email) as v {FROM}"}, "masked_from", PII, None,
    ),
    "through an ephemeral model": (
        {
            "eph_e": f"select email as m {FROM}",
            "mart": "with __dbt__cte__eph_e as (select email as m from dev.raw.users)"
            " select m as v from __dbt__cte__eph_e",
        },
        "does_not_derive_from", PII, "raw.users.email -> eph_e.m -> mart.v",
    ),
    "a filter two models before": (
        {
            "stg": f"select amount {FROM} where email like '%x'",
            "mart": "select amount as v from dev.main.stg",
        },
        "does_not_derive_from", {**EMAIL, "include_indirect": True},
        "raw.users.email -> rows of stg (filter) -> stg.amount -> mart.v",
    ),
    "renamed twice is still a copy": (
        {**RENAMED, "mart": "select m as v from dev.main.mid"}, "is_identity_of", EMAIL, None,
    ),
    "an origin in the middle counts": (
        {**RENAMED, "mart": "select m as v from dev.main.mid"}, "only_derives_from",
        {"columns": ["stg.mail"]}, None,
    ),
    "aggregated one model before": (
        {
            "stg": f"select sum(amount) as amount {FROM}",
            "mart": "select amount * 2 as v from dev.main.stg",
        },
        "is_aggregated", {}, None,
    ),
    "an aggregate beside the plain value, from two models": (
        {
            "stg": f"select id, sum(amount) as s {FROM} group by id",
            "mart": "select s + amount as v from dev.main.stg join dev.raw.users using (id)",
        },
        "is_aggregated", {}, "raw.users.amount -> mart.v (transformation)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("models", "kind", "given", "path"), OF_MANY.values(), ids=OF_MANY)
def test_a_contract_over_several_models(
    models: dict[str, str], kind: str, given: Mapping[str, Any], path: str | None
) -> None:
    rows = found(shop(**models), kind, "v", **given)
    assert [row.path for row in rows] == ([] if path is None else [path])


def test_a_contract_on_a_model_holds_all_its_columns() -> None:
    lineage = shop(mart=f"select email as a, id as b, upper(email) as c {FROM}")
    assert [row.column for row in found(lineage, "does_not_derive_from", None, **PII)] == ["a", "c"]


#: What is unknown on the way breaks each of these, unless the contract allows that.
UNKNOWABLE: dict[str, dict[str, Any]] = {
    "derives_from": EMAIL,
    "does_not_derive_from": EMAIL,
    "masked_from": EMAIL,
    "only_derives_from": EMAIL,
    "is_aggregated": {},
}


@pytest.mark.parametrize("kind", UNKNOWABLE)
def test_what_cannot_be_proven_fails_and_says_so(kind: str) -> None:
    lineage = shop(stg="select from from where (", mart="select x as v from dev.main.stg")
    (row,) = found(lineage, kind, "v", **UNKNOWABLE[kind])
    assert row.proof is Proof.UNPROVEN and "parse_error" in row.because
    assert row.path == "stg.x -> mart.v"
    assert found(lineage, kind, "v", **UNKNOWABLE[kind], allow_unknown=True) == ()


def test_an_unknown_behind_a_mask_is_not_on_the_way() -> None:
    lineage = shop(stg="select from from where (", mart="select md5(x) as v from dev.main.stg")
    assert found(lineage, "masked_from", "v", **PII) == ()
    assert found(lineage, "does_not_derive_from", "v", **PII)


S, M = "seed.shop.users", "model.shop.mart"
ASSUMED = Certainty.ASSUMED


def one_edge(subtype: Subtype = Subtype.IDENTITY, **more: Any) -> Lineage:
    return make_lineage({S: ["email"], M: ["v"]}, [edge(f"{S}:email", f"{M}:v", subtype, **more)])


def test_an_assumed_path_breaks_what_forbids_it_and_proves_nothing() -> None:
    lineage = one_edge(certainty=ASSUMED)
    given: dict[str, Any] = {"columns": ["users.email"]}
    (row,) = found(lineage, "does_not_derive_from", "v", **given)
    assert row.because.endswith(", as far as can be told (assumed)")
    (row,) = found(lineage, "derives_from", "v", **given)
    assert row.proof is Proof.UNPROVEN and "is only assumed" in row.because
    (row,) = found(lineage, "is_identity_of", "v", **given)
    assert "is only assumed to be copied" in row.because


def test_a_field_proves_no_more_of_a_struct_than_what_made_all_of_it() -> None:
    stg = "model.shop.stg"
    made = [edge(f"{S}:{c}", f"{stg}:s", Subtype.TRANSFORMATION) for c in ("email", "id")]
    read = Edge(stg, "s", "id", M, "v", Subtype.IDENTITY)
    columns: dict[str, Any] = {S: ["email", "id"], stg: ["s"], M: ["v"]}
    lineage = make_lineage(columns, [*made, read])
    (row,) = found(lineage, "derives_from", "v", columns=["users.email"])
    assert row.proof is Proof.UNPROVEN
    assert found(lineage, "derives_from", "v", columns=["stg.s"]) == ()
    assert found(lineage, "does_not_derive_from", "v", columns=["users.email"])
    lineage = make_lineage(columns, [made[0], read])
    assert found(lineage, "derives_from", "v", columns=["users.email"]) == ()


def test_lineage_known_counts_what_is_unknown_and_what_is_assumed() -> None:
    lineage = one_edge(certainty=ASSUMED)
    assert found(lineage, "lineage_known", None) == ()
    assert found(lineage, "lineage_known", None, max_assumed=1) == ()
    (row,) = found(lineage, "lineage_known", None, max_assumed=0)
    assert row.path == "users.email -> mart.v (assumed)"
    unknown = [column(n, State.UNKNOWN, Reason.UNRESOLVED_COLUMN) for n in ("a", "b")]
    lineage = make_lineage({M: [*unknown, "c"]})
    assert [row.column for row in found(lineage, "lineage_known", None, max_unknown=1)] == [
        "a",
        "b",
    ]
    assert found(lineage, "lineage_known", None, max_unknown=2) == ()
    lineage = make_lineage({M: ["c"]}, states={M: (State.UNKNOWN, Reason.PYTHON_MODEL)})
    (row,) = found(lineage, "lineage_known", None)
    assert "python_model" in row.because


@pytest.mark.parametrize(
    "kind", ["does_not_derive_from", "masked_from", "only_derives_from", "is_aggregated"]
)
def test_a_cycle_ends(kind: str) -> None:
    a, b = "model.shop.a", "model.shop.b"
    arcs = [(f"{a}:x", f"{b}:x"), (f"{b}:x", f"{a}:x"), (f"{S}:email", f"{a}:x")]
    lineage = make_lineage(
        {S: ["email", "id"], a: ["x"], b: ["x"]}, [edge(f, t, Subtype.IDENTITY) for f, t in arcs]
    )
    origin = "users.id" if kind == "only_derives_from" else "users.email"
    (row,) = found(lineage, kind, "x", b, columns=[origin])
    assert row.path == "users.email -> a.x -> b.x"
    # What comes from itself alone has no source, and comes from nothing that is named.
    assert found(lineage, "does_not_derive_from", "x", b, columns=["b.x", "users.id"]) == ()


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
