"""Stored rows and what the query gives now: which belong together, and the condition that asks.

A declared key says it; without one, rows belong together when all that can be compared is equal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlglot import exp

from lineage_post.provenance.answer import Label
from lineage_post.provenance.literals import agree, literal

Values = Mapping[str, Any]
#: A row of the query: its outputs by name, and what stands after them.
Given = tuple[Values, Any]
#: Values of one of these types are equal just when Python says so.
_EXACT = (int, str, date)


@dataclass(frozen=True, slots=True)
class Match:
    """What the query gives now for a stored row."""

    label: Label
    changed: tuple[str, ...]
    found: list[Given]


class Matcher:
    """Matches many rows with what the query gave, without comparing each with all.

    ``key``: the columns of a declared key, empty if there is none; ``volatile`` columns are not
    compared.
    """

    def __init__(
        self,
        rows: Sequence[Values],
        found: Sequence[Given],
        key: tuple[str, ...],
        volatile: frozenset[str],
    ) -> None:
        given = found[0][0] if found else {}
        self._compared = [n for n in given if rows and n in rows[0] and n not in volatile]
        self._key = key if key and all(name in self._compared for name in key) else ()
        self._by = _exact_columns(self._key or self._compared, rows, [pair[0] for pair in found])
        self._found: dict[tuple[Any, ...], list[Given]] = defaultdict(list)
        for pair in found:
            self._found[self._bucket(pair[0])].append(pair)

    def match(self, row: Values) -> Match:
        """What belongs to ``row``."""
        near = self._found.get(self._bucket(row), [])
        same = [pair for pair in near if self._agree(row, pair[0], self._key)]
        equal = [pair for pair in same if self._agree(row, pair[0], self._compared)]
        if equal:
            return Match(Label.REPRODUCED, (), equal)
        if not same or not self._key:
            return Match(Label.GONE, (), [])
        first = same[0][0]
        differing = tuple(n for n in self._compared if not agree(row[n], first[n]))
        return Match(Label.CHANGED, differing, same)

    def _bucket(self, row: Values) -> tuple[Any, ...]:
        return tuple(row[name] for name in self._by)

    def _agree(self, left: Values, right: Values, names: Sequence[str]) -> bool:
        return all(agree(left[name], right[name]) for name in names)


def _exact_columns(
    names: Sequence[str], rows: Sequence[Values], given: Sequence[Values]
) -> list[str]:
    """Columns of one exact type on both sides: rows that agree are in one bucket by these."""
    found = []
    for name in names:
        kinds = {type(row[name]) for side in (rows, given) for row in side} - {type(None)}
        if len(kinds) <= 1 and all(kind in _EXACT for kind in kinds):
            found.append(name)
    return found


def among(columns: Mapping[str, exp.Expr], rows: Sequence[Values]) -> exp.Expr:
    """The test that ``columns`` hold the values of one of ``rows``.

    Where equality cannot be relied on (floats, nested values) a column is left out. Rows with the
    same columns of NULL stand in one list: ``a is null and (b, c) in ((1, 2), (3, 4))``.
    """
    lists: dict[tuple[bool | None, ...], dict[tuple[exp.Expr, ...], None]] = {}
    for row in rows:
        written = {name: literal(row[name]) for name in columns}
        shape = tuple(
            None if value is None else isinstance(value, exp.Null) for value in written.values()
        )
        known = tuple(v for v in written.values() if v is not None and not isinstance(v, exp.Null))
        lists.setdefault(shape, {})[known] = None
    return exp.or_(*(_in_list(list(columns.values()), *item) for item in lists.items()))


def _in_list(
    columns: Sequence[exp.Expr],
    shape: tuple[bool | None, ...],
    listed: Mapping[tuple[exp.Expr, ...], None],
) -> exp.Expr:
    tests: list[exp.Expr] = [
        exp.Is(this=column.copy(), expression=exp.null())
        for column, is_null in zip(columns, shape, strict=True)
        if is_null
    ]
    known = [c.copy() for c, is_null in zip(columns, shape, strict=True) if is_null is False]
    if known and len(listed) == 1:
        [values] = listed
        tests += [exp.EQ(this=c, expression=v) for c, v in zip(known, values, strict=True)]
    elif len(known) == 1:
        tests.append(exp.In(this=known[0], expressions=[value for (value,) in listed]))
    elif known:
        tuples: list[exp.Expr] = [exp.Tuple(expressions=list(values)) for values in listed]
        tests.append(exp.In(this=exp.Tuple(expressions=known), expressions=tuples))
    return exp.and_(*tests) if tests else exp.true()
