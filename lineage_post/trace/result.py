"""What tracing one statement gives: names in, names out, no word of dbt.

Edges and what they are made of are named tuples: a trace makes dozens, and a tuple costs a third
of a frozen dataclass.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lineage_post.vocabulary import Certainty, EdgeType, OpKind, Reason, State, Subtype


class ColumnRef(NamedTuple):
    """A source column: ``relation`` is the key of the schema, or the name as written if unlisted.

    ``field`` is the dotted path below a struct column, else None.
    """

    relation: str
    column: str
    field: str | None = None


class Op(NamedTuple):
    """A named operation on an edge, such as ``SUM`` of kind ``sql_function``."""

    name: str
    kind: OpKind


class TraceEdge(NamedTuple):
    """One influence of a source column on an output, or on every row when ``to`` is None."""

    source: ColumnRef
    to: str | None
    to_ordinal: int | None
    subtype: Subtype
    masking: bool = False
    certainty: Certainty = Certainty.EXACT
    expression: str | None = None
    ops: tuple[Op, ...] = ()

    @property
    def type(self) -> EdgeType:
        return self.subtype.type


class Output(NamedTuple):
    """An output column; ``ordinal`` counts from 1, ``data_type`` is None where it is not known.

    ``detail`` says of a partial or unknown one what it hangs on. ``expression`` is the first one
    on the way in that is not a bare reference, ``steps`` are the computing ones behind it.
    """

    ordinal: int
    name: str
    state: State = State.KNOWN
    reason: Reason | None = None
    expression: str | None = None
    data_type: str | None = None
    detail: str | None = None
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """What could not be resolved: of a column, of ``*``, or of every row (``column`` None)."""

    column: str | None
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Trace:
    """The lineage of one statement.

    ``open`` says that there are more outputs than listed (a star that could not be expanded).
    ``reads`` are the relations the statement looked up, in the spelling of its SQL, sorted: with
    their columns they are all that the answer depends on beside the SQL itself. ``warnings`` name
    what a reader should know of a known answer, such as inputs a declared contract leaves out.
    """

    state: State
    operation: str
    reason: Reason | None = None
    detail: str | None = None
    open: bool = False
    target: str | None = None
    outputs: tuple[Output, ...] = ()
    edges: tuple[TraceEdge, ...] = ()
    unknowns: tuple[Unknown, ...] = ()
    reads: tuple[tuple[str, ...], ...] = field(default=())
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The stable JSON form; its keys are in docs/json.md."""
        return {
            "state": self.state.value,
            "reason": self.reason and self.reason.value,
            "detail": self.detail,
            "open": self.open,
            "operation": self.operation,
            "target": self.target,
            "outputs": [_output_to_dict(output) for output in self.outputs],
            "edges": [_edge_to_dict(edge) for edge in self.edges],
            "unknowns": [
                {"column": u.column, "reason": u.reason.value, "detail": u.detail}
                for u in self.unknowns
            ],
            "warnings": list(self.warnings),
        }


def failed(reason: Reason, detail: str, reads: Iterable[tuple[str, ...]] = ()) -> Trace:
    """A Trace that says why there is none."""
    unknown = Unknown("*", reason, detail)
    return Trace(
        State.UNKNOWN,
        "unknown",
        reason,
        detail,
        open=True,
        unknowns=(unknown,),
        reads=tuple(sorted(reads)),
    )


def fault_of(error: Exception) -> str:
    """The words for an exception that nobody expected."""
    return f"{type(error).__name__}: {error}"[:500]


def _output_to_dict(output: Output) -> dict[str, Any]:
    return {
        "ordinal": output.ordinal,
        "name": output.name,
        "state": output.state.value,
        "reason": output.reason and output.reason.value,
        "detail": output.detail,
        "expression": output.expression,
        "steps": list(output.steps),
    }


def _edge_to_dict(edge: TraceEdge) -> dict[str, Any]:
    return {
        "to": edge.to,
        "to_ordinal": edge.to_ordinal,
        "from": {
            "relation": edge.source.relation,
            "column": edge.source.column,
            "field": edge.source.field,
        },
        "type": edge.type.value,
        "subtype": edge.subtype.value,
        "masking": edge.masking,
        "certainty": edge.certainty.value,
        "expression": edge.expression,
        "ops": [{"name": op.name, "kind": op.kind.value} for op in edge.ops],
    }
