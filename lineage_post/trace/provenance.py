"""The provenance of a column as one Python int, and the arithmetic on it.

Every source column gets a dense id ``i`` on first use; bit ``i * KINDS + kind`` says "source ``i``
reaches here as ``kind``". Union is ``|``; a change of kind is a masked shift, so that a thousand
sources cost as little as one::

    select sum(price) as total      total = bit(price, AGGREGATION)
    case when paid then price end   bit(price, TRANSFORMATION) | bit(paid, CONDITIONAL)
"""

from __future__ import annotations

from collections.abc import Iterator

from lineage_post.vocabulary import Subtype

IDENTITY, TRANSFORMATION, AGGREGATION, CONDITIONAL, WINDOW, FILTER, JOIN, GROUP_BY, SORT = range(9)
KINDS = 9
SUBTYPES = (
    Subtype.IDENTITY,
    Subtype.TRANSFORMATION,
    Subtype.AGGREGATION,
    Subtype.CONDITIONAL,
    Subtype.WINDOW,
    Subtype.FILTER,
    Subtype.JOIN,
    Subtype.GROUP_BY,
    Subtype.SORT,
)

#: So many sources fit in the masks; a statement that needs more is too complex.
CAPACITY = 1 << 14
_FIRST = int(("0" * (KINDS - 1) + "1") * CAPACITY, 2)
_IDENTITY = _FIRST
_TRANSFORMATION = _FIRST << TRANSFORMATION
_AGGREGATION = _FIRST << AGGREGATION
_UNAGGREGATED = _IDENTITY | _TRANSFORMATION
_VALUE = _UNAGGREGATED | _AGGREGATION
_INDIRECT = ((1 << (KINDS * CAPACITY)) - 1) ^ _VALUE
_KEPT_BY_AGGREGATION = _INDIRECT | _AGGREGATION
_BY_AGGREGATION = _AGGREGATION | _FIRST << SORT


def transformed(x: int) -> int:
    """Computed from ``x``: copies become transformations."""
    copies = x & _IDENTITY
    return x ^ copies | copies << 1 if copies else x


def aggregated(x: int) -> int:
    """Aggregated over ``x``: copies and transformations become aggregations."""
    if not x:
        return 0
    return x & _KEPT_BY_AGGREGATION | (x & _IDENTITY) << 2 | (x & _TRANSFORMATION) << 1


def unaggregated(x: int) -> int:
    """What of ``x`` is a value that no aggregate took in."""
    return x & _UNAGGREGATED


def is_aggregate(x: int) -> bool:
    """Whether an aggregate is part of it; only one has an order of its own."""
    return bool(x & _BY_AGGREGATION)


def collapsed(x: int, kind: int) -> int:
    """Everything that ``x`` depends on, in whatever way, as ``kind``."""
    if not x:
        return 0
    y = x | x >> 1
    y |= y >> 2
    y |= y >> 4
    return ((y | x >> 8) & _FIRST) << kind


def bits(x: int) -> Iterator[tuple[int, int]]:
    """(source id, kind) of every bit of ``x``, in ascending order."""
    while x:
        low = x & -x
        yield divmod(low.bit_length() - 1, KINDS)
        x ^= low
