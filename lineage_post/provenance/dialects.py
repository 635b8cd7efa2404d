"""The pieces of SQL that warehouses spell differently, put right before a statement is written.

| piece              | where it differs                           |
|--------------------|--------------------------------------------|
| joining texts      | Spark and Databricks join a collected list |
| null-safe equality | Redshift has none                          |
"""

from __future__ import annotations

from sqlglot import exp

#: Dialects without ``is not distinct from`` or ``<=>``.
WITHOUT_NULL_SAFE_EQUALITY = frozenset({"redshift"})
COLLECTS = frozenset({"spark", "databricks", "hive"})


def render(query: exp.Expr, dialect: str, *, pretty: bool = False) -> str:
    """``query`` as text of a dialect."""
    return put_right(query.copy(), dialect).sql(dialect, pretty=pretty, comments=False)


def put_right(query: exp.Expr, dialect: str) -> exp.Expr:
    """``query``, in place, with pieces that sqlglot does not spell for ``dialect`` spelled out."""
    if dialect in WITHOUT_NULL_SAFE_EQUALITY:
        query = query.transform(_equal_or_both_null)
    if dialect in COLLECTS:
        query = query.transform(_collected)
    return query


def _equal_or_both_null(node: exp.Expr) -> exp.Expr:
    if not isinstance(node, exp.NullSafeEQ):
        return node
    left, right = node.this, node.expression
    both = exp.and_(_is_null(left), _is_null(right))
    equal = exp.EQ(this=left.copy(), expression=right.copy())
    return exp.Paren(this=exp.or_(equal, both))


def _is_null(node: exp.Expr) -> exp.Expr:
    return exp.Is(this=node.copy(), expression=exp.null())


def _collected(node: exp.Expr) -> exp.Expr:
    """``array_join(collect_list(x), '+')``; a window goes to the list."""
    if isinstance(node, exp.Window) and isinstance(node.this, exp.GroupConcat):
        inner = node.copy()
        inner.set("this", exp.Anonymous(this="collect_list", expressions=[node.this.this.copy()]))
        return _joined(inner, node.this)
    if isinstance(node, exp.GroupConcat):
        listed = exp.Anonymous(this="collect_list", expressions=[node.this.copy()])
        return _joined(listed, node)
    return node


def _joined(listed: exp.Expr, concat: exp.GroupConcat) -> exp.Expr:
    separator = concat.args.get("separator") or exp.Literal.string("+")
    # An empty list is no row: NULL, as joining texts gives elsewhere.
    joined = exp.Anonymous(this="array_join", expressions=[listed, separator.copy()])
    return exp.Nullif(this=joined, expression=exp.Literal.string(""))
