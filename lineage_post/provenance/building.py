"""Small makers of SQL expressions, and the questions asked of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

#: The annotation column every rewritten relation carries.
ANNOTATION = "_p"

AGGREGATE_NAMES = frozenset(
    [
        "LIST",
        "FIRST",
        "LAST",
        "ANY_VALUE",
        "STRING_AGG",
        "ARG_MAX",
        "ARG_MIN",
        "MAX_BY",
        "MIN_BY",
        "GROUPING",
        "BOOL_OR",
        "BOOL_AND",
        "MODE",
        "HISTOGRAM",
        "PRODUCT",
        "APPROX_COUNT_DISTINCT",
        "GROUP_CONCAT",
        "ENTROPY",
        "FSUM",
        "FAVG",
        "KURTOSIS",
        "SKEWNESS",
        "MAD",
        "ARBITRARY",
        "EVERY",
        "LISTAGG",
        "JSON_AGG",
        "JSONB_AGG",
        "JSON_OBJECT_AGG",
        "JSONB_OBJECT_AGG",
        "XMLAGG",
        "JSON_GROUP_ARRAY",
        "JSON_GROUP_OBJECT",
        "ARRAY_AGG",
        "REGR_SLOPE",
        "REGR_INTERCEPT",
        "BIT_AND",
        "BIT_OR",
        "BIT_XOR",
        "SUM_NO_OVERFLOW",
        "SUMKAHAN",
        "FAVG",
        "KAHAN_SUM",
        "GEOMEAN",
        "GEOMETRIC_MEAN",
        "BITSTRING_AGG",
        "RANGE_AGG",
        "RANGE_INTERSECT_AGG",
        "APPROX_QUANTILE",
        "QUANTILE",
        "QUANTILE_CONT",
        "QUANTILE_DISC",
        "RESERVOIR_QUANTILE",
        "APPROX_TOP_K",
        "ARG_MAX_NULL",
        "ARG_MIN_NULL",
        "MAP_AGG",
        "OBJECT_AGG",
    ]
)
#: Classes sqlglot files under aggregates that only a window may call.
WINDOW_ONLY = (
    exp.RowNumber,
    exp.Rank,
    exp.DenseRank,
    exp.Lag,
    exp.Lead,
    exp.FirstValue,
    exp.LastValue,
    exp.NthValue,
    exp.Ntile,
    exp.PercentRank,
    exp.CumeDist,
)


def text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def as_text(expression: exp.Expr) -> exp.Expr:
    return exp.cast(expression.copy(), exp.DataType.Type.TEXT)


def concat(parts: Sequence[exp.Expr]) -> exp.Expr:
    """``a || b || c``, neighbouring literals merged: each piece costs time for every row."""
    merged: list[exp.Expr] = []
    for part in [piece for given in parts for piece in _pieces(given)]:
        if merged and is_string(part) and is_string(merged[-1]):
            merged[-1] = text(merged[-1].name + part.name)
        else:
            merged.append(part)
    result = merged[0]
    for part in merged[1:]:
        result = exp.DPipe(this=result, expression=part, safe=False)
    return result


def _pieces(part: exp.Expr) -> list[exp.Expr]:
    return list(part.flatten(unnest=False)) if isinstance(part, exp.DPipe) else [part]


def is_string(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and bool(node.is_string)


def column(name: str, table: str | exp.Identifier) -> exp.Column:
    """A column of ours; ``table`` is an alias of ours, or the user's as it is written."""
    written = table.copy() if isinstance(table, exp.Identifier) else exp.to_identifier(table)
    return exp.Column(this=exp.to_identifier(name), table=written)


def alias_of(node: exp.Expr) -> exp.Identifier:
    """The name a FROM item has, quoted or not as it stands there."""
    alias = node.args.get("alias")
    name = alias.this if isinstance(alias, exp.TableAlias) else alias or node.this
    assert isinstance(name, exp.Identifier), node
    return name


def output(name: str, table: str) -> exp.Expr:
    """A column of the query under rewriting, quoted as qualifying leaves it."""
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=exp.to_identifier(table))


def aliased(expression: exp.Expr, name: str, *, quoted: bool = False) -> exp.Expr:
    return exp.alias_(expression, exp.to_identifier(name, quoted=quoted))


def derived(query: exp.Expr, alias: str) -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier(alias)))


def scalar(query: exp.Expr) -> exp.Subquery:
    return exp.Subquery(this=query)


def coalesce(expression: exp.Expr, default: exp.Expr) -> exp.Expr:
    if isinstance(expression, exp.Coalesce) or is_string(expression):
        return expression
    return exp.Coalesce(this=expression, expressions=[default])


def when(condition: exp.Expr, then: exp.Expr, other: exp.Expr) -> exp.Expr:
    return exp.Case().when(condition.copy(), then).else_(other)


def names_of(query: exp.Expr) -> list[str]:
    """The output names of a query."""
    assert isinstance(query, exp.Query)
    return list(query.named_selects)


def unwrapped(query: exp.Expr) -> exp.Expr:
    """``query`` without brackets that hold nothing but it."""
    node = query
    while isinstance(node, (exp.Subquery, exp.Paren)) and not node.args.get("joins"):
        tail = [key for key in ("order", "limit", "offset", "with_") if node.args.get(key)]
        if tail:
            break
        node = node.this
    return node


def is_aggregate(node: exp.Expr) -> bool:
    if isinstance(node, exp.AggFunc):
        return not isinstance(node, WINDOW_ONLY)
    if isinstance(node, (exp.ArrayAgg, exp.GroupConcat, exp.WithinGroup)):
        return True
    return isinstance(node, exp.Anonymous) and node.name.upper() in AGGREGATE_NAMES


def windows_and_aggregates(
    roots: Sequence[exp.Expr],
) -> tuple[list[exp.Window], list[exp.Expr]]:
    """The window calls and the plain aggregates in ``roots``, nested queries left out."""
    windows: list[exp.Window] = []
    aggregates: list[exp.Expr] = []

    def scan(node: exp.Expr) -> None:
        if isinstance(node, exp.Query):
            return
        if isinstance(node, exp.Window):
            windows.append(node)
            for child in window_arguments(node):
                scan(child)
            return
        if is_aggregate(node):
            aggregates.append(node)
            return
        for child in node.iter_expressions():
            scan(child)

    for root in roots:
        scan(root)
    return windows, aggregates


def window_function(window: exp.Window) -> exp.Expr:
    """The function a window calls, out of ``ignore nulls`` and ``filter``."""
    function = window.this
    while isinstance(function, (exp.IgnoreNulls, exp.RespectNulls, exp.Filter)):
        function = function.this
    return function  # type: ignore[no-any-return]


def window_arguments(window: exp.Window) -> Iterator[exp.Expr]:
    yield from window_function(window).iter_expressions()
    if isinstance(window.this, exp.Filter):
        yield window.this.expression
    yield from window.args.get("partition_by") or []
    if window.args.get("order"):
        yield window.args["order"]


def subqueries(expression: exp.Expr) -> list[exp.Expr]:
    """The topmost ``exists``, ``in (select)`` and scalar subqueries in ``expression``."""
    found: list[exp.Expr] = []

    def scan(node: exp.Expr) -> None:
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            found.append(node)
            scan(node.this)
        elif isinstance(node, (exp.Exists, exp.Query)):
            found.append(node)
        else:
            for child in node.iter_expressions():
                scan(child)

    scan(expression)
    return found
