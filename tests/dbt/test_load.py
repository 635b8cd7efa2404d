"""Rows in files and their load by ``dbt run-operation lineage_post.load``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import dbt_lineage_post
from lineage_post.artifacts import project_from_manifest_dict, read_run_results
from lineage_post.lineage import Lineage, trace_project
from lineage_post.publish.files import read_rows, write_rows
from lineage_post.publish.rows import rows_of
from lineage_post.publish.run import planned_run, run_from_results
from lineage_post.publish.tables import Rows
from tests.dbt.dbt_project import BASE_TABLES, NO_TESTS, DbtProject, short

pytestmark = pytest.mark.dbt

LOAD = ("run-operation", "lineage_post.load")


def traced(project: DbtProject) -> Lineage:
    return trace_project(project_from_manifest_dict(project.manifest()))


def emptied(project: DbtProject) -> None:
    for table in BASE_TABLES:
        project.database.execute(f"delete from {project.schema}_lineage.{table}")


def test_rows_survive_a_file(duck: DbtProject, tmp_path: Path) -> None:
    duck.dbt("compile")
    rows = rows_of(traced(duck), planned_run(traced(duck).project, traced(duck).nodes))
    assert rows.edges and rows.columns
    assert read_rows(write_rows(rows, tmp_path)) == rows


def test_a_compiled_project_is_loaded_as_planned_once(project: DbtProject) -> None:
    emptied(project)
    project.dbt("compile")
    lineage = traced(project)
    write_rows(rows_of(lineage, planned_run(lineage.project, lineage.nodes)), project.target)
    first = project.dbt(*LOAD)
    assert first.code == 0
    recorded = project.recorded()
    statuses = project.table("lineage_refreshes", "distinct status, producer")
    assert statuses == [("planned", "manifest")]
    assert ("fct_customers", "revenue", "report", "doubled", "TRANSFORMATION") in (
        project.current_edges()
    )
    assert project.dbt(*LOAD).code == 0
    assert project.recorded() == recorded


def test_what_was_planned_gives_way_to_what_was_executed(duck: DbtProject) -> None:
    duck.write("models/report.sql", "select revenue as planned from {{ ref('fct_customers') }}")
    executed = duck.current_edges()
    duck.dbt("compile")
    lineage = traced(duck)
    write_rows(rows_of(lineage, planned_run(lineage.project, lineage.nodes)), duck.target)
    assert duck.dbt(*LOAD).code == 0
    assert duck.current_edges() == executed
    # Where the definition that was planned is newer than the built one, the view says so.
    newer = ("lineage_current", "node", "planned_definition_version is not null")
    assert duck.table(*newer) == [("model.shop.report",)]
    assert duck.dbt("run", "--select", "report").code == 0
    assert duck.table(*newer) == []


def test_the_results_of_a_run_load_as_its_hook_would_have_recorded_them(
    duck: DbtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = "node, status, producer, fingerprint, state"
    with monkeypatch.context() as patch:
        patch.setattr(dbt_lineage_post, "plugins", [])
        emptied(duck)
        duck.dbt("build", *NO_TESTS, "--full-refresh")
    project = project_from_manifest_dict(duck.manifest())
    run = run_from_results(read_run_results(duck.target / "run_results.json"), project)
    assert run is not None
    columns = duck.query(
        "select column_name, data_type from information_schema.columns"
        " where table_name = 'customers' and table_schema = 'main'"
    )
    assert columns
    lineage = trace_project(project)
    write_rows(rows_of(lineage, run), duck.target)
    assert duck.dbt(*LOAD).code == 0
    loaded = duck.table("lineage_refreshes", content)
    assert {short(n): s for n, s, *_ in loaded}["fct_customers"] == "success"
    emptied(duck)
    duck.dbt("build", *NO_TESTS, "--full-refresh")
    hooked = duck.table("lineage_refreshes", content)
    assert [row[:3] for row in hooked] == [row[:3] for row in loaded]


def test_duckdb_loads_the_files_without_the_python_side(
    duck: DbtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    emptied(duck)
    duck.dbt("compile")
    lineage = traced(duck)
    rows = rows_of(lineage, planned_run(lineage.project, lineage.nodes))
    write_rows(rows, duck.target)
    monkeypatch.setattr(dbt_lineage_post, "plugins", [])
    assert duck.dbt(*LOAD).code == 0
    recorded = duck.recorded()
    assert len(recorded["lineage_edges"]) == len(rows.edges)
    assert len(recorded["lineage_columns"]) == len(rows.columns)
    assert len(recorded["lineage_refreshes"]) == len(rows.refreshes)
    assert duck.table("lineage_refreshes", where="recorded_at is null") == []
    assert duck.dbt(*LOAD).code == 0
    assert duck.recorded() == recorded


@pytest.mark.postgres
def test_elsewhere_the_python_side_is_asked_for(
    postgres_project: DbtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres_project.restore()
    monkeypatch.setattr(dbt_lineage_post, "plugins", [])
    result = postgres_project.dbt(*LOAD)
    assert result.code != 0
    assert any("pip install dbt-lineage-post" in line for line in result.lines)


def test_a_load_without_files_says_what_to_run(duck: DbtProject) -> None:
    result = duck.dbt(*LOAD)
    assert result.code != 0
    assert any("Run lineage-post build first" in line for line in result.lines)


def test_a_file_that_is_cut_is_named_with_its_line(tmp_path: Path) -> None:
    from lineage_post.errors import ArtifactError

    folder = write_rows(replace(Rows()), tmp_path)
    (folder / "lineage_edges.jsonl").write_text('{"fingerprint": "x"}\n')
    with pytest.raises(ArtifactError, match=r"lineage_edges\.jsonl, line 1"):
        read_rows(folder)
