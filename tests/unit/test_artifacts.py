from __future__ import annotations

import hashlib
import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from lineage_post.artifacts import (
    RelationName,
    catalog_from_dict,
    project_from_manifest_dict,
    read_catalog,
    read_compiled,
    read_manifest,
    read_run_results,
    read_seed_headers,
    require_compiled_sql,
    stitch,
)
from lineage_post.artifacts.names import parse_relation_name
from lineage_post.errors import ArtifactError

from .conftest import Shop
from .manifests import make_manifest, make_model, make_source

PARENT = "model.shop.a"


def test_dbt_s_own_manifest_gives_every_kind_of_node(shop: Shop) -> None:
    project = shop.project()
    kinds = {node.resource_type for node in project.nodes.values()}
    assert {"model", "seed", "snapshot", "source", "exposure", "test", "unit_test"} <= kinds
    assert (project.name, project.adapter_type) == ("shop", "duckdb")
    assert project.dbt_version and project.invocation_id and project.generated_at


def test_a_node_has_what_dbt_says_of_it(shop: Shop) -> None:
    node = shop.project().nodes["model.shop.stg_orders"]
    assert node.relation == RelationName("shop", "main", "stg_orders_t")
    assert node.path == "models/stg_orders.sql"
    assert node.materialized == "view"
    assert node.tags == ("staging", "x") or node.tags == ("x", "staging")
    assert (node.group, node.owner) == ("finance", "Finance team")
    assert [(c.name, c.data_type) for c in node.columns] == [("order_id", "integer")]
    assert node.depends_on == ("seed.shop.raw_orders",)
    assert node.checksum and node.compiled_code


def test_an_ephemeral_model_has_no_relation_and_stands_inlined_in_its_reader(shop: Shop) -> None:
    nodes = shop.project().nodes
    assert nodes["model.shop.eph"].relation is None
    inlined = {cte.unique_id: (cte.name, cte.sql) for cte in nodes["model.shop.fct"].ctes}
    assert inlined["model.shop.eph2"][0] == "__dbt__cte__eph2"
    assert inlined["model.shop.eph2"][1].startswith("select order_id, amount * 2")


def test_versions_exposures_tests_and_sources_keep_their_own_facts(shop: Shop) -> None:
    nodes = shop.project().nodes
    assert nodes["model.shop.ver.v1"].label_or_name == "ver.v1"
    assert nodes["model.shop.ver.v2"].is_latest_version
    assert not nodes["model.shop.ver.v1"].is_latest_version
    assert nodes["model.shop.ver.v1"].columns[0].meta == {"lineage": {"expose": True}}
    dash = nodes["exposure.shop.dash"]
    assert (dash.owner, dash.label, dash.details["type"]) == (
        "Ada",
        "The dashboard",
        "dashboard",
    )
    test = next(n for n in nodes.values() if n.resource_type == "test")
    assert (test.details["test"], test.details["column"]) == ("not_null", "order_id")
    assert nodes["source.shop.app.events"].details == {"source_name": "app", "loader": "airbyte"}


def test_the_live_manifest_gives_what_its_file_gives(shop: Shop) -> None:
    live = pickle.loads((shop.path / "live.pickle").read_bytes())
    written = read_manifest(shop.path / "parsed" / "manifest.json")
    assert live.nodes == written.nodes
    assert (live.name, live.quoting) == (written.name, written.quoting)


def test_the_catalog_gives_columns_in_the_order_of_the_warehouse(shop: Shop) -> None:
    table = shop.catalog()["snapshot.shop.snap_checked"]
    assert list(table.columns)[-2:] == ["dbt_valid_to", "is_gone"]
    assert table.columns["amount"] == "INTEGER"
    assert table.relation == RelationName("shop", "main", "snap_checked")


def test_run_results_name_the_command_and_each_node_s_status(shop: Shop) -> None:
    results = read_run_results(shop.target / "run_results.json")
    assert results.command == "generate"
    assert results.results["model.shop.fct"].status == "success"
    assert results.results["model.shop.fct"].compiled_code


