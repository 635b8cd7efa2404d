"""The graph of one statement that belongs to no model, in the form of publish.federation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lineage_post.lineage import Lineage
from lineage_post.options import Options
from lineage_post.trace import SchemaIndex, Trace, TraceEdge, trace
from lineage_post.vocabulary import OpKind, Reason

_POSITION = re.compile(r"[Ll]ine:? (\d+),? [Cc]ol(?:umn)?:? (\d+)")
#: What the outputs of a bare query are columns of.
RESULT = "result"


def schema_of(lineage: Lineage, dialect: str | None) -> SchemaIndex:
    """The columns of the relations of a lineage, so that a pasted star can be expanded."""
    schema = SchemaIndex(dialect)
    for unique_id, node in lineage.nodes.items():
        known = lineage.project.nodes.get(unique_id)
        if known is None or known.relation is None:
            continue
        columns = {c.name: c.data_type for c in node.columns if c.is_column and c.name}
        if columns:
            schema.add(known.relation.parts, columns, complete=known.resource_type != "source")
    return schema


def statement_graph(
    sql: str, dialect: str | None, schema: SchemaIndex, options: Options | None = None
) -> dict[str, Any]:
    """Nodes, edges and outputs of a statement, with its state and what is not known of it.

    ``options`` has the project's commands and masking functions.

    Where it cannot be parsed the document has ``error``: ``{"message", "line", "column"}``, the
    two numbers null where the parser gives none.
    """
    options = options or Options()
    found = trace(
        sql,
        dialect=dialect,
        schema=schema,
        commands=options.commands,
        masking_functions=options.masking_functions,
    )
    if found.reason is Reason.PARSE_ERROR:
        return {"error": _error(found.detail or "not SQL")}
    target = found.target or RESULT
    nodes: dict[str, dict[str, Any]] = {}
    for output in found.outputs:
        one = _node(target, output.name, "derived", f"{target}:{output.ordinal}")
        nodes[one["id"]] = {**one, "state": output.state.value, "expression": output.expression}
    edges = [drawn for edge in found.edges for drawn in _edges(edge, target, nodes)]
    return {
        "state": found.state.value,
        "reason": found.reason and found.reason.value,
        "nodes": list(nodes.values()),
        "edges": edges,
        "outputs": [f"{target}:{output.ordinal}" for output in found.outputs],
        "cycles": [],
        "unknowns": found.to_dict()["unknowns"],
        "warnings": list(found.warnings),
        "truncated": None,
        **_openness(found),
    }


def _openness(found: Trace) -> Mapping[str, Any]:
    return {"open": found.open, "operation": found.operation, "detail": found.detail}


def _error(detail: str) -> dict[str, Any]:
    place = _POSITION.search(detail)
    line, column = (int(place[1]), int(place[2])) if place else (None, None)
    return {"message": detail, "line": line, "column": column}


def _node(relation: str, column: str | None, kind: str, key: str) -> dict[str, Any]:
    return {
        "id": key,
        "unique_id": None,
        "column": column,
        "relation": relation,
        "kind": kind,
        "materialized": False,
        "restricted": False,
    }


def _edges(edge: TraceEdge, target: str, nodes: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """An edge as drawn, through the commands on it; adds the nodes it needs."""
    source = edge.source
    stops = [f"{source.relation}:{source.column}"]
    nodes.setdefault(stops[0], _node(source.relation, source.column, "source", stops[0]))
    end = f"{target}:{edge.to_ordinal or ''}"
    for name in dict.fromkeys(op.name for op in edge.ops if op.kind is OpKind.COMMAND):
        key = f"command:{name}:{end}"
        nodes.setdefault(key, _node(name, None, "command", key))
        stops.append(key)
    nodes.setdefault(end, _node(target, None, "derived", end))
    return [
        {
            "source": one,
            "target": other,
            "transform": edge.subtype.value,
            "ops": [{"name": op.name, "kind": op.kind.value} for op in edge.ops],
            "masking": edge.masking,
            "certainty": edge.certainty.value,
            "expression": edge.expression,
        }
        for one, other in zip([*stops], [*stops[1:], end])
    ]
