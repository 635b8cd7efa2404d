"""What a FROM clause can name: ordered columns with their provenance, and what decides its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lineage_post.trace.dialects import Rules
from lineage_post.trace.schema_index import Entry, Names

if TYPE_CHECKING:
    from lineage_post.trace.frame import Frame
    from lineage_post.trace.opens import Open
    from lineage_post.trace.shapes import Shape
    from lineage_post.trace.sources_table import Sources


class Step:
    """One computing expression, and what was logged while it was evaluated.

    ``select sum(a) as b`` has one step: the node ``SUM(a)``; a bare reference makes none, so
    that a column carries the first expression on its way in. ``alias`` is the identifier that
    names it, which tells where in the text the expression stands.
    """

    __slots__ = ("alias", "end", "frame", "kind", "node", "provenance", "start")

    def __init__(
        self,
        node: Any,
        frame: Frame | None,
        start: int,
        end: int,
        provenance: int,
        alias: Any = None,
        kind: int = -1,
    ) -> None:
        self.node = node
        self.frame = frame
        self.start = start
        self.end = end
        self.provenance = provenance
        self.alias = alias
        self.kind = kind


class Arms:
    """The steps of one column of a set operation: an arm each, None for a bare reference.

    ``origins`` are the columns of the arms, where they are known.
    """

    __slots__ = ("origins", "provenance", "steps")

    def __init__(self, steps: list[AnyStep], origins: Sequence[tuple[Relation, int]] = ()) -> None:
        self.steps = steps
        self.origins = origins
        self.provenance = 0
        for step in steps:
            if step is not None:
                self.provenance |= step.provenance


AnyStep = Step | Arms | None


class Rows:
    """What decides which rows a relation has: own predicates, and those of its sources."""

    __slots__ = ("own", "sources")

    def __init__(self) -> None:
        self.own: list[Step] = []
        self.sources: list[Rows] = []


class Relation:
    """Ordered names with a provenance and a step each, and the indirect bits of every row.

    ``open`` says that it may have more columns than those named, and how to find one.
    ``shapes`` holds the struct shape of a column where no expression tells it (an element).
    ``gap`` are the positions that what is not listed stands between: those before the first are
    counted from the start, those from the second on from the end.
    """

    __slots__ = ("gap", "names", "open", "provenances", "rows", "rows_of", "shapes", "steps")

    def __init__(
        self,
        rules: Rules,
        names: Sequence[str],
        provenances: list[int],
        steps: list[AnyStep],
        rows: int = 0,
        rows_of: Rows | None = None,
        open_: Open | None = None,
        shapes: dict[int, Shape] | None = None,
        gap: tuple[int, int] | None = None,
    ) -> None:
        self.names = Names(names, rules)
        self.provenances = provenances
        self.steps = steps
        self.rows = rows
        self.rows_of = rows_of
        self.open = open_
        self.shapes = shapes
        self.gap = gap

    def position(self, key: str) -> int:
        """The position of a column, or ABSENT or AMBIGUOUS of schema_index."""
        return self.names.position(key)

    def at(self, i: int) -> int:
        """The provenance of the i-th column."""
        return self.provenances[i]

    @property
    def spellings(self) -> Sequence[str]:
        return self.names.spellings

    def all(self) -> list[int]:
        """The provenance of every column, in order."""
        return self.provenances

    def place(self, i: int, count: int | None) -> int | None:
        """The position of the i-th column among those that are listed; None where it is one that
        is not, or may be. ``count`` is how many there are, where that is known."""
        listed = len(self.provenances)
        if self.open is None:
            return i if i < listed else None
        first, last = self.gap or (0, listed)
        if i < first:
            return i
        if count is None or count - i > listed - last:
            return None
        return listed - (count - i)

    def renamed(self, names: Sequence[str]) -> Relation:
        """The same columns with their first names replaced, as ``as t(a, b)`` does."""
        spellings = [*names, *self.spellings[len(names) :]]
        return Relation(
            self.names.rules,
            spellings,
            self.all(),
            self.steps,
            self.rows,
            self.rows_of,
            self.open,
            self.shapes,
            self.gap,
        )


class Table(Relation):
    """A relation of the schema; a column becomes a source when it is first used."""

    __slots__ = ("entry", "sources")

    def __init__(self, sources: Sources, entry: Entry, open_: Open | None) -> None:
        self.names = entry.names
        self.provenances = [0] * len(entry.types)
        self.steps = [None] * len(entry.types)
        self.rows = 0
        self.rows_of = None
        self.open = open_
        self.shapes = None
        self.gap = None
        self.entry = entry
        self.sources = sources

    def at(self, i: int) -> int:
        return self.provenances[i] or self._intern(i)

    def all(self) -> list[int]:
        if not any(self.provenances):
            self.provenances = self.sources.add_all(self.entry.key, self.names.spellings)
        return [x or self._intern(i) for i, x in enumerate(self.provenances)]

    def _intern(self, i: int) -> int:
        x = self.sources.add(self.entry.key, self.names.spellings[i])
        self.provenances[i] = x
        return x
