"""The description of a column's exposure: safe Markdown tables of all that feeds the column."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lineage_post.publish import markdown, words
from lineage_post.vocabulary import Certainty, EdgeType

if TYPE_CHECKING:
    from lineage_post.lineage import ColumnLineage, Edge, Lineage, NodeLineage

#: A table has at most so many rows; the rest is counted.
ROWS = 30


class Describer:
    """Describes columns of one lineage; edges are indexed once, by what they lead into."""

    def __init__(self, lineage: Lineage, *, expressions: bool = True) -> None:
        self.lineage = lineage
        self.expressions = expressions
        self._into: dict[tuple[str, str | None], list[Edge]] = defaultdict(list)
        for node in lineage.nodes.values():
            for edge in node.edges:
                self._into[edge.to_node, edge.to_column].append(edge)

    def text(self, node: str, column: str, *, nodes: int) -> str:
        """The description of a column that ``nodes`` nodes feed."""
        value = self._walk(node, column, value_only=True)
        told = set(value)
        others = [e for e in self._walk(node, column, value_only=False) if e not in told]
        lead = f"Column lineage of {self._column(node, column)} through all models: "
        lead += f"{nodes} {'node' if nodes == 1 else 'nodes'}."
        gap = _gap(self.lineage.nodes.get(node), column, has_value=bool(value))
        tables = [("Where its value comes from", value), ("What decides its rows", others)]
        shown = [self._section(title, edges) for title, edges in tables if edges]
        return "\n\n".join([lead, *([gap] if gap else []), *shown])

    def _walk(self, node: str, column: str, *, value_only: bool) -> list[Edge]:
        """Every edge upstream of the column, nearest first; of DIRECT ones only, or of all."""
        start: list[tuple[str, str | None]] = [(node, column)] + [(node, None)] * (not value_only)
        found: list[Edge] = []
        seen, queue = set(start), deque(start)
        while queue:
            for edge in self._into.get(queue.popleft(), ()):
                if value_only and edge.type is EdgeType.INDIRECT:
                    continue
                found.append(edge)
                steps: list[tuple[str, str | None]] = [(edge.from_node, edge.from_column)]
                steps += [] if value_only else [(edge.from_node, None)]
                queue.extend(step for step in steps if step not in seen)
                seen.update(steps)
        return found

    def _section(self, title: str, edges: Sequence[Edge]) -> str:
        header = ["Column", "Source column", "Type", "Subtype"]
        header += ["Expression"] if self.expressions else []
        table = markdown.table(header, [self._row(edge) for edge in edges[:ROWS]])
        more = f"\n\nand {len(edges) - ROWS} more." if len(edges) > ROWS else ""
        return f"**{title}**\n\n{table}{more}"

    def _row(self, edge: Edge) -> list[str]:
        source = f"{edge.from_column}.{edge.from_field}" if edge.from_field else edge.from_column
        target = self._column(edge.to_node, edge.to_column)
        subtype = ", ".join([words.SUBTYPES[edge.subtype], *marks(edge)])
        row = [target, self._column(edge.from_node, source), edge.type.value, subtype]
        return [*row, markdown.code(edge.expression or "")] if self.expressions else row

    def _column(self, node: str, column: str | None) -> str:
        linked = markdown.node_link(node, words.label(self.lineage.project, node))
        return f"{linked} {'(every row)' if column is None else markdown.code(column)}"


def marks(edge: Edge) -> list[str]:
    """What else there is to say of an edge: that it masks, that it is assumed."""
    masked = ["masked"] if edge.masking else []
    return masked + (["assumed"] if edge.certainty is Certainty.ASSUMED else [])


def _gap(node: NodeLineage | None, name: str, *, has_value: bool) -> str:
    """What is not known of the column, or that nothing flows in; else nothing."""
    column: ColumnLineage | None = node.column(name) if node else None
    if node is None or column is None:
        known = words.why(node.state, node.reason) if node else ""
        return f"Its lineage is {known or 'unknown'}."
    gap = words.why(column.state, column.reason)
    if gap:
        return f"Its lineage is {gap}."
    return "" if has_value else f"It has {words.NO_SOURCE}."
