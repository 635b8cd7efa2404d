"""Expressions that choose between values: what only chooses is CONDITIONAL."""

from __future__ import annotations

from typing import Any

from lineage_post.trace.expressions import children, evaluate, handles
from lineage_post.trace.frame import Frame
from lineage_post.trace.provenance import CONDITIONAL, collapsed, transformed
from lineage_post.trace.tracer import Tracer


def condition(t: Tracer, node: Any, f: Frame) -> int:
    """An expression that only chooses a branch."""
    start = len(t.log)
    x = evaluate(t, node, f)
    return as_condition(t, x, start)


def as_condition(t: Tracer, x: int, start: int, kind: int = CONDITIONAL) -> int:
    """``x``, logged since ``start``, as an influence of that kind."""
    if len(t.log) > start:
        t.log.append((start, kind))
    return collapsed(x, kind)


def chosen(t: Tracer, node: Any, values: int, conditions: int) -> int:
    """The result of a choice, logged as an operation."""
    x = transformed(values) | conditions
    if x:
        t.log.append((node, x))
    return x


@handles("Case")
def case(t: Tracer, node: Any, f: Frame) -> int:
    a = node.args
    c = condition(t, a["this"], f) if a.get("this") is not None else 0
    v = 0
    for branch in a["ifs"]:
        c |= condition(t, branch.args["this"], f)
        v |= evaluate(t, branch.args["true"], f)
    if a.get("default") is not None:
        v |= evaluate(t, a["default"], f)
    return chosen(t, node, v, c)


@handles("If")
def if_(t: Tracer, node: Any, f: Frame) -> int:
    a = node.args
    c = condition(t, a["this"], f)
    v = 0
    for branch in ("true", "false"):
        if a.get(branch) is not None:
            v |= evaluate(t, a[branch], f)
    return chosen(t, node, v, c)


@handles("Nullif")
def nullif(t: Tracer, node: Any, f: Frame) -> int:
    v = evaluate(t, node.args["this"], f)
    return chosen(t, node, v, condition(t, node.args["expression"], f))


@handles("Nvl2")
def nvl2(t: Tracer, node: Any, f: Frame) -> int:
    a = node.args
    c = condition(t, a["this"], f)
    v = 0
    for branch in ("true", "false"):
        if a.get(branch) is not None:
            v |= evaluate(t, a[branch], f)
    return chosen(t, node, v, c)


@handles("DecodeCase")
def decode(t: Tracer, node: Any, f: Frame) -> int:
    """``decode(k, s1, v1, s2, v2, default)``: searches choose, results flow."""
    first, *rest = node.args["expressions"]
    return _pairs(t, node, condition(t, first, f), rest, f)


def multi_if(t: Tracer, node: Any, f: Frame) -> int:
    """ClickHouse's ``multiIf(c1, v1, c2, v2, default)``."""
    return _pairs(t, node, 0, node.args["expressions"], f)


@handles("Elt")
def elt(t: Tracer, node: Any, f: Frame) -> int:
    """MySQL's and Spark's ``elt(n, a, b)``: n decides which."""
    return _by_number(t, node, node.args["this"], node.expressions, f)


def choose(t: Tracer, node: Any, f: Frame) -> int:
    """T-SQL's ``choose(n, a, b)``, MySQL's ``make_set(bits, a, b)``."""
    first, *rest = node.expressions
    return _by_number(t, node, first, rest, f)


def _by_number(t: Tracer, node: Any, number: Any, values: Any, f: Frame) -> int:
    c = condition(t, number, f)
    v = 0
    for value in values:
        v |= evaluate(t, value, f)
    return chosen(t, node, v, c)


def case_of_value(t: Tracer, node: Any, f: Frame) -> int:
    """ClickHouse's ``caseWithExpression(a, s1, v1, default)``."""
    first, *rest = node.expressions
    return _pairs(t, node, condition(t, first, f), rest, f)


def looked_up(t: Tracer, node: Any, f: Frame) -> int:
    """ClickHouse's ``transform(a, keys, values, default)``: a is looked up, and does not flow."""
    value, keys, *values = node.expressions
    c = condition(t, value, f) | condition(t, keys, f)
    v = 0
    for one in values:
        v |= evaluate(t, one, f)
    return chosen(t, node, v, c)


def _pairs(t: Tracer, node: Any, c: int, rest: Any, f: Frame) -> int:
    v = 0
    while len(rest) > 1:
        c |= condition(t, rest[0], f)
        v |= evaluate(t, rest[1], f)
        rest = rest[2:]
    if rest:
        v |= evaluate(t, rest[0], f)
    return chosen(t, node, v, c)


@handles("Filter")
def filtered(t: Tracer, node: Any, f: Frame) -> int:
    """``sum(a) filter (where b)``: b decides what is summed."""
    x = evaluate(t, node.args["this"], f)
    return x | condition(t, node.args["expression"].args["this"], f)


@handles("Where")
def where(t: Tracer, node: Any, f: Frame) -> int:
    return children(t, node, f)
