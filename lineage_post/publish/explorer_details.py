"""What the explorer's page shows of one node, in chunks that it loads when somebody looks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lineage_post.publish.explorer_codes import NATIVE, REASONS, code
from lineage_post.publish.explorer_core import Core
from lineage_post.vocabulary import Producer, Reason

if TYPE_CHECKING:
    from lineage_post.artifacts import Node
    from lineage_post.lineage import ColumnLineage, Edge, NodeLineage

#: So many nodes share a chunk.
CHUNK = 64
#: Of these the manifest has the definition that was traced.
_TRACED = frozenset({"model", "snapshot"})


class Details:
    """``Details(core).chunks()``: (number, details of its nodes, their SQL) of each chunk."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.lineage = core.lineage
        self.project = core.lineage.project

    def chunks(self) -> Iterator[tuple[int, list[Any], list[str | None]]]:
        ids = self.core.ids
        for number, start in enumerate(range(0, len(ids), CHUNK)):
            part = ids[start : start + CHUNK]
            yield number, [self._node(u) for u in part], [self._sql(u) for u in part]

    def why(self, models: Mapping[str, Any]) -> Iterator[tuple[int, list[Any]]]:
        """(number, what ``why_templates`` made of its nodes or None) of each chunk."""
        ids = self.core.ids
        for number, start in enumerate(range(0, len(ids), CHUNK)):
            yield number, [self._why(u, models) for u in ids[start : start + CHUNK]]

    def _why(self, unique_id: str, models: Mapping[str, Any]) -> Any:
        """SQL is no more in this file than in any other where expressions are left out."""
        is_told = unique_id in self.core.shown and self.lineage.options.expressions
        return models.get(unique_id) if is_told else None

    def _sql(self, unique_id: str) -> str | None:
        node = self.project.nodes.get(unique_id)
        if node is None or unique_id not in self.core.shown or not self.lineage.options.expressions:
            return None
        return node.compiled_code or (node.raw_code if node.language != "sql" else None) or None

    def _node(self, unique_id: str) -> dict[str, Any]:
        node = self.project.nodes.get(unique_id.removeprefix(NATIVE))
        if unique_id.startswith(NATIVE):
            return {"native": dict(node.native)} if node else {}
        lineage = self.lineage.nodes.get(unique_id) if unique_id in self.core.shown else None
        found: dict[str, Any] = {}
        if node is not None:
            found.update(_about(node))
        if lineage is not None:
            found.update(self._traced(lineage))
            found["producers"] = self._producers(unique_id)
        found["tests"] = self._tests.get(unique_id, {}).get(None)
        found["columns"] = list(self._columns(unique_id, node, lineage))
        return _without_empty(found)

    def _traced(self, lineage: NodeLineage) -> dict[str, Any]:
        remarks = [
            [_reason(c.reason), c.name or "", c.detail or ""]
            for c in lineage.columns
            if not c.is_column
        ]
        return {
            "detail": lineage.detail,
            "operation": lineage.operation,
            "remarks": remarks,
            "rows": [self._edge(e, None) for e in lineage.edges if e.to_column is None],
        }

    def _producers(self, unique_id: str) -> list[list[Any]]:
        """``[name, what it did and when, 1 if it has gone quiet]`` of all that vouch for a node."""
        node = self.project.nodes.get(unique_id)
        has_own = node is not None and node.resource_type in _TRACED
        own = [[Producer.MANIFEST.value, "its compiled SQL, traced"]] if has_own else []
        vouched = self.core.claimed.nodes.get(unique_id, ())
        return own + [[v.producer, v.said, *([1] if v.is_stale else [])] for v in vouched]

    def _columns(
        self, unique_id: str, node: Node | None, lineage: NodeLineage | None
    ) -> Iterator[dict[str, Any]]:
        declared = {c.name.casefold(): c for c in node.columns} if node else {}
        traced = {c.name: c for c in lineage.columns if c.is_column} if lineage else {}
        edges: dict[str, list[Edge]] = defaultdict(list)
        for edge in lineage.edges if lineage else ():
            if edge.to_column is not None:
                edges[edge.to_column].append(edge)
        tests = self._tests.get(unique_id, {})
        for name in self.core.columns[self.core.number[unique_id]]:
            column, yml = traced.get(name), declared.get(name.casefold())
            expression = self._expression(column)
            yield _without_empty(
                {
                    "type": (column and column.data_type) or (yml and yml.data_type),
                    "text": yml and yml.description,
                    "tags": list(yml.tags) if yml else None,
                    "sql": expression,
                    "detail": column and column.detail,
                    "tests": tests.get(name.casefold()),
                    "edges": [self._edge(e, expression) for e in edges[name]],
                }
            )

    def _expression(self, column: ColumnLineage | None) -> str | None:
        return column.expression if column and self.lineage.options.expressions else None

    def _edge(self, edge: Edge, known: str | None) -> list[Any]:
        """``[source column, code, ops, field, expression]``, trailing defaults left out."""
        is_told = self.lineage.options.expressions and edge.expression != known
        row: list[Any] = [
            self.core.column[edge.from_node, edge.from_column],
            code(edge),
            [[op.name, op.kind._value_] for op in edge.ops],
            edge.from_field or 0,
            (edge.expression or 0) if is_told else 0,
        ]
        while row and not row[-1] and len(row) > 2:
            row.pop()
        return row

    @cached_property
    def _tests(self) -> dict[str, dict[str | None, list[str]]]:
        """Tests by node, then by folded column; those of no column under None."""
        found: dict[str, dict[str | None, list[str]]] = defaultdict(lambda: defaultdict(list))
        for node in self.project.nodes.values():
            if node.resource_type not in ("test", "unit_test"):
                continue
            at = node.details.get("attached_node")
            column = node.details.get("column")
            key = str(column).casefold() if column else None
            for unique_id in [at] if at else node.depends_on:
                found[str(unique_id)][key].append(str(node.details.get("test") or node.name))
        return found


def _about(node: Node) -> dict[str, Any]:
    return {
        "type": node.resource_type,
        "relation": str(node.relation) if node.relation else None,
        "materialized": node.materialized,
        "package": node.package_name,
        "path": node.path,
        "text": node.description,
        "owner": node.owner,
        "tags": list(node.tags),
        "access": node.access,
        "group": node.group,
        "language": node.language if node.language != "sql" else None,
        "url": node.url,
        "native": dict(node.native),
        "command": (node.meta.get("lineage") if node.language != "sql" else None),
    }


def _reason(reason: Reason | None) -> int:
    return REASONS.index(reason) + 1 if reason else 0


def _without_empty(found: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if value}
