"""Case IN-05: a snapshot's compiled SQL has only the inner select; dbt adds the rest."""

from __future__ import annotations

from typing import Any

import pytest

from lineage_post.lineage import Lineage, NodeLineage

from .conftest import Shop
from .lineages import edges_of, lineage_of, states_of
from .manifests import make_model, make_source

ITEMS = make_source("items", {"id": "int", "qty": "int", "updated_at": "timestamp"})


def snapshot_of(sql: str = "select * from dev.raw.items", **config: Any) -> NodeLineage:
    model = make_model("snap", sql, ["source.shop.raw.items"], resource_type="snapshot")
    model["unique_id"] = "snapshot.shop.snap"
    model["config"] = {"materialized": "snapshot", **config}
    catalog = {"source.shop.raw.items": {"id": "int", "qty": "int", "updated_at": "timestamp"}}
    return lineage_of(ITEMS, model, catalog=catalog).nodes["snapshot.shop.snap"]


def test_the_timestamp_strategy_makes_its_columns_from_updated_at_and_the_key() -> None:
    snapshot = snapshot_of(unique_key="id", strategy="timestamp", updated_at="updated_at")
    assert edges_of(snapshot) == {
        "items.id -> id IDENTITY",
        "items.qty -> qty IDENTITY",
        "items.updated_at -> updated_at IDENTITY",
        "items.updated_at -> dbt_valid_from TRANSFORMATION",
        "items.updated_at -> dbt_updated_at TRANSFORMATION",
        "items.updated_at -> dbt_valid_to TRANSFORMATION",
        "items.id -> dbt_scd_id TRANSFORMATION",
        "items.updated_at -> dbt_scd_id TRANSFORMATION",
        "items.id -> * JOIN",
    }
    assert set(states_of(snapshot).values()) == {"known"}
    assert {e.to_column for e in snapshot.edges if e.masking} == {"dbt_scd_id"}


def test_the_check_strategy_makes_them_when_a_checked_column_changes() -> None:
    snapshot = snapshot_of(unique_key="id", strategy="check", check_cols=["qty"])
    meta = {e for e in edges_of(snapshot) if "dbt_" in e}
    assert meta == {
        "items.qty -> dbt_valid_from CONDITIONAL",
        "items.qty -> dbt_updated_at CONDITIONAL",
        "items.qty -> dbt_valid_to CONDITIONAL",
        "items.qty -> dbt_scd_id CONDITIONAL",
        "items.id -> dbt_scd_id TRANSFORMATION",
    }


def test_checking_all_columns_checks_each_of_the_select() -> None:
    snapshot = snapshot_of(unique_key="id", strategy="check", check_cols="all")
    checked = {e.from_column for e in snapshot.edges if e.to_column == "dbt_valid_from"}
    assert checked == {"id", "qty", "updated_at"}


def test_meta_columns_can_be_renamed_and_deletions_get_rows_of_their_own() -> None:
    snapshot = snapshot_of(
        unique_key=["id", "qty"],
        strategy="timestamp",
        updated_at="updated_at",
        hard_deletes="new_record",
        snapshot_meta_column_names={"dbt_valid_from": "since", "dbt_is_deleted": "gone"},
    )
    names = [c.name for c in snapshot.columns]
    assert names[3:] == ["dbt_scd_id", "dbt_updated_at", "since", "dbt_valid_to", "gone"]
    assert {e for e in edges_of(snapshot) if "gone" in e or "*" in e} == {
        "items.id -> gone CONDITIONAL",
        "items.qty -> gone CONDITIONAL",
        "items.id -> * JOIN",
        "items.qty -> * JOIN",
    }


def test_keys_and_times_may_be_expressions() -> None:
    snapshot = snapshot_of(
        unique_key="id || '-' || qty",
        strategy="timestamp",
        updated_at="coalesce(updated_at, current_timestamp)",
    )
    assert "items.updated_at -> dbt_valid_from TRANSFORMATION" in edges_of(snapshot)
    assert {e.from_column for e in snapshot.edges if e.to_column is None} == {"id", "qty"}


def test_meta_columns_go_through_what_the_select_computes() -> None:
    snapshot = snapshot_of(
        "select id, max(updated_at) as changed_at from dev.raw.items group by id",
        unique_key="id",
        strategy="timestamp",
        updated_at="changed_at",
    )
    assert "items.updated_at -> dbt_valid_from AGGREGATION" in edges_of(snapshot)


def test_a_key_that_the_select_does_not_have_leaves_what_hangs_on_it_partial() -> None:
    snapshot = snapshot_of(unique_key="nope", strategy="timestamp", updated_at="updated_at")
    states = states_of(snapshot)
    assert states["dbt_scd_id"] == "partial(unresolved_column)"
    assert states["dbt_valid_from"] == "known"


@pytest.mark.parametrize("name", ["snap", "snap_checked"])
def test_the_columns_are_those_of_the_table_dbt_built(
    shop: Shop, shop_lineage: Lineage, name: str
) -> None:
    unique_id = f"snapshot.shop.{name}"
    traced = [column.name for column in shop_lineage.nodes[unique_id].columns]
    assert traced == list(shop.catalog()[unique_id].columns)
