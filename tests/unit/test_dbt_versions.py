"""Manifests that each supported dbt wrote of one project are read alike.

``tests/artifacts`` has them as ``dbt compile`` left them, less macros, environment and paths.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage_post.artifacts import read_manifest
from lineage_post.impact import Analysis, Change, ChangeKind
from lineage_post.lineage import Lineage, trace_project
from lineage_post.options import Options

from .lineages import edges_of

ARTIFACTS = Path(__file__).parents[1] / "artifacts"
VERSIONS = {"1_10": "1.10.", "1_11": "1.11.", "1_12": "1.12.", "2_0": "2.0."}
SEED = {"seed.shop.raw_orders": ("order_id", "customer_id", "amount", "status")}


@pytest.fixture(scope="module", params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def lineage(version: str) -> Lineage:
    project = read_manifest(ARTIFACTS / f"dbt_{version}.json")
    return trace_project(project, options=Options(processes=1), seed_headers=SEED)


def test_the_manifest_is_of_this_version(version: str, lineage: Lineage) -> None:
    project = lineage.project
    assert (project.dbt_version or "").startswith(VERSIONS[version])
    assert (project.name, project.adapter_type) == ("shop", "duckdb")


def test_columns_flow_through_an_ephemeral_model(lineage: Lineage) -> None:
    assert edges_of(lineage.nodes["model.shop.fct_orders"]) >= {
        "big_orders.customer_id -> customer_id IDENTITY",
        "big_orders.order_total -> revenue AGGREGATION",
        "customers.name -> name IDENTITY",
        "big_orders.customer_id -> * JOIN",
        "customers.name -> * GROUP_BY",
    }
    steps = lineage.upstream("model.shop.fct_orders", "revenue")
    assert ("seed.shop.raw_orders", "amount") in {(s.node, s.column) for s in steps}


def test_versions_contracts_owners_and_meta_are_read(lineage: Lineage) -> None:
    nodes = lineage.project.nodes
    assert nodes["model.shop.ver.v1"].label_or_name == "ver.v1"
    assert nodes["model.shop.ver.v2"].is_latest_version
    fct = nodes["model.shop.fct_orders"]
    assert (fct.owner, fct.config["contract"]["enforced"]) == ("Ada", True)
    assert {c.name: dict(c.meta) for c in fct.columns}["name"] == {"pii": True}
    assert nodes["source.shop.app.customers"].native == {
        "kind": "table",
        "location": "shop.app.customers",
        "loader": "airbyte",
        "served": "replica",
    }


def test_the_exposure_names_its_columns(lineage: Lineage) -> None:
    assert edges_of(lineage.nodes["exposure.shop.board"]) == {
        "fct_orders.revenue -> revenue IDENTITY"
    }


def test_a_check_snapshot_has_its_meta_columns(lineage: Lineage) -> None:
    found = lineage.nodes["snapshot.shop.over_time"]
    assert {"dbt_scd_id", "dbt_valid_from", "dbt_valid_to"} <= {c.name for c in found.columns}
    assert "raw_orders" not in str(found.inputs)


def test_a_rename_finds_sql_tests_and_contract(lineage: Lineage) -> None:
    change = Change(ChangeKind.RENAME, "model.shop.fct_orders", "customer_id", "id")
    kinds = {d.kind for d in Analysis(lineage).impact(change).broken}
    assert kinds == {"contract", "data_test"}
    change = Change(ChangeKind.RENAME, "model.shop.stg_orders", "order_total", "total")
    broken = {d.unique_id for d in Analysis(lineage).impact(change).broken}
    assert {"model.shop.fct_orders", "model.shop.order_log"} & broken
