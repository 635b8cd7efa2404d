"""Names of columns in places that a rename easily forgets, and names that only look alike."""

from __future__ import annotations

from typing import Any

import pytest

from lineage_post.impact import Analysis, BreaksOn, Change, ChangeKind

from .lineages import lineage_of
from .manifests import make_model, make_source

ORDERS = make_source("orders", {"id": "int", "total": "double", "status": "text",
                                "Legacy Code": "text"})  # fmt: skip
RAW = "source.shop.raw.orders"
STG = "model.shop.stg"
SQL = 'select id, total, status, "Legacy Code" from dev.raw.orders'


def stg(**config: Any) -> dict[str, Any]:
    materialized = str(config.pop("materialized", "table"))
    model = make_model("stg", SQL, [RAW], materialized=materialized)
    model["config"] = {**model["config"], **config}
    return model


def data_test(column: str, *, where: str | None = None, sql: str | None = None) -> dict[str, Any]:
    return {
        "unique_id": f"test.shop.not_null_{column}",
        "resource_type": "test",
        "name": f"not_null_{column}",
        "package_name": "shop",
        "original_file_path": "models/schema.yml",
        "depends_on": {"nodes": [STG], "macros": []},
        "attached_node": STG,
        "column_name": column,
        "test_metadata": {"name": "not_null", "kwargs": {"column_name": column}},
        "config": {"where": where},
        "raw_code": "{{ test_not_null(**_dbt_generic_test_kwargs) }}",
        "compiled_code": sql,
        "language": "sql",
    }


def unit_test(rows: Any) -> dict[str, Any]:
    return {
        "unit_test.shop.stg.t": {
            "unique_id": "unit_test.shop.stg.t",
            "resource_type": "unit_test",
            "name": "t",
            "package_name": "shop",
            "model": "stg",
            "original_file_path": "models/schema.yml",
            "depends_on": {"nodes": [STG]},
            "given": [{"input": "source('raw', 'orders')", "rows": rows}],
            "expect": {"rows": rows},
        }
    }


def broken(column: str, *nodes: Any, node: str = STG, **sections: Any) -> set[str]:
    """What a rename breaks: ``kind: role``."""
    lineage = lineage_of(ORDERS, *nodes, **sections)
    impact = Analysis(lineage).impact(Change(ChangeKind.RENAME, node, column, "renamed"))
    return {f"{d.kind}: {d.role}" for d in impact.dependents if BreaksOn.RENAME in d.breaks_on}


FILTERED = "select id from (select * from dev.main.stg where status = 'paid') as t where id is null"


@pytest.mark.parametrize("compiled", [FILTERED, None])
def test_the_where_of_a_test_names_columns(compiled: str | None) -> None:
    test = data_test("id", where="status = 'paid' and \"Legacy Code\" <> 'total'", sql=compiled)
    assert broken("status", stg(), test) == {"data_test: data test not_null"}
    assert broken("total", stg(), test if compiled else data_test("id")) == set()


@pytest.mark.parametrize(
    "rows",
    [
        [{"id": 1, "status": "total"}],
        "id,status\n1,total",
        "select 1 as id, 'total' as status -- total",
        'select 1 as id, null as "status"',
    ],
)
def test_the_rows_of_a_unit_test_name_columns_in_each_form(rows: Any) -> None:
    tested = unit_test(rows)
    assert broken("status", stg(), unit_tests=tested) == {"unit_test: expected rows"}
    assert "unit_test: given rows" in broken("status", stg(), node=RAW, unit_tests=tested)
    assert broken("total", stg(), unit_tests=tested) == set()


@pytest.mark.parametrize(
    ("hook", "is_named"),
    [
        ("create index if not exists i on {{ this }} (status)", True),
        ("grant select (id, status) on {{ this }} to analyst", True),
        ("alter table {{ this }} alter column status set masking policy hide", True),
        ("{{ create_index(this, ['status']) }}", True),
        ("comment on table {{ this }} is 'status of each order' -- status", False),
        ("grant select on {{ this }} to status_readers", False),
    ],
)
def test_hooks_that_write_nothing_may_name_a_column(hook: str, is_named: bool) -> None:
    model = stg(**{"post-hook": [{"sql": hook}]})
    assert broken("status", model) == ({"config: post-hook"} if is_named else set())


def test_the_words_of_hooks_are_published_nowhere() -> None:
    model = stg(**{"post-hook": ["call notify('s3cr3t') -- t0ken"]})
    assert not {"s3cr3t", "t0ken"} & set(str(lineage_of(ORDERS, model).to_dict()).split("'"))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("unique_key", ["Legacy Code", "id"]),
        ("unique_key", '"Legacy Code"'),
        ("cluster_by", "`Legacy Code`, id"),
        ("partition_by", {"field": "Legacy Code", "data_type": "text"}),
    ],
)
def test_a_name_with_a_space_in_it_is_found_in_settings(key: str, value: Any) -> None:
    model = stg(materialized="incremental", **{key: value})
    assert broken("Legacy Code", model) == {f"config: {key}"}


def test_a_name_with_a_space_in_it_is_found_in_a_test() -> None:
    test = data_test('"Legacy Code"')
    assert broken("Legacy Code", stg(), test) == {"data_test: data test not_null"}


