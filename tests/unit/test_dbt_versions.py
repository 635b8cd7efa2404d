"""Manifests that each supported dbt wrote of one project are read alike.

``tests/artifacts`` has them as ``dbt compile`` left them, less macros, environment and paths.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from lineage_post.artifacts import Project, read_manifest
from lineage_post.diff import DiffKind, diff_of
from lineage_post.impact import Analysis, Change, ChangeKind, Impact
from lineage_post.lineage import Lineage, trace_project
from lineage_post.options import Options
from lineage_post.publish.definition import node_row
from lineage_post.publish.json import document

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
    assert edges_of(lineage.nodes["model.shop.fct_orders"]) == {
        "big_orders.customer_id -> customer_id IDENTITY",
        "big_orders.order_total -> revenue AGGREGATION",
        "customers.name -> name IDENTITY",
        "big_orders.customer_id -> * JOIN",
        "customers.customer_id -> * JOIN",
        "big_orders.customer_id -> * GROUP_BY",
        "customers.name -> * GROUP_BY",
    }
    steps = lineage.upstream("model.shop.fct_orders", "revenue")
    assert [(s.node, s.column) for s in steps] == [
        ("model.shop.big_orders", "order_total"),
        ("model.shop.stg_orders", "order_total"),
        ("seed.shop.raw_orders", "amount"),
    ]


def test_what_dbt_did_not_compile_is_all_that_is_not_known(version: str, lineage: Lineage) -> None:
    """dbt 2 compiles an incremental model only with its warehouse at hand."""
    unknown = {key: str(n.reason) for key, n in lineage.nodes.items() if n.reason is not None}
    assert unknown == ({"model.shop.order_log": "not_compiled"} if version == "2_0" else {})


def test_a_definition_is_the_same_whichever_dbt_has_parsed_it() -> None:
    """The versions of dbt hash a file each in its own way."""
    projects = [read_manifest(ARTIFACTS / f"dbt_{version}.json") for version in VERSIONS]
    for unique_id, first in projects[0].nodes.items():
        if first.raw_code:
            nodes = [project.nodes[unique_id] for project in projects]
            versions = {node_row(unique_id, n).definition_version.split(".")[0] for n in nodes}
            assert versions == {hashlib.md5(first.raw_code.encode()).hexdigest()[:16]}, unique_id
    first, *others = (checksums(project) for project in projects)
    assert len(first) == 8 and all(other == first for other in others)


def checksums(project: Project) -> list[tuple[str, str]]:
    """What tells, from one lineage.json to the next, whether a node is still the same."""
    options = Options(processes=1)
    traced = trace_project(project, options=options, seed_headers=SEED)
    entries = document(traced, options)["nodes"]
    return sorted((e["unique_id"], e["checksum"]) for e in entries if e["checksum"])


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
    snapshot = lineage.nodes["snapshot.shop.over_time"]
    assert snapshot.inputs == ("model.shop.stg_orders",)
    meta = {e for e in edges_of(snapshot) if "-> dbt_" in e}
    assert meta == {
        "stg_orders.order_id -> dbt_scd_id TRANSFORMATION",
        "stg_orders.status -> dbt_scd_id CONDITIONAL",
        "stg_orders.status -> dbt_updated_at CONDITIONAL",
        "stg_orders.status -> dbt_valid_from CONDITIONAL",
        "stg_orders.status -> dbt_valid_to CONDITIONAL",
    }
    assert "stg_orders.order_id -> * JOIN" in edges_of(snapshot)


#: Name, column, role, how, and what it breaks on, of each that depends on a column.
OF_A_CONTRACT = {
    ("fct_orders", "customer_id", "contract", "by name in YAML", "rename remove retype"),
    ("not_null_fct_orders_customer_id", None, "data test not_null", "by name in YAML",
     "rename remove"),
}  # fmt: skip
OF_A_STAGED_COLUMN = {
    ("big_orders", None, None, "filter", "rename remove"),
    ("big_orders", "order_total", None, "value", "remove"),
    ("over_time", "order_total", None, "value", "remove"),
    ("fct_orders", "revenue", None, "value", "rename remove"),
    ("fct_orders", "revenue", "contract", "by name in YAML", "remove retype"),
    ("board", "revenue", None, "value", "remove"),
}
IN_THE_LOG = ("order_log", "order_total", None, "value", "rename remove")


def test_a_rename_finds_sql_tests_and_contract(version: str, lineage: Lineage) -> None:
    contract = Change(ChangeKind.RENAME, "model.shop.fct_orders", "customer_id", "id")
    assert told(Analysis(lineage).impact(contract)) == OF_A_CONTRACT
    staged = Change(ChangeKind.RENAME, "model.shop.stg_orders", "order_total", "total")
    impact = Analysis(lineage).impact(staged)
    if version == "2_0":
        assert told(impact) == OF_A_STAGED_COLUMN
        assert [p.unique_id for p in impact.possible] == ["model.shop.order_log"]
    else:
        assert told(impact) == OF_A_STAGED_COLUMN | {IN_THE_LOG}
        assert impact.possible == ()
    assert impact.passes == (
        ("model.shop.big_orders", "order_total"),
        ("snapshot.shop.over_time", "order_total"),
    )


def told(impact: Impact) -> set[tuple[str | None, ...]]:
    return {
        (d.name, d.column, d.role, " ".join(d.how), " ".join(d.breaks_on))
        for d in impact.dependents
    }


def test_one_state_of_each_version_is_compared_with_another_of_the_same(lineage: Lineage) -> None:
    assert diff_of(lineage, lineage).changes == ()
    nodes = dict(lineage.project.nodes)
    fct = nodes["model.shop.fct_orders"]
    code = (fct.compiled_code or "").replace("sum(", "max(")
    assert code != fct.compiled_code
    nodes[fct.unique_id] = replace(fct, compiled_code=code)
    options = Options(processes=1)
    project = replace(lineage.project, nodes=nodes)
    after = trace_project(project, options=options, seed_headers=SEED)
    [change] = diff_of(lineage, after).changes
    assert (change.kind, change.column) == (DiffKind.COLUMN_REDERIVED, "revenue")
    assert "exposure.shop.board" in change.consumers
