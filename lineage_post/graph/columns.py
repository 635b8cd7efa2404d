"""The graph of all columns: upstream, downstream, reach and cycles.

Beside columns it has the rows of each node, a column ``None``. Four kinds of arcs:

    (source, a) -> (target, b)      an edge with a target column
    (source, a) -> (target, None)   a dataset-level edge: a decides which rows the target has
    (node, None) -> (node, c)       its rows decide the values of every column, on demand
    (node, None) -> (reader, None)  the rows a node has decide the rows of what reads it

So readers of an ephemeral model's dataset-level edges walk through it like through any other node.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Protocol

from lineage_post.artifacts import Project
from lineage_post.errors import SelectionError
from lineage_post.graph.cycles import Column, Cycle, find_cycles
from lineage_post.values import Edge, NodeLineage
from lineage_post.vocabulary import EdgeType

Arc = tuple[Column, tuple[Edge, ...], int]


class HasNodes(Protocol):
    """What a graph is made of: the nodes of a Lineage, and its project for materializations."""

    @property
    def nodes(self) -> Mapping[str, NodeLineage]: ...
    @property
    def project(self) -> Project: ...


@dataclass(frozen=True, slots=True)
class Step:
    """A column on the way from the one that was asked for, ``depth`` nodes away.

    ``column`` None stands for the rows of the node. ``edges`` lead from here towards the column
    asked for; there are none where only rows go from one node to the next. ``is_value`` says that
    a way of DIRECT edges alone leads here.
    """

    node: str
    column: str | None
    depth: int
    edges: tuple[Edge, ...]
    is_value: bool


class ColumnGraph:
    """The edges of all nodes in both directions: ``ColumnGraph(lineage)``.

    What reads what is gathered at once; the columns and edges of a node when they are first asked
    for, since an answer is mostly about a small part of a project.
    """

    def __init__(self, lineage: HasNodes) -> None:
        self._project = lineage.project
        self._nodes = lineage.nodes
        self._columns: dict[str, dict[str, None]] = {}
        self._into: dict[str, dict[str | None, list[Edge]]] = {}
        self._out_of: dict[str, dict[str | None, list[Edge]]] = {}
        self._by_source: dict[str, dict[str, list[Edge]]] = {}
        self._readers: dict[str, list[str]] = {}
        self._parents: dict[str, tuple[str, ...]] = {}
        for unique_id, node in lineage.nodes.items():
            parents = dict.fromkeys(node.inputs)
            if isinstance(node.edges, (tuple, list)):
                # What is stored lists all that its edges come from among its inputs.
                parents.update(dict.fromkeys(edge.from_node for edge in node.edges))
            self._parents[unique_id] = tuple(parents)
            for parent in parents:
                self._readers.setdefault(parent, []).append(unique_id)

    def nodes(self) -> Sequence[str]:
        """Every node that has or feeds a column."""
        return list(dict.fromkeys((*self._nodes, *self._readers)))

    def columns(self, node: str) -> Sequence[str]:
        """The columns of a node in order, then those only its readers speak of."""
        return list(self._columns_of(node))

    def edges_into(self, node: str, column: str | None) -> Sequence[Edge]:
        """The edges of one column; with None the dataset-level edges of the node."""
        found = self._into.get(node)
        if found is None:
            found = self._into[node] = {}
            for edge in self._edges(node):
                found.setdefault(edge.to_column, []).append(edge)
        return found.get(column, ())

    def edges_out_of(self, node: str, column: str) -> Sequence[Edge]:
        """The edges that readers make from a column, dataset-level ones included."""
        return self._read_of(node).get(column, ())

    def readers(self, node: str) -> Sequence[str]:
        """The nodes that read a node."""
        return self._readers.get(node, ())

    def _edges(self, node: str) -> Sequence[Edge]:
        traced = self._nodes.get(node)
        return traced.edges if traced is not None else ()

    def _read_of(self, node: str) -> Mapping[str | None, Sequence[Edge]]:
        """The edges out of a node by the column that they come from."""
        found = self._out_of.get(node)
        if found is None:
            found = self._out_of[node] = {}
            for reader in self._readers.get(node, ()):
                for edge in self._sources_of(reader).get(node, ()):
                    found.setdefault(edge.from_column, []).append(edge)
        return found

    def _sources_of(self, reader: str) -> Mapping[str, Sequence[Edge]]:
        found = self._by_source.get(reader)
        if found is None:
            found = self._by_source[reader] = {}
            for edge in self._edges(reader):
                found.setdefault(edge.from_node, []).append(edge)
        return found

    def _columns_of(self, node: str) -> Mapping[str, None]:
        found = self._columns.get(node)
        if found is None:
            traced = self._nodes.get(node)
            own = (c.name for c in traced.columns if c.is_column and c.name) if traced else ()
            found = self._columns[node] = dict.fromkeys(own)
            found.update(dict.fromkeys(name for name in self._read_of(node) if name is not None))
        return found

    def find(self, node: str, column: str) -> Column:
        """The column of this name, exact, else the only one but for case.

        Raises SelectionError with near names where there is none.
        """
        if node not in self._nodes and node not in self._readers:
            near = get_close_matches(node, self.nodes(), n=3)
            raise SelectionError(f"there is no node {node!r}", hint=_near(near))
        names = self._columns_of(node)
        if column in names:
            return node, column
        folded = [name for name in names if name.casefold() == column.casefold()]
        if len(folded) == 1:
            return node, folded[0]
        near = get_close_matches(column, list(names), n=3, cutoff=0.5)
        raise SelectionError(f"{node} has no column {column!r}", hint=_near(near))

    def upstream(
        self, node: str, column: str, *, depth: int | None = None, indirect: bool = False
    ) -> list[Step]:
        """What a column is computed from, nearest first; with ``indirect`` also what decides its
        rows, branches and windows."""
        return self._steps(self.find(node, column), self.arcs_up, depth, indirect)

    def downstream(
        self, node: str, column: str, *, depth: int | None = None, indirect: bool = False
    ) -> list[Step]:
        """What is computed from a column, nearest first; with ``indirect`` also what it decides."""
        return self._steps(self.find(node, column), self.arcs_down, depth, indirect)

    def reach(self, node: str, column: str, *, indirect: bool = True) -> frozenset[Column]:
        """All columns, and rows of nodes, that a column has an influence on."""
        start = self.find(node, column)
        return frozenset(self._walk(start, self.arcs_down, None, indirect))

    def feeding_nodes(self, node: str, column: str) -> frozenset[str]:
        """The nodes that feed a column's value or decide its rows, its own node among them."""
        start = self.find(node, column)
        found = self._walk(start, self.arcs_up, None, True)
        return frozenset({node, *(unique_id for unique_id, _ in found)})

    def _steps(
        self,
        start: Column,
        arcs: Callable[[Column, bool], Iterator[Arc]],
        depth: int | None,
        indirect: bool,
    ) -> list[Step]:
        values = self._walk(start, arcs, depth, False)
        found = self._walk(start, arcs, depth, True) if indirect else values
        steps = [
            Step(node, column, distance, edges, (node, column) in values)
            for (node, column), (distance, edges) in found.items()
        ]
        return sorted(steps, key=lambda s: (s.depth, s.node, s.column is not None, s.column or ""))

    def _walk(
        self,
        start: Column,
        arcs: Callable[[Column, bool], Iterator[Arc]],
        depth: int | None,
        indirect: bool,
    ) -> dict[Column, tuple[int, tuple[Edge, ...]]]:
        """Everything that can be reached, with its distance and the edges that led there first.

        An arc within a node costs nothing, so the queue is one of zeros and ones. The start is in
        the answer only where a cycle leads back to it.
        """
        found: dict[Column, tuple[int, tuple[Edge, ...]]] = {}
        queue: deque[tuple[Column, int]] = deque([(start, 0)])
        done: set[Column] = set()
        while queue:
            column, distance = queue.popleft()
            if column in done:
                continue
            done.add(column)
            for other, edges, cost in arcs(column, indirect):
                far = distance + cost
                if (depth is not None and far > depth) or found.get(other, (far + 1,))[0] <= far:
                    continue
                found[other] = (far, edges)
                if cost:
                    queue.append((other, far))
                else:
                    queue.appendleft((other, far))
        return found

    def arcs_up(self, column: Column, indirect: bool) -> Iterator[Arc]:
        """One step against the flow: (column, edges, how many nodes away)."""
        node, name = column
        yield from _grouped(self.edges_into(node, name), _source_of, indirect)
        if not indirect:
            return
        if name is not None:
            yield (node, None), (), 0
        else:
            for parent in self._parents.get(node, ()):
                yield (parent, None), (), 1

    def arcs_down(self, column: Column, indirect: bool) -> Iterator[Arc]:
        """One step with the flow: (column, edges, how many nodes away)."""
        node, name = column
        if name is not None:
            yield from _grouped(self.edges_out_of(node, name), _target_of, indirect)
        elif indirect:
            for other in self._columns_of(node):
                yield (node, other), (), 0
            for reader in self._readers.get(node, ()):
                yield (reader, None), (), 1

    @cached_property
    def cycles(self) -> tuple[Cycle, ...]:
        """Columns that depend on themselves, by whatever kind of edge, each with its kind."""
        return find_cycles(self, self._project)


def _source_of(edge: Edge) -> Column:
    return edge.from_node, edge.from_column


def _target_of(edge: Edge) -> Column:
    return edge.to_node, edge.to_column


def _grouped(edges: Iterable[Edge], end: Callable[[Edge], Column], indirect: bool) -> Iterator[Arc]:
    """Edges by their far end; without ``indirect`` only those that carry a value."""
    groups: dict[Column, list[Edge]] = {}
    for edge in edges:
        if indirect or edge.type is EdgeType.DIRECT:
            groups.setdefault(end(edge), []).append(edge)
    for column, group in groups.items():
        yield column, tuple(group), 1


def _near(names: Sequence[str]) -> str:
    return (
        f"Did you mean {', '.join(names)}?" if names else "lineage-post show lists what there is."
    )
