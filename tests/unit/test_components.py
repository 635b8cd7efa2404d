"""Strongly connected components: what lies on a common cycle."""

from __future__ import annotations

import random

import networkx
import pytest

from lineage_post.components import components

GRAPHS = {
    "nothing": {},
    "a vertex alone": {"a": []},
    "a vertex that leads to itself": {"a": ["a"]},
    "a vertex that is no key": {"a": ["b"]},
    "a ring with a tail": {"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": ["e"], "e": []},
    "two rings that touch": {"a": ["b"], "b": ["a", "c"], "c": ["d"], "d": ["c", "b"]},
}


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS.keys())
def test_components_are_those_of_networkx(graph: dict[str, list[str]]) -> None:
    _compare(graph)


@pytest.mark.parametrize("seed", range(40))
def test_components_of_random_graphs_are_those_of_networkx(seed: int) -> None:
    dice = random.Random(seed)
    size = dice.randint(1, 30)
    vertices = [str(n) for n in range(size)]
    _compare({v: dice.choices(vertices, k=dice.randint(0, 3)) for v in vertices})


def test_a_chain_of_any_length_is_walked_without_recursion() -> None:
    graph = {n: [n + 1] for n in range(50_000)}
    assert sum(1 for _ in components(graph)) == 50_001


def _compare(graph: dict[str, list[str]]) -> None:
    theirs = networkx.DiGraph()
    theirs.add_nodes_from(graph)
    theirs.add_edges_from((v, other) for v, others in graph.items() for other in others)
    expected = {frozenset(c) for c in networkx.strongly_connected_components(theirs)}
    assert {frozenset(c) for c in components(graph)} == expected
