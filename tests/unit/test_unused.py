"""Columns nothing depends on, claimed only where it is sure."""

from __future__ import annotations

from typing import Any

import pytest

from lineage_post.unused import unused_columns

from .lineages import lineage_of
from .manifests import make_model, make_source

SOURCE = make_source("orders", {"id": "int", "total": "double", "status": "text", "note": "text"})
RAW = "source.shop.raw.orders"
STG = make_model("stg", "select id, total, status from dev.raw.orders", [RAW])


def model(name: str, sql: str, *parents: str, **more: Any) -> Any:
    return make_model(name, sql, [f"model.shop.{p}" for p in parents or ("stg",)], **more)


def unused(*nodes: Any, **sections: Any) -> set[str]:
    found = unused_columns(lineage_of(SOURCE, *nodes, **sections))
    return {f"{c.node.rsplit('.', 1)[-1]}.{c.column}" for c in found.columns}


def test_what_no_reader_takes_is_unused_and_what_feeds_it_alone_too() -> None:
    fct = model("fct", "select id, total from dev.main.stg")
    found = unused_columns(lineage_of(SOURCE, STG, fct))
    assert [(c.node, c.column) for c in found.columns] == [
        ("model.shop.stg", "status"),
        (RAW, "status"),
        (RAW, "note"),
    ]
    by_name = {c.column: c for c in found.columns if c.node == RAW}
    assert by_name["status"].feeds == (("model.shop.stg", "status"),)
    assert "none has it in a value, a row or a setting" in by_name["note"].because


@pytest.mark.parametrize(
    "sql",
    [
        "select id, total from dev.main.stg where status = 'x'",
        "select id, total from dev.main.stg order by status limit 1",
        "select id, case when status = 'x' then total end as t from dev.main.stg",
        "select * from dev.main.stg",
    ],
)
def test_what_decides_rows_or_values_is_used(sql: str) -> None:
    assert unused(STG, model("fct", sql)) == {"orders.note"}


def test_what_yaml_names_is_used() -> None:
    fct = model("fct", "select id from dev.main.stg")
    stg = {**STG, "config": {"materialized": "incremental", "unique_key": "status"}}
    assert unused(stg, fct) == {"stg.total", "orders.total", "orders.note"}


def test_the_columns_of_an_output_are_used_outside() -> None:
    assert unused(STG) == {"orders.note"}
    public = {**STG, "access": "public"}
    assert unused(public, model("fct", "select id from dev.main.stg")) == {"orders.note"}


def test_nothing_is_claimed_beyond_an_unknown() -> None:
    found = unused_columns(lineage_of(SOURCE, STG, model("fct", "select (((")))
    assert [(c.node, c.column) for c in found.columns] == [(RAW, "note")]
    assert [(u.node, u.reader, u.reason) for u in found.unsure] == [
        ("model.shop.stg", "model.shop.fct", "parse_error")
    ]


def test_an_exposure_that_names_no_columns_may_show_any() -> None:
    board = {
        "unique_id": "exposure.shop.board", "resource_type": "exposure", "name": "board",
        "package_name": "shop", "depends_on": {"nodes": ["model.shop.stg"]},
        "original_file_path": "models/e.yml",
    }  # fmt: skip
    fct = model("fct", "select id from dev.main.stg")
    assert unused(STG, fct, board) == {"orders.note"}
    named = {**board, "meta": {"lineage": {"columns": {"stg": ["total"]}}}}
    assert unused(STG, fct, named) == {"stg.status", "orders.status", "orders.note"}
