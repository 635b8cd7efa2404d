"""Whatever stores a column's name is found, with its place in the YAML."""

from __future__ import annotations

from typing import Any

import pytest

from lineage_post.consumers import Places, Uses
from lineage_post.impact import Analysis, BreaksOn, Change, ChangeKind

from .lineages import lineage_of
from .manifests import make_model, make_source

ORDERS = make_source("orders", {"id": "int", "amount": "double", "day": "date"})
RAW = "source.shop.raw.orders"
FCT = "model.shop.fct"
YAML = """\
models:
  - name: other
    columns:
      - name: amount
  - name: fct
    config:
      unique_key: id
    columns:
      - name: id
        data_tests:
          - unique
          - not_null
      - name: amount
semantic_models:
  - name: orders
    description: Every amount there is.
    measures:
      - name: revenue
        expr: amount * 2
metrics:
  - name: revenue
    type: simple
"""


def fct(**more: Any) -> dict[str, Any]:
    columns = {name: {"name": name, "data_type": "int"} for name in ("id", "amount")}
    return make_model("fct", "select id, amount, day from dev.raw.orders", [RAW],
                      columns=columns, patch_path="shop://models/m.yml", **more)  # fmt: skip


def section(unique_id: str, **more: Any) -> dict[str, Any]:
    kind, package, name = unique_id.split(".", 2)
    return {unique_id: {"unique_id": unique_id, "resource_type": kind, "name": name,
                        "package_name": package, "original_file_path": "models/m.yml",
                        **more}}  # fmt: skip


def roles(column: str, *nodes: Any, **sections: Any) -> set[str]:
    uses = Uses(lineage_of(ORDERS, *nodes, **sections)).of(FCT, column)
    return {f"{use.kind}: {use.role}" for use in uses if not use.is_text}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"unique_key": "id"}, "config: unique_key"),
        ({"unique_key": ["day", "id"]}, "config: unique_key"),
        ({"updated_at": "id"}, "config: updated_at"),
        ({"check_cols": ["id"]}, "config: check_cols"),
        ({"partition_by": {"field": "id", "data_type": "int64"}}, "config: partition_by"),
        ({"partition_by": ["date_trunc('day', id)"]}, "config: partition_by"),
        ({"cluster_by": ["id"]}, "config: cluster_by"),
        ({"merge_update_columns": ["id"]}, "config: merge_update_columns"),
        ({"contract": {"enforced": True}}, "contract: contract"),
    ],
)
def test_settings_name_columns(config: dict[str, Any], expected: str) -> None:
    assert roles("id", fct(config={"materialized": "incremental", **config})) == {expected}


def test_constraints_name_columns() -> None:
    constraints = [
        {"type": "primary_key", "columns": ["id"]},
        {"type": "check", "expression": "id > 0 and amount > 0"},
    ]
    assert roles("id", fct(constraints=constraints)) == {
        "constraint: constraint primary_key",
        "constraint: constraint check",
    }
    assert roles("amount", fct(constraints=constraints)) == {"constraint: constraint check"}


def test_metrics_and_saved_queries_know_a_column_through_a_semantic_model() -> None:
    model = section("semantic_model.shop.orders", depends_on={"nodes": [FCT]},
                    measures=[{"name": "revenue", "expr": "amount * 2"}],
                    dimensions=[{"name": "day", "expr": None}])  # fmt: skip
    metric = section("metric.shop.revenue", type_params={"input_measures": [{"name": "revenue"}]},
                     depends_on={"nodes": ["semantic_model.shop.orders"]})  # fmt: skip
    query = section("saved_query.shop.q",
                    query_params={"metrics": ["revenue"],
                                  "group_by": ["TimeDimension('order__day', 'week')"]})  # fmt: skip
    sections = {"semantic_models": model, "metrics": metric, "saved_queries": query}
    assert roles("amount", fct(), **sections) == {
        "semantic_model: measure revenue",
        "metric: measure revenue",
        "saved_query: metric revenue",
    }
    assert roles("day", fct(), **sections) == {
        "semantic_model: dimension day",
        "saved_query: dimension day",
    }


def test_unit_tests_name_columns_in_their_rows() -> None:
    unit = section("unit_test.shop.fct.works", model="fct", depends_on={"nodes": [FCT]},
                   given=[{"input": "source('raw', 'orders')", "rows": [{"id": 1}]}],
                   expect={"rows": "id,amount\n1,2"})  # fmt: skip
    lineage = lineage_of(ORDERS, fct(), unit_tests=unit)
    assert [u.role for u in Uses(lineage).of(RAW, "id")] == ["columns", "given rows"]
    assert roles("amount", fct(), unit_tests=unit) == {"unit_test: expected rows"}


def test_a_test_in_sql_is_asked_for_the_columns_it_reads() -> None:
    test = {"unique_id": "test.shop.t", "resource_type": "test", "name": "t",
            "package_name": "shop", "original_file_path": "tests/t.sql",
            "depends_on": {"nodes": [FCT]}, "raw_code": "select\n  *\nfrom x where amount < 0",
            "compiled_code": "select * from dev.main.fct where amount < 0"}  # fmt: skip
    lineage = lineage_of(ORDERS, fct(), test)
    found = Analysis(lineage).impact(Change(ChangeKind.RENAME, FCT, "amount", "a"))
    assert [(d.kind, d.name, d.line) for d in found.broken] == [("data_test", "t", 3)]
    assert not Analysis(lineage).impact(Change(ChangeKind.RENAME, FCT, "day", "d")).broken


