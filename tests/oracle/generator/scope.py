"""What a generated expression may refer to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")
#: A column's name and its type: int, text, list or struct.
Column = tuple[str, str]
Columns = tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """An item of a FROM clause under its alias."""

    alias: str
    columns: Columns


@dataclass(frozen=True, slots=True)
class Scope:
    """The sources of one SELECT, its merged USING columns, and the scope around it."""

    sources: tuple[Source, ...]
    merged: frozenset[str] = frozenset()
    outer: Scope | None = None

    def references(self, kind: str) -> list[str]:
        """Every way to write a column of that type here: qualified, and bare where it is clear."""
        written = []
        names = [name for source in self.sources for name, _ in source.columns]
        for source in self.sources:
            for name, its_kind in source.columns:
                if its_kind == kind:
                    written.append(f"{source.alias}.{name}")
                    if names.count(name) == 1 or name in self.merged:
                        written.append(name)
        return written


@dataclass(slots=True)
class Dice:
    """Draws from hypothesis, and counts what is nested, so that queries end."""

    draw: Callable[[Any], Any]
    tables: Mapping[str, Columns]
    depth: int = 0
    most: int = 3
    _aliases: int = 0
    ctes: dict[str, Columns] = field(default_factory=dict)

    def chance(self, percent: int) -> bool:
        """True in about so many of a hundred draws."""
        return bool(self.draw(st.integers(0, 99)) < percent)

    def pick(self, options: Sequence[T]) -> T:
        return self.draw(st.sampled_from(options))  # type: ignore[no-any-return]

    def weighted(self, **options: int) -> str:
        """One of the names, each as often as its weight says."""
        return self.pick([name for name, weight in options.items() for _ in range(weight)])

    def number(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))

    def alias(self) -> str:
        self._aliases += 1
        return f"q{self._aliases}"

    @property
    def is_deep(self) -> bool:
        return self.depth >= self.most
