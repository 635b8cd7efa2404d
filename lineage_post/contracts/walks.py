"""Walks from a column to what it comes from, and what on the way is not known."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from lineage_post.graph import Column
from lineage_post.lineage import Edge, Lineage
from lineage_post.vocabulary import Certainty, EdgeType, OpKind, Reason, State, Subtype

Follow = Callable[[Edge], bool]
#: Whether to walk beyond a column that was reached by these edges.
Beyond = Callable[[Column, tuple[Edge, ...]], bool]
_LEAVES = frozenset({"source", "seed"})


@dataclass(frozen=True, slots=True)
class Walked:
    """Everything that was reached, nearest first, with the step that led there."""

    start: Column
    came_by: dict[Column, tuple[Column, tuple[Edge, ...]]]

    def __contains__(self, column: Column) -> bool:
        return column in self.came_by

    @property
    def columns(self) -> list[Column]:
        """The start, then what was reached."""
        return [self.start, *(column for column in self.came_by if column != self.start)]

    def path(self, column: Column) -> tuple[list[Column], list[tuple[Edge, ...]]]:
        """From ``column`` to the start, and the edges between."""
        columns, arcs = [column], []
        while columns[-1] != self.start:
            following, edges = self.came_by[columns[-1]]
            columns.append(following)
            arcs.append(edges)
        return columns, arcs


def walk_up(
    lineage: Lineage,
    start: Column,
    *,
    follow: Follow = lambda edge: True,
    stop: Collection[Column] = (),
    beyond: Beyond = lambda column, edges: True,
    indirect: bool = False,
) -> Walked:
    """What ``start`` comes from over edges that ``follow`` takes; ``stop`` is not walked beyond."""
    came_by: dict[Column, tuple[Column, tuple[Edge, ...]]] = {}
    queue = deque([start])
    while queue:
        column = queue.popleft()
        is_end = column in stop or (column in came_by and not beyond(column, came_by[column][1]))
        if is_end and column != start:
            continue
        for other, edges in _arcs(lineage, column, follow, indirect):
            if other not in came_by and other != start:
                came_by[other] = (column, edges)
                queue.append(other)
    return Walked(start, came_by)


def _arcs(
    lineage: Lineage, column: Column, follow: Follow, indirect: bool
) -> Iterator[tuple[Column, tuple[Edge, ...]]]:
    node, name = column
    groups: dict[Column, list[Edge]] = {}
    for edge in lineage.graph.edges_into(node, name):
        if (indirect or edge.type is EdgeType.DIRECT) and follow(edge):
            groups.setdefault((edge.from_node, edge.from_column), []).append(edge)
    for other, edges in groups.items():
        yield other, tuple(edges)
    if not indirect:
        return
    if name is not None:
        yield (node, None), ()
    else:
        for parent in lineage.nodes[node].inputs if node in lineage.nodes else ():
            yield (parent, None), ()


def is_leaf(lineage: Lineage, column: Column) -> bool:
    """Whether a value begins here: a column of a source or seed that nothing feeds."""
    node, name = column
    if name is None or any(e.type is EdgeType.DIRECT for e in lineage.graph.edges_into(node, name)):
        return False
    found = lineage.project.nodes.get(node)
    return found is None or found.resource_type in _LEAVES


def unknown_reason(lineage: Lineage, column: Column) -> str | None:
    """Why it is not known what a column, or the rows of a node, come from; None where it is."""
    node, name = column
    traced = lineage.nodes.get(node)
    if traced is None:
        return str(Reason.NOT_COMPILED)
    if traced.state is State.UNKNOWN:
        return str(traced.reason or Reason.INTERNAL_ERROR)
    if name is None:
        rows = (c for c in traced.columns if c.name is None and c.state is not State.KNOWN)
        return next((str(c.reason or c.state) for c in rows), None)
    found = traced.column(name)
    if found is not None:
        return None if found.state is State.KNOWN else str(found.reason or found.state)
    declared = lineage.project.nodes.get(node)
    if declared is None or declared.resource_type in _LEAVES:
        return None if declared is not None else str(Reason.EXTERNAL)
    return str(Reason.STAR_UNEXPANDED if has_open_star(lineage, node) else Reason.UNRESOLVED_COLUMN)


def has_open_star(lineage: Lineage, node: str) -> bool:
    """Whether the node may have columns that are not listed."""
    traced = lineage.nodes.get(node)
    return traced is None or any(
        c.name == "*" and not c.is_column and c.state is not State.KNOWN for c in traced.columns
    )


def built_from(lineage: Lineage, node: str) -> frozenset[str]:
    """A node and all that it is built from."""
    found, queue = {node}, deque([node])
    while queue:
        traced = lineage.nodes.get(queue.popleft())
        more = {*(traced.inputs if traced else ())} - found
        found |= more
        queue.extend(more)
    return frozenset(found)


def is_surely_gone(lineage: Lineage, column: tuple[str, str]) -> bool:
    """Whether all columns of a node that the project builds are known, and this is none."""
    node, name = column
    traced, declared = lineage.nodes.get(node), lineage.project.nodes.get(node)
    if traced is None or declared is None or declared.resource_type == "source":
        return False
    is_known = traced.state is not State.UNKNOWN and not has_open_star(lineage, node)
    return is_known and bool(traced.columns) and traced.column(name) is None


def is_exact(edge: Edge) -> bool:
    return edge.certainty is Certainty.EXACT


def is_told_apart(lineage: Lineage, column: Column, edges: Iterable[Edge]) -> bool:
    """Whether all that a column comes from is what these edges read of it. A field of a struct may
    come from any of the columns that the struct was made of."""
    if any(edge.from_field is None for edge in edges):
        return True
    into = lineage.graph.edges_into(*column)
    return len({(e.from_node, e.from_column) for e in into if e.type is EdgeType.DIRECT}) <= 1


def is_bare(edge: Edge) -> bool:
    """The value passes as it is, for sure."""
    return edge.subtype is Subtype.IDENTITY and not edge.masking and is_exact(edge)


def is_not_masked(edge: Edge) -> bool:
    return not edge.masking


def is_not_aggregated(edge: Edge) -> bool:
    """Whether values get in that no aggregate took in, be it beside others that one did."""
    is_mixed = any(op.kind is OpKind.IDENTITY for op in edge.ops)
    return edge.subtype is not Subtype.AGGREGATION or is_mixed
