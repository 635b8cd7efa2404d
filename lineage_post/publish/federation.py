"""The graph around a focus as one document: what the server answers and tools draw.

    {"nodes":   [{"id", "unique_id", "column", "relation", "kind", "materialized", "restricted",
                  "native"}],
     "edges":   [{"source", "target", "transform", "ops", "masking", "certainty"}],
     "outputs": [id], "cycles": [{"nodes", "has_materialization_boundary", "classification"}],
     "truncated": null or {"nodes": how many were left out, "hops": whether more are beyond}}

``native`` is where the data of a source really are, for viewers who may see it.
A node is a column, or with ``column`` null the rows of a relation; a command stands between the
columns it takes and those it gives.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from lineage_post.errors import OptionError
from lineage_post.graph import Column, CycleKind
from lineage_post.graph.cycles import MATERIALIZED
from lineage_post.lineage import Lineage
from lineage_post.values import Edge
from lineage_post.vocabulary import EdgeType, OpKind

#: An answer has at most so many columns, and goes at most so many hops from its focus.
MOST_NODES, MOST_HOPS = 500, 5

DIRECTIONS = ("upstream", "downstream", "both")


@dataclass(slots=True)
class _Found:
    """The columns that an answer is about, in the order they were met, and what it leaves out."""

    columns: dict[Column, None] = field(default_factory=dict)
    left_out: set[Column] = field(default_factory=set)
    has_more_hops: bool = False


def federation(
    lineage: Lineage,
    focus: Sequence[Column],
    *,
    direction: str = "both",
    depth: int = MOST_HOPS,
    indirect: bool = False,
) -> dict[str, Any]:
    """The columns around ``focus``, the nearest first, and all edges between them.

    ``depth`` counts hops from node to node. Raises OptionError for a direction that is none.
    """
    if direction not in DIRECTIONS:
        raise OptionError(f"direction is {direction!r}", hint=f"Use {', '.join(DIRECTIONS)}.")
    found = _Found()
    for start in focus:
        _keep(found, start)
    for way in ("upstream", "downstream"):
        if direction in (way, "both"):
            _walk(lineage, focus, way, min(depth, MOST_HOPS), indirect, found)
    edges = [e for column in found.columns for e in _into(lineage, column, indirect, found)]
    return _document(lineage, list(found.columns), edges, found)


def _keep(found: _Found, column: Column) -> bool:
    if column in found.columns:
        return True
    if len(found.columns) >= MOST_NODES:
        found.left_out.add(column)
        return False
    found.columns[column] = None
    return True


def _walk(
    lineage: Lineage, focus: Iterable[Column], way: str, depth: int, indirect: bool, found: _Found
) -> None:
    graph = lineage.graph
    arcs = graph.arcs_up if way == "upstream" else graph.arcs_down
    level, seen = list(focus), set(focus)
    for hop in range(depth + 1):
        following: list[Column] = []
        for column in level:
            # Rows decide every column of their node, which would draw all of them.
            for other, edges, _ in arcs(column, indirect):
                if not edges or other in seen:
                    continue
                if hop == depth:
                    found.has_more_hops = True
                    return
                seen.add(other)
                if _keep(found, other):
                    following.append(other)
        level = following


def _into(lineage: Lineage, column: Column, indirect: bool, found: _Found) -> Iterator[Edge]:
    for edge in lineage.graph.edges_into(*column):
        is_wanted = indirect or edge.type is EdgeType.DIRECT
        if is_wanted and (edge.from_node, edge.from_column) in found.columns:
            yield edge


def _document(
    lineage: Lineage, columns: list[Column], edges: list[Edge], found: _Found
) -> dict[str, Any]:
    drawn, commands = _edges(edges)
    cut = bool(found.left_out) or found.has_more_hops
    return {
        "nodes": [_node(lineage, column) for column in columns] + commands,
        "edges": drawn,
        "outputs": [
            node_id((node, name))
            for node, name in columns
            if name and not lineage.graph.edges_out_of(node, name)
        ],
        "cycles": _cycles(lineage, found),
        "truncated": {"nodes": len(found.left_out), "hops": found.has_more_hops} if cut else None,
    }


def node_id(column: Column) -> str:
    """The id of a column in a document; the rows of a node have no name after the colon."""
    return f"{column[0]}:{column[1] or ''}"


def _node(lineage: Lineage, column: Column) -> dict[str, Any]:
    unique_id, name = column
    node = lineage.project.nodes.get(unique_id)
    is_source = node is None or node.resource_type in ("source", "seed")
    relation = node.relation if node is not None else None
    is_restricted = unique_id.startswith("restricted.")
    return {
        "id": node_id(column),
        "unique_id": unique_id,
        "column": name,
        "relation": None if is_restricted else str(relation or unique_id),
        "kind": "source" if is_source else "derived",
        "materialized": node is not None and is_materialized(node.resource_type, node.materialized),
        "restricted": is_restricted,
        "native": dict(node.native) if node is not None and node.native else None,
    }


def is_materialized(resource_type: str, materialized: str | None) -> bool:
    """Whether a node is stored, so that what reads it sees an earlier build of it."""
    return resource_type in ("seed", "snapshot") or materialized in MATERIALIZED


def _edges(edges: Iterable[Edge]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The edges as drawn, and the nodes of the commands that stand on them."""
    drawn: dict[str, dict[str, Any]] = {}
    commands: dict[str, dict[str, Any]] = {}
    for edge in edges:
        stops = [node_id((edge.from_node, edge.from_column))]
        for name in dict.fromkeys(op.name for op in edge.ops if op.kind is OpKind.COMMAND):
            command = _command(name, edge)
            commands[command["id"]] = command
            stops.append(command["id"])
        stops.append(node_id((edge.to_node, edge.to_column)))
        for source, target in itertools.pairwise(stops):
            one = _edge(source, target, edge)
            drawn[f"{source} {target} {edge.subtype}"] = one
    return list(drawn.values()), list(commands.values())


def _command(name: str, edge: Edge) -> dict[str, Any]:
    return {
        "id": f"command:{name}:{edge.to_node}:{edge.to_column or ''}",
        "unique_id": edge.to_node,
        "column": None,
        "relation": name,
        "kind": "command",
        "materialized": False,
        "restricted": False,
        "native": None,
    }


def _edge(source: str, target: str, edge: Edge) -> dict[str, Any]:
    return {
        "source": source,
        "target": target,
        "transform": edge.subtype.value,
        "ops": [{"name": op.name, "kind": op.kind.value} for op in edge.ops],
        "masking": edge.masking,
        "certainty": edge.certainty.value,
    }


def _cycles(lineage: Lineage, found: _Found) -> list[dict[str, Any]]:
    return [
        {
            "nodes": [node_id(c) for c in cycle.columns],
            "has_materialization_boundary": cycle.kind is CycleKind.FEEDBACK,
            "classification": cycle.kind.value,
        }
        for cycle in lineage.graph.cycles
        if any(column in found.columns for column in cycle.columns)
    ]
