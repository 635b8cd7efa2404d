"""The pieces of SQL that warehouses spell differently, put right before a statement is written.

| piece              | where it differs                                                   |
|--------------------|--------------------------------------------------------------------|
| joining texts      | Spark, Databricks and Trino join a list; Snowflake makes '' of no  |
|                    | rows, not NULL                                                     |
| null-safe equality | Redshift has none                                                  |
| nulls in a window  | BigQuery cannot place them where an aggregate is called            |
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
#: Dialects that join texts by LISTAGG; the others have STRING_AGG.
LISTAGGS = frozenset({"snowflake", "redshift", "oracle"})
#: Dialects whose windows of aggregates take no NULLS FIRST or LAST against their own order.
WITHOUT_PLACED_NULLS = frozenset({"bigquery"})


def render(query: exp.Expr, dialect: str, *, pretty: bool = False) -> str:
    """``query`` as text of a dialect."""
    return put_right(query.copy(), dialect).sql(dialect, pretty=pretty, comments=False)


def put_right(query: exp.Expr, dialect: str) -> exp.Expr:
    """``query``, in place, with pieces that sqlglot does not spell for ``dialect`` spelled out."""
    if dialect in WITHOUT_NULL_SAFE_EQUALITY:
        query = query.transform(_equal_or_both_null)
    if dialect in WITHOUT_PLACED_NULLS:
        for window in query.find_all(exp.Window):
            _place_nulls(window)
    # One may join what another has joined: the innermost first.
    for concat in reversed(list(query.find_all(exp.GroupConcat))):
        if concat.meta.get(OURS):
            _spell(concat, dialect)
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


def _place_nulls(window: exp.Window) -> None:
    """``order by a nulls last`` becomes ``order by a is null, a`` where an aggregate is called."""
    order, spec = window.args.get("order"), window.args.get("spec") or exp.WindowSpec()
    is_range = spec.text("kind").upper() == "RANGE"
    # Only one key has distances.
    by_distance = is_range and any(spec.find_all(exp.Literal))
    if order is None or by_distance or not isinstance(window.this, exp.AggFunc):
        return
    keys: list[exp.Expr] = []
    for key in order.expressions:
        is_first, is_desc = bool(key.args.get("nulls_first")), bool(key.args.get("desc"))
        # Nulls are small there: first where the order ascends.
        if is_first is is_desc:
            placed = exp.Ordered(this=_is_null(key.this), desc=is_first, nulls_first=not is_first)
            keys.append(placed)
            key.set("nulls_first", not is_desc)
        keys.append(key)
    order.set("expressions", keys)


def _spell(concat: exp.GroupConcat, dialect: str) -> None:
    """Our own joining of annotations, in a window or not, as ``dialect`` has it."""
    called = _call(concat, dialect)
    joined = concat.parent if isinstance(concat.parent, exp.Window) else concat
    if joined is not concat:
        concat.replace(called)
        called = joined.copy()
    joined.replace(_joined(called, concat, dialect))


def _call(concat: exp.Expr, dialect: str) -> exp.Expr:
    """The aggregate by its name: sqlglot takes an ORDER BY from deep inside of GroupConcat."""
    annotation, separator = concat.this.copy(), concat.args["separator"].copy()
    if dialect in LISTS:
        return exp.Anonymous(this=LISTS[dialect], expressions=[annotation])
    name = "LISTAGG" if dialect in LISTAGGS else "STRING_AGG"
    return exp.Anonymous(this=name, expressions=[annotation, separator])


def _joined(called: exp.Expr, concat: exp.Expr, dialect: str) -> exp.Expr:
    """The text, NULL of no row where the dialect would give an empty one."""
    if dialect in LISTS:
        separator = concat.args["separator"].copy()
        return _or_null(exp.Anonymous(this="array_join", expressions=[called, separator]))
    return _or_null(called) if dialect == "snowflake" else called


def _or_null(joined: exp.Expr) -> exp.Expr:
    """No row is NULL, not the empty text: the neutral value is put in its place."""
    return exp.Nullif(this=joined, expression=exp.Literal.string(""))
