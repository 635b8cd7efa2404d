"""Spark's windows of time, which a query that groups by one can name.

::

    select window.start, sum(a) from t group by window(ts, '1 hour')
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.frame import Frame
from lineage_post.trace.relation import Step
from lineage_post.trace.tracer import Tracer

TIME_WINDOWS = frozenset({"window", "session_window"})


def time_window(t: Tracer, identifier: Any, key: str, f: Frame) -> int | None:
    """What ``window`` is of in a SELECT that groups by it, with its step; None for another name."""
    if key not in TIME_WINDOWS or t.rules.family != "spark":
        return None
    select = identifier.find_ancestor(exp.Select)
    group = None if select is None else select.args.get("group")
    for node in group.expressions if group is not None else ():
        if isinstance(node, exp.Anonymous) and str(node.name).lower() == key:
            start = len(t.log)
            x = t.hooks.evaluate(t, node, f)
            t.step = Step(node, f, start, len(t.log), x)
            return x
    return None
