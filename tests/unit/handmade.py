"""Small lineages written by hand, for tests of what is made of a lineage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lineage_post.artifacts import DeclaredColumn, Node, Project
from lineage_post.lineage import ColumnLineage, Edge, Lineage, NodeLineage
from lineage_post.options import Options
from lineage_post.vocabulary import Reason, State, Subtype


def edge(source: str, target: str, subtype: Subtype, **more: Any) -> Edge:
    """``edge("seed.shop.raw:id", "model.shop.stg:order_id", IDENTITY)``; no target column: rows."""
    (from_node, from_column), (to_node, _, to_column) = source.split(":", 1), target.partition(":")
    return Edge(from_node, from_column, None, to_node, to_column or None, subtype, **more)


def column(
    name: str | None, state: State = State.KNOWN, reason: Reason | None = None, **more: Any
) -> ColumnLineage:
    return ColumnLineage(more.pop("ordinal", 1), name, None, state, reason, **more)


def make_lineage(
    columns: Mapping[str, Sequence[str | ColumnLineage]],
    edges: Sequence[Edge] = (),
    *,
    states: Mapping[str, tuple[State, Reason]] | None = None,
    nodes: Mapping[str, Mapping[str, Any]] | None = None,
    options: Options | None = None,
) -> Lineage:
    """A lineage with the columns of each node, its edges, and further fields of its dbt nodes."""
    traced, project = {}, {}
    for unique_id, names in columns.items():
        own = tuple(e for e in edges if e.to_node == unique_id)
        inputs = tuple(sorted({e.from_node for e in own}))
        state, reason = (states or {}).get(unique_id, (State.KNOWN, None))
        listed = [column(c) if isinstance(c, str) else c for c in names]
        numbered = [c._replace(ordinal=i) for i, c in enumerate(listed, start=1)]
        traced[unique_id] = NodeLineage(
            unique_id, state, reason, None, "select", tuple(numbered), own, "f", inputs
        )
        more = dict((nodes or {}).get(unique_id, {}))
        kind, package, *rest = unique_id.split(".")
        fields = {"name": rest[-1], "package_name": package, "depends_on": inputs, **more}
        project[unique_id] = Node(unique_id=unique_id, resource_type=kind, path="x.sql", **fields)
    found = Project("shop", "duckdb", project, invocation_id="one")
    return Lineage(found, traced, options or Options())


def declared(*names: str, **meta: Any) -> tuple[DeclaredColumn, ...]:
    """Columns as YAML declares them, each with the same ``meta``."""
    return tuple(DeclaredColumn(name, meta=meta) for name in names)
