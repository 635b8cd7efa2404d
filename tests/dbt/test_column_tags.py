"""Labels of columns in the warehouse."""

from __future__ import annotations

import re

import pytest
import sqlglot
from sqlglot import exp

from tests.dbt.dbt_project import DbtProject, short

#: Beside the name of the source's table.
COLUMNS = """\
        columns:
          - name: EMAIL
            config: {tags: [pii]}
"""


def test_a_label_is_seen_by_the_build_that_declares_it_and_stops_at_a_mask(
    project: DbtProject,
) -> None:
    schema = (project.folder / "models" / "schema.yml").read_text(encoding="utf-8")
    labelled = schema.replace("- name: customers\n", "- name: customers\n" + COLUMNS)
    assert labelled != schema
    project.write("models/schema.yml", labelled)
    result = project.dbt("run", "--select", "lineage_column_tags")
    assert result.code == 0, "\n".join(result.lines)
    columns = "node, column_name, label, is_declared, distance"
    rows = project.table("lineage_column_tags", columns)
    assert [(short(n), *rest) for n, *rest in rows] == [
        ("stg_customers", "email", "pii", False, 1),
        ("app.customers", "EMAIL", "pii", True, 0),
    ]


#: What Snowflake, BigQuery, Databricks, Redshift and Trino all have under one name.
EVERYWHERE = {"LOWER", "LENGTH", "SUBSTRING", "ROW_NUMBER", "CAST", "AND", "OR"}


@pytest.mark.parametrize("dialect", ["snowflake", "bigquery", "databricks", "redshift", "trino"])
def test_the_view_is_sql_of_every_warehouse_as_it_stands(
    duckdb_project: DbtProject, dialect: str
) -> None:
    folder = duckdb_project.folder / "saved_target" / "compiled" / "lineage_post"
    [file] = folder.rglob("lineage_column_tags.sql")
    text = file.read_text(encoding="utf-8")
    if dialect in ("bigquery", "databricks"):  # How dbt quotes relations there.
        text = re.sub(r'"(\w+)"', r"`\1`", text)
    parsed = sqlglot.parse_one(text, dialect=dialect)
    # The current edges are dispatched, and have tests of their own.
    [edges] = [cte for cte in parsed.find_all(exp.CTE) if cte.alias == "current_edges"]
    edges.pop()
    assert not list(parsed.find_all(exp.Anonymous, exp.Command))
    names = {f.sql_names()[0] for f in parsed.find_all(exp.Func)}
    assert names <= EVERYWHERE
    levels = [cte.alias for cte in parsed.find_all(exp.CTE) if cte.alias.startswith("level_")]
    assert levels == [f"level_{n}" for n in range(13)]
