"""Where a column comes from, or what uses it, as a tree for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from rich.tree import Tree

from lineage_post.cli import wording
from lineage_post.cli.console import marked
from lineage_post.history.recalled import Recalled
from lineage_post.lineage import Edge, Lineage
from lineage_post.vocabulary import EdgeType, State

Key = tuple[str, "str | None"]
#: A tree has at most so many lines; the rest is counted.
LINES = 200


@dataclass(slots=True)
class Branches:
    """Draws one direction. A column that was drawn before is named again, but not unfolded."""

    lineage: Lineage
    is_up: bool
    depth: int | None
    indirect: bool
    recalled: Recalled | None = None
    seen: dict[Key, int] = field(default_factory=dict)
    lines: int = 0
    left_out: int = 0

    def draw(self, tree: Tree, node: str, column: str) -> None:
        """Adds all branches below the column; counts in ``left_out`` what did not fit."""
        self.seen[node, column] = 0
        self._draw(tree, (node, column), 1)
        if self.left_out:
            tree.add(f"[quiet]and {self.left_out:,} more: --depth cuts, --output json has all[/]")

    def _draw(self, tree: Tree, at: Key, level: int) -> None:
        if self.depth is not None and level > self.depth:
            return
        for key, edges in self._next(at):
            if self.lines >= LINES:
                self.left_out += 1
                continue
            self.lines += 1
            # One that stood deeper may have been cut by the depth: there is more to show of it now.
            again = self.seen.get(key, level + 1) <= level
            branch = tree.add(self._line(key, edges, again))
            if not again and key[1] is not None:
                self.seen[key] = level
                self._draw(branch, key, level + 1)

    def _next(self, at: Key) -> Iterator[tuple[Key, list[Edge]]]:
        graph, (node, column) = self.lineage.graph, at
        if self.is_up:
            edges: Iterable[Edge] = graph.edges_into(node, column)
            end: Callable[[Edge], Key] = lambda edge: (edge.from_node, edge.from_column)  # noqa: E731
        else:
            edges = graph.edges_out_of(node, column or "")
            end = lambda edge: (edge.to_node, edge.to_column)  # noqa: E731
        yield from grouped((e for e in edges if self.indirect or e.type is EdgeType.DIRECT), end)

    def _line(self, key: Key, edges: list[Edge], again: bool) -> str:
        node, column = key
        if column is None:
            name = f"rows of [node]{marked(wording.node_name(self.lineage, node))}[/]"
        else:
            name = wording.column_name(self.lineage, node, column, self._field(edges))
        kind = self._kind(node)
        how = f"{wording.subtypes(edges)}{wording.remarks(edges)}"
        above = " [quiet](above)[/]" if again else ""
        stale = " [warning](stale)[/]" if self.recalled and self.recalled.is_stale(edges) else ""
        return f"{name}{kind} {how}{stale}{above}{wording.expression(edges)}"

    def _field(self, edges: list[Edge]) -> str | None:
        fields = {edge.from_field for edge in edges}
        return next(iter(fields)) if self.is_up and len(fields) == 1 else None

    def _kind(self, node: str) -> str:
        known = self.lineage.project.nodes.get(node)
        traced = self.lineage.nodes.get(node)
        kind = known.resource_type if known else "external"
        said = f" [quiet]{kind}[/]" if kind in ("seed", "source", "external", "exposure") else ""
        if traced is not None and traced.state is State.UNKNOWN and not said:
            said = f" {wording.state(traced.state, traced.reason)}"
        return said


def grouped(edges: Iterable[Edge], end: Callable[[Edge], Key]) -> Iterator[tuple[Key, list[Edge]]]:
    """Edges by their far end, in the order of the first of each."""
    groups: dict[Key, list[Edge]] = {}
    for edge in edges:
        groups.setdefault(end(edge), []).append(edge)
    yield from groups.items()
