"""Descriptions along copies, and owners and scores no better than the worst source."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lineage_post.governance.descriptions import inherited_descriptions
from lineage_post.governance.quality import Governed
from lineage_post.lineage import Lineage
from tests.governance.conftest import Call, Crm
from tests.governance.small import source
from tests.unit.lineages import lineage_of
from tests.unit.manifests import make_model


def described(sql: str, **columns: dict[str, Any]) -> Lineage:
    """A model ``m`` over the sources ``raw.a`` and ``raw.b``, whose columns say what they are."""
    sources = [
        source(
            name,
            {
                c: {"description": f"{c} of {name}", **columns.get(f"{name}_{c}", {})}
                for c in ("id", "x")
            },
        )
        for name in ("a", "b")
    ]
    return lineage_of(*sources, make_model("m", sql, [s["unique_id"] for s in sources]))


@pytest.mark.parametrize(
    "sql, inherited",
    [
        ("select x from raw.a", {"x": "x of a"}),
        ("select x as y from raw.a", {"y": "x of a"}),
        ("with c as (select x from raw.a) select c.x as z from c", {"z": "x of a"}),
        ("select a.x from raw.a as a join raw.b as b on a.id = b.id", {"x": "x of a"}),
        ("select upper(x) as x from raw.a", {}),
        ("select cast(x as int) as x from raw.a", {}),
        ("select max(x) as x from raw.a", {}),
        ("select case when id = 1 then x end as x from raw.a", {}),
        ("select coalesce(a.x, b.x) as x from raw.a as a, raw.b as b", {}),
        ("select x from raw.a union all select x from raw.b", {}),
        ("select 1 as x from raw.a", {}),
    ],
)
def test_a_description_comes_from_the_one_column_that_this_is_a_copy_of(
    sql: str, inherited: dict[str, str]
) -> None:
    found = inherited_descriptions(described(sql), lambda path: None)
    assert {i.column[1]: i.text for i in found} == inherited


def test_jinja_in_a_rendered_description_is_not_rendered_again() -> None:
    found = inherited_descriptions(
        described("select x from raw.a", a_x={"description": "of {{ this }}"}), lambda path: None
    )
    assert [i.text for i in found] == ["{% raw %}of {{ this }}{% endraw %}"]


@pytest.mark.parametrize(
    "a, b, effective, worst",
    [
        (0.9, 0.4, 0.4, "b"),
        ("gold", "bronze", "bronze", "b"),
        (0.9, None, 0.9, "a"),
        (None, None, None, None),
    ],
)
def test_a_column_is_no_better_than_its_worst_direct_source(
    a: Any, b: Any, effective: Any, worst: str | None
) -> None:
    lineage = described(
        "select a.x || b.x as y from raw.a as a, raw.b as b",
        a_x={"meta": {"quality": a}},
        b_x={"meta": {"quality": b}},
    )
    found = Governed(lineage).quality(("model.shop.m", "y"))
    assert found.effective == effective
    assert (found.worst and found.worst[0].rsplit(".", 1)[-1]) == worst


def test_scores_of_different_scales_are_not_compared() -> None:
    lineage = described(
        "select a.x || b.x as y from raw.a as a, raw.b as b",
        a_x={"meta": {"quality": "gold"}},
        b_x={"meta": {"quality": 0.4}},
    )
    assert not Governed(lineage).quality(("model.shop.m", "y")).is_comparable


@pytest.mark.parametrize(
    "a, b, owner", [("ann", "ann", "ann"), ("ann", "bob", None), ("ann", None, None)]
)
def test_an_owner_is_inherited_where_all_direct_sources_have_the_same(
    a: str, b: str | None, owner: str | None
) -> None:
    lineage = described(
        "select a.x || b.x as y from raw.a as a, raw.b as b",
        a_x={"meta": {"owner": a}},
        b_x={"meta": {"owner": b}},
    )
    assert Governed(lineage).ownership(("model.shop.m", "y")).inherited == owner


def test_inherit_is_a_diff_first_that_names_origins_and_writes_once(crm: Crm, cli: Call) -> None:
    before = crm.yaml()
    code, diff, _ = cli(crm, "inherit")
    assert code == 0 and crm.yaml() == before
    added = [line[1:].strip() for line in diff.split("\n") if line.startswith("+ ")]
    assert (
        "description: Address that the user confirmed, in lower case."
        "  # inherited from raw_users.email" in added
    )
    assert not [line for line in diff.split("\n") if line.startswith("-  ")]
    assert cli(crm, "inherit", "--write")[1] == diff
    assert cli(crm, "inherit", "--write")[1] == ""
    crm.dbt("compile", "--no-populate-cache", "--select", "package:crm")
    assert cli(crm, "inherit")[1] == ""
    manifest = json.loads((crm.folder / "target" / "manifest.json").read_text())
    sent = manifest["nodes"]["model.crm.fct_orders"]["columns"]["sent_to"]
    assert sent["description"] == "Address that the user confirmed, in lower case."
    assert "address" not in manifest["nodes"]["model.crm.all_contacts"]["columns"]


def test_owners_and_scores_are_reported_and_written_on_demand(crm: Crm, cli: Call) -> None:
    _, out, _ = cli(crm, "inherit", "fct_orders", "--output", "json")
    found = json.loads(out)
    score = next(q for q in found["quality"] if q["column"] == "sent_to")
    assert (score["effective"], score["worst_source"]["column"]) == (0.7, "contact")
    _, diff, _ = cli(crm, "inherit", "fct_orders", "--what", "quality", "--what", "owner")
    assert "+            config: {meta: {owner: data-team, quality: 0.7}}" in diff
    assert "description" not in diff
