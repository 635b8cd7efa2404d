"""What each viewer of a policy sees: names that are hidden are nowhere in what is published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lineage_post.errors import OptionError
from lineage_post.lineage import Lineage
from lineage_post.policy import Viewer, read_policy, view_of
from lineage_post.policy.file import policy_from_mapping
from lineage_post.publish.federation import federation

from .lineages import lineage_of
from .manifests import make_model, make_source

ORDERS = "source.shop.raw.secret_orders"
STAGED, MART = "model.shop.stg_salaries", "model.shop.fct_pay"


@pytest.fixture(scope="module")
def lineage() -> Lineage:
    return lineage_of(
        make_source("secret_orders", {"id": "int", "wage": "double"}),
        make_source("people", {"id": "int", "name": "text"}),
        make_model(
            "stg_salaries",
            'select id, wage * 12 as yearly from "dev"."raw"."secret_orders" where wage > 0',
            [ORDERS],
            tags=["pii"],
            description="Salaries by person.",
        ),
        make_model(
            "fct_pay",
            "select s.id, sum(s.yearly) as paid, max(p.name) as who "
            'from "dev"."main"."stg_salaries" as s '
            'join "dev"."raw"."people" as p on s.id = p.id group by 1',
            [STAGED, "source.shop.raw.people"],
            description="Built on stg_salaries, for everyone.",
            access="public",
        ),
        make_model(
            "report", 'select paid from "dev"."main"."fct_pay"', [MART], materialized="table"
        ),
    )


def test_what_is_hidden_keeps_its_place_and_its_edges(lineage: Lineage) -> None:
    view = view_of(lineage, Viewer("v", hide=("tag:pii",)))
    (hidden,) = view.restricted
    assert view.shown[STAGED] == hidden
    drawn = federation(view.lineage, [(MART, "paid")], direction="upstream")
    shown = [node for node in drawn["nodes"] if node["restricted"]]
    assert [(n["unique_id"], n["relation"]) for n in shown] == [(hidden, None)]
    assert {e["target"] for e in drawn["edges"]} == {f"{MART}:paid", f"{hidden}:column 2"}
    assert [e["transform"] for e in drawn["edges"]] == ["AGGREGATION", "TRANSFORMATION"]
    assert not view.is_incomplete


@pytest.mark.parametrize(
    "viewer",
    [
        Viewer("by tag", hide=("tag:pii",)),
        Viewer("by access", see=("access:public",)),
        Viewer("by schema", hide=("stg_salaries", "schema:raw")),
        Viewer("by scope", scope=("fct_pay", "report")),
        Viewer("nothing", see=()),
    ],
    ids=lambda viewer: viewer.name,
)
def test_a_hidden_name_is_nowhere(lineage: Lineage, viewer: Viewer) -> None:
    view = view_of(lineage, viewer)
    everything = json.dumps(view.lineage.to_dict()) + repr(view.lineage.project)
    for name in ("stg_salaries", "yearly", "salaries"):
        assert name not in everything.lower().replace("built on restricted", ""), viewer
    assert "wage" not in everything or viewer.name == "by tag"


def test_what_is_out_of_scope_is_dropped_and_the_answer_is_incomplete(lineage: Lineage) -> None:
    view = view_of(lineage, Viewer("v", scope=("fct_pay", "report")))
    assert set(view.lineage.nodes) == {MART, "model.shop.report"}
    assert view.is_incomplete and not view.restricted
    assert [e.to_node for e in view.lineage.edges()] == ["model.shop.report"]


def test_code_is_shown_only_where_it_names_nothing_hidden(lineage: Lineage) -> None:
    nodes = view_of(lineage, Viewer("v", hide=("tag:pii",))).lineage.project.nodes
    assert nodes[MART].compiled_code is None and nodes[MART].raw_code == ""
    assert "fct_pay" in (nodes["model.shop.report"].compiled_code or "")
    assert nodes[MART].description == "Built on restricted, for everyone."


def test_a_viewer_without_limits_sees_the_lineage_itself(lineage: Lineage) -> None:
    assert view_of(lineage, Viewer("owner", natives=True)).lineage is lineage


def test_the_same_policy_gives_the_same_ids(lineage: Lineage) -> None:
    first, again = (view_of(lineage, Viewer("v", see=("access:public",))) for _ in range(2))
    assert first.shown == again.shown and len(first.restricted) == 4


def test_a_selector_that_matches_nothing_is_a_warning(lineage: Lineage) -> None:
    view = view_of(lineage, Viewer("v", hide=("tag:pi",)))
    assert view.warnings == ("the selector 'tag:pi' matches nothing; did you mean tag:pii?",)


def test_a_policy_without_a_default_shows_strangers_nothing(tmp_path: Path) -> None:
    path = tmp_path / "policy.yml"
    path.write_text("viewers: {finance: {see: 'group:finance'}}\n", encoding="utf-8")
    policy = read_policy(path)
    assert policy.viewer(None).see == ()
    assert policy.viewer("finance").see == ("group:finance",)
    with pytest.raises(OptionError, match="no viewer 'sales'"):
        policy.viewer("sales")


@pytest.mark.parametrize(
    "document, said",
    [
        ({}, "there are no viewers"),
        ({"viewers": {}, "defualt": "a"}, "'defualt' is not known"),
        ({"viewers": {"a": {"hides": []}}}, "viewers: a: 'hides' is not known"),
        ({"viewers": {"a": {"hide": {"tag": "pii"}}}}, "hide is not a list"),
        ({"viewers": {"a": {"natives": "yes"}}}, "natives is 'yes'"),
        ({"viewers": {"a": {}}, "default": "b"}, "default: The policy has no viewer 'b'"),
    ],
)
def test_a_word_that_is_not_known_is_refused(document: object, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        policy_from_mapping(document, where="policy.yml")
