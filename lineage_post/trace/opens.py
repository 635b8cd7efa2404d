"""Columns of what is not known in full: a table without a schema, a star over one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from lineage_post.vocabulary import Reason

if TYPE_CHECKING:
    from lineage_post.trace.relation import Relation
    from lineage_post.trace.tracer import Tracer


#: So many tables are named in what is said of several.
_NAMED = 8


class Open(Protocol):
    """Finds a column that is not among the known ones of a relation."""

    label: str

    def column(self, tracer: Tracer, key: str, spelling: str) -> int:
        """The provenance of the column; an unknown where it cannot be told."""


class OpenTable:
    """``select a from unlisted``: any name is a column of the table."""

    __slots__ = ("label", "seen")

    def __init__(self, label: str) -> None:
        self.label = label
        self.seen: dict[str, int] = {}

    def column(self, tracer: Tracer, key: str, spelling: str) -> int:
        x = self.seen.get(key)
        if x is None:
            x = self.seen[key] = tracer.sources.add(self.label, spelling)
        return x


class OpenChoice:
    """``select * from unlisted join other``: the column may be of either."""

    __slots__ = ("label", "opens")

    def __init__(self, opens: Sequence[Open]) -> None:
        self.opens = opens
        self.label = _label(opens, " or ")

    def column(self, tracer: Tracer, key: str, spelling: str) -> int:
        return tracer.sources.unknown(
            spelling, Reason.AMBIGUOUS, f"{spelling} may be a column of {self.label}"
        )


class OpenArms:
    """``select * from unlisted union all select * from other``: a column of each arm."""

    __slots__ = ("arms", "is_by_name", "label", "seen")

    def __init__(self, arms: Sequence[Relation], *, is_by_name: bool = False) -> None:
        self.arms = arms
        self.is_by_name = is_by_name
        self.label = _label([a.open for a in arms if a.open is not None], " and ")
        self.seen: dict[str, int] = {}

    def column(self, tracer: Tracer, key: str, spelling: str) -> int:
        x = self.seen.get(key)
        if x is None:
            x = self.seen[key] = self._of_arms(tracer, key, spelling)
        return x

    def _of_arms(self, tracer: Tracer, key: str, spelling: str) -> int:
        x, is_lacking = _of_each(tracer, self.arms, key, spelling)
        if self.is_by_name:  # it is in one of those that are not listed, at least
            is_sure = sum(arm.open is not None for arm in self.arms) == 1
            return x if is_sure else tracer.sources.assumed(x)
        if is_lacking:
            detail = f"{spelling} has another position in each arm of {self.label}"
            x |= tracer.sources.doubt(Reason.STAR_UNEXPANDED, detail)
        return tracer.sources.assumed(x)


class OpenFiles:
    """``read_parquet(['a', 'b'])``: a column of each file."""

    __slots__ = ("files", "label")

    def __init__(self, files: Sequence[Relation]) -> None:
        self.files = files
        self.label = _label([f.open for f in files if f.open is not None], " and ")

    def column(self, tracer: Tracer, key: str, spelling: str) -> int:
        return _of_each(tracer, self.files, key, spelling)[0]


class OpenWithout:
    """``select * except (a) from unlisted``: any name but ``a``."""

    __slots__ = ("hidden", "label", "open")

    def __init__(self, open_: Open, hidden: frozenset[str]) -> None:
        self.open = open_
        self.hidden = hidden
        self.label = open_.label

    def column(self, tracer: Tracer, key: str, spelling: str) -> int:
        if key in self.hidden:
            return tracer.sources.unknown(
                spelling, Reason.UNRESOLVED_COLUMN, f"{spelling} is left out of the star"
            )
        return self.open.column(tracer, key, spelling)


class OpenNamed:
    """``select * like 'a%' from unlisted``: any name that passes a test."""

    __slots__ = ("is_meant", "label", "open")

    def __init__(self, open_: Open, is_meant: Callable[[str], object]) -> None:
        self.open = open_
        self.is_meant = is_meant
        self.label = open_.label

    def column(self, tracer: Tracer, key: str, spelling: str) -> int:
        if not self.is_meant(spelling):
            return tracer.sources.unknown(
                spelling, Reason.UNRESOLVED_COLUMN, f"{spelling} is left out of the star"
            )
        return self.open.column(tracer, key, spelling)


class OpenChanged:
    """``case when b then t end`` of an unlisted t: any name is a field, and b decides it too."""

    __slots__ = ("change", "label", "open")

    def __init__(self, open_: Open, change: Callable[[int], int]) -> None:
        self.open = open_
        self.change = change
        self.label = open_.label

    def column(self, tracer: Tracer, key: str, spelling: str) -> int:
        return self.change(self.open.column(tracer, key, spelling))


class OpenUnknown:
    """The columns of something that cannot be traced, such as an undeclared table function."""

    __slots__ = ("detail", "label", "reason")

    def __init__(self, label: str, reason: Reason, detail: str) -> None:
        self.label = label
        self.reason = reason
        self.detail = detail

    def column(self, tracer: Tracer, key: str, spelling: str) -> int:
        return tracer.sources.unknown(spelling, self.reason, self.detail)


class OpenDerived:
    """Any name is computed from the same columns, as the data-named outputs of a pivot are."""

    __slots__ = ("label", "provenance")

    def __init__(self, label: str, provenance: int) -> None:
        self.label = label
        self.provenance = provenance

    def column(self, tracer: Tracer, key: str, spelling: str) -> int:
        return self.provenance


class OpenElement:
    """The fields of an unnested array whose type is not known, as BigQuery reads them by name."""

    __slots__ = ("label", "provenance")

    def __init__(self, label: str, provenance: int) -> None:
        self.label = label
        self.provenance = provenance

    def column(self, tracer: Tracer, key: str, spelling: str) -> int:
        detail = f"{spelling} is taken for a field of {self.label}, whose type is not known"
        doubt = tracer.sources.doubt(Reason.SCHEMA_MISSING, detail)
        return tracer.sources.assumed(self.provenance) | doubt


def _label(opens: Sequence[Open], word: str) -> str:
    """What several are called: all of their names once, as far as anybody reads them."""
    names = sorted({name for o in opens for name in o.label.split(word)})
    return word.join(names if len(names) <= _NAMED else [*names[:_NAMED], "others"])


def one_of(opens: Sequence[Open]) -> Open | None:
    """What is not listed of several: of one of them, where there is only one."""
    if len(opens) < 2:
        return opens[0] if opens else None
    return OpenChoice(opens)


def _of_each(
    tracer: Tracer, relations: Sequence[Relation], key: str, spelling: str
) -> tuple[int, bool]:
    """The column of that name of each relation, and whether one of them has none."""
    x, is_lacking = 0, False
    for relation in relations:
        i = relation.position(key)
        if i >= 0:
            x |= relation.at(i)
        elif relation.open is not None:
            x |= relation.open.column(tracer, key, spelling)
        else:
            is_lacking = True
    return x, is_lacking
