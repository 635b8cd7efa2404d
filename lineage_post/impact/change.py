"""What is asked of an impact, and what comes back: plain values."""

from __future__ import annotations

from dataclasses import dataclass

from lineage_post.graph import Column
from lineage_post.vocabulary import Subtype, Word


class ChangeKind(Word):
    """What happens to a column. ``domain``: the set of values it may have changes."""

    RENAME = "rename"
    DROP = "drop"
    RETYPE = "retype"
    DOMAIN = "domain"


class BreaksOn(Word):
    """What of a column a dependent cannot do without: its name, or its being there at all."""

    RENAME = "rename"
    REMOVE = "remove"
    RETYPE = "retype"


class How(Word):
    """How something depends on a column."""

    VALUE = "value"
    FILTER = "filter"
    JOIN = "join"
    GROUP = "group"
    SORT = "sort"
    WINDOW = "window"
    CONDITIONAL = "conditional"
    #: A star's EXCLUDE, REPLACE or RENAME names it.
    STAR = "star modifier"
    #: The rows it is built from come or go.
    ROWS = "rows"
    YAML = "by name in YAML"
    #: Through what another consumer made of it: a metric through its measure.
    CONSUMER = "through a consumer"


HOW = {
    Subtype.IDENTITY: How.VALUE,
    Subtype.TRANSFORMATION: How.VALUE,
    Subtype.AGGREGATION: How.VALUE,
    Subtype.JOIN: How.JOIN,
    Subtype.FILTER: How.FILTER,
    Subtype.GROUP_BY: How.GROUP,
    Subtype.SORT: How.SORT,
    Subtype.WINDOW: How.WINDOW,
    Subtype.CONDITIONAL: How.CONDITIONAL,
}

#: The order in which they are told.
BREAKS = tuple(BreaksOn)
HOWS = tuple(How)


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one column of one node; ``to`` is its new name or its new type."""

    kind: ChangeKind
    node: str
    column: str
    to: str | None = None

    @property
    def breaks(self) -> BreaksOn:
        """What a dependent must not hang on to survive this change."""
        kinds = {ChangeKind.RENAME: BreaksOn.RENAME, ChangeKind.RETYPE: BreaksOn.RETYPE}
        return kinds.get(self.kind, BreaksOn.REMOVE)


@dataclass(frozen=True, slots=True)
class Dependent:
    """What depends on a column: a column of a node, its rows (``column`` None), or a consumer.

    ``uses`` is the column it reads, which may be one that was made from the column asked about;
    ``path`` leads from that one to here, both included. ``role`` says what a consumer keeps the
    name as: ``unique_key``, ``data test not_null``. ``line`` is None where it is not to be found.
    """

    unique_id: str
    kind: str
    name: str
    column: str | None
    how: tuple[How, ...]
    breaks_on: tuple[BreaksOn, ...]
    uses: Column
    path: tuple[Column, ...]
    role: str | None = None
    expression: str | None = None
    file: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Possible:
    """A node that may be affected: it is not known what it makes of ``reads``, or of what an
    unknown node above it, ``because``, makes of it."""

    unique_id: str
    kind: str
    name: str
    because: str
    reason: str
    breaks_on: tuple[BreaksOn, ...]
    file: str = ""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A dependent that may not take a new type, and what in it: ``SUM over VARCHAR``."""

    dependent: Dependent
    because: str


@dataclass(frozen=True, slots=True)
class Doubts:
    """``may_break`` are dependents that may not take a new type, ``unjudged`` those with a function
    of which it is not known what it takes."""

    may_break: tuple[Doubt, ...] = ()
    unjudged: tuple[Doubt, ...] = ()


@dataclass(frozen=True, slots=True)
class Impact:
    """The answer to one change.

    ``passes`` are the columns that carry the same name on by a star, the column itself not among
    them. ``mentions`` are descriptions in YAML of these columns: nothing breaks, but they go stale.
    ``doubts`` are of a new type alone.
    """

    change: Change
    dependents: tuple[Dependent, ...]
    possible: tuple[Possible, ...]
    passes: tuple[Column, ...] = ()
    mentions: tuple[Dependent, ...] = ()
    doubts: Doubts = Doubts()

    @property
    def broken(self) -> tuple[Dependent, ...]:
        """The dependents that this very change breaks."""
        return tuple(d for d in self.dependents if self.change.breaks in d.breaks_on)

    @property
    def other(self) -> tuple[Dependent, ...]:
        """The dependents that it does not."""
        return tuple(d for d in self.dependents if self.change.breaks not in d.breaks_on)
