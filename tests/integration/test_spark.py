"""The hook on Spark, in the environment that `make test-matrix` makes for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.conftest import ROOT, Shop

FILES = {
    "dbt_project.yml": """\
name: shop
profile: shop
on-run-end: "{{ lineage_post.publish(results) }}"
models:
  +file_format: parquet
""",
    "profiles.yml": """\
shop:
  target: dev
  outputs:
    dev:
      type: spark
      method: session
      host: localhost
      schema: dev
      threads: 1
      server_side_parameters:
        spark.ui.enabled: "false"
        spark.sql.shuffle.partitions: "1"
""",
    "packages.yml": f"packages:\n  - local: {ROOT.as_posix()}\n",
    "seeds/orders.csv": "id,customer,amount\n1,a,3\n2,a,4\n3,b,5\n",
    "models/revenue.sql": """\
{{ config(materialized='table') }}
select customer, sum(amount) as revenue from {{ ref('orders') }} where amount > 0 group by customer
""",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    folder = tmp_path_factory.mktemp("spark")
    for name, text in FILES.items():
        path: Path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    shop = Shop(folder)
    shop.dbt("deps")
    shop.dbt("build")
    return shop


def rows(project: Shop, sql: str) -> list[dict[str, object]]:
    shown = project.dbt("show", "--quiet", "--output", "json", "--limit", "100", "--inline", sql)
    found = json.loads(shown.stdout[shown.stdout.index("{") :])["show"]
    assert isinstance(found, list)
    return found


def test_a_build_records_its_edges(project: Shop) -> None:
    found = rows(
        project,
        "select from_column, to_column, subtype"
        " from {{ ref('lineage_post', 'lineage_column_edges') }}"
        " where to_node = 'model.shop.revenue' order by from_column, subtype",
    )
    edges = {(row["from_column"], row["to_column"], row["subtype"]) for row in found}
    assert edges == {
        ("amount", "revenue", "AGGREGATION"),
        ("amount", None, "FILTER"),
        ("customer", "customer", "IDENTITY"),
        ("customer", None, "GROUP_BY"),
    }


def test_a_second_build_adds_a_refresh_and_no_edge(project: Shop) -> None:
    counts = (
        "select (select count(*) from {{ ref('lineage_post', 'lineage_edges') }}) as edges,"
        " (select count(*) from {{ ref('lineage_post', 'lineage_refreshes') }}) as refreshes"
    )
    before = rows(project, counts)[0]
    project.dbt("build")
    after = rows(project, counts)[0]
    assert after["edges"] == before["edges"]
    assert int(str(after["refreshes"])) > int(str(before["refreshes"]))
