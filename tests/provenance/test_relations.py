"""What a query's relations are: asked of the engine where it can tell, else as they are traced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from lineage_post.provenance.connection import Adapter, DuckDb, describe
from lineage_post.provenance.project_relations import ProjectRelations
from lineage_post.provenance.walk import compiled_sql
from lineage_post.values import ColumnLineage, NodeLineage
from lineage_post.vocabulary import State
from tests.provenance.shop import Shop, shop

RAW = "source.shop.raw.raw_orders"


@pytest.fixture
def built() -> Iterator[Shop]:
    made = shop()
    yield made
    made.connection.close()


def test_an_attached_database_with_the_same_names_is_not_mistaken(built: Shop) -> None:
    built.run("attach ':memory:' as other")
    built.run("create table other.main.fct_orders (quite varchar, another int)")
    names = [("memory", "main", "fct_orders"), ("other", "main", "fct_orders")]
    told = describe(DuckDb(built.connection), names)
    assert list(told["memory", "main", "fct_orders"].columns)[:2] == ["order_id", "customer_id"]
    assert list(told["other", "main", "fct_orders"].columns) == ["quite", "another"]


def test_a_warehouse_without_an_information_schema_is_no_fault(built: Shop) -> None:
    def run(sql: str) -> Sequence[Sequence[Any]]:
        raise RuntimeError(f"no such table in {sql}")

    relations = ProjectRelations(built.lineage, Adapter(run, "spark"), compiled_sql)
    assert relations.table(RAW).columns == {}


@pytest.mark.parametrize(
    ("adapter", "expected"),
    [("duckdb", ["order_id", "amount"]), ("snowflake", ["ORDER_ID", "AMOUNT"])],
)
def test_names_that_yaml_has_are_those_the_engine_stores(
    adapter: str, expected: list[str], built: Shop
) -> None:
    columns = tuple(
        ColumnLineage(ordinal, name, None, State.KNOWN, None)
        for ordinal, name in enumerate(("order_id", "amount"), 1)
    )
    node = NodeLineage(RAW, State.KNOWN, None, None, "select", columns, (), "")
    project = replace(built.lineage.project, adapter_type=adapter)
    lineage = replace(built.lineage, project=project, nodes={RAW: node})
    relations = ProjectRelations(lineage, None, compiled_sql)
    assert list(relations.table(RAW).columns) == expected
