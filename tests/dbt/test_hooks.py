"""Hooks of models, rendered in dbt's process, are writers of the tables they write to."""

from __future__ import annotations

import pytest

from tests.dbt.dbt_project import DbtProject

pytestmark = pytest.mark.dbt

MACRO = """
{% macro keep(relation) %}
insert into {{ target.schema }}.audit (customer, total)
select customer_id, revenue from {{ relation }}
{% endmacro %}
"""


def test_a_hook_that_a_macro_writes_is_recorded(project: DbtProject) -> None:
    # On either warehouse: what a hook wrote is read from dbt's own rendering of it.
    project.database.execute(
        f"create table {project.schema}.audit (customer integer, total integer)"
    )
    text = (project.folder / "models/fct_customers.sql").read_text()
    hooks = "post_hook=['{{ keep(this) }}', 'update {{ this }} set revenue = revenue + 0']"
    project.write("models/fct_customers.sql", f"{{{{ config({hooks}) }}}}\n{text}")
    (project.folder / "macros").mkdir(exist_ok=True)
    project.write("macros/keep.sql", MACRO)
    assert project.dbt("run", "--select", "fct_customers").code == 0
    edges = project.table("lineage_column_edges", "from_column, to_node, to_column, ops")
    written = {
        (source, target, column) for source, target, column, ops in edges if "post-hook" in ops
    }
    assert ("revenue", "model.shop.fct_customers", "revenue") in written
    assert {("customer_id", "customer"), ("revenue", "total")} <= {
        (source, column) for source, target, column in written if target.startswith("external.")
    }


def test_the_native_hop_of_a_source_is_recorded_with_the_node(project: DbtProject) -> None:
    rows = dict(project.table("lineage_nodes", "node, native"))
    assert '"kind":"table"' in rows["source.shop.app.customers"]
    assert '"kind":"file"' in rows["seed.shop.raw_orders"]
