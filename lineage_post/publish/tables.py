"""The rows of the four base tables. The fields are the tables' columns, in the models' order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypeAlias

Value: TypeAlias = "str | int | bool | datetime | None"


class EdgeRow(NamedTuple):
    """A row of ``lineage_edges``; ``to_column`` is None for a dataset-level edge."""

    fingerprint: str
    from_node: str
    from_column: str
    from_field: str | None
    to_node: str
    to_column: str | None
    type: str
    subtype: str
    masking: bool
    certainty: str
    expression: str | None
    ops: str


class ColumnRow(NamedTuple):
    """A row of ``lineage_columns``; without a name it says what is unknown of every row."""

    fingerprint: str
    node: str
    column_name: str | None
    ordinal: int | None
    data_type: str | None
    state: str
    reason: str | None
    expression: str | None


class NodeRow(NamedTuple):
    """A row of ``lineage_nodes``: what one version of a definition says of a node.

    ``query`` is its compiled SQL, or the statement that a producer has seen; ``renamed_from`` the
    node that it says it was before; ``native`` where the data of a source really are, as JSON.
    """

    node: str
    definition_version: str
    resource_type: str
    relation: str | None
    package: str
    materialization: str | None
    owner: str | None
    tags: str
    access: str | None
    group_name: str | None
    query: str | None = None
    renamed_from: str | None = None
    native: str | None = None


class RefreshRow(NamedTuple):
    """A row of ``lineage_refreshes``. Times are in UTC; ``recorded_at`` None: when it is loaded."""

    node: str
    run_id: str
    producer: str
    refreshed_at: datetime
    recorded_at: datetime | None
    status: str
    operation: str | None
    definition_version: str | None
    git_revision: str | None
    build_mode: str | None
    fingerprint: str | None
    last_known_fingerprint: str | None
    state: str | None
    reason: str | None
    inputs: str | None
    column_derivations: str | None
    trace_id: str | None


Row: TypeAlias = "NodeRow | EdgeRow | ColumnRow | RefreshRow"


@dataclass(frozen=True, slots=True)
class Rows:
    """What one load appends. ``tables`` yields them in the order they must be written."""

    nodes: tuple[NodeRow, ...] = ()
    edges: tuple[EdgeRow, ...] = ()
    columns: tuple[ColumnRow, ...] = ()
    refreshes: tuple[RefreshRow, ...] = ()

    def tables(self) -> Iterator[tuple[str, type[Row], tuple[Row, ...]]]:
        """Name, row class and rows of each table; the refreshes, the commit point, come last."""
        yield "lineage_nodes", NodeRow, self.nodes
        yield "lineage_edges", EdgeRow, self.edges
        yield "lineage_columns", ColumnRow, self.columns
        yield "lineage_refreshes", RefreshRow, self.refreshes


TABLES: tuple[str, ...] = tuple(name for name, _, _ in Rows().tables())


#: The columns that are not text.
_TYPES = {
    "masking": "boolean",
    "ordinal": "integer",
    "refreshed_at": "timestamp",
    "recorded_at": "timestamp",
}


def type_of(column: str) -> str:
    """The SQL type of a column: ``varchar`` for text."""
    return _TYPES.get(column, "varchar")
