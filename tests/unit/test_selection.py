from __future__ import annotations

import pytest

from lineage_post.errors import SelectionError
from lineage_post.lineage import Lineage
from lineage_post.selection import select
from lineage_post.selection.syntax import parse_selector

from .lineages import lineage_of
from .manifests import make_model, make_source

PEOPLE = "source.shop.raw.people"
ALL_PARENTS_OF_FCT = {"fct", "eph", "eph2", "stg_orders", "raw_orders"}


def names(unique_ids: frozenset[str]) -> set[str]:
    """Names, with versions; tests and operations aside."""
    kept = (u.split(".", 2) for u in unique_ids if not u.startswith(("test", "unit", "operation")))
    return {name for _, _, name in kept}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("fct", {"fct"}),
        ("shop.fct", {"fct"}),
        ("model.shop.fct", {"fct"}),
        ("+fct", ALL_PARENTS_OF_FCT),
        ("1+fct", {"fct", "eph2", "stg_orders"}),
        ("eph2+1", {"eph2", "fct"}),
        ("fct,stg_orders", set()),
        ("fct stg_orders", {"fct", "stg_orders"}),
        ("+fct,tag:staging", {"stg_orders"}),
        ("ver", {"ver.v1", "ver.v2"}),
        ("ver.v1", {"ver.v1"}),
        ("ver_v1", {"ver.v1"}),
        ("version:latest", {"ver.v2"}),
        ("stg_*", {"stg_orders"}),
        ("eph?", {"eph2"}),
        ("path:models/fct.sql", {"fct"}),
        ("models/fct.sql", {"fct"}),
        ("fct.sql", {"fct"}),
        ("file:f*t.sql", {"fct"}),
        ("path:seeds", {"items", "raw_orders"}),
        ("source:app", {"app.events", "app.orders_table"}),
        ("source:app.events", {"app.events"}),
        ("source:shop.app.e*", {"app.events"}),
        ("source:app.events+", {"app.events", "from_source"}),
        ("exposure:dash", {"dash"}),
        ("+exposure:notebook", {"notebook", *ALL_PARENTS_OF_FCT}),
        ("config.materialized:incremental", {"inc"}),
        ("config.strategy:check", {"snap_checked"}),
        ("resource_type:snapshot", {"snap", "snap_checked"}),
        ("group:finance", {"stg_orders"}),
        ("package:this,resource_type:seed", {"items", "raw_orders"}),
        ("tag:stag*", {"stg_orders"}),
        ("@items", {"items"}),
    ],
)
def test_dbt_s_selectors_pick_what_dbt_picks(
    shop_lineage: Lineage, selector: str, expected: set[str]
) -> None:
    found = select(shop_lineage, selector)
    assert names(found.whole) == expected and not found.columns


def test_at_takes_descendants_and_all_they_are_built_from(shop_lineage: Lineage) -> None:
    found = names(select(shop_lineage, "@eph2").whole)
    assert {"inc", "uses", "dash", "raw_orders", *ALL_PARENTS_OF_FCT} <= found


def test_exclude_takes_away(shop_lineage: Lineage) -> None:
    found = select(shop_lineage, "+fct", exclude="resource_type:seed eph")
    assert names(found.whole) == {"fct", "eph2", "stg_orders"}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("fct.amount2", {"fct.amount2"}),
        ("FCT.amount2", set()),
        ("fct.AMOUNT2", {"fct.amount2"}),
        ('fct."amount2"', {"fct.amount2"}),
        ("shop.fct.amount2", {"fct.amount2"}),
        ("fct.*2", {"fct.amount2"}),
        ("ver.v1.order_id", {"ver.v1.order_id"}),
        ("source:app.events.kind", {"app.events.kind"}),
        ("1+inc.amount2,fct.amount2", {"fct.amount2"}),
        ("source:app.events.kind+", {"app.events.kind", "from_source.kind"}),
    ],
)
def test_columns_are_picked_like_nodes(
    shop_lineage: Lineage, selector: str, expected: set[str]
) -> None:
    found = select(shop_lineage, selector)
    assert {f"{n.split('.', 2)[2]}.{c}" for n, c in found.columns} == expected
    assert not found.whole


def test_a_plus_walks_along_columns_alone(shop_lineage: Lineage) -> None:
    found = select(shop_lineage, "+fct.amount2")
    picked = {f"{n.split('.', 2)[2]}.{c}" for n, c in found.columns}
    assert {"eph2.amount2", "eph.amount", "stg_orders.amount", "raw_orders.amount"} <= picked
    assert "stg_orders.status" in picked
    assert "stg_orders.customer_id" not in picked


