"""A star over a relation nothing describes, told by the table it built.

``select *, 1 as one from raw.orders`` with no word of what raw.orders has: if the catalog lists the
model's own columns, then all but ``one`` came through the star, under these names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from lineage_post.cache import Read
from lineage_post.lineage.task import Task
from lineage_post.schema import Columns, Learned
from lineage_post.trace.result import Trace, TraceEdge
from lineage_post.vocabulary import Certainty

#: Traces again, with these columns for the relation of this key.
TraceWith = Callable[[str, Columns], Trace]


def with_star_told(
    task: Task,
    traced: Trace,
    reads: Iterable[Read],
    shown: Mapping[str, Columns],
    trace_with: TraceWith,
) -> Trace:
    """The trace with its star expanded, if that gives the very columns of the table, in order.

    Edges of columns that only the table speaks of are ``assumed``. Not for tables that keep
    columns of older SQL, nor where the star may be of more than one relation.
    """
    if not traced.open or not task.catalog or task.keeps_columns:
        return traced
    seen = {r.key: shown.get(r.key) if r.key is not None else None for r in reads}
    unclear = [key for key, columns in seen.items() if columns is None or not columns.complete]
    key = unclear[0] if len(unclear) == 1 else None
    if key is None or key not in shown:
        return traced
    known = {name.casefold() for name in shown[key].types}
    named = {o.name.casefold() for o in traced.outputs if o.name.casefold() not in known}
    listed = {name: t for name, t in task.catalog if name.casefold() not in named}
    again = trace_with(key, Columns(listed, Learned.INFERRED, complete=True))
    if again.open or not _is_of_table(again, task):
        return traced
    edges = tuple(_assumed(edge, key, known) for edge in again.edges)
    return replace(again, edges=edges)


def _is_of_table(traced: Trace, task: Task) -> bool:
    names = [output.name.casefold() for output in traced.outputs]
    return names == [name.casefold() for name, _ in task.catalog]


def _assumed(edge: TraceEdge, key: str, known: set[str]) -> TraceEdge:
    if edge.source.relation != key or edge.source.column.casefold() in known:
        return edge
    return edge._replace(certainty=Certainty.ASSUMED)
