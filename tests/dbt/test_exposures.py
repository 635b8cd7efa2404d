"""Generated exposures in dbt's own graph."""

from __future__ import annotations

import json

import pytest

from tests.dbt.dbt_project import NO_TESTS, DbtProject

pytestmark = pytest.mark.dbt

NAME = "lineage_fct_customers__revenue"
FEEDS = {
    "seed.shop.raw_orders",
    "source.shop.app.customers",
    "model.shop.stg_orders",
    "model.shop.stg_customers",
    "model.shop.big_orders",
    "model.shop.fct_customers",
}


def generated(project: DbtProject) -> set[str]:
    return {
        exposure["name"]
        for exposure in project.manifest()["exposures"].values()
        if exposure["name"].startswith("lineage_")
    }


def test_a_marked_column_has_an_exposure_in_the_same_run(duck: DbtProject) -> None:
    result = duck.dbt("run", "--select", "report")
    assert result.code == 0
    exposure = duck.manifest()["exposures"][f"exposure.shop.{NAME}"]
    assert set(exposure["depends_on"]["nodes"]) == FEEDS


def test_the_next_run_can_select_what_feeds_the_column(duck: DbtProject) -> None:
    result = duck.dbt("build", *NO_TESTS, "--select", f"1+exposure:{NAME}")
    assert result.code == 0
    built = {n for n in result.statuses() if n.split(".")[0] in ("model", "seed")}
    assert built == FEEDS - {"source.shop.app.customers", "model.shop.big_orders"}


def test_a_vanished_model_does_not_stop_any_command(duck: DbtProject) -> None:
    duck.remove("models/fct_customers.sql")
    duck.write("models/report.sql", "select 1 as doubled")
    schema = (duck.folder / "models/schema.yml").read_text()
    start, end = schema.index("  - name: fct_customers"), schema.index("exposures:")
    duck.write("models/schema.yml", schema[:start] + schema[end:])
    assert duck.dbt("ls").code == 0
    assert duck.dbt("run", "--select", "report").code == 0
    assert generated(duck) == set()


def test_switched_off_no_exposure_of_the_last_run_comes_back(duck: DbtProject) -> None:
    duck.configure("\nvars:\n  lineage_post: {exposures: none}\n")
    duck.dbt("parse")
    assert duck.dbt("run", "--select", "report").code == 0
    assert generated(duck) == set()


def test_leaf_columns_can_be_exposed(duck: DbtProject) -> None:
    duck.configure("\nvars:\n  lineage_post: {exposures: leaf}\n")
    assert duck.dbt("run", "--select", "report").code == 0
    assert "lineage_report__doubled" in generated(duck)
    assert "lineage_fct_customers__revenue" not in generated(duck)


def test_a_damaged_file_of_the_last_run_is_ignored(duck: DbtProject) -> None:
    kept = duck.target / "lineage_post" / "exposures.json"
    entries = json.loads(kept.read_text())
    entries[0]["owner"] = 17
    kept.write_text(json.dumps(entries))
    assert duck.dbt("run", "--select", "report").code == 0
    kept.write_text("not json")
    assert duck.dbt("run", "--select", "report").code == 0
    assert generated(duck) == {NAME}


def test_exposures_are_no_nodes_of_the_lineage_tables(duck: DbtProject) -> None:
    duck.dbt("build", *NO_TESTS)
    nodes = {row[0] for row in duck.table("lineage_refreshes", "node")}
    assert "exposure.shop.board" in nodes
    assert f"exposure.shop.{NAME}" not in nodes


def test_docs_show_the_exposures_and_the_lineage(duck: DbtProject) -> None:
    result = duck.dbt("docs", "generate", "--static")
    assert result.code == 0
    assert not [line for line in result.ours if "WARNING" in line]
    assert generated(duck) == {NAME}
    assert "lineage" in (duck.target / "index.html").read_text().lower()
    kept = duck.target / "lineage_post" / "index.html"
    assert kept.read_bytes() == (duck.target / "index.html").read_bytes()
