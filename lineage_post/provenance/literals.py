"""Values that came out of the warehouse, as SQL that finds them there again."""

from __future__ import annotations

import math
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlglot import exp

from lineage_post.provenance.building import text

Type = exp.DataType.Type


def literal(value: Any) -> exp.Expr | None:
    """SQL for ``value``; None where equality is not to be relied on (floats, nested values)."""
    if value is None:
        return exp.null()
    if isinstance(value, bool):
        return exp.true() if value else exp.false()
    if isinstance(value, (int, Decimal)):
        return _number(value)
    if isinstance(value, str):
        return text(value)
    if isinstance(value, datetime):
        kind = Type.TIMESTAMPTZ if value.tzinfo else Type.TIMESTAMP
        return exp.cast(text(value.isoformat(sep=" ")), kind)
    if isinstance(value, date):
        return exp.cast(text(value.isoformat()), Type.DATE)
    if isinstance(value, time):
        return exp.cast(text(value.isoformat()), Type.TIME)
    if isinstance(value, UUID):
        return exp.cast(text(str(value)), Type.UUID)
    return None


def _number(value: int | Decimal) -> exp.Expr | None:
    if isinstance(value, Decimal) and not value.is_finite():
        return None
    written = exp.Literal.number(
        format(abs(value), "f") if isinstance(value, Decimal) else abs(value)
    )
    return exp.Neg(this=written) if value < 0 else written


def agree(left: Any, right: Any) -> bool:
    """Are two values the same? Sums of floats may differ in their last bits."""
    if left is None or right is None:
        return left is right
    if _is_number(left) and _is_number(right):
        if isinstance(left, float) or isinstance(right, float):
            a, b = float(left), float(right)
            return (math.isnan(a) and math.isnan(b)) or math.isclose(
                a, b, rel_tol=1e-9, abs_tol=1e-9
            )
        return bool(left == right)
    if isinstance(left, datetime) and isinstance(right, datetime):
        if (left.tzinfo is None) != (right.tzinfo is None):
            return left.replace(tzinfo=None) == right.replace(tzinfo=None)
        return left == right
    if type(left) is not type(right):
        return str(left) == str(right)
    return bool(left == right)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def plain(value: Any) -> Any:
    """``value`` for JSON: numbers, text, booleans and None as they are, the rest as text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return str(value)
