"""Which node a run-operation asks about, by the name that it was given."""

from __future__ import annotations

import pytest

from lineage_post.bridge.asking import node_named
from lineage_post.errors import LineageError
from lineage_post.lineage import Lineage

from .lineages import lineage_of
from .manifests import make_model, make_source


@pytest.fixture(scope="module")
def lineage() -> Lineage:
    versions = [
        make_model(
            "orders", "select 1 as id", unique_id=f"model.shop.orders.v{n}", version=n,
            latest_version=2, alias=f"orders_v{n}", relation_name=f'"dev"."main"."orders_v{n}"',
        )
        for n in (1, 2)
    ]  # fmt: skip
    twins = [make_model("twin", "select 1 as id", package=package) for package in ("shop", "other")]
    latest = make_model(
        "twin", "select 1 as id", package="third", unique_id="model.third.twin.v1", version=1,
        latest_version=1,
    )  # fmt: skip
    return lineage_of(make_source("orders"), *versions, *twins, latest)


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("orders", "model.shop.orders.v2"),
        ("orders.v1", "model.shop.orders.v1"),
        ("orders.v2", "model.shop.orders.v2"),
        ("model.shop.orders.v1", "model.shop.orders.v1"),
        ("source.shop.raw.orders", "source.shop.raw.orders"),
        ("model.other.twin", "model.other.twin"),
    ],
)
def test_a_name_or_an_id_means_one_node(name: str, node: str, lineage: Lineage) -> None:
    assert node_named(lineage.project, name).unique_id == node


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("twin", "model.other.twin, model.shop.twin, model.third.twin.v1"),
        ("orders.id", "'orders.id' is a column"),
        ("ordes", "there is no model 'ordes'"),
        ("", "there is no model ''"),
    ],
)
def test_what_means_none_or_several_is_refused(name: str, told: str, lineage: Lineage) -> None:
    with pytest.raises(LineageError, match=told):
        node_named(lineage.project, name)
