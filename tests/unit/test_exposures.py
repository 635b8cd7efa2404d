"""Which columns get an exposure, what it depends on, and that its texts are safe."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import jinja2
import pytest

from lineage_post.artifacts import DeclaredColumn
from lineage_post.lineage import Lineage
from lineage_post.options import Options
from lineage_post.publish.exposures import exposure_set, exposures_for, is_generated, manifest_entry
from lineage_post.vocabulary import ExposureMode, Reason, State, Subtype
from tests.unit.handmade import column, declared, edge, make_lineage
from tests.unit.test_markdown import HOSTILE

RAW, OTHER, STG, FCT = "seed.shop.raw", "source.shop.web.visits", "model.shop.stg", "model.shop.fct"
EXPOSED = {"lineage": {"expose": True}}


def shop(fct: dict[str, Any] | None = None, **more: Any) -> Lineage:
    columns = {
        RAW: ["id", "amount"],
        OTHER: ["visitor"],
        STG: ["order_id", "amount"],
        FCT: ["order_id", "revenue"],
    }
    edges = [
        edge(f"{RAW}:id", f"{STG}:order_id", Subtype.IDENTITY),
        edge(f"{RAW}:amount", f"{STG}:amount", Subtype.TRANSFORMATION, expression="amount / 100"),
        edge(f"{STG}:order_id", f"{FCT}:order_id", Subtype.IDENTITY),
        edge(f"{STG}:amount", f"{FCT}:revenue", Subtype.AGGREGATION, masking=True),
        edge(f"{OTHER}:visitor", FCT, Subtype.JOIN),
    ]
    marked = {"columns": declared("revenue", **EXPOSED), "access": "public"}
    return make_lineage(columns, edges, nodes={FCT: {**marked, **(fct or {})}}, **more)


@pytest.mark.parametrize(
    ("mode", "names"),
    [
        (ExposureMode.NONE, []),
        (ExposureMode.MARKED, ["lineage_fct__revenue"]),
        (ExposureMode.LEAF, ["lineage_fct__order_id", "lineage_fct__revenue"]),
        (ExposureMode.PUBLIC, ["lineage_fct__order_id", "lineage_fct__revenue"]),
    ],
)
def test_the_mode_picks_the_columns(mode: ExposureMode, names: list[str]) -> None:
    assert [spec.name for spec in exposures_for(shop(), Options(exposures=mode))] == names


def test_a_leaf_is_a_model_that_no_model_reads() -> None:
    lineage = shop()
    nodes = dict(lineage.project.nodes)
    nodes["exposure.shop.dash"] = replace(
        nodes[FCT], unique_id="exposure.shop.dash", resource_type="exposure", depends_on=(FCT,)
    )
    lineage = replace(lineage, project=replace(lineage.project, nodes=nodes))
    leaves = exposures_for(lineage, Options(exposures=ExposureMode.LEAF))
    assert {spec.meta["node"] for spec in leaves} == {FCT}


def test_it_depends_on_what_feeds_the_value_and_what_decides_the_rows() -> None:
    (spec,) = exposures_for(shop())
    assert spec.depends_on == (FCT, STG, RAW, OTHER)


def test_a_node_that_dbt_does_not_know_is_not_depended_on() -> None:
    nodes = {FCT: {"columns": declared("a", **EXPOSED)}}
    edges = [edge("external.db.s.t:b", f"{FCT}:a", Subtype.IDENTITY)]
    (spec,) = exposures_for(make_lineage({FCT: ["a"]}, edges, nodes=nodes))
    assert spec.depends_on == (FCT,)


def test_a_marked_column_that_nothing_is_known_of_says_so() -> None:
    nodes = {FCT: {"columns": declared("a", **EXPOSED)}}
    states = {FCT: (State.UNKNOWN, Reason.PARSE_ERROR)}
    (spec,) = exposures_for(make_lineage({FCT: []}, nodes=nodes, states=states))
    assert "unknown: its SQL could not be parsed (parse_error)" in spec.description
    assert spec.depends_on == (FCT,)


def test_an_unknown_column_and_a_constant_one_are_described_apart() -> None:
    columns = [column("a", State.UNKNOWN, Reason.AMBIGUOUS), column("b")]
    nodes = {FCT: {"columns": declared("a", "b", **EXPOSED)}}
    unknown, constant = exposures_for(make_lineage({FCT: columns}, nodes=nodes))
    assert "Its lineage is unknown: a column name that several relations may have" in (
        unknown.description
    )
    assert "It has no source column: constant, counted or generated." in constant.description


def test_a_column_is_marked_in_any_case_and_named_as_the_warehouse_has_it() -> None:
    (spec,) = exposures_for(shop({"columns": declared("REVENUE", **EXPOSED)}))
    assert spec.meta == {"node": FCT, "column": "revenue"}


def test_the_description_is_a_table_of_all_that_leads_to_the_column() -> None:
    (spec,) = exposures_for(shop())
    fct, stg = "[fct](#!/model/model.shop.fct)", "[stg](#!/model/model.shop.stg)"
    raw, web = "[raw](#!/seed/seed.shop.raw)", "[web.visits](#!/source/source.shop.web.visits)"
    assert spec.description.splitlines() == [
        f"Column lineage of {fct} `revenue` through all models: 4 nodes.",
        "",
        "**Where its value comes from**",
        "",
        "| Column | Source column | Type | Subtype | Expression |",
        "|---|---|---|---|---|",
        f"| {fct} `revenue` | {stg} `amount` | DIRECT | aggregation, masked |  |",
        f"| {stg} `amount` | {raw} `amount` | DIRECT | transformation | `amount / 100` |",
        "",
        "**What decides its rows**",
        "",
        "| Column | Source column | Type | Subtype | Expression |",
        "|---|---|---|---|---|",
        f"| {fct} (every row) | {web} `visitor` | INDIRECT | join |  |",
    ]


def test_sql_is_left_out_where_the_options_say_so() -> None:
    (spec,) = exposures_for(shop(), Options(expressions=False))
    assert "amount / 100" not in spec.description and "Expression" not in spec.description


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_column_name_is_text_in_every_field(name: str) -> None:
    nodes = {FCT: {"columns": (DeclaredColumn(name, meta=EXPOSED),)}}
    edges = [edge(f"{RAW}:id", f"{FCT}:{name}", Subtype.IDENTITY, expression=name)]
    (spec,) = exposures_for(make_lineage({RAW: ["id"], FCT: [name]}, edges, nodes=nodes))
    assert re.fullmatch(r"[A-Za-z0-9_]+", spec.name)
    assert spec.meta["column"] == name
    for shown in (spec.label, spec.description):
        assert "<" not in shown
        assert jinja2.Environment().from_string(shown).render() == shown
    rows = [line for line in spec.description.splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {6}


def test_names_are_unique_and_do_not_depend_on_each_other_s_order() -> None:
    nodes = {
        "model.shop.a__b": {"columns": declared("c", **EXPOSED)},
        "model.shop.a": {"columns": declared("b__c", "é", "è", "x" * 300, **EXPOSED)},
    }
    columns = {"model.shop.a__b": ["c"], "model.shop.a": ["b__c", "é", "è", "x" * 300]}
    specs = exposures_for(make_lineage(columns, nodes=nodes))
    names = [spec.name for spec in specs]
    assert len(set(names)) == 5
    assert all(re.fullmatch(r"[A-Za-z0-9_]{1,140}", name) for name in names)
    turned = make_lineage(dict(reversed(columns.items())), nodes=nodes)
    assert exposures_for(turned) == specs


def test_versions_of_a_model_get_names_and_labels_of_their_own() -> None:
    ids = ["model.shop.price.v1", "model.shop.price.v2"]
    nodes: dict[str, dict[str, Any]] = {
        unique_id: {"name": "price", "version": unique_id[-1], "columns": declared("p", **EXPOSED)}
        for unique_id in ids
    }
    specs = exposures_for(make_lineage({i: ["p"] for i in ids}, nodes=nodes))
    assert [spec.name for spec in specs] == ["lineage_price_v1__p", "lineage_price_v2__p"]
    assert [spec.label for spec in specs] == ["price.v1.p", "price.v2.p"]


@pytest.mark.parametrize(
    ("owner", "name", "email"),
    [
        (None, "shop", None),
        ("Finance", "Finance", None),
        ("ada@example.com", None, "ada@example.com"),
        ("Ada Bird <ada@example.com>", "Ada Bird", "ada@example.com"),
        ("<script>x</script>", "‹script›x‹/script›", None),
    ],
)
def test_the_owner_has_a_name_or_an_address(
    owner: str | None, name: str | None, email: str | None
) -> None:
    (spec,) = exposures_for(shop({"owner": owner}))
    assert (spec.owner_name, spec.owner_email) == (name, email)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("type", "dashboard", "dashboard"),
        ("type", "spreadsheet", "analysis"),
        ("label", "Revenue", "Revenue"),
        ("label", "{{ x }}", "{ { x } }"),
        ("url", "https://example.com/r?x=1", "https://example.com/r?x=1"),
        ("url", "javascript:alert(1)", None),
        ("url", "https://example.com/{{ x }}", None),
    ],
)
def test_the_column_s_meta_sets_type_label_and_url_where_they_are_safe(
    key: str, value: str, expected: str | None
) -> None:
    meta = {"lineage": {"expose": True, key: value}}
    (spec,) = exposures_for(shop({"columns": (DeclaredColumn("revenue", meta=meta),)}))
    assert getattr(spec, key) == expected


def test_more_than_the_limit_are_counted_in_a_warning() -> None:
    options = Options(exposures=ExposureMode.LEAF, exposures_limit=1)
    found = exposure_set(shop(), options)
    assert [spec.name for spec in found.specs] == ["lineage_fct__order_id"]
    assert found.left_out == 1
    assert found.warning is not None and found.warning.startswith("1 column got no exposure")
    assert exposure_set(shop()).warning is None


def test_the_manifest_s_entry_is_told_from_one_of_the_user_s() -> None:
    (spec,) = exposures_for(shop())
    entry = manifest_entry(spec, "shop")
    assert entry["unique_id"] == "exposure.shop.lineage_fct__revenue"
    assert is_generated(entry)
    assert not is_generated({**entry, "original_file_path": "models/exposures.yml"})
