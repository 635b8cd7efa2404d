"""Views that find something: cycles, unused columns, and both forms of incremental models."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lineage_post.cli import run as lineage_post
from tests.dbt.dbt_project import NO_TESTS, DbtProject, short

pytestmark = pytest.mark.dbt

TWO_FORMS = """\
{{ config(materialized='incremental', unique_key='order_id') }}
select order_id,
{% if is_incremental() %}
    customer_id as value
{% else %}
    amount as value
{% endif %}
from {{ ref('stg_orders') }}
"""
#: A hook that writes back to the source: what is built from it is what it is built from.
WRITES_BACK = """\
{{ config(materialized='table', post_hook="
    insert into {{ source('app', 'customers') }} (customer_id, email)
    select customer_id, email_hash from {{ this }} where revenue > 1000000
") }}
"""


#: Beside the column's own tests, one over another column; and a description, which is no use.
KEPT = """- name: kept
        data_tests: [not_null]
      - name: unnoticed
        description: nobody reads it
      - name: order_id"""


def cycles(project: DbtProject) -> set[tuple[str, str, str | None]]:
    rows = project.table("lineage_cycles", "kind, node, column_name")
    return {(kind, short(node), column and column.lower()) for kind, node, column in rows}


def test_what_the_first_build_reads_and_what_later_ones_read_are_both_current(
    project: DbtProject,
) -> None:
    project.write("models/two_forms.sql", TWO_FORMS)
    columns = "from_column, to_column, build_mode"
    seen = []
    for _ in range(3):
        assert project.dbt("run", "--select", "two_forms").code == 0
        where = "to_node = 'model.shop.two_forms' and type = 'DIRECT'"
        seen.append(project.table("lineage_column_edges", columns, where))
    first = [("amount", "value", None), ("order_id", "order_id", None)]
    both = [
        ("amount", "value", "first"),
        ("customer_id", "value", "incremental"),
        ("order_id", "order_id", None),
    ]
    assert seen == [first, both, both]
    # A table that is made anew has no row of another form.
    assert project.dbt("run", "--full-refresh", "--select", "two_forms").code == 0
    assert project.table("lineage_column_edges", columns, where) == first


def test_a_table_that_reads_itself_is_a_feedback_and_so_is_a_hook_that_writes_back(
    project: DbtProject,
) -> None:
    assert cycles(project) == set()
    text = (project.folder / "models/fct_customers.sql").read_text()
    body = text.replace("{{ config(materialized='table') }}\n", "")
    assert body != text
    project.write("models/fct_customers.sql", WRITES_BACK + body)
    assert project.dbt("run", "--select", "order_log", "fct_customers").code == 0
    found = cycles(project)
    assert {("feedback", "order_log", "order_id"), ("feedback", "order_log", None)} <= found
    # The amount is read of no table that it is written to.
    assert not {c for c in found if c[2] in ("amount", "id")}
    for node, column in [
        ("app.customers", "email"),
        ("app.customers", "customer_id"),
        ("stg_customers", "email"),
        ("fct_customers", "email_hash"),
    ]:
        assert ("feedback", node, column) in found
    ids = project.query("select count(distinct cycle) from {lineage}.lineage_cycles")
    assert ids == [(2,)]


def test_the_views_say_what_the_commands_say(
    project: DbtProject, capsys: pytest.CaptureFixture[str]
) -> None:
    staged = (project.folder / "models/stg_orders.sql").read_text()
    more = "id as spare,\n    id as kept,\n    id as unnoticed,\n    id as order_id,"
    assert "id as order_id," in staged
    project.write("models/stg_orders.sql", staged.replace("id as order_id,", more))
    schema = (project.folder / "models/schema.yml").read_text()
    project.write("models/schema.yml", schema.replace("- name: order_id", KEPT, 1))
    assert project.dbt("build", *NO_TESTS).code == 0
    assert project.dbt("compile").code == 0

    def told(command: str) -> dict[str, list[dict[str, Any]]]:
        capsys.readouterr()
        lineage_post([command, "--project-dir", str(project.folder), "--output", "json"])
        found: dict[str, list[dict[str, Any]]] = json.loads(capsys.readouterr().out)
        return found

    said = {
        (c["kind"], short(e["unique_id"]), e["column"] and e["column"].lower())
        for c in told("cycles")["cycles"]
        for e in c["columns"]
    }
    assert said and cycles(project) == said
    unused = {(u["unique_id"], u["column"]) for u in told("unused")["unused"]}
    rows = project.table("lineage_unused_columns", "node, column_name, readers, because")
    assert {(node, column) for node, column, _, _ in rows} == unused
    [spare] = [row for row in rows if row[1].lower() == "spare"]
    # order_log, and big_orders, which is ephemeral.
    assert spare[2] == 2 and "all of its readers are known" in spare[3]
    staged_only = {c.lower() for n, c in unused if n == "model.shop.stg_orders"}
    assert staged_only == {"spare", "unnoticed"}


def test_nothing_is_claimed_of_a_table_with_a_reader_that_is_not_recorded(
    duck: DbtProject,
) -> None:
    more = "select id as spare, "
    staged = (duck.folder / "models/stg_orders.sql").read_text()
    duck.write("models/stg_orders.sql", staged.replace("select", more, 1))
    run = ("run", "--select", "stg_orders", "lineage_unused_columns")
    assert duck.dbt(*run).code == 0
    where = "lower(column_name) = 'spare'"
    assert duck.table("lineage_unused_columns", "because", where) != []
    duck.write("models/new_reader.sql", "select spare from {{ ref('stg_orders') }}")
    assert duck.dbt(*run).code == 0
    assert duck.table("lineage_unused_columns", "because", where) == []


def test_a_microbatch_model_reads_a_span_of_time_of_what_has_an_event_time(
    duck: DbtProject,
) -> None:
    settings = "incremental_strategy='microbatch', event_time='ordered_at', batch_size='year'"
    config = f"{{{{ config(materialized='incremental', {settings}, begin='2024-01-01') }}}}"
    sql = "select order_id, ordered_at from {{ ref('stg_orders') }}"
    duck.write("models/yearly.sql", f"{config}\n{sql}")
    assert duck.dbt("run", "--select", "yearly").code == 0
    assert duck.current_edges("model.shop.yearly") == {
        ("stg_orders", "order_id", "yearly", "order_id", "IDENTITY"),
        ("stg_orders", "ordered_at", "yearly", "ordered_at", "IDENTITY"),
        ("stg_orders", "ordered_at", "yearly", None, "FILTER"),
    }