def test_keys_that_are_none_may_be_left_out_as_dbt_2_does() -> None:
    bare = {
        "unique_id": PARENT,
        "resource_type": "model",
        "name": "a",
        "package_name": "shop",
        "original_file_path": "models/a.sql",
        "config": {"materialized": "view", "meta": {"owner": "Ada"}, "tags": ["x"]},
        "columns": {"id": {"name": "id", "config": {"meta": {"pii": True}, "tags": ["key"]}}},
    }
    node = project_from_manifest_dict(make_manifest(bare)).nodes[PARENT]
    assert (node.meta, node.tags, node.owner) == ({"owner": "Ada"}, ("x",), "Ada")
    assert (node.columns[0].meta, node.columns[0].tags) == ({"pii": True}, ("key",))
    assert node.compiled_code is None and node.depends_on == ()


def test_old_manifests_call_the_code_sql() -> None:
    old = make_model("a", None)
    old.update(raw_code=None, raw_sql="select {{ 1 }}", compiled_sql="select 1")
    node = project_from_manifest_dict(make_manifest(old)).nodes[PARENT]
    assert (node.raw_code, node.compiled_code) == ("select {{ 1 }}", "select 1")


def test_paths_of_a_manifest_made_on_windows_have_slashes() -> None:
    windows = make_model("a", "select 1", original_file_path="models\\staging\\a.sql")
    windows["patch_path"] = "shop://models\\schema.yml"
    node = project_from_manifest_dict(make_manifest(windows)).nodes[PARENT]
    assert (node.path, node.patch_path) == ("models/staging/a.sql", "shop://models/schema.yml")


def test_disabled_nodes_are_ignored() -> None:
    off = make_model("a", "select 1", config={"enabled": False})
    manifest = make_manifest(off, disabled={"model.shop.b": [make_model("b", "select 1")]})
    assert project_from_manifest_dict(manifest).nodes == {}


def test_nothing_of_the_environment_or_of_unknown_settings_is_carried() -> None:
    secret = "s3cr3t-token"
    model = make_model("a", "select 1", materialized="table")
    model["config"].update({"api_token": secret, "post-hook": [{"sql": f"call x('{secret}')"}]})
    manifest = make_manifest(model)
    manifest["metadata"]["env"] = {"DBT_ENV_CUSTOM_ENV_TOKEN": secret}
    source = make_source("orders")
    source["external"] = {"location": f"s3://bucket/orders.csv?sig={secret}"}
    manifest["sources"][source["unique_id"]] = source
    assert secret not in repr(project_from_manifest_dict(manifest))


@pytest.mark.parametrize(
    ("relation_name", "adapter_type", "parts"),
    [
        ('"dev"."main"."Orders"', "duckdb", ("dev", "main", "Orders")),
        ("analytics.dbt.orders", "snowflake", ("ANALYTICS", "DBT", "ORDERS")),
        ('analytics.dbt."orders"', "snowflake", ("ANALYTICS", "DBT", "orders")),
        ("Analytics.Dbt.Orders", "postgres", ("analytics", "dbt", "orders")),
        ("`my-proj`.`ds`.`t`", "bigquery", ("my-proj", "ds", "t")),
        ("`my-proj.ds.t`", "bigquery", ("my-proj", "ds", "t")),
        ("[db].[dbo].[Order Lines]", "sqlserver", ("db", "dbo", "Order Lines")),
        ('"a""b"."c"', "duckdb", ('a"b', "c")),
        ("read_csv('x.csv')", "duckdb", None),
        ("'x.csv'", "duckdb", None),
    ],
)
def test_relation_names_are_read_as_the_warehouse_stores_them(
    relation_name: str, adapter_type: str, parts: tuple[str, ...] | None
) -> None:
    assert parse_relation_name(relation_name, adapter_type) == parts


