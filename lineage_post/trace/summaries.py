"""DuckDB's SUMMARIZE and DESCRIBE as queries: a row for each column of what they are about.

::

    create table profile as summarize orders
    select column_name, null_percentage from (summarize orders)

Which column a row is about is in the data, so that a figure is of all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from lineage_post.trace.provenance import aggregated
from lineage_post.trace.relation import AnyStep, Relation
from lineage_post.trace.scope import row_of
from lineage_post.trace.tracer import Tracer

_SUMMARY = {
    "column_name": False, "column_type": False, "min": True, "max": True, "approx_unique": True,
    "avg": True, "std": True, "q25": True, "q50": True, "q75": True, "count": False,
    "null_percentage": True,
}  # fmt: skip
_DESCRIPTION = dict.fromkeys(
    ("column_name", "column_type", "null", "key", "default", "extra"), False
)


def is_summary(t: Tracer, node: Any) -> bool:
    """Whether ``node`` is SUMMARIZE or DESCRIBE, as DuckDB has them."""
    return t.rules.name == "duckdb" and isinstance(node, (exp.Summarize, exp.Describe))


def summary(t: Tracer, node: Any, query: Callable[[Any], Relation]) -> Relation:
    """The columns of a summary; ``query`` gives the relation of what it is about."""
    is_described = isinstance(node, exp.Describe)
    about = node.args["this"]
    if is_described or not isinstance(about, (exp.Query, exp.Table)):
        return _relation(t, _DESCRIPTION if is_described else _SUMMARY, 0, None)
    relation = query(about)
    return _relation(t, _SUMMARY, aggregated(row_of(t, relation)), relation)


def _relation(t: Tracer, columns: dict[str, bool], x: int, about: Relation | None) -> Relation:
    provenances = [x if is_figure else 0 for is_figure in columns.values()]
    steps: list[AnyStep] = [None] * len(columns)
    if about is None:
        return Relation(t.rules, list(columns), provenances, steps)
    return Relation(t.rules, list(columns), provenances, steps, about.rows, about.rows_of)
