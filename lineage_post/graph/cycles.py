"""Columns that depend on themselves.

A cycle is described, never rejected: ``{{ this }}``, a source that is really a model's table, and
hooks make them in projects that work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lineage_post.artifacts import Project
from lineage_post.components import Vertex, components
from lineage_post.vocabulary import Word

#: (unique_id, column name); None for the rows of the node.
Column = tuple[str, "str | None"]

#: A cycle that crosses one of these is a feedback with a time lag, not an error.
MATERIALIZED = frozenset(
    {"table", "incremental", "snapshot", "seed", "materialized_view", "dynamic_table"}
)


class CycleKind(Word):
    """``feedback`` crosses a materialized node, so it is a time lag; ``error`` does not."""

    FEEDBACK = "feedback"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Cycle:
    """Columns that each depend on all others of the cycle, sorted."""

    columns: tuple[Column, ...]
    kind: CycleKind


class Walked(Protocol):
    """What of a graph the search needs."""

    def nodes(self) -> Sequence[str]: ...
    def columns(self, node: str) -> Sequence[str]: ...
    def readers(self, node: str) -> Sequence[str]: ...
    def arcs_down(self, column: Column, indirect: bool) -> Iterator[tuple[Column, Any, int]]: ...


def find_cycles(graph: Walked, project: Project) -> tuple[Cycle, ...]:
    """The cycles of a graph, sorted, the largest one around each column.

    Rows that only decide each other are a cycle of their own, left out where columns of the same
    nodes form one.
    """
    components = list(_components(graph))
    told = {frozenset(node for node, _ in c) for c in components if _has_columns(c)}
    found = []
    for component in components:
        nodes = frozenset(node for node, _ in component)
        if _has_columns(component) or nodes not in told:
            is_lagged = any(_is_materialized(project, node) for node in nodes)
            columns = sorted(component, key=lambda c: (c[0], c[1] or ""))
            kind = CycleKind.FEEDBACK if is_lagged else CycleKind.ERROR
            found.append(Cycle(tuple(columns), kind))
    return tuple(sorted(found, key=lambda c: [(n, x or "") for n, x in c.columns]))


def _components(graph: Walked) -> Iterator[set[Column]]:
    """Columns on a cycle, found among the few nodes whose relations are on one."""
    for nodes in _cyclic({node: graph.readers(node) for node in graph.nodes()}):
        columns: dict[Column, list[Column]] = {}
        for start in _columns_of(graph, nodes):
            arcs = graph.arcs_down(start, True)
            columns[start] = [other for other, _, _ in arcs if other[0] in nodes]
        yield from _cyclic(columns)


def _cyclic(successors: Mapping[Vertex, Sequence[Vertex]]) -> Iterator[set[Vertex]]:
    """The components that are cycles; a vertex alone is one where it leads to itself."""
    for component in components(successors):
        only = next(iter(component))
        if len(component) > 1 or only in successors.get(only, ()):
            yield component


def _columns_of(graph: Walked, nodes: Iterable[str]) -> Iterator[Column]:
    for node in nodes:
        yield node, None
        for name in graph.columns(node):
            yield node, name


def _has_columns(component: Iterable[Column]) -> bool:
    return any(name is not None for _, name in component)


def _is_materialized(project: Project, unique_id: str) -> bool:
    node = project.nodes.get(unique_id)
    if node is None:
        return False
    return node.resource_type == "seed" or node.materialized in MATERIALIZED
