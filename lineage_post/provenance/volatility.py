"""Which outputs of a query differ at each run, because a clock or a random function is in them."""

from __future__ import annotations

from sqlglot import exp

from lineage_post.provenance.prepare import CLOCK_NAMES, CLOCKS, VOLATILE, Prepared
from lineage_post.provenance.scopes import frame_of


def volatile_outputs(prepared: Prepared) -> frozenset[int]:
    """Positions (from 0) of outputs that depend on now() or random(), by value."""
    return _of_query(prepared, prepared.body, frozenset())


def _of_query(prepared: Prepared, query: exp.Expr, open_ctes: frozenset[str]) -> frozenset[int]:
    while isinstance(query, (exp.Subquery, exp.Paren)):
        query = query.this
    if isinstance(query, exp.SetOperation):
        left = _of_query(prepared, query.left, open_ctes)
        return left | _of_query(prepared, query.right, open_ctes)
    if not isinstance(query, exp.Select):
        return frozenset()
    frame = frame_of(query)
    found: set[int] = set()
    for position, item in enumerate(query.expressions):
        if any(_is_volatile(node) for node in item.walk()) or any(
            _is_volatile_column(prepared, column, frame.get(column.table.lower()), open_ctes)
            for column in item.find_all(exp.Column)
        ):
            found.add(position)
    return frozenset(found)


def _is_volatile(node: exp.Expr) -> bool:
    if isinstance(node, (exp.Rand, exp.Uuid, *CLOCKS)):
        return True
    if not isinstance(node, exp.Func):
        return False
    name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
    return name in VOLATILE or name in CLOCK_NAMES


def _is_volatile_column(
    prepared: Prepared, column: exp.Column, source: exp.Expr | None, open_ctes: frozenset[str]
) -> bool:
    query: exp.Expr | None = None
    if isinstance(source, exp.Table) and source.name in prepared.ctes:
        if source.name in open_ctes:
            return False
        query = prepared.ctes[source.name].query
        open_ctes = open_ctes | {source.name}
    elif isinstance(source, exp.Subquery):
        query = source.this
    if not isinstance(query, exp.Query):
        return False
    names = [name.lower() for name in query.named_selects]
    wanted = column.name.lower()
    return wanted in names and names.index(wanted) in _of_query(prepared, query, open_ctes)
