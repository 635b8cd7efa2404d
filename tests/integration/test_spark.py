"""The hook, the views, the past, the walks and imports on Spark, in a matrix environment.

`make test-spark` makes that environment; Spark runs in dbt's own process, and needs Java.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

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
    "models/report.sql": """\
select customer as client, revenue * 2 as doubled from {{ ref('revenue') }}
""",
    # What report has beside is read by nothing, and what that is made of by it alone.
    "models/board.sql": "select doubled as shown from {{ ref('report') }}",
    "models/schema.yml": """\
models:
  - name: revenue
    columns:
      - {name: REVENUE, config: {tags: [money], meta: {classification: secret}}}
  - name: board
    columns:
      - {name: shown, config: {meta: {lineage: {declassify: [classification]}}}}
""",
}
#: The same project beside it.
ON_DUCKDB = """\
shop:
  target: dev
  outputs:
    dev: {type: duckdb, path: shop.duckdb, schema: dev, threads: 1}
"""
#: Asks all questions in one process: Spark takes its time to start.
ASK = """\
{%% macro ask() %%}
    {%%- for name, sql in {%s}.items() -%%}
        {%%- set rows = [] -%%}
        {%%- for row in run_query(sql).rows -%%}
            {%%- do rows.append(row.values() | map('string') | list) -%%}
        {%%- endfor -%%}
        {%%- do log('asked: ' ~ tojson([name, rows]), info=True) -%%}
    {%%- endfor -%%}
{%% endmacro %%}
"""
VIEWS = sorted(p.stem for p in (ROOT / "models/views").glob("*.sql"))
#: Spark has a text of its own for these.
WALKING = ("lineage_column_tags", "lineage_cycles", "lineage_unused_columns")
#: The macro's call, and the columns to read of it.
CALLS = {
    "column_edges": ("column_edges_as_of()", "from_column, to_node, to_column, subtype"),
    "table_edges": ("table_edges_as_of()", "from_node, to_node, column_state"),
    "claims": ("claims_as_of()", "producer, to_node, to_column, is_current"),
    "built_from": ("built_from_as_of()", "node, input_node, kind, version"),
    "long_ago": ("column_edges_as_of('2020-01-01')", "from_column"),
    "not_known_then": (
        "column_edges_as_of(as_recorded='2020-01-01T00:00:00+02:00')",
        "from_column",
    ),
    "down": ("downstream('seed.shop.orders', 'amount')", "node, column_name, depth"),
    "up": ("upstream('model.shop.report', 'doubled', depth=1)", "node, column_name, depth"),
    "changes": ("column_changes()", "node, column_name, `change`, sources"),
}
#: One edge that the SQL has too, one that it has not, and one that leads back.
IMPORTED = """\
from_node,from_column,to_node,to_column
model.shop.revenue,revenue,model.shop.report,doubled
seed.shop.orders,id,model.shop.report,doubled
model.shop.report,doubled,model.shop.revenue,revenue
"""
Rows = list[list[str]]


@dataclass(frozen=True)
class Spark(Shop):
    """A project on Spark; what `import` wrote for it is in the folder ``imported``."""

    imported: str = ""

    def ask(
        self,
        views: Iterable[str] = VIEWS,
        calls: Mapping[str, tuple[str, str]] = MappingProxyType(CALLS),
    ) -> dict[str, Rows]:
        """The rows of views and macros, as text."""
        asked = {
            name: f"'select {columns} from (' ~ lineage_post.{call} ~ ') as q'"
            for name, (call, columns) in calls.items()
        }
        asked |= {view: f"'select * from ' ~ ref('lineage_post', '{view}')" for view in views}
        listed = ", ".join(f'"{name}": {sql}' for name, sql in asked.items())
        (self.folder / "macros").mkdir(exist_ok=True)
        (self.folder / "macros/ask.sql").write_text(ASK % listed, encoding="utf-8")
        said = self.dbt("run-operation", "ask").stdout
        lines = (line.partition("asked: ")[2] for line in said.splitlines())
        return dict(json.loads(line) for line in lines if line)

    def command(self, *arguments: str) -> dict[str, Any]:
        """What a command of lineage-post answers, as JSON."""
        program = str(Path(sys.executable).with_name("lineage-post"))
        done = subprocess.run(
            [program, *arguments, "--output", "json", "--project-dir", str(self.folder)],
            cwd=self.folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
        return found

    def load(self) -> None:
        """Puts the imported edges into the tables, and builds a second time."""
        arguments = json.dumps({"directory": self.imported})
        self.dbt("run-operation", "lineage_post.load", "--args", arguments)
        self.dbt("build", "--exclude-resource-type", "test")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Spark:
    return made(tmp_path_factory.mktemp("spark"), FILES)


@pytest.fixture(scope="module")
def on_duckdb(tmp_path_factory: pytest.TempPathFactory) -> Spark:
    """The same project, and the same import, on DuckDB."""
    return made(tmp_path_factory.mktemp("duckdb"), FILES | {"profiles.yml": ON_DUCKDB})


def made(folder: Path, files: dict[str, str]) -> Spark:
    """A project that was built once, with an import that was not loaded yet."""
    for name, text in files.items():
        path: Path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    spark = Spark(folder)
    spark.dbt("deps")
    spark.dbt("build", "--exclude-resource-type", "test")
    (folder / "edges.csv").write_text(IMPORTED)
    # A manifest has compiled SQL after a build, and none after a run-operation.
    told = spark.command("import", "csv", "edges.csv", "--producer", "logs")
    return Spark(folder, told["directory"])


@pytest.fixture(scope="module")
def built(project: Spark) -> dict[str, Rows]:
    """The answers after one build."""
    return project.ask()


def test_a_build_records_its_edges(built: dict[str, Rows]) -> None:
    edges = {tuple(row) for row in built["column_edges"] if row[1] == "model.shop.revenue"}
    assert edges == {
        ("amount", "model.shop.revenue", "revenue", "AGGREGATION"),
        ("amount", "model.shop.revenue", "None", "FILTER"),
        ("customer", "model.shop.revenue", "customer", "IDENTITY"),
        ("customer", "model.shop.revenue", "None", "GROUP_BY"),
    }


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_can_be_read(built: dict[str, Rows], view: str) -> None:
    # Nothing was declared, violated or disagreed about, and nothing leads back.
    is_finding = view in (
        "lineage_contract_violations",
        "lineage_cycles",
        "lineage_disagreements",
        "lineage_unknowns",
    )
    assert view in built and (built[view] or is_finding)


def test_tables_inputs_and_history_are_told(built: dict[str, Rows]) -> None:
    pairs = {tuple(row) for row in built["table_edges"]}
    assert ("seed.shop.orders", "model.shop.revenue", "columns flow") in pairs
    [[_, source, kind, version]] = [
        row for row in built["built_from"] if row[0] == "model.shop.report"
    ]
    assert (source, kind) == ("model.shop.revenue", "refresh") and len(version) == 36
    assert ["model.shop.report", "doubled", "first", "model.shop.revenue.revenue"] in (
        built["changes"]
    )
    assert ["execution", "model.shop.report", "doubled", "True"] in built["claims"]


def test_the_past_had_nothing(built: dict[str, Rows]) -> None:
    assert built["long_ago"] == built["not_known_then"] == []


def test_walks_go_step_by_step(built: dict[str, Rows]) -> None:
    assert ["model.shop.report", "doubled", "2"] in built["down"]
    assert built["up"] == [["model.shop.revenue", "revenue", "1"]]


@pytest.fixture(scope="module")
def loaded(project: Spark, built: dict[str, Rows]) -> dict[str, Rows]:
    """The answers after an import and a second build."""
    project.load()
    return project.ask()


def test_an_import_stands_beside_what_was_built_and_a_second_build_adds_no_edge(
    project: Spark, built: dict[str, Rows], loaded: dict[str, Rows]
) -> None:
    assert ["logs", "model.shop.report", "doubled", "True"] in loaded["claims"]
    asserted = {tuple(row[1:5] + row[-2:]) for row in loaded["lineage_disagreements"]}
    assert ("seed.shop.orders", "id", "model.shop.report", "doubled", "logs", "execution") in (
        asserted
    )
    more = [
        ["doubled", "model.shop.revenue", "revenue", "TRANSFORMATION"],
        ["id", "model.shop.report", "doubled", "TRANSFORMATION"],
    ]
    assert sorted(loaded["column_edges"]) == sorted(built["column_edges"] + more)
    assert loaded["changes"] != built["changes"]
    history = project.command("history", "report.doubled", "--profiles-dir", str(project.folder))
    assert {c["producer"] for c in history["changes"]} == {"execution", "logs"}


def test_views_that_walk_say_what_those_of_duckdb_say(
    built: dict[str, Rows], loaded: dict[str, Rows], on_duckdb: Spark
) -> None:
    before = on_duckdb.ask(WALKING, {})
    on_duckdb.load()
    after = on_duckdb.ask(WALKING, {})
    for view in WALKING:
        assert sorted(built[view]) == sorted(before[view])
        assert sorted(loaded[view]) == sorted(after[view]) != []
    cycle = [["feedback", "model.shop.report"], ["feedback", "model.shop.revenue"]]
    assert sorted(row[1:3] for row in loaded["lineage_cycles"]) == cycle
    assert {tuple(row[:2]) for row in built["lineage_unused_columns"]} >= {
        ("model.shop.report", "client"),
        ("model.shop.revenue", "customer"),
    }
    reached = {(row[0], row[2], row[6]) for row in built["lineage_column_tags"]}
    assert ("model.shop.board", "money", "2") in reached
    assert ("model.shop.report", "classification=secret", "1") in reached
    assert not any(
        row[0] == "model.shop.board" and "=" in row[2] for row in built["lineage_column_tags"]
    )
