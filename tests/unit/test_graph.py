from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage_post.artifacts import Node, Project
from lineage_post.errors import SelectionError
from lineage_post.graph import ColumnGraph, CycleKind
from lineage_post.lineage import ColumnLineage, Edge, Lineage, NodeLineage
from lineage_post.vocabulary import State, Subtype

from .lineages import lineage_of
from .manifests import make_model, make_source

ORDERS = make_source("orders", {"id": "int", "amount": "double", "status": "text"})
EPH_SQL = "select id, amount from dev.raw.orders where status = 'paid'"
EPH = make_model("eph", EPH_SQL, ["source.shop.raw.orders"], materialized="ephemeral")
STG = make_model(
    "stg",
    f"with __dbt__cte__eph as (\n{EPH_SQL}\n) select id, amount * 2 as twice from __dbt__cte__eph",
    ["model.shop.eph"],
    extra_ctes=[{"id": "model.shop.eph", "sql": f" __dbt__cte__eph as (\n{EPH_SQL}\n)"}],
)
FCT = make_model(
    "fct", "select sum(twice) as total, count(*) as n from dev.main.stg", ["model.shop.stg"]
)
OTHER = make_model("other", "select id from dev.raw.orders", ["source.shop.raw.orders"])


@pytest.fixture(scope="module")
def lineage() -> Lineage:
    return lineage_of(ORDERS, EPH, STG, FCT, OTHER)


def named(columns: Any) -> set[str]:
    return {f"{node.rsplit('.', 1)[-1]}.{name or '*'}" for node, name in columns}


def stepped(steps: Any) -> dict[str, int]:
    return {f"{s.node.rsplit('.', 1)[-1]}.{s.column or '*'}": s.depth for s in steps}


def test_upstream_follows_values_through_all_models(lineage: Lineage) -> None:
    assert stepped(lineage.upstream("model.shop.fct", "total")) == {
        "stg.twice": 1,
        "eph.amount": 2,
        "orders.amount": 3,
    }


def test_depth_cuts_the_walk(lineage: Lineage) -> None:
    assert stepped(lineage.upstream("model.shop.fct", "total", depth=2)) == {
        "stg.twice": 1,
        "eph.amount": 2,
    }


def test_downstream_of_a_filter_walks_through_the_ephemeral_model(lineage: Lineage) -> None:
    graph = lineage.graph
    assert graph.downstream("source.shop.raw.orders", "status") == []
    found = graph.downstream("source.shop.raw.orders", "status", indirect=True)
    assert stepped(found) == {
        "eph.*": 1,
        "eph.id": 1,
        "eph.amount": 1,
        "stg.*": 2,
        "stg.id": 2,
        "stg.twice": 2,
        "fct.*": 3,
        "fct.total": 3,
        "fct.n": 3,
    }
    assert not any(step.is_value for step in found)


def test_a_count_has_no_value_edge_and_still_depends_on_the_rows_it_counts(
    lineage: Lineage,
) -> None:
    assert lineage.upstream("model.shop.fct", "n") == []
    found = stepped(lineage.graph.upstream("model.shop.fct", "n", indirect=True))
    assert found["orders.status"] == 3


def test_steps_carry_the_edges_that_lead_on_and_whether_a_value_flows(lineage: Lineage) -> None:
    steps = lineage.graph.upstream("model.shop.stg", "twice", indirect=True)
    by_name = {f"{s.node.rsplit('.', 1)[-1]}.{s.column or '*'}": s for s in steps}
    assert [e.subtype for e in by_name["eph.amount"].edges] == [Subtype.TRANSFORMATION]
    assert by_name["eph.amount"].is_value and by_name["orders.amount"].is_value
    assert [e.subtype for e in by_name["orders.status"].edges] == [Subtype.FILTER]
    assert not by_name["orders.status"].is_value


def test_the_nodes_that_feed_a_column_are_those_of_its_value_and_of_its_rows(
    lineage: Lineage,
) -> None:
    assert lineage.graph.feeding_nodes("model.shop.fct", "n") == {
        "model.shop.fct",
        "model.shop.stg",
        "model.shop.eph",
        "source.shop.raw.orders",
    }
    assert lineage.graph.feeding_nodes("model.shop.other", "id") == {
        "model.shop.other",
        "source.shop.raw.orders",
    }


def test_names_are_found_but_for_case_and_else_near_names_are_told(lineage: Lineage) -> None:
    assert lineage.graph.find("model.shop.fct", "TOTAL") == ("model.shop.fct", "total")
    with pytest.raises(SelectionError, match="no column 'totl'") as caught:
        lineage.upstream("model.shop.fct", "totl")
    assert "total" in str(caught.value)
    with pytest.raises(SelectionError, match="there is no node") as caught:
        lineage.upstream("model.shop.fcts", "total")
    assert "model.shop.fct" in str(caught.value)


