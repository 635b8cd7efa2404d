"""The hook, the views, the past, the walks and imports on Spark, in a matrix environment.

`make test-spark` makes that environment; Spark runs in dbt's own process, and needs Java.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
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
    "models/report.sql": "select revenue * 2 as doubled from {{ ref('revenue') }}",
}
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
#: Views that walk are switched off on Spark, which would plan them for minutes.
WALKING = {"lineage_column_tags", "lineage_cycles", "lineage_unused_columns"}
VIEWS = sorted({p.stem for p in (ROOT / "models/views").glob("*.sql")} - WALKING)
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
#: One edge that the SQL has too, and one that it has not.
IMPORTED = """\
from_node,from_column,to_node,to_column
model.shop.revenue,revenue,model.shop.report,doubled
seed.shop.orders,id,model.shop.report,doubled
"""
Rows = list[list[str]]


@dataclass(frozen=True)
class Spark(Shop):
    """A project on Spark; what `import` wrote for it is in the folder ``imported``."""

    imported: str = ""

    def ask(self) -> dict[str, Rows]:
        """The rows of every view and macro, as text."""
        asked = {
            name: f"'select {columns} from (' ~ lineage_post.{call} ~ ') as q'"
            for name, (call, columns) in CALLS.items()
        }
        asked |= {view: f"'select * from ' ~ ref('lineage_post', '{view}')" for view in VIEWS}
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


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Spark:
    folder = tmp_path_factory.mktemp("spark")
    for name, text in FILES.items():
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
    # Nothing was declared, violated or disagreed about.
    is_finding = view in (
        "lineage_contract_violations",
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


def test_an_import_stands_beside_what_was_built_and_a_second_build_adds_no_edge(
    project: Spark, built: dict[str, Rows]
) -> None:
    arguments = json.dumps({"directory": project.imported})
    project.dbt("run-operation", "lineage_post.load", "--args", arguments)
    project.dbt("build", "--exclude-resource-type", "test")
    after = project.ask()
    assert ["logs", "model.shop.report", "doubled", "True"] in after["claims"]
    asserted = {tuple(row[1:5] + row[-2:]) for row in after["lineage_disagreements"]}
    assert ("seed.shop.orders", "id", "model.shop.report", "doubled", "logs", "execution") in (
        asserted
    )
    own = [row for row in after["column_edges"] if row[0] != "id"]
    assert sorted(own) == sorted(built["column_edges"])
    assert after["changes"] != built["changes"]
    history = project.command("history", "report.doubled", "--profiles-dir", str(project.folder))
    assert {c["producer"] for c in history["changes"]} == {"execution", "logs"}