@pytest.mark.parametrize("content", ["", "{", "[]", '{"nodes": {}}', "\x00\xff", '{"nodes": 1}'])
def test_a_broken_manifest_is_an_error_that_names_the_file(tmp_path: Path, content: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(ArtifactError, match="manifest") as caught:
        read_manifest(path)
    assert str(path) in str(caught.value) and "dbt compile" in str(caught.value)


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="there is no manifest"):
        read_manifest(tmp_path / "manifest.json")
    with pytest.raises(ArtifactError, match="dbt docs generate"):
        read_catalog(tmp_path / "catalog.json")


def test_a_manifest_without_compiled_sql_is_refused() -> None:
    project = project_from_manifest_dict(make_manifest(make_model("a", None)))
    with pytest.raises(ArtifactError, match="none of its 1 models") as caught:
        require_compiled_sql(project, where="target/manifest.json")
    assert "dbt compile" in str(caught.value)


def test_a_project_without_models_needs_no_compiled_sql() -> None:
    require_compiled_sql(project_from_manifest_dict(make_manifest()), where="manifest.json")


def test_one_compiled_model_is_enough_to_go_on() -> None:
    manifest = make_manifest(make_model("a", None), make_model("b", "select 1"))
    require_compiled_sql(project_from_manifest_dict(manifest), where="manifest.json")


