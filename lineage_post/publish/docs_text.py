"""What a column's description says of its lineage, and what a node's meta says.

The block stands between two link definitions, which no Markdown renderer shows, so that it can be
found and replaced and the user's own text stays as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from lineage_post.artifacts.decoration import END, START
from lineage_post.publish import markdown, words
from lineage_post.publish.exposures_text import marks
from lineage_post.vocabulary import EdgeType, State

if TYPE_CHECKING:
    from lineage_post.lineage import ColumnLineage, Edge, Lineage, NodeLineage

#: A description names so many columns a side; the panel lists them all.
LISTED = 8
_code = lru_cache(maxsize=100_000)(markdown.code)


def summary(node: NodeLineage) -> str:
    """``known, 7 of 7 columns``, or ``partial, 5 of 7 columns known: unresolved_column``."""
    columns = [column for column in node.columns if column.is_column]
    known = sum(column.state is State.KNOWN for column in columns)
    reasons = {node.reason, *(column.reason for column in node.columns)} - {None}
    said = f"{node.state}, {known} of {len(columns)} columns" if columns else str(node.state)
    if columns and known < len(columns):
        said += " known"
    return f"{said}: {', '.join(sorted(map(str, reasons)))}" if reasons else said


class ColumnTexts:
    """The blocks of one lineage's columns; the DIRECT edges are indexed once, both ways."""

    def __init__(self, lineage: Lineage) -> None:
        self._project = lineage.project
        self._links: dict[str, str] = {}
        self._sources: dict[tuple[str, str], list[Edge]] = defaultdict(list)
        self._uses: dict[tuple[str, str], list[Edge]] = defaultdict(list)
        for node in lineage.nodes.values():
            for edge in node.edges:
                if edge.type is EdgeType.DIRECT and edge.to_column is not None:
                    self._sources[edge.to_node, edge.to_column].append(edge)
                    self._uses[edge.from_node, edge.from_column].append(edge)

    def block(self, unique_id: str, column: ColumnLineage) -> str:
        """Where the column comes from and what uses it, between the two marks."""
        key = (unique_id, column.name or "")
        lines = []
        if unique_id.split(".", 1)[0] not in ("source", "seed"):
            lines.append(f"**Comes from** {self._origin(column, self._sources.get(key, ()))}")
        uses = _listed(self._end(e.to_node, e.to_column or "", e) for e in self._uses.get(key, ()))
        lines.append(f"**Used by** {uses or 'no traced column'}")
        return "\n\n".join([START, *lines, END])

    def _origin(self, column: ColumnLineage, sources: Sequence[Edge]) -> str:
        listed = _listed(self._end(edge.from_node, _path(edge), edge) for edge in sources)
        gap = words.why(column.state, column.reason)
        if column.state is State.KNOWN:
            return listed or words.NO_SOURCE
        return f"{listed}; {gap}" if listed else gap

    def _end(self, unique_id: str, column: str, edge: Edge) -> str:
        if unique_id not in self._links:
            label = words.label(self._project, unique_id)
            self._links[unique_id] = markdown.node_link(unique_id, label)
        kind = ", ".join([words.SUBTYPES[edge.subtype], *marks(edge)])
        return f"{self._links[unique_id]} {_code(column)} ({kind})"


def _path(edge: Edge) -> str:
    return f"{edge.from_column}.{edge.from_field}" if edge.from_field else edge.from_column


def _listed(items: Iterable[str]) -> str:
    ordered = list(dict.fromkeys(items))
    more = len(ordered) - LISTED
    return ", ".join(ordered[:LISTED]) + (f" and {more} more" if more > 0 else "")
