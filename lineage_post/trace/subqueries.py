"""Queries inside expressions: what they decide touches only what uses them."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.expressions import children, evaluate, handles
from lineage_post.trace.frame import Frame
from lineage_post.trace.provenance import FILTER, collapsed, transformed
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
    return transformed(x) | relation.rows


@handles("Exists")
def exists(t: Tracer, node: Any, f: Frame) -> int:
    """Only whether there are rows counts, not what is in them."""
    query = node.args["this"]
    if isinstance(query, exp.Query):
        return t.query(t, query, f.env, f).rows
    return children(t, node, f)


@handles("In")
def in_(t: Tracer, node: Any, f: Frame) -> int:
    """Both sides are compared; what decides the rows of a subquery decides the answer."""
    x = children(t, node, f)
    if x:
        x = transformed(x)
        t.log.append((node, x))
    return x


@handles("Any", "All")
def quantified(t: Tracer, node: Any, f: Frame) -> int:
    return transformed(children(t, node, f))


def filter_of(t: Tracer, node: Any, f: Frame) -> int:
    """A whole predicate as FILTER."""
    return collapsed(evaluate(t, node, f), FILTER)
