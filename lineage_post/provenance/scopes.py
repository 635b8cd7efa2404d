"""Which relation a qualified column belongs to, by lexical scope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

Frame = Mapping[str, exp.Expr]


def source_nodes(select: exp.Expr) -> Iterator[exp.Expr]:
    """The tables, derived tables, laterals and unnests in the FROM of ``select``."""
    start = select.args.get("from_")
    if start is not None:
        yield from _flat(start.this)
    for join in select.args.get("joins") or []:
        yield from _flat(join.this)
    yield from select.args.get("laterals") or []


def _flat(node: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(node, exp.Subquery) and not isinstance(node.this, exp.Query):
        yield from _flat(node.this)
    else:
        yield node
    for join in node.args.get("joins") or []:
        yield from _flat(join.this)


def frame_of(select: exp.Expr) -> dict[str, exp.Expr]:
    """Alias (folded) -> the source of that name, for one SELECT."""
    return {node.alias_or_name.lower(): node for node in source_nodes(select)}


def resolved_columns(
    node: exp.Expr, frames: tuple[Frame, ...] = ()
) -> Iterator[tuple[exp.Column, exp.Expr | None]]:
    """Each column in ``node`` with the source it belongs to, None for one from outside.

    >>> select a.x from a where exists (select 1 from b where b.k = c.k)
    gives (a.x, table a), (b.k, table b), (c.k, None).
    """
    if isinstance(node, exp.Select):
        frames = (*frames, frame_of(node))
    elif isinstance(node, exp.Column):
        name = node.table.lower()
        yield node, next((f[name] for f in reversed(frames) if name in f), None)
        return
    for key, value in node.args.items():
        if key == "order" and isinstance(node, (exp.Query, exp.Subquery)):
            yield from (pair for pair in _each(value, frames) if pair[0].table)
        else:
            yield from _each(value, frames)


def _each(value: object, frames: tuple[Frame, ...]) -> Iterator[tuple[exp.Column, exp.Expr | None]]:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, exp.Expr):
            yield from resolved_columns(item, frames)


def is_correlated(query: exp.Expr) -> bool:
    """Does ``query`` use a column of a query around it? Unsure counts as yes."""
    return any(source is None for _, source in resolved_columns(query))
