"""From a Trace, which speaks of names, to the columns and edges of a node."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from lineage_post.lineage.task import Task
from lineage_post.trace.result import Output, Trace, TraceEdge
from lineage_post.values import ColumnLineage, Edge
from lineage_post.vocabulary import Reason, State

#: Names that an engine makes up for an expression without an alias; the catalog knows better.
_MADE_UP = re.compile(r"(?i)(|_?col_?\d+|f\d+_|\?column\?|unnamed_?\d*|expr\$?\d+)")
_PLAIN = re.compile(r"[\w$]+")

_WHY = {
    Reason.STAR_UNEXPANDED: "the SQL's star could not be expanded",
    Reason.NOT_IN_SQL: "the table has it, the SQL of today does not give it",
}


def bound_edges(task: Task, trace: Trace, ids: Mapping[str, str]) -> list[Edge]:
    """The edges of a node. ``ids`` maps what the trace calls a relation to a node."""
    names = output_names(task, trace)
    return [
        Edge(
            from_node=ids[edge.source.relation],
            from_column=edge.source.column,
            from_field=edge.source.field,
            to_node=task.unique_id,
            to_column=_target(edge, names),
            subtype=edge.subtype,
            masking=edge.masking,
            certainty=edge.certainty,
            expression=edge.expression,
            ops=edge.ops,
        )
        for edge in trace.edges
    ]


def bound_columns(task: Task, trace: Trace) -> list[ColumnLineage]:
    """The columns of a node: what its SQL gives, what is open, and what only its table has."""
    names = output_names(task, trace)
    details = {u.column: u.detail for u in trace.unknowns if u.column is not None}
    types = _types(task)
    columns = [
        ColumnLineage(
            ordinal=output.ordinal,
            name=names[output.ordinal],
            data_type=types.get(names[output.ordinal].casefold()) or output.data_type,
            state=output.state,
            reason=output.reason,
            expression=output.expression,
            detail=_detail(output, details),
        )
        for output in trace.outputs
    ]
    columns.extend(_rest(task, trace, columns))
    told = {output.name for output in trace.outputs}
    if task.catalog or (columns and trace.state is State.UNKNOWN):
        # All columns are listed one by one, each with its reason: a star would count them twice.
        told.add("*")
    columns.extend(_remarks(trace, told))
    return columns


def _detail(output: Output, details: Mapping[str, str]) -> str | None:
    """What a column that is not known hangs on; a partial one need not be among the unknowns."""
    if output.state is State.KNOWN:
        return None
    return details.get(output.name, output.detail)


def output_names(task: Task, trace: Trace) -> dict[int, str]:
    """Output names by ordinal. An unnamed expression takes the name its position has in the
    catalog, if all other columns of the two agree."""
    names = {output.ordinal: output.name for output in trace.outputs}
    listed = [name for name, _ in task.catalog]
    if trace.open or len(listed) != len(names):
        return names
    pairs = list(zip(trace.outputs, listed, strict=True))
    differing = [(o, name) for o, name in pairs if o.name.casefold() != name.casefold()]
    if differing and all(_is_unnamed(output) for output, _ in differing):
        names.update((output.ordinal, name) for output, name in differing)
    return names


def _is_unnamed(output: Output) -> bool:
    return bool(_MADE_UP.fullmatch(output.name)) or not _PLAIN.fullmatch(output.name)


def _target(edge: TraceEdge, names: Mapping[int, str]) -> str | None:
    if edge.to is None or edge.to_ordinal is None:
        return edge.to
    return names.get(edge.to_ordinal, edge.to)


def _types(task: Task) -> dict[str, str]:
    types = {name.casefold(): t for name, t in task.declared if t}
    types.update((name.casefold(), t) for name, t in task.catalog if t)
    return types


def _rest(task: Task, trace: Trace, columns: Iterable[ColumnLineage]) -> Iterator[ColumnLineage]:
    """Columns the relation has beside the traced ones, with the reason they are not known."""
    if trace.state is State.UNKNOWN:
        reason: Reason = trace.reason or Reason.INTERNAL_ERROR
    elif trace.open:
        reason = Reason.STAR_UNEXPANDED
    elif task.keeps_columns and task.catalog and task.snapshot is None:
        reason = Reason.NOT_IN_SQL
    else:
        return
    present = {(column.name or "").casefold() for column in columns}
    more = task.catalog or (() if reason is Reason.NOT_IN_SQL else task.declared)
    missing = [(name, t) for name, t in more if name.casefold() not in present]
    detail = _WHY.get(reason, trace.detail)
    for ordinal, (name, data_type) in enumerate(missing, len(present) + 1):
        state = State.UNKNOWN
        yield ColumnLineage(ordinal, name, data_type or None, state, reason, detail=detail)


def _remarks(trace: Trace, told: set[str]) -> Iterator[ColumnLineage]:
    """One row for each reason that something of all rows, or of the star, is not known."""
    found: dict[tuple[str | None, Reason], list[str]] = {}
    for unknown in trace.unknowns:
        if unknown.column is None or unknown.column not in told:
            found.setdefault((unknown.column, unknown.reason), []).append(unknown.detail)
    for (name, reason), details in found.items():
        detail = "; ".join(dict.fromkeys(details))
        yield ColumnLineage(None, name, None, State.UNKNOWN, reason, detail=detail)
