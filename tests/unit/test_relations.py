from __future__ import annotations

from dataclasses import replace

import pytest

from lineage_post.artifacts import project_from_manifest_dict
from lineage_post.relations import (
    Relations,
    external_id,
    external_name,
    is_temporary,
    without_temporary,
)
from lineage_post.schema import ProjectIndex

from .lineages import lineage_of
from .manifests import make_manifest, make_model, make_source


def relations_of(*nodes: dict[str, object], adapter_type: str = "duckdb") -> Relations:
    return Relations(project_from_manifest_dict(make_manifest(*nodes, adapter_type=adapter_type)))


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        (("dev", "main", "orders_t"), "model.shop.orders"),
        (("DEV", "Main", "Orders_T"), "model.shop.orders"),
        (("orders_t",), None),
        (("orders",), None),
        (("other", "main", "orders_t"), None),
        (("dev", "main", "orders_t__dbt_tmp"), "model.shop.orders"),
        (("dev", "main", "orders_t__dbt_tmp20260101"), "model.shop.orders"),
        (("dev", "raw", "orders"), "source.shop.raw.orders"),
    ],
)
def test_a_node_is_found_by_its_full_stored_name_alone(
    parts: tuple[str, ...], found: str | None
) -> None:
    model = make_model("orders", "select 1", alias="orders_t")
    model["relation_name"] = '"dev"."main"."orders_t"'
    assert relations_of(model, make_source("orders")).find(parts) == found


def test_unquoted_names_are_stored_in_upper_case_on_snowflake() -> None:
    model = make_model("orders", "select 1", relation_name="dev.main.orders")
    names = dict(relations_of(model, adapter_type="snowflake").names())
    assert names == {("DEV", "MAIN", "ORDERS"): "model.shop.orders"}


def test_names_that_differ_in_case_alone_are_two_relations() -> None:
    upper = make_model("a", "select 1", relation_name='"dev"."main"."ORDERS"')
    lower = make_model("b", "select 1", relation_name='"dev"."main"."orders"')
    relations = relations_of(upper, lower)
    assert relations.find(("dev", "main", "ORDERS")) == "model.shop.a"
    assert relations.find(("dev", "main", "orders")) == "model.shop.b"


def test_a_deferred_relation_stands_for_the_same_node() -> None:
    deferred = {"database": "prod", "schema": "core", "alias": "orders"}
    model = make_model("orders", "select 1", defer_relation=deferred)
    relations = relations_of(model)
    assert relations.find(("prod", "core", "orders")) == "model.shop.orders"
    assert relations.find(("dev", "main", "orders")) == "model.shop.orders"


def versioned(version: int, **pointer: object) -> dict[str, object]:
    name = f"orders_v{version}"
    return make_model(
        "orders", "select 1", unique_id=f"model.shop.orders.v{version}", version=version,
        latest_version=2, alias=name, relation_name=f'"dev"."main"."{name}"',
        config={"materialized": "view", "latest_version_pointer": pointer},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("pointer", "name", "found"),
    [
        ({"enabled": True, "alias": None}, "orders", "model.shop.orders.v2"),
        ({"enabled": True, "alias": "latest"}, "latest", "model.shop.orders.v2"),
        ({"enabled": True, "alias": "latest"}, "orders", None),
        ({"enabled": False, "alias": None}, "orders", None),
        ({"enabled": None, "alias": None}, "orders", None),
    ],
)
def test_a_pointer_to_the_latest_version_stands_for_it(
    pointer: dict[str, object], name: str, found: str | None
) -> None:
    relations = relations_of(versioned(1, **pointer), versioned(2, **pointer))
    assert relations.find(("dev", "main", name)) == found


def test_another_node_of_the_name_of_a_pointer_stays_itself() -> None:
    other = make_model("other", "select 1", relation_name='"dev"."main"."orders"')
    relations = relations_of(versioned(2, enabled=True), other)
    assert relations.find(("dev", "main", "orders")) == "model.shop.other"


def test_a_source_over_a_model_s_table_is_its_twin() -> None:
    source = make_source("orders")
    model = make_model("orders", "select 1", schema="raw", relation_name='"dev"."raw"."orders"')
    relations = relations_of(source, model)
    assert relations.find(("dev", "raw", "orders")) == "model.shop.orders"
    assert relations.twins("model.shop.orders") == ("source.shop.raw.orders",)
    assert relations.builder("source.shop.raw.orders") == "model.shop.orders"