def test_neighbours_are_the_edges_themselves(lineage: Lineage) -> None:
    graph = lineage.graph
    assert [e.from_column for e in graph.edges_into("model.shop.eph", None)] == ["status"]
    assert {e.to_node for e in graph.edges_out_of("source.shop.raw.orders", "id")} == {
        "model.shop.eph",
        "model.shop.other",
    }
    assert graph.readers("model.shop.stg") == ["model.shop.fct"]
    assert graph.columns("model.shop.stg") == ["id", "twice"]


def test_a_table_that_reads_itself_is_a_feedback() -> None:
    sql = "select id, amount from dev.raw.orders where id > (select max(id) from dev.main.inc)"
    inc = make_model("inc", sql, ["source.shop.raw.orders"], materialized="incremental")
    [cycle] = lineage_of(ORDERS, inc).graph.cycles
    assert cycle.kind is CycleKind.FEEDBACK
    assert named(cycle.columns) == {"inc.*", "inc.id"}


def test_views_that_read_each_other_are_an_error() -> None:
    a = make_model("a", "select x, 1 as one from dev.main.b", ["model.shop.b"])
    b = make_model("b", "select x, one from dev.main.a")
    [cycle] = lineage_of(a, b).graph.cycles
    assert cycle.kind is CycleKind.ERROR
    assert {"a.x", "b.x"} <= named(cycle.columns)


def test_a_project_without_cycles_has_none(lineage: Lineage, shop_lineage: Lineage) -> None:
    assert lineage.graph.cycles == ()
    kinds = {cycle.kind for cycle in shop_lineage.graph.cycles}
    assert kinds == {CycleKind.FEEDBACK}


@dataclass
class Made:
    """Nodes made at random, as a graph takes them."""

    nodes: dict[str, NodeLineage]
    project: Project = field(default_factory=lambda: Project("made", "duckdb", dict[str, Node]()))


@st.composite
def graphs(draw: st.DrawFn) -> Made:
    """Up to five nodes of up to three columns, with any edges, cycles among them."""
    columns = {f"n{i}": [f"c{j}" for j in range(draw(st.integers(1, 3)))] for i in range(5)}
    sources = st.sampled_from([(n, c) for n, names in columns.items() for c in names])
    nodes = {}
    for name, names in columns.items():
        targets = st.sampled_from([*names, None])
        found = draw(
            st.lists(st.tuples(sources, targets, st.sampled_from(list(Subtype))), max_size=4)
        )
        edges = tuple(
            Edge(n, c, None, name, t, s if t else Subtype.FILTER) for (n, c), t, s in found
        )
        more = draw(st.lists(st.sampled_from(sorted(columns)), max_size=1))
        inputs = tuple(sorted({*more, *(e.from_node for e in edges)}))
        listed = tuple(ColumnLineage(i, c, None, State.KNOWN, None) for i, c in enumerate(names, 1))
        nodes[name] = NodeLineage(
            name, State.KNOWN, None, None, "select", listed, edges, name, inputs
        )
    return Made(nodes)


def columns_in(made: Made) -> list[tuple[str, str]]:
    return [(n, c.name or "") for n, node in made.nodes.items() for c in node.columns]


@settings(max_examples=40, deadline=None)
@given(graphs(), st.booleans())
def test_impact_is_the_inverse_of_upstream(made: Made, indirect: bool) -> None:
    graph = ColumnGraph(made)
    down = {
        (start, (s.node, s.column))
        for start in columns_in(made)
        for s in graph.downstream(*start, indirect=indirect)
        if s.column is not None
    }
    up = {
        ((s.node, s.column), start)
        for start in columns_in(made)
        for s in graph.upstream(*start, indirect=indirect)
        if s.column is not None
    }
    assert down == up


@settings(max_examples=40, deadline=None)
@given(graphs(), st.booleans())
def test_reach_is_transitive(made: Made, indirect: bool) -> None:
    graph = ColumnGraph(made)
    reach = {start: graph.reach(*start, indirect=indirect) for start in columns_in(made)}
    for found in reach.values():
        for node, name in found:
            if name is not None:
                assert reach[node, name] <= found


@settings(max_examples=40, deadline=None)
@given(graphs(), st.integers(1, 4))
def test_a_deeper_walk_keeps_what_a_shorter_one_found(made: Made, depth: int) -> None:
    graph = ColumnGraph(made)
    for start in columns_in(made):
        short = graph.upstream(*start, depth=depth, indirect=True)
        long = graph.upstream(*start, indirect=True)
        found = [(s.node, s.column, s.depth, s.edges) for s in long if s.depth <= depth]
        assert found == [(s.node, s.column, s.depth, s.edges) for s in short]


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_a_column_is_on_a_cycle_exactly_when_it_reaches_itself(made: Made) -> None:
    graph = ColumnGraph(made)
    on_cycle = {column for cycle in graph.cycles for column in cycle.columns}
    for start in columns_in(made):
        assert (start in graph.reach(*start)) == (start in on_cycle)


def test_what_is_stored_of_a_node_lists_all_that_its_edges_come_from(
    shop_lineage: Lineage,
) -> None:
    """The graph finds the readers of a node by their inputs, without decoding their edges."""
    for node in shop_lineage.nodes.values():
        assert {edge.from_node for edge in node.edges} <= set(node.inputs), node.unique_id
