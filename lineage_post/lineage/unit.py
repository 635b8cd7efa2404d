"""Tracing one node: the only place where a fault of ours becomes a state of that node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from lineage_post.cache import Read, Record
from lineage_post.lineage.bind import bound_columns, bound_edges
from lineage_post.lineage.record import count_states, in_order, pack
from lineage_post.lineage.snapshots import with_meta_columns
from lineage_post.lineage.stars import with_star_told
from lineage_post.lineage.task import Settings, Task
from lineage_post.relations import external_id, without_temporary
from lineage_post.schema import NO_COLUMNS, Columns, Learned, ProjectIndex
from lineage_post.trace import trace
from lineage_post.trace.result import Trace
from lineage_post.trace.schema_index import split_name
from lineage_post.values import ColumnLineage, Edge
from lineage_post.vocabulary import EdgeType, Reason, State, Subtype


class Finding(NamedTuple):
    """A trace and what it means for the node: columns, edges, and what it read."""

    trace: Trace
    columns: list[ColumnLineage]
    edges: list[Edge]
    reads: tuple[Read, ...]
    inputs: tuple[str, ...]


def trace_task(
    task: Task, index: ProjectIndex, shown: Mapping[str, Columns], settings: Settings, names: str
) -> Record:
    """The record of a node. ``shown`` are the columns it may see of the relations it depends on;
    ``names`` is the hash of the index's relation names. Never raises: a fault is a state."""
    for key, columns in shown.items():
        index.show(key, columns)
    try:
        return _record(task, _found(task, index, shown, settings), shown, names)
    except Exception as error:
        return _record(task, _fault(task, error), shown, names)


def _found(
    task: Task, index: ProjectIndex, shown: Mapping[str, Columns], settings: Settings
) -> Finding:
    def trace_with(key: str, columns: Columns) -> Trace:
        index.show(key, columns)
        again = _trace(task, index, settings)
        index.show(key, shown.get(key, NO_COLUMNS))
        return again

    traced = _trace(task, index, settings)
    reads = _reads(task, traced, index)
    itself = any(read.key == task.unique_id for read in reads)
    if itself and index.digest(task.unique_id) in ("", NO_COLUMNS.digest) and traced.outputs:
        # ``{{ this }}`` before any build has made it: it will have the columns traced just now.
        own = {output.name: output.data_type for output in traced.outputs}
        columns_traced = Columns(own, Learned.TRACED, complete=not traced.open)
        traced = trace_with(task.unique_id, columns_traced)
    traced = with_star_told(task, traced, reads, shown, trace_with)
    ids = _ids(task, traced, index)
    edges = bound_edges(task, traced, ids)
    columns = bound_columns(task, traced)
    if task.snapshot is not None and traced.state is not State.UNKNOWN:
        columns, edges = with_meta_columns(
            task.snapshot, columns, edges, lambda sql: _columns_read(sql, columns, settings)
        )
        columns = _with_types(task, columns)
    if traced.state is not State.UNKNOWN:
        edges = [*edges, *_batch_filters(task, edges, shown)]
    inputs = {ids[".".join(read.parts)] for read in reads if ".".join(read.parts) in ids}
    return Finding(traced, columns, edges, reads, tuple(sorted(inputs)))


def _batch_filters(
    task: Task, edges: Iterable[Edge], shown: Mapping[str, Columns]
) -> Iterator[Edge]:
    """The span of time that each batch reads of a parent, where the SQL does not have it."""
    keys = {parent: key for key, parent in task.parents}
    present = {(e.from_node, e.from_column) for e in edges if e.subtype is Subtype.FILTER}
    for parent, event_time in task.batched_by:
        types = shown.get(keys.get(parent, parent), NO_COLUMNS).types
        name = next((n for n in types if n.casefold() == event_time.casefold()), event_time)
        if (parent, name) not in present:
            text = f"{name} within the batch"
            yield Edge(parent, name, None, task.unique_id, None, Subtype.FILTER, expression=text)


def _trace(task: Task, index: ProjectIndex, settings: Settings) -> Trace:
    return trace(
        task.sql,
        dialect=settings.dialect,
        schema=index,
        commands={**settings.commands, **task.commands},
        stop_at=dict(task.stop_at),
        masking_functions=settings.masking_functions,
        expressions=settings.expressions,
    )


def _reads(task: Task, traced: Trace, index: ProjectIndex) -> tuple[Read, ...]:
    found: dict[tuple[str, ...], Read] = {}
    stops = dict(task.stop_at)
    for parts in traced.reads:
        key = _key(parts, index, stops)
        found[parts] = Read(parts, key, index.digest(key) if key else "")
    for name, key in task.stop_at:
        found.setdefault((name,), Read((name,), key, index.digest(key)))
    return tuple(found[parts] for parts in sorted(found))


def _key(parts: tuple[str, ...], index: ProjectIndex, stops: Mapping[str, str]) -> str | None:
    return stops[parts[0]] if len(parts) == 1 and parts[0] in stops else index.key_of(parts)


