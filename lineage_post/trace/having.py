"""Which of two things a bare name in HAVING means: an output, or a column that FROM reads.

::

    select k, sum(a) as b from t group by k having b > 1         the output, though t has a b
    select sum(a) as b from t group by b having b > 1            the key of the group
    select k, sum(a) as b from t group by k having max(b) > 1    the column: an aggregate is of rows

Checked on DuckDB; MySQL's manual (SELECT), Spark (SPARK-31519) and BigQuery's (query syntax,
aliases) say the same. Engines that take the column first refuse one that is no key.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.dialects import Visible
from lineage_post.trace.frame import Frame
from lineage_post.trace.tracer import Tracer


def visible_in_having(t: Tracer, having: Any, group: Any, f: Frame) -> Visible:
    """How the outputs of ``f`` are seen in its HAVING."""
    visible = t.rules.having
    if visible is not Visible.AFTER_COLUMNS:
        return visible
    keys = {
        t.key(key.this)
        for key in (group.args.get("expressions") or () if group is not None else ())
        if isinstance(key, exp.Column) and isinstance(key.this, exp.Identifier)
    }
    names = {t.key(c.this) for c in having.find_all(exp.Column) if not c.args.get("table")}
    if any(f.alias(key, t.rules) is not None for key in keys & names):
        return visible
    return Visible.BEFORE_COLUMNS
