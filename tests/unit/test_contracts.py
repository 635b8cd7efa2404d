"""Contracts on small lineages: what holds, what breaks them, and what cannot be proven."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lineage_post.contracts import Proof
from lineage_post.lineage import Edge
from lineage_post.vocabulary import Certainty, Reason, State, Subtype

from .contracted import AMOUNT, EMAIL, FROM, MART, PII, M, S, found, one_edge, shop
from .handmade import column, edge, make_lineage

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


ASSUMED = Certainty.ASSUMED


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
