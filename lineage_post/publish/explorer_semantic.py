"""The semantic layer as nodes at the end of the graph, for the explorer to draw.

A semantic model has its entities, dimensions and measures as columns, a metric has one of its own
name, a saved query what it gives out. They are no relations: only the page has them as nodes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lineage_post.consumers.semantic import semantic_uses
from lineage_post.lineage.record import packed_node
from lineage_post.values import ColumnLineage, Edge, NodeLineage
from lineage_post.vocabulary import Reason, State, Subtype

if TYPE_CHECKING:
    from lineage_post.artifacts import Node
    from lineage_post.consumers import Use
    from lineage_post.lineage import Lineage

KINDS = ("semantic_model", "metric", "saved_query")
#: Where the details of a semantic model name what it offers.
_PARTS = ("entities", "dimensions", "measures")


def with_semantic_layer(lineage: Lineage) -> Lineage:
    """The lineage with semantic models, metrics and saved queries as nodes of their own."""
    found = [n for n in lineage.project.nodes.values() if n.resource_type in KINDS]
    if not found:
        return lineage
    uses: dict[str, list[Use]] = defaultdict(list)
    for use in semantic_uses(lineage.project):
        uses[use.unique_id].append(use)
    made = {n.unique_id: _Consumer(lineage, n, uses[n.unique_id]).lineage() for n in found}
    return replace(lineage, nodes={**lineage.nodes, **made})


class _Consumer:
    """One node of the semantic layer, and what it says of columns."""

    def __init__(self, lineage: Lineage, node: Node, uses: list[Use]) -> None:
        self.source = lineage
        self.node = node
        self.uses = uses

    def lineage(self) -> NodeLineage:
        used = (edge for use in self.uses for edge in self._edges(use))
        edges = dict.fromkeys([*used, *self._made_of()])
        names = dict.fromkeys([*self._offered(), *(e.to_column for e in edges if e.to_column)])
        told = {edge.to_column for edge in edges}
        columns = [
            ColumnLineage(i, name, None, *self._state(name, told))
            for i, name in enumerate(names, 1)
        ]
        is_known = bool(columns) and all(c.state is State.KNOWN for c in columns)
        return packed_node(
            self.node.unique_id,
            columns,
            edges,
            state=State.KNOWN if is_known else State.PARTIAL if edges else State.UNKNOWN,
            reason=None if is_known else Reason.UNRESOLVED_COLUMN,
            operation=self.node.resource_type,
            inputs=self.node.depends_on,
        )

    def _offered(self) -> list[str]:
        if self.node.resource_type == "metric":
            return [self.node.name]
        return [str(part["name"]) for part in self._parts()]

    def _parts(self) -> list[Mapping[str, Any]]:
        """The entities, dimensions and measures of a semantic model; the others name things."""
        if self.node.resource_type != "semantic_model":
            return []
        return [part for key in _PARTS for part in self.node.details.get(key) or ()]

    def _state(self, name: str, told: set[str | None]) -> tuple[State, Reason | None]:
        """A measure over no column of its model, such as one that counts rows, has no source."""
        is_told = name in told or self._counts_rows(name)
        return (State.KNOWN, None) if is_told else (State.UNKNOWN, Reason.UNRESOLVED_COLUMN)

    def _counts_rows(self, name: str) -> bool:
        exprs = [part["expr"] for part in self._parts() if part["name"] == name and part["expr"]]
        return any(not re.search(r"[A-Za-z_]", str(expr)) for expr in exprs)

    def _edges(self, use: Use) -> list[Edge]:
        """What a semantic model reads of its model; of the others what filters and groups them."""
        if use.through is None:
            name, column = use.keys[-1], self._column(use)
            return [self._edge(use.node, column, name, self._subtype(use))] if column else []
        kind, _, name = use.role.partition(" ")
        if kind in ("measure", "metric"):
            return []
        if self.node.resource_type == "saved_query" and self._is_grouped_by(name):
            return [self._edge(use.through, name, name, Subtype.IDENTITY)]
        target = self.node.name if self.node.resource_type == "metric" else None
        return [self._edge(use.through, name, target, Subtype.FILTER)]

    def _made_of(self) -> Iterator[Edge]:
        """The measures and metrics that a metric or a query names; it knows them by name alone."""
        is_metric = self.node.resource_type == "metric"
        subtype = Subtype.TRANSFORMATION if is_metric else Subtype.IDENTITY
        for parent in self._nodes("metric"):
            if parent.name in (self.node.details.get("metrics") or ()):
                target = self.node.name if is_metric else parent.name
                yield self._edge(parent.unique_id, parent.name, target, subtype)
        # Of a metric made of metrics dbt lists their measures as well.
        is_simple = is_metric and not self.node.details.get("metrics")
        for parent in self._nodes("semantic_model") if is_simple else ():
            offered = {str(item["name"]) for item in parent.details.get("measures") or ()}
            for name in self.node.details.get("measures") or ():
                if name in offered:
                    yield self._edge(parent.unique_id, name, self.node.name, subtype)

    def _nodes(self, resource_type: str) -> Iterator[Node]:
        for node in self.source.project.nodes.values():
            if node.resource_type == resource_type and node.unique_id != self.node.unique_id:
                yield node

    def _column(self, use: Use) -> str | None:
        """The column as its node spells it; a word of an expression may be something else."""
        known = self.source.nodes.get(use.node)
        column = known.column(use.column) if known is not None else None
        return column.name if column is not None else None

    def _subtype(self, use: Use) -> Subtype:
        if use.role.startswith("measure"):
            return Subtype.AGGREGATION
        is_same = use.column.casefold() == use.keys[-1].casefold()
        return Subtype.IDENTITY if is_same else Subtype.TRANSFORMATION

    def _is_grouped_by(self, name: str) -> bool:
        grouped = " ".join(self.node.details.get("group_by") or ())
        return name in re.findall(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*", grouped.replace("__", " "))

    def _edge(self, source: str, column: str, target: str | None, subtype: Subtype) -> Edge:
        return Edge(source, column, None, self.node.unique_id, target, subtype)
