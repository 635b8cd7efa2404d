"""Traces every node of a project, parents first, and binds the answers to nodes."""

from __future__ import annotations

from dataclasses import dataclass

from lineage_post.trace.result import Op
from lineage_post.vocabulary import Certainty, EdgeType, Reason, State, Subtype


@dataclass(frozen=True, slots=True)
class Edge:
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


@dataclass(frozen=True, slots=True)
class ColumnLineage:
    """An output column of a node; ``name`` is None for what is unknown of every row."""

    ordinal: int | None
    name: str | None
    data_type: str | None
    state: State
    reason: Reason | None
    expression: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class NodeLineage:
    """The complete lineage of one node; the same content has the same ``fingerprint``."""

    unique_id: str
    state: State
    reason: Reason | None
    detail: str | None
    operation: str
    columns: tuple[ColumnLineage, ...]
    edges: tuple[Edge, ...]
    fingerprint: str
