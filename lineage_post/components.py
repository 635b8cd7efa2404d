"""Strongly connected components: what lies on a common cycle."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import TypeVar

Vertex = TypeVar("Vertex", bound=Hashable)


def components(successors: Mapping[Vertex, Collection[Vertex]]) -> Iterator[set[Vertex]]:
    """The components of a graph, each after those it leads to (Tarjan 1972), without recursion.

    A vertex that is only led to need not be a key. Linear in vertices and edges. A library for
    graphs would take longer to load than most answers take to find.
    """
    numbers: dict[Vertex, int] = {}
    lowest: dict[Vertex, int] = {}
    stack: list[Vertex] = []
    is_open: set[Vertex] = set()
    for root in successors:
        if root in numbers:
            continue
        path = [(root, iter(successors[root]))]
        numbers[root] = lowest[root] = len(numbers)
        stack.append(root)
        is_open.add(root)
        while path:
            vertex, following = path[-1]
            for other in following:
                if other not in numbers:
                    numbers[other] = lowest[other] = len(numbers)
                    stack.append(other)
                    is_open.add(other)
                    path.append((other, iter(successors.get(other, ()))))
                    break
                if other in is_open:
                    lowest[vertex] = min(lowest[vertex], numbers[other])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    lowest[above] = min(lowest[above], lowest[vertex])
                if lowest[vertex] == numbers[vertex]:
                    yield _closed(vertex, stack, is_open)


def _closed(root: Vertex, stack: list[Vertex], is_open: set[Vertex]) -> set[Vertex]:
    """Takes a component off the stack."""
    component: set[Vertex] = set()
    while root not in component:
        vertex = stack.pop()
        is_open.discard(vertex)
        component.add(vertex)
    return component