def test_a_generic_test_without_sql_names_what_its_arguments_do() -> None:
    test = {"unique_id": "test.shop.r", "resource_type": "test", "name": "r",
            "package_name": "shop", "original_file_path": "models/m.yml",
            "attached_node": FCT, "column_name": "id", "depends_on": {"nodes": [FCT, RAW]},
            "test_metadata": {"name": "relationships", "kwargs": {
                "model": "{{ get_where_subquery(ref('fct')) }}", "column_name": "id",
                "to": "source('raw', 'orders')", "field": "id"}}}  # fmt: skip
    lineage = lineage_of(ORDERS, fct(), test)
    assert roles("id", fct(), test) == {"data_test: data test relationships"}
    assert "data test relationships" in {use.role for use in Uses(lineage).of(RAW, "id")}


def test_places_are_lines_of_the_yaml() -> None:
    model = section("semantic_model.shop.orders", depends_on={"nodes": [FCT]},
                    measures=[{"name": "revenue", "expr": "amount * 2"}])  # fmt: skip
    test = {"unique_id": "test.shop.n", "resource_type": "test", "name": "n",
            "package_name": "shop", "original_file_path": "models/m.yml",
            "attached_node": FCT, "column_name": "id", "depends_on": {"nodes": [FCT]},
            "test_metadata": {"name": "not_null", "kwargs": {"column_name": "id"}}}  # fmt: skip
    config = {"materialized": "incremental", "unique_key": "id"}
    lineage = lineage_of(ORDERS, fct(config=config), test, semantic_models=model)
    uses = Uses(lineage)
    places = Places(lineage.project, lambda package, path: YAML if path == "models/m.yml" else None)
    lines = {use.role: places.of_use(use).line for c in ("id", "amount") for use in uses.of(FCT, c)}
    assert lines == {
        "columns": 13,
        "unique_key": 7,
        "data test not_null": 12,
        "measure revenue": 19,
    }


def test_a_description_breaks_nothing() -> None:
    found = Analysis(lineage_of(ORDERS, fct())).impact(Change(ChangeKind.DROP, FCT, "amount"))
    assert (found.dependents, [m.kind for m in found.mentions]) == ((), ["description"])


def test_a_metric_breaks_when_the_column_goes_not_when_it_gets_another_name() -> None:
    model = section("semantic_model.shop.orders", depends_on={"nodes": [FCT]},
                    measures=[{"name": "amount", "expr": None}])  # fmt: skip
    metric = section("metric.shop.m", type_params={"measure": {"name": "amount"}},
                     depends_on={"nodes": ["semantic_model.shop.orders"]})  # fmt: skip
    lineage = lineage_of(ORDERS, fct(), semantic_models=model, metrics=metric)
    found = Analysis(lineage).impact(Change(ChangeKind.RENAME, FCT, "amount", "a"))
    assert {d.kind: d.breaks_on for d in found.dependents} == {
        "metric": (BreaksOn.REMOVE,),
        "semantic_model": (BreaksOn.RENAME, BreaksOn.REMOVE),
    }


@pytest.mark.parametrize(
    "config",
    [
        {"row_filter": {"function": "only_mine", "columns": ["id"]}},
        {"row_access_policy": "governance.by_id on (id)"},
        {"indexes": [{"columns": ["id", "day"], "unique": True}]},
        {"sort": ["id"], "dist": "amount"},
        {"check_cols": ["id"], "strategy": "check"},
        {"updated_at": "id"},
        {"partition_by": {"field": "id", "data_type": "int64"}},
        {"cluster_by": ["id"]},
        {"liquid_clustered_by": "id"},
        {"event_time": "id"},
    ],
)
def test_whatever_setting_stores_a_name_breaks_by_a_rename(config: dict[str, Any]) -> None:
    lineage = lineage_of(ORDERS, fct(config={"materialized": "table", **config}))
    broken = Analysis(lineage).impact(Change(ChangeKind.RENAME, FCT, "id", "key")).broken
    assert {(d.kind, d.role) for d in broken} == {("config", next(iter(config)))}


@pytest.mark.parametrize(
    ("more", "role"),
    [
        ({"loaded_at_field": "day"}, "loaded_at_field"),
        ({"config": {"loaded_at_query": "select max(day) from x"}}, "loaded_at_query"),
        ({"freshness": {"filter": "day > current_date - 3"}}, "freshness filter"),
    ],
)
def test_what_tells_how_fresh_a_source_is_names_columns(more: dict[str, Any], role: str) -> None:
    lineage = lineage_of({**ORDERS, **more})
    found = Analysis(lineage).impact(Change(ChangeKind.DROP, RAW, "day")).broken
    assert [(d.kind, d.role) for d in found] == [("freshness", role)]
