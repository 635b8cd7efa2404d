"""Queries whose rows tie: SQL does not say which comes first, and another sort below decides it.

Shuffling the rows of tables does not show it where a window or a join has sorted them again. With a
random last key it shows, and without ties such a key changes nothing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot import exp

#: They see the rows one by one, whatever the frame.
_ONE_BY_ONE = (exp.Lag, exp.Lead, exp.RowNumber, exp.Ntile)


@lru_cache(maxsize=64)
def with_random_ties(sql: str) -> str | None:
    """A DuckDB query with ties broken at random, None where no order in it can tie."""
    try:
        query = sqlglot.parse_one(sql, dialect="duckdb")
    except sqlglot.errors.SqlglotError:
        return None
    orders = [order for order in query.find_all(exp.Order) if _orders_one_by_one(order)]
    for order in orders:
        order.append("expressions", exp.Ordered(this=exp.Rand()))
    return query.sql("duckdb") if orders else None


def _orders_one_by_one(order: Any) -> bool:
    """Of an aggregate, or of a window that does not take rows that tie together."""
    above = order.parent
    if not isinstance(above, exp.Window):
        return isinstance(above, (exp.AggFunc, exp.Anonymous, exp.WithinGroup))
    frame = above.args.get("spec")
    is_of_rows = frame is not None and str(frame.args.get("kind")).upper() == "ROWS"
    return is_of_rows or bool(list(above.this.find_all(*_ONE_BY_ONE)))
