"""The SQL to copy: a template for each model, and keys that constraints declare."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from lineage_post.artifacts import Node
from lineage_post.lineage import NodeLineage
from lineage_post.provenance.keys import declared_keys
from lineage_post.provenance.statement import why_sql
from lineage_post.publish.why_sql import why_templates
from lineage_post.vocabulary import State
from tests.provenance.shop import Shop, shop


@pytest.fixture(scope="module")
def built() -> Iterator[Shop]:
    made = shop()
    nodes = made.lineage.project.nodes
    made.lineage = replace(made.lineage, nodes={n: _empty(node) for n, node in nodes.items()})
    yield made
    made.connection.close()


def _empty(node: Node) -> NodeLineage:
    return NodeLineage(node.unique_id, State.KNOWN, None, None, "select", (), (), "")


def test_a_template_with_a_condition_gives_the_rows_and_their_polynomials(built: Shop) -> None:
    found = why_templates(built.lineage)
    assert json.loads(json.dumps(found)) == found
    model = found["models"][built.id_of("by_customer")]
    assert "customer_id" in model["columns"]
    assert model["sql"].count(found["placeholder"]) == 1
    sql = model["sql"].replace(found["placeholder"], "customer_id = 10 or customer_id = 20")
    rows = built.run(sql)
    assert {row[0] for row in rows} == {10, 20}
    assert all("fct_orders[" in row[-1] for row in rows)


def test_a_template_with_a_condition_is_what_the_command_prints(built: Shop) -> None:
    found = why_templates(built.lineage)
    unique_id = built.id_of("by_customer")
    printed = why_sql(built.lineage, unique_id, "customer_id = 10", "duckdb")
    filled = found["models"][unique_id]["sql"].replace(found["placeholder"], '"customer_id" = 10')
    assert built.run(printed) == built.run(filled) != []
    assert printed.splitlines()[0] == filled.splitlines()[0]


def test_a_refused_view_is_a_leaf_in_the_sql_to_copy(built: Shop) -> None:
    sql = why_sql(built.lineage, built.id_of("over_tiers"), "customer_id = 10", "duckdb")
    assert "model.shop.tiers is read as its stored rows" in sql and "PIVOT on line 1" in sql
    [row] = built.run(sql)
    assert row[0] == 10 and "tiers[" in row[-1] and "by_customer[" in row[-1]


def test_only_so_much_sql_is_rewritten(built: Shop) -> None:
    assert why_templates(built.lineage, most=0)["models"] == {}


@pytest.mark.parametrize(
    ("constraints", "key"),
    [
        ([{"type": "primary_key", "columns": ["b", "c"]}], ("b", "c")),
        ([{"type": "unique", "columns": ["b"]}], ("b",)),
        ([{"type": "not_null", "columns": ["b"]}], ("a",)),
        (
            [{"type": "unique", "columns": ["b"]}, {"type": "primary_key", "columns": ["c"]}],
            ("c",),
        ),
    ],
)
def test_a_constraint_is_a_key_before_the_unique_key_of_the_model(
    constraints: list[dict[str, object]], key: tuple[str, ...], built: Shop
) -> None:
    node = Node(
        unique_id="model.p.m",
        name="m",
        resource_type="model",
        package_name="p",
        path="m.sql",
        config={"unique_key": "a"},
        details={"constraints": constraints},
    )
    project = replace(built.lineage.project, nodes={node.unique_id: node})
    assert declared_keys(project) == {"model.p.m": key}
