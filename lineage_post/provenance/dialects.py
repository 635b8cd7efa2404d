"""The pieces of SQL that warehouses spell differently, put right before a statement is written.

| piece              | where it differs                           |
|--------------------|--------------------------------------------|
| joining texts      | Spark, Databricks and Trino join a list;   |
|                    | Snowflake makes '' of no rows, not NULL    |
| null-safe equality | Redshift has none                          |
"""

from __future__ import annotations

from sqlglot import exp

from lineage_post.provenance.algebra import OURS

#: Dialects without ``is not distinct from`` or ``<=>``.
WITHOUT_NULL_SAFE_EQUALITY = frozenset({"redshift"})
#: Dialects that join a list to a text, by the function that makes the list. Trino's listagg wants
#: an order and is no window function; Spark has had one since version 4 only.
LISTS = {
    "spark": "collect_list",
    "databricks": "collect_list",
    "hive": "collect_list",
    "trino": "array_agg",
    "presto": "array_agg",
    "athena": "array_agg",
}


def render(query: exp.Expr, dialect: str, *, pretty: bool = False) -> str:
    """``query`` as text of a dialect."""
    return put_right(query.copy(), dialect).sql(dialect, pretty=pretty, comments=False)


def put_right(query: exp.Expr, dialect: str) -> exp.Expr:
    """``query``, in place, with pieces that sqlglot does not spell for ``dialect`` spelled out."""
    if dialect in WITHOUT_NULL_SAFE_EQUALITY:
        query = query.transform(_equal_or_both_null)
    if dialect in LISTS:
        return query.transform(_collected, LISTS[dialect])
    if dialect == "snowflake":
        query = query.transform(_null_if_empty)
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


def _collected(node: exp.Expr, function: str) -> exp.Expr:
    """``array_join(collect_list(x), '+')``; a window goes to the list."""
    if isinstance(node, exp.Window) and _is_ours(node.this):
        inner = node.copy()
        inner.set("this", exp.Anonymous(this=function, expressions=[node.this.this.copy()]))
        return _joined(inner, node.this)
    if _is_ours(node):
        listed = exp.Anonymous(this=function, expressions=[node.this.copy()])
        return _joined(listed, node)
    return node


def _joined(listed: exp.Expr, concat: exp.Expr) -> exp.Expr:
    separator = concat.args["separator"]
    return _or_null(exp.Anonymous(this="array_join", expressions=[listed, separator.copy()]))


def _null_if_empty(node: exp.Expr) -> exp.Expr:
    is_window = isinstance(node, exp.Window) and _is_ours(node.this)
    is_called = _is_ours(node) and not isinstance(node.parent, exp.Window)
    return _or_null(node.copy()) if is_window or is_called else node


def _is_ours(node: object) -> bool:
    return isinstance(node, exp.GroupConcat) and bool(node.meta.get(OURS))


def _or_null(joined: exp.Expr) -> exp.Expr:
    """No row is NULL, not the empty text: the neutral value is put in its place."""
    return exp.Nullif(this=joined, expression=exp.Literal.string(""))
