"""What a batch of a microbatch model reads is filtered by dbt, and not by the SQL it compiles."""

from __future__ import annotations

from typing import Any

from .lineages import edges_of, lineage_of
from .manifests import make_model, make_source

SOURCE = make_source("orders", {"id": "int", "placed_at": "timestamp"})
RAW = "source.shop.raw.orders"


def staged(**config: Any) -> dict[str, Any]:
    model = make_model("stg", "select id, placed_at as AT from dev.raw.orders", [RAW])
    model["config"].update(config)
    return model


def batched(sql: str, **config: Any) -> dict[str, Any]:
    model = make_model("daily", sql, ["model.shop.stg", RAW], materialized="incremental")
    model["config"].update({"incremental_strategy": "microbatch", **config})
    return model


def edges(*nodes: Any) -> set[str]:
    return edges_of(lineage_of(SOURCE, *nodes).nodes["model.shop.daily"])


def test_the_event_time_of_a_parent_filters_what_is_read_of_it() -> None:
    sql = "select id from dev.main.stg"
    assert edges(staged(event_time="at"), batched(sql)) == {
        "stg.id -> id IDENTITY",
        "stg.AT -> * FILTER",
    }


def test_a_parent_without_one_is_read_whole_and_so_is_what_is_no_microbatch() -> None:
    sql = "select id from dev.main.stg"
    assert edges(staged(), batched(sql)) == {"stg.id -> id IDENTITY"}
    merged = batched(sql, incremental_strategy="merge")
    assert edges(staged(event_time="at"), merged) == {"stg.id -> id IDENTITY"}


def test_sql_of_a_batch_that_has_the_filter_has_it_once() -> None:
    sql = "select id from (select * from dev.main.stg where at >= '2024-01-01') as stg"
    lineage = lineage_of(SOURCE, staged(event_time="at"), batched(sql))
    filters = [e for e in lineage.nodes["model.shop.daily"].edges if e.to_column is None]
    assert [(e.from_column, e.expression) for e in filters] == [("AT", "at >= '2024-01-01'")]


def test_a_source_has_an_event_time_of_its_own() -> None:
    source = {**SOURCE, "config": {"event_time": "placed_at"}}
    model = batched("select id from dev.raw.orders")
    lineage = lineage_of(source, staged(), model)
    assert edges_of(lineage.nodes["model.shop.daily"]) == {
        "orders.id -> id IDENTITY",
        "orders.placed_at -> * FILTER",
    }
