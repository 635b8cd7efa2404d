"""The lineage that the docs panel draws, as small as it can be: one JSON document, inlined.

Nodes and columns are named once and referred to by number; what uses a column is turned around in
the browser. Above ``GZIP_FROM`` bytes the document is gzip in base64, which every current browser
unpacks with DecompressionStream.
"""

from __future__ import annotations

import base64
import gzip
from collections import Counter
from typing import TYPE_CHECKING, Any

from lineage_post import __version__, fast_json
from lineage_post.publish import words
from lineage_post.vocabulary import Certainty, Reason, State, Subtype

if TYPE_CHECKING:
    from lineage_post.lineage import ColumnLineage, Edge, Lineage, NodeLineage

GZIP_FROM = 200_000
STATES = tuple(State)
SUBTYPES = tuple(Subtype)
REASONS = tuple(Reason)
MASKED, ASSUMED = 16, 32


def panel_data(lineage: Lineage) -> dict[str, Any]:
    """The document; its ``nodes`` are lists, trailing defaults left out.

    A node: ``[unique_id, label, state, reason, detail, columns, rows, unread]``.
    A column: ``[name, state, reason, expression, edges]``.
    An edge into a column, or of ``rows`` into every row: ``[node, column, subtype and marks]``,
    plus the path below a struct column; node and column count from 0. ``unread`` lists the nodes
    that a node reads, where its columns are not all known. State and reason are indices too,
    a reason counting from 1.
    """
    builder = _Builder(lineage)
    return {
        "version": __version__,
        "invocation": lineage.project.invocation_id,
        "generated": lineage.project.generated_at,
        "states": [str(state) for state in STATES],
        "reasons": [[str(reason), words.REASONS[reason]] for reason in REASONS],
        "subtypes": [words.SUBTYPES[subtype] for subtype in SUBTYPES],
        "none": words.NO_SOURCE,
        "nodes": builder.nodes(),
    }


def encoded(data: dict[str, Any]) -> tuple[str, str]:
    """(encoding, text) for a script element: ``json`` without any ``<``, or ``gzip`` in base64."""
    text = fast_json.dumps_text(data)
    if len(text) < GZIP_FROM:
        return "json", script_safe(text)
    packed = gzip.compress(text.encode("utf-8", "replace"), compresslevel=9, mtime=0)
    return "gzip", base64.b64encode(packed).decode("ascii")


def script_safe(text: str) -> str:
    """JSON that can stand inside a script element: ``<`` and the line separators are escaped."""
    escapes = {"<": "\\u003c", "\u2028": "\\u2028", "\u2029": "\\u2029"}
    for character, escape in escapes.items():
        text = text.replace(character, escape)
    return text


class _Builder:
    """Numbers nodes and columns as edges mention them; sources may have columns nobody listed."""

    def __init__(self, lineage: Lineage) -> None:
        self.lineage = lineage
        self.ids = sorted({*lineage.nodes, *_mentioned(lineage)})
        self.number = {unique_id: i for i, unique_id in enumerate(self.ids)}
        self.columns = {u: self._column_names(u) for u in self.ids}
        self.position = {u: {n: i for i, n in enumerate(c)} for u, c in self.columns.items()}

    def nodes(self) -> list[list[Any]]:
        return [self._node(unique_id) for unique_id in self.ids]

    def _column_names(self, unique_id: str) -> list[str]:
        node = self.lineage.nodes.get(unique_id)
        return [c.name or "" for c in node.columns if c.is_column] if node else []

    def _node(self, unique_id: str) -> list[Any]:
        label = words.label(self.lineage.project, unique_id)
        node = self.lineage.nodes.get(unique_id)
        if node is None or not self.lineage.is_published(unique_id):
            return [unique_id, label, STATES.index(State.UNKNOWN), _reason(Reason.EXTERNAL)]
        detail = node.detail or "; ".join(_details(node))
        columns = self._columns(node)
        rows = [self._edge(e) for e in node.edges if e.to_column is None]
        unread = [] if node.state is State.KNOWN else [self.number[i] for i in node.inputs]
        state = STATES.index(node.state)
        gap = [state, _reason(node.reason), detail]
        return _trimmed([unique_id, label, *gap, columns, rows, unread])

    def _columns(self, node: NodeLineage) -> list[list[Any]]:
        edges: dict[str, list[list[Any]]] = {}
        for edge in node.edges:
            if edge.to_column is not None:
                edges.setdefault(edge.to_column, []).append(self._edge(edge))
        spelled = self._spelling(node.unique_id)
        return [
            self._column(column, spelled.get(column.name, column.name), edges.get(column.name, []))
            for column in node.columns
            if column.name is not None and column.is_column
        ]

    def _column(self, column: ColumnLineage, name: str, edges: list[list[Any]]) -> list[Any]:
        expression = column.expression if self.lineage.options.expressions else None
        state = STATES.index(column.state)
        return _trimmed([name, state, _reason(column.reason), expression or 0, edges])

    def _spelling(self, unique_id: str) -> dict[str, str]:
        """Columns that YAML writes in another case, as YAML writes them."""
        node = self.lineage.project.nodes.get(unique_id)
        declared = {c.name.lower(): c.name for c in node.columns} if node else {}
        traced = self.columns[unique_id]
        folded = Counter(name.lower() for name in traced)
        return {n: declared.get(n.lower(), n) for n in traced if folded[n.lower()] == 1}

    def _edge(self, edge: Edge) -> list[Any]:
        positions = self.position[edge.from_node]
        column: int | str = positions.get(edge.from_column, edge.from_column)
        marks = SUBTYPES.index(edge.subtype) | (MASKED if edge.masking else 0)
        marks |= ASSUMED if edge.certainty is Certainty.ASSUMED else 0
        coded = [self.number[edge.from_node], column, marks]
        return [*coded, edge.from_field] if edge.from_field else coded


def _mentioned(lineage: Lineage) -> set[str]:
    """Nodes that others read, whether or not they have lineage of their own."""
    read = {edge.from_node for node in lineage.nodes.values() for edge in node.edges}
    return read.union(*(node.inputs for node in lineage.nodes.values()))


def _details(node: NodeLineage) -> list[str]:
    """What is unknown of every row: of predicates, or of a star."""
    return [c.detail for c in node.columns if c.detail and not c.is_column]


def _reason(reason: Reason | None) -> int:
    return REASONS.index(reason) + 1 if reason else 0


def _trimmed(row: list[Any]) -> list[Any]:
    """The row without the zeros, empty texts and empty lists at its end."""
    while row and not row[-1]:
        row.pop()
    return row
