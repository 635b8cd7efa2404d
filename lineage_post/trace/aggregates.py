"""Aggregates and windows."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.combinators import (
    aggregates_of,
    choosing_arguments,
    keeps_key,
    parts_of,
)
from lineage_post.trace.conditions import as_condition, chosen, condition
from lineage_post.trace.expressions import children, computed, evaluate, handles
from lineage_post.trace.frame import Frame, MatchFrame
from lineage_post.trace.provenance import SORT, WINDOW, aggregated, transformed
from lineage_post.trace.tracer import Tracer

#: Dialects in which FIRST_VALUE and LAST_VALUE are aggregates as well.
_WITHOUT_OVER = frozenset({"spark", "databricks", "clickhouse", "doris", "starrocks"})


@handles("AggFunc", "AnonymousAggFunc", "ParameterizedAgg")
def aggregate(t: Tracer, node: Any, f: Frame) -> int:
    x = aggregated(children(t, node, f))
    if x:
        t.log.append((node, x))
    return x


@handles("Lag", "Lead", "FirstValue", "LastValue", "NthValue")
def other_row(t: Tracer, node: Any, f: Frame) -> int:
    """They pick another row's value: sqlglot files them under AggFunc, they aggregate nothing; but
    Spark's and ClickHouse's ``first_value(a)`` without OVER is of a group."""
    if t.rules.name in _WITHOUT_OVER and not _is_in_window(node):
        return aggregate(t, node, f)
    return computed(t, node, f)


def _is_in_window(node: Any) -> bool:
    above = node.parent
    while isinstance(above, (exp.IgnoreNulls, exp.RespectNulls, exp.Filter)):
        above = above.parent
    return isinstance(above, exp.Window)


@handles("First", "Last")
def end_row(t: Tracer, node: Any, f: Frame) -> int:
    """An aggregate, but in MATCH_RECOGNIZE the value of one row."""
    return computed(t, node, f) if isinstance(f, MatchFrame) else aggregate(t, node, f)


@handles("Count")
def count(t: Tracer, node: Any, f: Frame) -> int:
    if node.args.get("this").__class__ is exp.Star:
        return 0
    return aggregate(t, node, f)


@handles("CountIf")
def count_if(t: Tracer, node: Any, f: Frame) -> int:
    """``countif(a > 3)`` counts rows: a decides which."""
    return chosen(t, node, 0, condition(t, node.args["this"], f))


@handles("CombinedAggFunc", "CombinedParameterizedAgg")
def combined(t: Tracer, node: Any, f: Frame) -> int:
    """ClickHouse's ``sumIf(a, b)``; ``quantileIf(0.5)(a, b)`` has parameters beside arguments."""
    is_with_parameters = isinstance(node, exp.CombinedParameterizedAgg)
    arguments = node.args.get("params" if is_with_parameters else "expressions") or ()
    parts = parts_of(str(node.name), aggregates_of(t.rules.dialect.parser_class))
    return aggregate(t, node, f) if parts is None else of_parts(t, node, parts, arguments, f)


def of_parts(t: Tracer, node: Any, parts: tuple[str, tuple[str, ...]], a: Any, f: Frame) -> int:
    """An aggregate with suffixes over the arguments ``a``, of which the last ones may choose."""
    values = len(a) - choosing_arguments(*parts)
    if values == len(a):
        return aggregate(t, node, f)
    x = 0
    for value in a[: values + keeps_key(*parts)]:
        x |= evaluate(t, value, f)
    decisive = 0
    for value in a[max(values, 0) :]:
        decisive |= condition(t, value, f)
    return chosen(t, node, aggregated(x), decisive)


@handles("Grouping", "GroupingId")
def grouping(t: Tracer, node: Any, f: Frame) -> int:
    """It tells the grouping set of a row, not a value."""
    return 0


