"""Queries inside expressions: what they decide touches only what uses them."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.expressions import children, computed, evaluate, handles
from lineage_post.trace.frame import Frame
from lineage_post.trace.provenance import FILTER, aggregated, collapsed, transformed
from lineage_post.trace.scope import find_column, row_of_open
from lineage_post.trace.tracer import Tracer


@handles("Query", "Select", "SetOperation", "Subquery", "Values")
def scalar(t: Tracer, node: Any, f: Frame) -> int:
    """``(select max(a) from t where b)``: its value, and what decides its rows."""
    relation = t.query(t, node, f.env, f)
    x = 0
    for y, step in zip(relation.all(), relation.steps):
        x |= y
        if step is not None:
            t.log.append((step, y))
    if relation.open is not None:
        x |= row_of_open(t, relation.open)
    return transformed(x) | relation.rows


@handles("Exists")
def exists(t: Tracer, node: Any, f: Frame) -> int:
    """Only whether there are rows counts, not what is in them."""
    query = node.args["this"]
    if isinstance(query, exp.Query):
        return collapsed(t.query(t, query, f.env, f).rows, FILTER)
    return computed(t, node, f)  # Spark's exists(array, x -> x > 1)


@handles("In")
def in_(t: Tracer, node: Any, f: Frame) -> int:
    """``a in (select b from t where c)``: a is the value, b and c filter."""
    a = node.args
    x = transformed(evaluate(t, a["this"], f))
    if a.get("unnest") is not None:
        x |= transformed(children(t, a["unnest"], f))
    for value in (*(a.get("expressions") or ()), a.get("field")):
        if value is a.get("field") and _is_table(t, value, f):
            x |= _members(t, _all_of(value), f)
        elif isinstance(value, exp.Expr):
            x |= transformed(evaluate(t, value, f))
    if a.get("query") is not None:
        x |= _members(t, a["query"], f)
    if x:
        t.log.append((node, x))
    return x


def _is_table(t: Tracer, name: Any, f: Frame) -> bool:
    """Whether it is the table of ClickHouse's ``a in u``: no column has the name."""
    if t.rules.name != "clickhouse" or not isinstance(name, exp.Column):
        return False
    first = next(name.args[part] for part in ("db", "table", "this") if name.args.get(part))
    if not isinstance(first, exp.Identifier) or find_column(t, t.key(first), f) is not None:
        return False
    cte = f.env.get(t.key(first))
    return cte is None or not cte.is_scalar


def _all_of(name: Any) -> Any:
    """``u`` as ``select * from u``."""
    table = exp.Table(
        this=name.this.copy(), db=name.args.get("table") and name.args["table"].copy()
    )
    return exp.select("*").from_(table)


@handles("Any", "All")
def quantified(t: Tracer, node: Any, f: Frame) -> int:
    """``a > any (select b from t)``, ``a = any (array(select b from t))``."""
    inner = node.args["this"].unnest()
    if isinstance(inner, exp.Array) and len(inner.expressions) == 1:
        only = inner.expressions[0]
        inner = only if isinstance(only, exp.Query) else inner
    if isinstance(inner, exp.Query):
        return _members(t, inner, f)
    x = evaluate(t, inner, f)
    if node.arg_key == "expression" or t.rules.family != "spark":
        return transformed(x)
    x = aggregated(x)  # Spark's ``any(a)`` of a group
    if x:
        t.log.append((node, x))
    return x


def _members(t: Tracer, query: Any, f: Frame) -> int:
    """What a value is compared with: it decides, and does not flow."""
    start = len(t.log)
    x = collapsed(scalar(t, query, f), FILTER)
    t.log.append((start, FILTER))
    return x
