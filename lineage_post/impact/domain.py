"""What a new value in a column does: to values, or only to which rows there are.

A column whose value is computed from it, or chosen, ordered or windowed by it, can move. Where it
decides rows, the values of the rows that stay do not move, but for those that count over rows: an
aggregate, a window, or what an outer join fills with nulls.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineage_post.graph import Column
from lineage_post.impact.change import HOW, HOWS, How
from lineage_post.impact.simulate import Retracer
from lineage_post.lineage import Edge, Lineage
from lineage_post.vocabulary import EdgeType, Subtype

if TYPE_CHECKING:
    from lineage_post.impact.outer_joins import OuterJoins

_OVER_ROWS = re.compile(r"(?i)\bover\s*\(|\b(count|row_number|rank|dense_rank|ntile)\s*\(")


@dataclass(frozen=True, slots=True)
class Moved:
    """A column whose values can move, how, and the way from the column asked about."""

    node: str
    column: str
    how: tuple[How, ...]
    path: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Domain:
    """``values``: outputs whose values can move. ``rows``: outputs of nodes whose rows come or go
    while their values stay, each with the way there."""

    node: str
    column: str
    values: tuple[Moved, ...]
    rows: tuple[Moved, ...]


def domain_of(
    lineage: Lineage, node: str, column: str | None, retracer: Retracer, joins: OuterJoins
) -> Domain:
    """The two groups for one column, or for the rows of the node, the nearest outputs first."""
    return _Domain(lineage, (node, column), retracer, joins).answer()


class _Domain:
    def __init__(
        self, lineage: Lineage, start: Column, retracer: Retracer, joins: OuterJoins
    ) -> None:
        self.lineage = lineage
        self.retracer = retracer
        self.joins = joins
        self.graph = lineage.graph
        self.start = start
        self.how: dict[Column, set[How]] = {}
        self.paths: dict[Column, tuple[Column, ...]] = {start: (start,)}
        self.queue: deque[Column] = deque([start])

    def answer(self) -> Domain:
        while self.queue:
            column = self.queue.popleft()
            if column[1] is None:
                self._rows_moved(column)
            else:
                for edge in self.graph.edges_out_of(column[0], column[1]):
                    self._reach(column, (edge.to_node, edge.to_column), HOW[edge.subtype])
                    if edge.to_column is None and self.joins.filters(edge.to_node, column[1]):
                        # The rows that are filtered are of a part that an outer join fills up.
                        self._fill(column, column[0], edge.to_node)
        moved = [column for column in self.paths if column[1] is not None and column != self.start]
        still = [
            ((node, name), node)
            for node, column in self.paths
            if column is None
            for name in self.graph.columns(node)
            if (node, name) not in self.paths and self._has_rows(node, name)
        ]
        return Domain(
            self.start[0],
            self.start[1] or "",
            tuple(self._moved(c, self.how.get(c, set()), self.paths[c]) for c in moved),
            tuple(
                self._moved(c, self.how.get((node, None), set()), self.paths[node, None])
                for c, node in still
            ),
        )

    def _has_rows(self, node: str, name: str) -> bool:
        """An exposure has no rows of its own: only those of the columns that it shows."""
        if not node.startswith("exposure."):
            return True
        edges = self.graph.edges_into(node, name)
        return any((edge.from_node, None) in self.paths for edge in edges)

    def _moved(self, column: Column, how: set[How], path: tuple[Column, ...]) -> Moved:
        return Moved(column[0], column[1] or "", tuple(h for h in HOWS if h in how), path)

    def _reach(self, column: Column, target: Column, how: How) -> None:
        if target == self.start:
            return
        self.how.setdefault(target, set()).add(how)
        if target not in self.paths:
            self.paths[target] = (*self.paths[column], target)
            self.queue.append(target)

    def _rows_moved(self, rows: Column) -> None:
        node = rows[0]
        for name in self.graph.columns(node):
            if self._counts_rows(node, name):
                self._reach(rows, (node, name), How.ROWS)
        for reader in self.graph.readers(node):
            self._reach(rows, (reader, None), How.ROWS)
            self._fill_with_nulls(rows, reader)

    def _counts_rows(self, node: str, name: str) -> bool:
        edges = self.graph.edges_into(node, name)
        if any(e.subtype in (Subtype.AGGREGATION, Subtype.WINDOW) for e in edges):
            return True
        task = self.retracer.tasks.get(node)
        if task is None or not _OVER_ROWS.search(task.sql):
            return False
        return any(_OVER_ROWS.search(text) for text in self.retracer.computed(node, name))

    def _fill_with_nulls(self, rows: Column, reader: str) -> None:
        """A row that an outer join does not find any more leaves nulls, and no row less."""
        if self.joins.reads(reader, rows[0]):
            self._fill(rows, rows[0], reader)

    def _fill(self, column: Column, node: str, reader: str) -> None:
        for target in sorted({e.to_column for e in self._values(node, reader) if e.to_column}):
            self._reach(column, (reader, target), How.JOIN)

    def _values(self, node: str, reader: str) -> list[Edge]:
        edges = self.lineage.nodes[reader].edges
        return [e for e in edges if e.from_node == node and e.type is EdgeType.DIRECT]