@handles("ArgMax", "ArgMin")
def arg_max(t: Tracer, node: Any, f: Frame) -> int:
    """``arg_max(a, b)``: b decides whose a it is."""
    key = node.args.get("expression")
    if key is None:
        return aggregate(t, node, f)
    x = aggregated(evaluate(t, node.args["this"], f)) | condition(t, key, f)
    if node.args.get("count") is not None:  # ``arg_max(a, b, 3 order by c)``
        x |= evaluate(t, node.args["count"], f)
    if x:
        t.log.append((node, x))
    return x


@handles("HavingMax")
def having_max(t: Tracer, node: Any, f: Frame) -> int:
    """BigQuery's ``any_value(a having max b)``."""
    return evaluate(t, node.args["this"], f) | condition(t, node.args["expression"], f)


@handles("Order")
def ordered(t: Tracer, node: Any, f: Frame) -> int:
    """``array_agg(a order by b)``: b is the SORT of this output."""
    inner = node.args.get("this")
    x = evaluate(t, inner, f) if inner is not None else 0
    return x | _keys(t, node.args.get("expressions") or (), f, SORT)


def _keys(t: Tracer, keys: Any, f: Frame, kind: int) -> int:
    start = len(t.log)
    x = 0
    for key in keys:
        x |= evaluate(t, key, f)
    return as_condition(t, x, start, kind)


@handles("NextValueFor")
def next_value(t: Tracer, node: Any, f: Frame) -> int:
    """T-SQL's ``next value for s over (order by a)``: s is a sequence, a decides who gets which."""
    order = node.args.get("order")
    return _keys(t, order.args["expressions"], f, SORT) if isinstance(order, exp.Order) else 0


def _classes(*names: str) -> tuple[Any, ...]:
    return tuple(c for name in names if (c := getattr(exp, name, None)) is not None)


_VALUE_IS_ORDERED = _classes(
    "PercentileCont", "PercentileDisc", "Mode", "Quantile", "ApproxQuantile"
)
#: These sort what they are given, be it a constant.
_COLLECTS = _classes("ArrayAgg", "ArrayUniqueAgg", "ArrayUnionAgg", "GroupConcat", "JSONArrayAgg")


@handles("WithinGroup")
def within_group(t: Tracer, node: Any, f: Frame) -> int:
    """``percentile_cont(0.5) within group (order by a)`` is of a; ``listagg(a) ...`` sorts by b."""
    function, order = node.args["this"], node.args["expression"]
    x = evaluate(t, function, f)
    keys = order.args.get("expressions") or () if isinstance(order, exp.Order) else (order,)
    collects = isinstance(function, _COLLECTS)
    if collects or (x and not isinstance(function, _VALUE_IS_ORDERED)):
        return x | _keys(t, keys, f, SORT)
    start = len(t.log)
    y = 0
    for key in keys:
        y |= evaluate(t, key, f)
    y = aggregated(y)
    if y and len(t.log) >= start:
        t.log.append((function, y))
    return x | y


@handles("Window")
def window(t: Tracer, node: Any, f: Frame) -> int:
    x = transformed(evaluate(t, node.args["this"], f))
    return x | window_keys(t, node, f)


def window_keys(t: Tracer, node: Any, f: Frame) -> int:
    """What partitions, orders and bounds a window, of its own and of the one that it names."""
    a = node.args
    start = len(t.log)
    keys = _window_keys(t, a, f)
    name = a.get("alias")
    for _ in range(8):
        named = f.windows.get(t.key(name)) if name is not None else None
        if named is None:
            break
        keys |= _window_keys(t, named.args, f)
        name = named.args.get("alias")
    return as_condition(t, keys, start, WINDOW)


def _window_keys(t: Tracer, a: Any, f: Frame) -> int:
    x = 0
    for key in a.get("partition_by") or ():
        x |= evaluate(t, key, f)
    order = a.get("order")
    if order is not None:
        for key in order.args["expressions"]:
            x |= evaluate(t, key, f)
    spec = a.get("spec")
    if spec is not None:
        x |= children(t, spec, f)
    return x
