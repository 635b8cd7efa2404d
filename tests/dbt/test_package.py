"""The dbt package in a user's project: settings, no models, several runs at once, the site."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lineage_post.bridge import site
from lineage_post.bridge.bridge import Bridge
from lineage_post.bridge.exposed import KEPT, keep, kept
from lineage_post.bridge.warehouse import Warehouse
from tests.dbt.dbt_project import DbtProject

pytestmark = pytest.mark.dbt


def test_an_empty_project_builds_and_its_tests_pass(project: DbtProject) -> None:
    for folder in ("models", "seeds", "snapshots"):
        for file in (project.folder / folder).iterdir():
            file.unlink()
    project.database.execute(f"drop schema {project.schema}_lineage cascade")
    result = project.dbt("build")
    assert result.code == 0
    assert result.ours == []
    assert len(result.run_results) > 40
    assert all(s in ("pass", "success") for s in result.statuses().values())
    assert project.recorded() == {table: [] for table in project.recorded()}


def everywhere(project: DbtProject, materialized: str) -> None:
    """A setting for all models, those of packages too, goes before a package's own."""
    text = (project.folder / "dbt_project.yml").read_text()
    setting = f"models:\n  +materialized: {materialized}\n  +full_refresh: true\n"
    project.write("dbt_project.yml", text.replace("models:\n", setting))


def test_tables_that_each_run_makes_anew_keep_their_rows(project: DbtProject) -> None:
    everywhere(project, "table")
    before = project.recorded()
    assert project.dbt("run", "--full-refresh", "--select", "package:lineage_post").code == 0
    assert project.recorded() == before
    result = project.dbt("run", "--select", "report")
    assert project.refreshes(result)["report"] == "success"


def test_tables_that_would_become_views_are_left_as_they_are(duck: DbtProject) -> None:
    everywhere(duck, "view")
    before = duck.recorded()
    result = duck.dbt("run", "--select", "lineage_edges", "report")
    assert result.code == 1
    assert any("cannot become a view" in r["message"] for r in result.run_results)
    duck.restore_files()
    assert all(set(rows) <= set(duck.recorded()[table]) for table, rows in before.items())


def test_two_loads_of_the_same_lineage_at_once_are_one_edge_each(
    project: DbtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both looked before either wrote: the rows of a fingerprint stand there twice."""
    edges = project.current_edges()
    table_edges = project.table("lineage_table_edges")
    monkeypatch.setattr(Warehouse, "_last_refreshes", lambda *_: iter(()))
    monkeypatch.setattr(Warehouse, "_committed_definitions", lambda *_: set())
    result = project.dbt("run", "--select", "fct_customers")
    assert result.code == 0
    where = "to_node = 'model.shop.fct_customers'"
    assert len(project.table("lineage_edges", where=where)) == 2 * len(
        project.current_edges("model.shop.fct_customers")
    )
    assert project.current_edges() == edges
    assert [row[:3] for row in project.table("lineage_table_edges")] == [
        row[:3] for row in table_edges
    ]
    tests = project.dbt("test", "--select", "package:lineage_post")
    assert tests.code == 0, tests.lines


def test_the_page_that_docs_serve_copies_is_the_decorated_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dbt.task.docs import serve

    monkeypatch.setattr(serve, "DOCS_INDEX_FILE_PATH", serve.DOCS_INDEX_FILE_PATH)
    original = str(serve.DOCS_INDEX_FILE_PATH)
    monkeypatch.chdir(tmp_path)
    site.serve_decorated()
    served: Any = serve.DOCS_INDEX_FILE_PATH
    assert os.fspath(served) == original
    (tmp_path / "lineage_post").mkdir()
    (tmp_path / "lineage_post" / "index.html").write_text("decorated")
    assert Path(served).read_text() == "decorated"


def test_the_bridge_survives_what_dbt_does_to_its_graph() -> None:
    import copy
    import json
    import pickle

    bridge = Bridge("a manifest")
    assert copy.deepcopy({"lineage_post": bridge})["lineage_post"] is bridge
    assert json.dumps(bridge) == "{}"
    assert pickle.loads(pickle.dumps(bridge)).manifest is None


def test_the_kept_exposures_are_those_of_the_last_run(tmp_path: Path) -> None:
    assert kept(tmp_path) == []
    keep(tmp_path, [{"name": "a"}])
    assert kept(tmp_path) == [{"name": "a"}]
    keep(tmp_path, [])
    assert not (tmp_path / KEPT).exists()