@pytest.fixture
def on_disk(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A project folder with a model, a macro it calls, and its compiled SQL, newest last."""
    raw = "select\n    {{ cents('x') }} as y"
    files = {
        "models/a.sql": f"\n{raw}\n",
        "macros/cents.sql": "{% macro cents(x) %}{{ x }} / 100{% endmacro %}",
        "target/compiled/shop/models/a.sql": "select x / 100 as y",
    }
    for age, (name, content) in enumerate(files.items()):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        os.utime(path, (1_000_000 + age, 1_000_000 + age))
    model = make_model("a", None, raw_code=raw)
    model["checksum"] = {"name": "sha256", "checksum": hashlib.sha256(raw.encode()).hexdigest()}
    model["depends_on"]["macros"] = ["macro.shop.cents"]
    macros = {"macro.shop.cents": {"original_file_path": "macros/cents.sql"}}
    return tmp_path, make_manifest(model, macros=macros)


def _compiled(folder: Path, manifest: dict[str, Any]) -> str | None:
    project = project_from_manifest_dict(manifest)
    read = read_compiled(project, project_dir=folder, target_dir=folder / "target")
    return read.nodes[PARENT].compiled_code


def test_compiled_sql_is_read_from_disk_when_it_matches(on_disk: Any) -> None:
    assert _compiled(*on_disk) == "select x / 100 as y"


def test_compiled_sql_matches_whatever_dbt_makes_its_checksum_of(on_disk: Any) -> None:
    """dbt 1.12 and 2 hash a file with each run of white space as one blank, and do not parse it
    anew where only that is another."""
    folder, manifest = on_disk
    model = manifest["nodes"][PARENT]
    collapsed = " ".join(model["raw_code"].split())
    model["checksum"]["checksum"] = hashlib.sha256(collapsed.encode()).hexdigest()
    assert _compiled(folder, manifest) == "select x / 100 as y"
    (folder / "models/a.sql").write_text(collapsed, encoding="utf-8")
    os.utime(folder / "models/a.sql", (1_000_000, 1_000_000))
    assert _compiled(folder, manifest) == "select x / 100 as y"


def test_compiled_sql_of_a_file_with_line_ends_of_windows_matches(on_disk: Any) -> None:
    folder, manifest = on_disk
    raw = manifest["nodes"][PARENT]["raw_code"].replace("\n", "\r\n")
    manifest["nodes"][PARENT]["raw_code"] = raw
    (folder / "models/a.sql").write_bytes(raw.encode() + b"\r\n")
    os.utime(folder / "models/a.sql", (1_000_000, 1_000_000))
    assert _compiled(folder, manifest) == "select x / 100 as y"


def test_compiled_sql_of_a_changed_model_does_not_match(on_disk: Any) -> None:
    folder, manifest = on_disk
    (folder / "models/a.sql").write_text("select 2", encoding="utf-8")
    os.utime(folder / "models/a.sql", (1_000_000, 1_000_000))
    assert _compiled(folder, manifest) is None


@pytest.mark.parametrize("name", ["models/a.sql", "macros/cents.sql"])
def test_compiled_sql_older_than_what_went_into_it_does_not_match(on_disk: Any, name: str) -> None:
    folder, manifest = on_disk
    os.utime(folder / name, (2_000_000, 2_000_000))
    assert _compiled(folder, manifest) is None


def test_a_missing_compiled_file_leaves_the_model_not_compiled(on_disk: Any) -> None:
    folder, manifest = on_disk
    (folder / "target/compiled/shop/models/a.sql").unlink()
    assert _compiled(folder, manifest) is None


def test_what_dbt_compiled_matches_on_disk(shop: Shop) -> None:
    document = json.loads(shop.manifest.read_text(encoding="utf-8"))
    expected = {k: n.get("compiled_code") for k, n in document["nodes"].items()}
    for node in document["nodes"].values():
        node["compiled_code"] = None
    project = project_from_manifest_dict(document)
    read = read_compiled(project, project_dir=shop.path, target_dir=shop.target)
    for unique_id in ("model.shop.fct", "model.shop.eph2", "model.shop.ver.v1"):
        assert read.nodes[unique_id].compiled_code == expected[unique_id]


def test_seed_headers_are_read_with_the_seed_s_delimiter(shop: Shop) -> None:
    headers = read_seed_headers(shop.project(), project_dir=shop.path)
    assert headers["seed.shop.items"] == ("id", "qty")
    assert headers["seed.shop.raw_orders"][0] == "id"


def test_a_seed_s_header_loses_its_byte_order_mark_and_takes_the_warehouse_s_case(
    tmp_path: Path,
) -> None:
    seed = make_model("s", None, resource_type="seed", original_file_path="seeds/s.csv")
    seed["unique_id"] = "seed.shop.s"
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds/s.csv").write_text('\ufeffid,"Full Name"\n1,x\n', encoding="utf-8")
    project = project_from_manifest_dict(make_manifest(seed, adapter_type="snowflake"))
    assert read_seed_headers(project, project_dir=tmp_path) == {"seed.shop.s": ("ID", "FULL NAME")}


def test_a_seed_without_a_file_has_no_header(tmp_path: Path, shop: Shop) -> None:
    assert read_seed_headers(shop.project(), project_dir=tmp_path) == {}


def test_a_catalog_table_without_columns_is_left_out() -> None:
    assert catalog_from_dict({"nodes": {"model.shop.a": {"columns": {}}}}) == {}


def test_an_upstream_manifest_fills_in_what_was_injected_without_code() -> None:
    stub = make_model("dim", None, package="core", raw_code="", access="public")
    ours = project_from_manifest_dict(
        make_manifest(stub, make_model("mart", "select 1", [stub["unique_id"]]))
    )
    theirs = project_from_manifest_dict(
        make_manifest(
            make_model("stg", "select 1 as id", package="core"),
            make_model("dim", "select id from dev.main.stg", ["model.core.stg"], package="core"),
            make_model("unused", "select 1", package="core"),
            project="core",
        )
    )
    assert ours.external_packages == {"core"}
    nodes = stitch(ours, theirs).nodes
    assert set(nodes) == {"model.shop.mart", "model.core.dim", "model.core.stg"}
    assert nodes["model.core.dim"].compiled_code


def test_a_source_over_an_upstream_relation_gets_that_node_as_its_parent() -> None:
    source = make_source("dim")
    ours = project_from_manifest_dict(make_manifest(source))
    dim = make_model("dim", "select 1 as id", package="core", schema="raw")
    dim["relation_name"] = '"DEV"."RAW"."DIM"'
    theirs = project_from_manifest_dict(make_manifest(dim, project="core"))
    nodes = stitch(ours, theirs).nodes
    assert nodes["source.shop.raw.dim"].depends_on == ("model.core.dim",)