def test_the_depth_of_a_column_walk_is_counted_in_nodes(shop_lineage: Lineage) -> None:
    found = select(shop_lineage, "1+fct.amount2")
    assert ("model.shop.eph2", "amount2") in found
    assert ("model.shop.eph", "amount") not in found


def test_columns_of_a_picked_node_are_picked_with_it(shop_lineage: Lineage) -> None:
    found = select(shop_lineage, "fct stg_orders.amount")
    assert found.nodes == {"model.shop.fct", "model.shop.stg_orders"}
    assert ("model.shop.fct", "order_id") in found
    assert ("model.shop.stg_orders", "status") not in found


def test_a_column_can_be_excluded_from_its_node(shop_lineage: Lineage) -> None:
    found = select(shop_lineage, "fct", exclude="fct.amount2")
    assert found.columns == {("model.shop.fct", "order_id"), ("model.shop.fct", "customer_id")}


def test_a_column_that_is_not_there_is_an_error_with_near_names(shop_lineage: Lineage) -> None:
    with pytest.raises(SelectionError, match="fct has no column 'amount'") as caught:
        select(shop_lineage, "+fct.amount")
    assert "amount2" in str(caught.value)


def test_a_selector_that_matches_nothing_is_a_warning(shop_lineage: Lineage) -> None:
    found = select(shop_lineage, ["nope", "fct"])
    assert names(found.nodes) == {"fct"}
    assert found.warnings == ("the selector 'nope' matches nothing",)


@pytest.mark.parametrize("text", ["+", "tag:", "@fct+", "nomethod:x", "state:modified"])
def test_what_is_no_selector_is_an_error(shop_lineage: Lineage, text: str) -> None:
    with pytest.raises(SelectionError):
        select(shop_lineage, text)


def test_windows_paths_select_like_others(shop_lineage: Lineage) -> None:
    assert names(select(shop_lineage, "models\\fct.sql").whole) == {"fct"}


def test_a_selector_is_taken_apart() -> None:
    selector = parse_selector("2+config.meta.owner:Ada+")
    assert (selector.up, selector.down) == (2, None)
    assert (selector.method, selector.key, selector.value) == ("config", "meta.owner", "Ada")


def test_an_intersection_that_is_empty_is_a_warning(shop_lineage: Lineage) -> None:
    selection = select(shop_lineage, "fct,stg_orders")
    assert selection.nodes == frozenset()
    assert selection.warnings == ("the selector 'fct,stg_orders' matches nothing",)
    assert select(shop_lineage, "nothing,fct").warnings == (
        "the selector 'nothing' matches nothing",
    )


def test_at_a_column_takes_what_is_made_of_it_and_all_that_is_made_of(
    shop_lineage: Lineage,
) -> None:
    made = select(shop_lineage, "raw_orders.id+").columns
    family = select(shop_lineage, "@raw_orders.id").columns
    assert made < family
    beside = {column for node, column in family if node == "seed.shop.raw_orders"}
    # What else decides the values or rows of a column made of it.
    assert beside > {"id"}


ODD = {
    "First Name": "text",
    "Net.Amount": "int",
    'co"untry': "text",
    "a+b, c:d": "int",
    "id": "int",
}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ('stg."First Name"', {"First Name"}),
        ('stg."First Name",stg', {"First Name"}),
        ('stg."First Name" stg.Net.Amount', {"First Name", "Net.Amount"}),
        ('1+stg."Net.Amount"+1', {"Net.Amount"}),
        ('stg."co""untry" stg.co"untry', {'co"untry'}),
        ('stg."a+b, c:d"+', {"a+b, c:d"}),
        ('stg."f* n*"', {"First Name"}),
        ('s*."id"', {"id"}),
    ],
)
def test_a_column_may_have_any_name(selector: str, expected: set[str]) -> None:
    lineage = lineage_of(
        make_source("people", ODD), make_model("stg", "select * from dev.raw.people", [PEOPLE])
    )
    found = select(lineage, selector)
    assert {name for node, name in found.columns if node == "model.shop.stg"} == expected
    assert not found.warnings


def test_a_name_of_several_words_is_offered_in_quotes() -> None:
    lineage = lineage_of(
        make_source("people", ODD), make_model("stg", "select * from dev.raw.people", [PEOPLE])
    )
    with pytest.raises(SelectionError) as refused:
        select(lineage, "stg.First Name")
    assert refused.value.hint == 'Did you mean "First Name"?'
