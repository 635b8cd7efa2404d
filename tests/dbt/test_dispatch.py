"""What is dispatched renders to SQL that each warehouse's grammar takes."""

from __future__ import annotations

import re
from random import Random

import pytest
import sqlglot

from lineage_post.history.claims import Claim
from lineage_post.values import ColumnLineage, Edge
from lineage_post.vocabulary import State, Subtype
from tests.dbt.dbt_project import DbtProject, Row
from tests.dbt.remembered import FCT, LONG_AGO, claim, load
from tests.dbt.test_findings import TWO_FORMS

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


#: Two columns that are unused, the one because of the other, and labels that end or do not.
SPARE = "id as order_id,\n    id as spare,"
PASSED = {
    "passing": "select spare as passed, order_id, amount from {{ ref('stg_orders') }}",
    "passed_on": "select order_id, amount from {{ ref('passing') }}",
}
LABELS = """\
  - name: passing
    columns:
      - {name: order_id, config: {meta: {lineage: {declassify: [classification]}}}}
      - {name: AMOUNT, config: {tags: [money]}}
      - {name: a, config: {tags: [first, money], meta: {classification: key}}}
  - name: report
    columns:
      - {name: b, config: {tags: [first]}}
      - {name: c, config: {meta: {lineage: {declassify: true}}}}
"""


#: The one function of Spark's that DuckDB lacks.
REPEATED = "create temp macro array_repeat(x, n) as list_transform(range(n), lambda _: x);\n"


def tangled(nodes: list[str]) -> list[Claim]:
    """Claims of edges between any columns of the nodes: cycles of columns, and of rows."""
    draw = Random(12)

    def edge_to(target: str) -> Edge:
        source, column = draw.choice(nodes), draw.choice("abcde")
        return Edge(source, column, None, target, draw.choice("abcde"), Subtype.TRANSFORMATION)

    edges = {target: [edge_to(target) for _ in range(6)] for target in nodes}
    edges[nodes[0]].append(Edge(nodes[1], "e", None, nodes[0], None, Subtype.FILTER))
    return [
        Claim(
            target,
            run_id="q2",
            observed_at=LONG_AGO,
            columns=tuple(
                ColumnLineage(number, column, None, State.KNOWN, None)
                for number, column in enumerate("abcde", start=1)
            ),
            edges=tuple(made),
        )
        for target, made in edges.items()
    ]


def test_what_spark_has_in_place_of_joins_and_recursion_answers_the_same(duck: DbtProject) -> None:
    """Its own text, moved to DuckDB: two producers, both forms of a model, and a tangle."""
    duck.write("models/two_forms.sql", TWO_FORMS)
    staged = (duck.folder / "models/stg_orders.sql").read_text()
    duck.write("models/stg_orders.sql", staged.replace("id as order_id,", SPARE))
    for name, text in PASSED.items():
        duck.write(f"models/{name}.sql", text)
    schema = (duck.folder / "models/schema.yml").read_text()
    duck.write("models/schema.yml", schema.replace("models:\n", "models:\n" + LABELS))
    for more in (["stg_orders", *PASSED], []):
        assert duck.dbt("run", "--select", "two_forms", *more).code == 0
    nodes = [f"model.shop.{name}" for name in ("passed_on", "passing", "report", "stg_customers")]
    own = claim(FCT, ("model.shop.big_orders", "amount"), "revenue")
    load(duck, own, *tangled(nodes))
    ends = "{'node': 'from_node', 'column': 'from_column'"
    ends += ", 'next': 'to_node', 'next_column': 'to_column'}"
    source = "source.shop.app.customers"
    asked = {
        "edges": "current_edges(none, none)",
        "downstream": f"walk({ends}, '{source}', 'email', 4, true, none, none)",
        "cycles": "cycles()",
        "unused": "unused_columns(6)",
        "tags": "column_tags(12)",
    }
    lines = [
        f"-- @@ {maker} {name}\n{{{{ lineage_post.{maker}__{call} }}}}\n"
        for name, call in asked.items()
        for maker in ("default", "spark")
    ]
    # Who names a column is known of a run alone.
    duck.write("models/asked.sql", "select 1 as one\n/*\n" + "".join(lines) + "*/")
    assert duck.dbt("run", "--select", "asked").code == 0
    duck.remove("models/asked.sql")
    compiled = duck.manifest()["nodes"]["model.shop.asked"]["compiled_code"].strip("*/")
    parts = re.split(r"-- @@ (\w+) (\w+)\n", compiled)[1:]
    found: dict[tuple[str, str], list[Row]] = {}
    for maker, name, sql in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if maker == "spark":
            # Relations have DuckDB's quotes, and so has the JSON of its own functions.
            quoted = sql.replace('"', "`").replace("[`json`]", '["json"]')
            [own] = sqlglot.transpile(quoted, read="spark", write="duckdb")
            sql = REPEATED + own
            databricks = sqlglot.parse_one(quoted, dialect="databricks")
            assert databricks.find(sqlglot.exp.Select)
        found[maker, name] = sorted(duck.query(sql), key=repr)
    for name in asked:
        assert found["spark", name] == found["default", name] != []
    kinds = {(row[-1], row[11]) for row in found["spark", "edges"]}
    assert {("first", 1), ("incremental", 1), (None, 2)} <= kinds
    assert {row[2] for row in found["spark", "downstream"]} >= {1, 2, 3}
    assert len({cycle for cycle, *_ in found["spark", "cycles"]}) >= 4
    reasons = {because.partition(": ")[2] for *_, because in found["spark", "unused"]}
    assert len(reasons) == 2
    assert {row[6] for row in found["spark", "tags"]} >= {0, 1, 2}