def _ids(task: Task, traced: Trace, index: ProjectIndex) -> dict[str, str]:
    """The node of everything the trace calls a relation, under each name it may use for it."""
    meant = {key: parent for key, parent in task.parents if key != parent}
    meant.update((parent, parent) for key, parent in task.parents if key == parent)
    stops = dict(task.stop_at)
    ids: dict[str, str] = {}
    for parts in traced.reads:
        key = _key(parts, index, stops)
        node = meant.get(key, key) if key is not None else external_id(without_temporary(parts))
        ids[".".join(parts)] = node
        if key is not None:
            ids[key] = node
    direct = {parent for _, parent in task.parents}
    ids.update((name, key) for name, key in task.stop_at if key in direct)
    for edge in traced.edges:
        name = edge.source.relation
        if name not in ids:
            # A file that a function reads has its path for a name; a source may stand for it.
            known = name if index.by_key(name) is not None else index.key_of((name,))
            ids[name] = meant.get(known, known) if known else external_id(split_name(name))
    return ids


def _columns_read(
    expression: str, columns: Iterable[ColumnLineage], settings: Settings
) -> list[str]:
    """The inner columns that an expression of a snapshot's config reads."""
    schema = {"inner_select": {c.name: c.data_type for c in columns if c.is_column and c.name}}
    traced = trace(
        f"select {expression} as value from inner_select", dialect=settings.dialect, schema=schema
    )
    return [e.source.column for e in traced.edges if e.type is EdgeType.DIRECT]


def _with_types(task: Task, columns: Iterable[ColumnLineage]) -> list[ColumnLineage]:
    types = {name.casefold(): data_type for name, data_type in task.catalog}
    return [
        c._replace(data_type=types.get(c.name.casefold())) if c.name and not c.data_type else c
        for c in columns
    ]


def _fault(task: Task, error: Exception) -> Finding:
    detail = f"{type(error).__name__}: {error}"[:500]
    failed = Trace(State.UNKNOWN, "select", Reason.INTERNAL_ERROR, detail)
    return Finding(failed, bound_columns(task, failed), [], (), ())


def _record(task: Task, found: Finding, shown: Mapping[str, Columns], names: str) -> Record:
    traced = found.trace
    columns = in_order(found.columns)
    state, reason, detail = _state(traced, columns)
    fingerprint, packed = pack(task.unique_id, state, reason, columns, found.edges)
    schema = _schema(task, traced, columns)
    # A statement that could not be read says nothing of its inputs: dbt's own list stands in.
    inputs = found.inputs
    if traced.state is State.UNKNOWN:
        inputs = tuple(sorted({parent for _, parent in task.parents}))
    return Record(
        state=state,
        reason=reason,
        detail=detail,
        operation=traced.operation,
        fingerprint=fingerprint,
        counts=count_states(columns),
        inputs=inputs,
        reads=found.reads,
        names=names,
        used=_used(task, found.edges, shown),
        schema=schema.to_json(),
        schema_digest=schema.digest,
        learned=schema.learned.value,
        is_complete=schema.complete,
        notes=_notes(task, traced),
        packed=packed,
    )


def _state(
    traced: Trace, columns: Iterable[ColumnLineage]
) -> tuple[State, Reason | None, str | None]:
    if traced.state is State.KNOWN:
        for column in columns:
            if column.state is not State.KNOWN:
                return State.PARTIAL, column.reason, column.detail
    return traced.state, traced.reason, traced.detail


def _schema(task: Task, traced: Trace, columns: Iterable[ColumnLineage]) -> Columns:
    """The columns that readers of the node see."""
    listed = {c.name: c.data_type for c in columns if c.is_column and c.name}
    if traced.state is not State.UNKNOWN and not traced.open:
        return Columns(listed, Learned.TRACED, complete=True)
    if task.catalog:
        return Columns(dict(task.catalog), Learned.CATALOG, complete=True)
    learned = Learned.TRACED if traced.outputs else Learned.DECLARED
    return Columns(listed, learned if listed else Learned.NOWHERE, complete=False)


def _used(
    task: Task, edges: Iterable[Edge], shown: Mapping[str, Columns]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Columns read of relations whose columns are not all known: they are inferred from use."""
    known = {key for key, columns in shown.items() if columns.complete}
    known.update(parent for key, parent in task.parents if key in known)
    found: dict[str, set[str]] = {}
    for edge in edges:
        if edge.from_node not in known:
            found.setdefault(edge.from_node, set()).add(edge.from_column)
    return tuple((node, tuple(sorted(used))) for node, used in sorted(found.items()))


def _notes(task: Task, traced: Trace) -> tuple[tuple[str, str], ...]:
    """What a declared contract leaves out, and whether the catalog fits the SQL."""
    said = tuple(("contract", warning) for warning in traced.warnings)
    return (*said, *_stale(task, traced))


def _stale(task: Task, traced: Trace) -> tuple[tuple[str, str], ...]:
    """A catalog that is stale against the SQL is said so, not silently trusted either way."""
    if not task.catalog or traced.open or traced.state is State.UNKNOWN or task.snapshot:
        return ()
    traced_names = {output.name.casefold() for output in traced.outputs}
    listed = {name.casefold() for name, _ in task.catalog}
    new = sorted(traced_names - listed)
    gone = [] if task.keeps_columns else sorted(listed - traced_names)
    if len(new) == len(gone) == 0 or _differ_in_unnamed_only(task, traced):
        return ()
    parts = [f"the SQL gives {', '.join(new)}"] if new else []
    parts += [f"the table has {', '.join(gone)}"] if gone else []
    return (("stale_catalog", f"the catalog is older than the SQL: {'; '.join(parts)}"),)


def _differ_in_unnamed_only(task: Task, traced: Trace) -> bool:
    names = {c.name for c in bound_columns(task, traced) if c.is_column and c.name}
    return {n.casefold() for n in names} == {n.casefold() for n, _ in task.catalog}