def test_a_source_over_a_file_is_found_by_the_file_s_name() -> None:
    source = make_source("events")
    source["relation_name"] = "'data/events.csv'"
    assert relations_of(source).find(("data/events.csv",)) == "source.shop.raw.events"


def test_an_ephemeral_model_has_no_name() -> None:
    ephemeral = make_model("stg", "select 1", materialized="ephemeral")
    assert list(relations_of(ephemeral).names()) == []


def test_a_relation_no_node_is_gets_an_id_of_its_parts() -> None:
    assert external_id(("dev", "raw", "notes")) == "external.dev.raw.notes"
    name = external_name(("raw", "notes"))
    assert (name.database, name.schema, name.identifier) == (None, "raw", "notes")


@pytest.mark.parametrize(
    ("identifier", "temporary"),
    [
        ("orders__dbt_tmp", True),
        ("orders__dbt_backup", True),
        ("orders__dbt_new_tmp123", True),
        ("orders", False),
        ("__dbt__cte__orders", False),
    ],
)
def test_relations_that_dbt_makes_for_a_moment_are_told(identifier: str, temporary: bool) -> None:
    assert is_temporary(identifier) == temporary
    assert (without_temporary(("s", identifier)) != ("s", identifier)) == temporary


def test_the_index_of_a_project_never_matches_a_bare_name() -> None:
    index = ProjectIndex("duckdb", [(("dev", "main", "orders"), "model.shop.orders")])
    assert index.key_of(("orders",)) is None
    assert index.key_of(("main", "orders")) == "model.shop.orders"
    assert index.key_of(("dev", "main", "orders")) == "model.shop.orders"


@pytest.mark.parametrize(
    ("parts", "schema", "found"),
    [
        (("orders",), "main", "model.shop.orders"),
        (("main", "orders"), "main", "model.shop.orders"),
        (("raw", "orders"), "main", "source.shop.raw.orders"),
        (("other", "orders"), "main", None),
        # BigQuery completes the project, and takes no name without a dataset.
        (("orders",), None, None),
        (("main", "orders"), None, "model.shop.orders"),
    ],
)
def test_the_connection_completes_a_shorter_name(
    parts: tuple[str, ...], schema: str | None, found: str | None
) -> None:
    model = make_model("orders", "select 1")
    model["relation_name"] = '"dev"."main"."orders"'
    project = project_from_manifest_dict(make_manifest(model, make_source("orders")))
    assert Relations(replace(project, home=("dev", schema))).find(parts) == found


def test_a_source_that_a_function_reads_is_found_by_its_path() -> None:
    delta = make_source("orders")
    delta["relation_name"] = "delta_scan('lake/it''s', version := 2)"
    assert relations_of(delta).find(("lake/it's",)) == "source.shop.raw.orders"
    sql = "select id from delta_scan('lake/it''s', version := 2)"
    model = make_model("fct", sql, ["source.shop.raw.orders"])
    lineage = lineage_of(delta, model)
    assert {e.from_node for e in lineage.edges()} == {"source.shop.raw.orders"}


def test_a_source_that_is_a_list_of_files_is_found_by_the_call_that_reads_them() -> None:
    files = make_source("orders")
    files["relation_name"] = "read_parquet(['a.parquet', 'b.parquet'], union_by_name = true)"
    model = make_model(
        "fct", f"select id from {files['relation_name']}", ["source.shop.raw.orders"]
    )
    edges = lineage_of(files, model).edges()
    assert {e.from_node for e in edges} == {"source.shop.raw.orders"}


def test_one_name_in_two_databases_is_two_relations() -> None:
    ours, theirs = make_model("orders", "select 1"), make_model("copies", "select 1")
    ours["relation_name"], ours["database"] = '"dev"."main"."orders"', "dev"
    theirs.update(relation_name='"prod"."main"."orders"', database="prod", alias="orders")
    found = relations_of(ours, theirs)
    assert found.find(("dev", "main", "orders")) == "model.shop.orders"
    assert found.find(("prod", "main", "orders")) == "model.shop.copies"
