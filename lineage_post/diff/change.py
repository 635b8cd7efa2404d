"""What differs between two states of a project: plain values."""

from __future__ import annotations

from dataclasses import dataclass

from lineage_post.graph import Column
from lineage_post.impact import Dependent, Doubt, Moved, Possible
from lineage_post.vocabulary import Word


class DiffKind(Word):
    """What happened to a column, to the rows of a node, or to a node."""

    NODE_ADDED = "node_added"
    NODE_REMOVED = "node_removed"
    COLUMN_ADDED = "column_added"
    COLUMN_REMOVED = "column_removed"
    COLUMN_RENAMED = "column_renamed"
    COLUMN_RETYPED = "column_retyped"
    COLUMN_REDERIVED = "column_rederived"
    FILTER_CHANGED = "filter_changed"
    JOIN_CHANGED = "join_changed"
    GRAIN_CHANGED = "grain_changed"
    LIMIT_CHANGED = "limit_changed"
    CONFIG_CHANGED = "config_changed"
    #: A seed's file has other rows.
    DATA_CHANGED = "data_changed"
    #: The code differs, and what that does to columns is not known.
    UNKNOWN = "unknown"


class Level(Word):
    """``breaking``: something that worked does not any more, or an output has another shape.
    ``changed``: values or rows may differ. ``compatible``: neither."""

    BREAKING = "breaking"
    UNKNOWN = "unknown"
    CHANGED = "changed"
    COMPATIBLE = "compatible"


LEVELS = tuple(Level)


@dataclass(frozen=True, slots=True)
class NodeChange:
    """One change. ``before`` and ``after`` are names, types or SQL, as the kind has them.

    ``broken`` are the dependents that still need what is gone; ``affected`` the outputs whose
    values can move and ``rows`` those of nodes whose rows come or go; ``consumers`` store the name
    of an affected column. ``candidates`` are columns that this one may have been renamed to, where
    several have the same expression. ``may_break`` are the dependents whose SQL may not take a new
    type, with what in it. ``because`` names the rule behind the level. ``forms`` are
    those of an incremental model that was compiled in two: the change may be of the form alone,
    where ``is_same_code``.
    """

    kind: DiffKind
    unique_id: str
    column: str | None
    level: Level
    because: str
    before: str | None = None
    after: str | None = None
    candidates: tuple[str, ...] = ()
    broken: tuple[Dependent, ...] = ()
    may_break: tuple[Doubt, ...] = ()
    affected: tuple[Moved, ...] = ()
    rows: tuple[Moved, ...] = ()
    consumers: tuple[str, ...] = ()
    possible: tuple[Possible, ...] = ()
    forms: tuple[str, str] | None = None
    is_same_code: bool = False
    file: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Diff:
    """All changes, by node in the order of the data; ``impacted`` are the nodes to build again:
    those that changed, and those with an affected column or row."""

    changes: tuple[NodeChange, ...]
    impacted: tuple[str, ...]

    def of_level(self, level: Level) -> tuple[NodeChange, ...]:
        return tuple(change for change in self.changes if change.level is level)


@dataclass(frozen=True, slots=True)
class Found:
    """A difference before its effects are known."""

    kind: DiffKind
    unique_id: str
    column: str | None = None
    before: str | None = None
    after: str | None = None
    candidates: tuple[str, ...] = ()

    @property
    def start(self) -> Column:
        return self.unique_id, self.column
