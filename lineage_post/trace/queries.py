"""Any query to its relation."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.ctes import with_ctes
from lineage_post.trace.errors import Unsupported
from lineage_post.trace.frame import Env, Frame
from lineage_post.trace.relation import Relation
from lineage_post.trace.select import select
from lineage_post.trace.setops import ordered, set_operation
from lineage_post.trace.sources import add_parenthesized, add_source, flattened, values
from lineage_post.trace.summaries import is_summary, summary
from lineage_post.trace.tracer import Tracer


def query(t: Tracer, node: Any, env: Env, outer: Frame | None) -> Relation:
    """The relation of a query. Raises Unsupported for what is none."""
    with_ = node.args.get("with_")
    if with_ is not None:
        env = with_ctes(t, with_, env, outer)
    if node.__class__ is exp.Select:
        return select(t, node, env, outer)
    if isinstance(node, exp.Subquery):
        return ordered(t, node, _in_parentheses(t, node, env, outer), env, outer)
    if isinstance(node, exp.SetOperation):
        return ordered(t, node, set_operation(t, node, env, outer), env, outer)
    if isinstance(node, exp.Values):
        return values(t, node, Frame(outer, env))
    if isinstance(node, exp.Paren):
        return query(t, node.args["this"], env, outer)
    if isinstance(node, (exp.Table, exp.Pivot)):
        f = Frame(outer, env)
        if isinstance(node, exp.Table):
            add_source(t, node, f)
            return flattened(t, f)
        add_source(t, node.args["this"], f)
        return t.hooks.pivot(t, node, flattened(t, f), f)
    if is_summary(t, node):
        return summary(t, node, lambda inner: query(t, inner, env, outer))
    raise Unsupported(f"a query of the form {type(node).__name__} is not supported")


def _in_parentheses(t: Tracer, node: Any, env: Env, outer: Frame | None) -> Relation:
    inner = node.args["this"]
    is_from = isinstance(inner, exp.Table) or (
        type(inner) is exp.Subquery and bool(node.args.get("joins"))
    )
    if is_from:
        f = Frame(outer, env)
        add_parenthesized(t, node, f)
        return flattened(t, f)
    return query(t, inner, env, outer)