def semantic(name: str, entity: str, expr: str | None = None) -> dict[str, Any]:
    return {
        "unique_id": f"semantic_model.shop.{name}",
        "resource_type": "semantic_model",
        "name": name,
        "package_name": "shop",
        "original_file_path": "models/s.yml",
        "depends_on": {"nodes": [f"model.shop.{name}"]},
        "entities": [{"name": entity, "type": "primary", "expr": "id"}],
        "dimensions": [{"name": "state", "type": "categorical", "expr": expr}],
        "measures": [],
    }


def metric(name: str, **more: Any) -> dict[str, Any]:
    params = more.pop("type_params")
    return {
        f"metric.shop.{name}": {
            "unique_id": f"metric.shop.{name}", "resource_type": "metric", "name": name,
            "package_name": "shop", "original_file_path": "models/s.yml", "type_params": params,
            "depends_on": {"nodes": ["semantic_model.shop.stg"]}, **more,
        }
    }  # fmt: skip


def test_a_filter_means_the_dimension_of_its_entity_alone() -> None:
    other = make_model("other", "select id, total from dev.raw.orders", [RAW])
    models = {m["unique_id"]: m for m in (semantic("stg", "order", "lower(status)"),
                                          semantic("other", "item", "total"))}  # fmt: skip
    only = metric("late", type_params={"metrics": []}, filter={
        "where_filters": [{"where_sql_template": "{{ Dimension('order__state') }} = 'late'"}]
    })  # fmt: skip
    sections = {"semantic_models": models, "metrics": only}
    lineage = lineage_of(ORDERS, stg(), other, **sections)
    uses = Analysis(lineage).uses

    def kinds(node: str, column: str) -> list[str]:
        return [use.kind for use in uses.of(node, column)]

    assert kinds(STG, "status") == ["metric", "semantic_model"]
    assert kinds("model.shop.other", "total") == ["semantic_model"]


def test_a_metric_without_a_measure_names_its_column_itself() -> None:
    params = {"metric_aggregation_params": {"semantic_model": "stg", "agg": "sum"},
              "expr": "total * 2"}  # fmt: skip
    models = {"semantic_model.shop.stg": semantic("stg", "order", "status")}
    found = metric("revenue", type_params=params)
    told = broken("total", stg(), semantic_models=models, metrics=found)
    assert told == {"metric: metric expr"}


def test_a_filter_of_a_metrics_input_and_a_conversion_are_read() -> None:
    models = {"semantic_model.shop.stg": semantic("stg", "order", "status")}
    where = {"where_filters": [{"where_sql_template": "{{ Dimension('order__state') }} = 'x'"}]}
    inputs = metric("share", type_params={"numerator": {"name": "a", "filter": where}})
    lineage = lineage_of(ORDERS, stg(), semantic_models=models, metrics=inputs)
    assert {u.unique_id for u in Analysis(lineage).uses.of(STG, "status")} >= {"metric.shop.share"}
    conversion = {"conversion_type_params": {"constant_properties": [
        {"base_property": "order__state", "conversion_property": "order__state"}]}}  # fmt: skip
    converted = metric("rate", type_params=conversion)
    lineage = lineage_of(ORDERS, stg(), semantic_models=models, metrics=converted)
    assert {u.unique_id for u in Analysis(lineage).uses.of(STG, "status")} >= {"metric.shop.rate"}


def test_a_conversion_may_be_of_metrics_instead_of_measures() -> None:
    models = {"semantic_model.shop.stg": semantic("stg", "order", "status")}
    own = {"metric_aggregation_params": {"semantic_model": "stg", "agg": "sum"}, "expr": "total"}
    of_metrics = {"conversion_type_params": {"entity": "order", "base_metric": {"name": "visits"},
                                             "conversion_metric": {"name": "buys"}}}  # fmt: skip
    for name in ("visits", "buys"):
        found = {**metric(name, type_params=own), **metric("rate", type_params=of_metrics)}
        found["metric.shop.rate"]["depends_on"] = {"nodes": [f"metric.shop.{name}"]}
        lineage = lineage_of(ORDERS, stg(), semantic_models=models, metrics=found)
        told = {use.unique_id for use in Analysis(lineage).uses.of(STG, "total")}
        assert told == {f"metric.shop.{name}", "metric.shop.rate"}


def test_two_models_of_one_name_are_told_apart_by_their_package() -> None:
    ours = make_model("dup", "select id from dev.raw.orders", [RAW])
    theirs = make_model("dup", "select id from dev.raw.orders", [RAW], package="other",
                        schema="o", relation_name='"dev"."o"."dup"')  # fmt: skip
    reader = make_model("reads", "select id from dev.o.dup", ["model.other.dup"])
    lineage = lineage_of(ORDERS, ours, theirs, reader)
    impacts = lineage.impact(drop=["other.dup.id", "shop.dup.id"])
    assert [[d.unique_id for d in i.dependents] for i in impacts] == [["model.shop.reads"], []]


@pytest.mark.parametrize("to", ["ref('stg')", '"dev"."main"."stg"'])
def test_a_foreign_key_names_columns_of_the_table_it_points_at(to: str) -> None:
    lines = make_model(
        "lines", "select id from dev.raw.orders", [RAW, STG],
        constraints=[{"type": "foreign_key", "columns": ["id"], "to": to, "to_columns": ["total"]}],
    )  # fmt: skip
    assert broken("total", stg(), lines) == {"constraint: constraint foreign_key"}
    assert broken("id", stg(), lines) == set()
