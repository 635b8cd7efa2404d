"""The columns of several arms, one below the other: by position, and by name where the star of an
unlisted table leaves a position open.

::

    select a, b from t union all select x, u.* from u      a: t.a, u.x     b: t.b and one of u's
    select *, c from t union all select x, y, z from u     c: t.c, u.z
"""

from __future__ import annotations

from lineage_post.trace.opens import Open, OpenArms
from lineage_post.trace.relation import AnyStep, Relation
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import Reason


class Stacked:
    """The outputs of the arms read so far."""

    def __init__(self, first: Relation) -> None:
        self.names = list(first.spellings)
        self.provenances = list(first.all())
        self.arms: list[list[AnyStep]] = [[step] for step in first.steps]
        self.origins = [[(first, i)] for i in range(len(first.steps))]
        self.relations = [first]
        self.open = first.open
        self.gap = first.gap
        self.is_by_name = False

    def add(self, t: Tracer, arm: Relation) -> None:
        """Puts another arm below."""
        self.relations.append(arm)
        count = len(self.names)
        if self.open is None:
            for i in range(count):
                self._place(t, i, arm, arm.place(i, count))
            return
        first, last = self.gap or (0, count)
        added = len(arm.provenances)
        own = (added, 0) if arm.open is None else arm.gap or (0, added)
        for i in range(count):
            from_end = i - count + added
            if i < first:
                self._place(t, i, arm, arm.place(i, None))
            elif i >= last and from_end >= own[1]:
                self._place(t, i, arm, from_end)
            else:
                self._place_by_name(t, i, arm)
        if arm.open is not None:
            self.gap = min(first, own[0]), max(last, count - (added - own[1]))

    def stack(self, i: int, arm: Relation, place: int, x: int) -> None:
        """Puts a column of an arm below the i-th."""
        self.provenances[i] |= x
        self.arms[i].append(arm.steps[place])
        self.origins[i].append((arm, place))

    def _place(self, t: Tracer, i: int, arm: Relation, place: int | None) -> None:
        if place is not None:
            self.stack(i, arm, place, arm.at(place))
        elif arm.open is not None:
            self.provenances[i] |= _unplaced(t, arm.open, self.names[i])

    def _place_by_name(self, t: Tracer, i: int, arm: Relation) -> None:
        key = t.rules.key_of(self.names[i])
        j = arm.position(key)
        if j >= 0:
            self.stack(i, arm, j, t.sources.assumed(arm.at(j)))
        elif arm.open is not None:
            self.provenances[i] |= t.sources.assumed(arm.open.column(t, key, self.names[i]))
        elif self.open is not None:
            self.provenances[i] |= _unplaced(t, self.open, self.names[i])

    def opened(self) -> Open | None:
        """What is not listed of the arms."""
        if self.open is None or all(_is_alike(r, self.relations[0]) for r in self.relations[1:]):
            return self.open
        return OpenArms(self.relations, is_by_name=self.is_by_name)


def _is_alike(a: Relation, b: Relation) -> bool:
    """Whether the same star stands at the same position of both."""
    return a.open is b.open and (a.gap or (0, 0))[0] == (b.gap or (0, 0))[0]


def _unplaced(t: Tracer, open_: Open, name: str) -> int:
    detail = f"an arm selects * from {open_.label}, whose columns are not known"
    return t.sources.unknown(name, Reason.STAR_UNEXPANDED, detail)
