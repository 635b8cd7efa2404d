"""The lineage of a node, its columns and its edges: plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lineage_post.trace.result import Op
from lineage_post.vocabulary import Certainty, EdgeType, Reason, State, Subtype


class Edge(NamedTuple):
    """One edge of one node's SQL; ``to_column`` is None for a dataset-level edge."""

    from_node: str
    from_column: str
    from_field: str | None
    to_node: str
    to_column: str | None
    subtype: Subtype
    masking: bool = False
    certainty: Certainty = Certainty.EXACT
    expression: str | None = None
    ops: tuple[Op, ...] = ()

    @property
    def type(self) -> EdgeType:
        return self.subtype.type

    @property
    def sort_key(self) -> tuple[str, ...]:
        """Edges are listed by target, dataset-level ones first, then by source and kind."""
        return (
            self.to_node,
            self.to_column or "",
            self.from_node,
            self.from_column,
            self.from_field or "",
            self.subtype._value_,
        )


class ColumnLineage(NamedTuple):
    """An output column of a node; ``name`` is None for what is unknown of every row.

    A star that could not be expanded is a column ``*`` without an ordinal.
    """

    ordinal: int | None
    name: str | None
    data_type: str | None
    state: State
    reason: Reason | None
    expression: str | None = None
    detail: str | None = None

    @property
    def is_column(self) -> bool:
        """Whether this is a column of the relation, not a remark on its rows or its star."""
        return self.name is not None and self.ordinal is not None


@dataclass(frozen=True, slots=True)
class NodeLineage:
    """The complete lineage of one node; the same content has the same ``fingerprint``.

    ``columns`` and ``edges`` are sequences that may decode themselves on first use. ``inputs`` are
    the nodes it reads, whether or not columns flow. ``counts`` are its columns that are known,
    partial and unknown.
    """

    unique_id: str
    state: State
    reason: Reason | None
    detail: str | None
    operation: str
    columns: Sequence[ColumnLineage]
    edges: Sequence[Edge]
    fingerprint: str
    inputs: tuple[str, ...] = ()
    counts: tuple[int, int, int] = (0, 0, 0)

    def column(self, name: str) -> ColumnLineage | None:
        """The column of this name: exact, else the only one that differs in case alone."""
        found = [c for c in self.columns if c.name == name and c.is_column]
        if not found:
            folded = name.casefold()
            found = [c for c in self.columns if c.is_column and (c.name or "").casefold() == folded]
        return found[0] if len(found) == 1 or (found and found[0].name == name) else None


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth a warning line: a stale catalog, a contract that does not cover an input."""

    unique_id: str
    kind: str
    message: str
