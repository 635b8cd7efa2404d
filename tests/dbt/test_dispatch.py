"""What is dispatched renders to SQL that each warehouse's grammar takes."""

from __future__ import annotations

import re

import pytest
import sqlglot

from tests.dbt.dbt_project import DbtProject

pytestmark = pytest.mark.dbt

WAREHOUSES = ("snowflake", "bigquery", "spark", "redshift", "trino", "postgres", "duckdb")
#: The wrapper of each macro's text that makes it a statement.
WRAPPED = {
    "unnest_inputs('refreshes')": "{}",
    "joined('producer')": "select {} as names from claims",
    "utc_now()": "select {} as now",
    "type_text()": "select cast(null as {}) as text",
    "closure('reach', 'pairs', ['a'], ['b'], 3)": "with pairs as (select 1 as a, 2 as b), {} "
    "select a, b from reach",
    'text_literal("it\'s a \\\\ mark")': "select {} as text",
}


def test_each_dispatched_query_is_sql_of_its_warehouse(duck: DbtProject) -> None:
    lines = []
    for warehouse in WAREHOUSES:
        for call, wrapper in WRAPPED.items():
            own = f"{warehouse}__{call}"
            there = f"lineage_post.{own.split('(')[0]} is defined"
            call_of = f"lineage_post.{own} if {there} else lineage_post.default__{call}"
            if call.startswith("closure"):
                call_of = f"lineage_post.{call}"
            sql = wrapper.format(f"{{{{ {call_of} }}}}")
            lines.append(f"-- @@ {warehouse} {call.split('(')[0]}\n{sql}\n")
    duck.write("models/asked.sql", "".join(lines))
    result = duck.dbt("compile", "--select", "asked")
    duck.remove("models/asked.sql")
    assert result.code == 0, result.lines
    compiled = duck.manifest()["nodes"]["model.shop.asked"]["compiled_code"]
    parts = re.split(r"-- @@ (\w+) (\w+)\n", compiled)[1:]
    assert len(parts) == 3 * len(WAREHOUSES) * len(WRAPPED)
    for warehouse, macro, sql in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        parsed = sqlglot.parse_one(sql, dialect=warehouse)
        assert parsed.find(sqlglot.exp.Select), (warehouse, macro)
        if macro == "text_literal":
            [literal] = [e.this for e in parsed.find_all(sqlglot.exp.Literal)]
            assert literal == "it's a \\ mark", (warehouse, sql)


@pytest.mark.parametrize(
    "macro",
    ["column_edges_as_of", "claims_as_of", "column_changes", "cycles", "unused_columns"],
)
@pytest.mark.parametrize("dialect", ["snowflake", "bigquery", "databricks", "redshift", "trino"])
def test_the_queries_are_plain_enough_for_every_warehouse(
    duckdb_project: DbtProject, macro: str, dialect: str
) -> None:
    """They have no DuckDB in them but what is dispatched: they survive a change of dialect."""
    name = {
        "column_edges_as_of": "lineage_column_edges",
        "claims_as_of": "lineage_claims",
        "column_changes": "lineage_column_changes",
        "cycles": "lineage_cycles",
        "unused_columns": "lineage_unused_columns",
    }[macro]
    folder = duckdb_project.folder / "saved_target" / "compiled" / "lineage_post"
    [file] = folder.rglob(f"{name}.sql")
    # What is dispatched has a test of its own.
    text = file.read_text().replace("""unnest(from_json(inputs, '["json"]'))""", "inputs")
    [statement] = sqlglot.transpile(text, read="duckdb", write=dialect)
    assert sqlglot.parse_one(statement, dialect=dialect).find(sqlglot.exp.Select)
