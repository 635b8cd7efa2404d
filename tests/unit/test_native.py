"""Where a source's data really are is told; what gives access to them is not."""

from __future__ import annotations

from typing import Any

import pytest

from lineage_post.artifacts import project_from_manifest_dict
from lineage_post.artifacts.native import without_credentials
from lineage_post.policy.file import OWNER, Viewer
from lineage_post.policy.view import view_of
from lineage_post.publish.definition import node_row
from lineage_post.publish.federation import federation
from lineage_post.publish.json import document
from lineage_post.relations import external_id

from .lineages import lineage_of
from .manifests import make_manifest, make_model, make_source

SECRET = "hunter2"
ORDERS = "source.shop.raw.orders"
FRESH = {
    "loaded_at_field": "loaded_at",
    "freshness": {"warn_after": {"count": 12, "period": "hour"}, "filter": "is_live"},
}


def source(**more: Any) -> dict[str, Any]:
    return {**make_source("orders", {"id": "int"}), **more}


@pytest.mark.parametrize(
    ("more", "native"),
    [
        ({}, {"kind": "table", "location": "dev.raw.orders"}),
        ({"identifier": "tbl_orders", "loader": "airbyte"},
         {"kind": "table", "location": "dev.raw.tbl_orders", "loader": "airbyte",
          "served": "replica"}),
        ({"external": {"location": "s3://lake/orders/", "file_format": "parquet",
                       "partitions": [{"name": "day", "data_type": "date"}]}},
         {"kind": "external_location", "location": "s3://lake/orders/", "format": "parquet",
          "partitions": ["day"], "served": "virtual"}),
        ({"external": {"location": "@raw.stage/orders", "snowpipe": {"auto_ingest": True}}},
         {"kind": "external_location", "location": "@raw.stage/orders", "served": "replica"}),
        ({"relation_name": "'data/orders.csv'"},
         {"kind": "file", "location": "data/orders.csv", "served": "virtual"}),
        ({"relation_name": "read_csv('data/orders_*.csv', delim = ';')"},
         {"kind": "glob", "location": "data/orders_*.csv", "served": "virtual"}),
        ({"relation_name": "read_parquet(['a.parquet', 'b.parquet'], union_by_name = true)"},
         {"kind": "file", "location": "a.parquet, b.parquet", "served": "virtual"}),
        ({"meta": {"external_location": "s3://lake/{name}/**/*.parquet"}},
         {"kind": "glob", "location": "s3://lake/{name}/**/*.parquet", "served": "virtual"}),
        ({"relation_name": f"postgres_scan('host=db password={SECRET}', 'public', 'orders')"},
         {"kind": "scan", "location": "postgres_scan", "served": "virtual"}),
        ({"meta": {"lineage": {"served": "replica"}}},
         {"kind": "table", "location": "dev.raw.orders", "served": "replica"}),
        (FRESH,
         {"kind": "table", "location": "dev.raw.orders",
          "freshness": {"loaded_at_field": "loaded_at", "filter": "is_live",
                        "warn_after": "12 hour"}}),
        ({"config": FRESH},
         {"kind": "table", "location": "dev.raw.orders",
          "freshness": {"loaded_at_field": "loaded_at", "filter": "is_live",
                        "warn_after": "12 hour"}}),
    ],
)  # fmt: skip
def test_the_native_hop_of_a_source(more: dict[str, Any], native: dict[str, Any]) -> None:
    project = project_from_manifest_dict(make_manifest(source(**more)))
    assert project.nodes[ORDERS].native == native


def test_a_seed_is_its_file() -> None:
    seed = {**make_model("raw", None), "unique_id": "seed.shop.raw", "resource_type": "seed",
            "original_file_path": "seeds\\raw.csv"}  # fmt: skip
    project = project_from_manifest_dict(make_manifest(seed))
    assert project.nodes["seed.shop.raw"].native == {"kind": "file", "location": "seeds/raw.csv"}


@pytest.mark.parametrize(
    ("location", "told"),
    [
        (f"https://me:{SECRET}@host/a.csv?sig={SECRET}", "https://host/a.csv"),
        (f"https://{SECRET}@github.com/x/y.csv", "https://github.com/x/y.csv"),
        (f"https://acc.blob.core.windows.net/c/a.csv?sv=1&sig={SECRET}",
         "https://acc.blob.core.windows.net/c/a.csv"),
        (f"azure://c/a.parquet?sp=r&sig={SECRET}", "azure://c/a.parquet"),
        (f"s3://b/a.csv?s3_access_key_id=x&s3_secret_access_key={SECRET}", "s3://b/a.csv"),
        (f"s3://AKIA:{SECRET}@b/orders_?.csv", "s3://b/orders_?.csv"),
        ("abfss://c@acc.dfs.core.windows.net/x/*.parquet",
         "abfss://c@acc.dfs.core.windows.net/x/*.parquet"),
        (f"host=db user=u password={SECRET} dbname=d", "host=db user=u password=*** dbname=d"),
        (f"AccountName=a;AccountKey={SECRET};EndpointSuffix=x",
         "AccountName=a;AccountKey=***;EndpointSuffix=x"),
        (f"md:shop?motherduck_token={SECRET}", "md:shop"),
        (f"x, secret_access_key := '{SECRET} it''s'", "x, secret_access_key := ***"),
        ("s3://b/day=2024-01-01/a.parquet", "s3://b/day=2024-01-01/a.parquet"),
    ],
)  # fmt: skip
def test_a_location_has_no_credentials(location: str, told: str) -> None:
    assert without_credentials(location) == told


@pytest.mark.parametrize(
    "more",
    [
        {"external": {"location": f"s3://k:{SECRET}@b/x?token={SECRET}",
                      "options": f"password='{SECRET}'"}},
        {"relation_name": f"read_csv('https://u:{SECRET}@h/x.csv?sig={SECRET}')"},
        {"meta": {"external_location": f"azure://c/x.csv?sig={SECRET}"}},
        {"config": {"external_location": f"s3://b/x.csv?secret={SECRET}"}},
    ],
)  # fmt: skip
def test_nothing_published_of_a_source_has_its_credentials(more: dict[str, Any]) -> None:
    """SE-05"""
    lineage = lineage_of(source(**more), make_model("a", "select 1 as id"))
    row = node_row(ORDERS, lineage.project.nodes[ORDERS])
    graph = federation(lineage, [(ORDERS, "id")])
    for published in (document(lineage, lineage.options), row, graph):
        assert SECRET not in repr(published)
    assert row.native is not None and '"kind"' in row.native


def test_a_file_that_sql_reads_by_its_address_has_an_id_without_credentials() -> None:
    """SE-05"""
    assert external_id((f"s3://k:{SECRET}@b/x.csv?sig={SECRET}",)) == "external.s3://b/x.csv"


def test_only_viewers_who_may_see_natives_are_told_them() -> None:
    lineage = lineage_of(source(relation_name="'lake/orders.csv'"))
    told = federation(view_of(lineage, OWNER).lineage, [(ORDERS, "id")])
    assert told["nodes"][0]["native"]["location"] == "lake/orders.csv"
    for viewer in (Viewer("guest"), Viewer("guest", see=("source:raw",))):
        graph = federation(view_of(lineage, viewer).lineage, [(ORDERS, "id")])
        assert graph["nodes"][0]["native"] is None
