"""Edges and columns of one node, gathered from whatever order a producer reports them in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from lineage_post.history.claims import Claim, InputVersion
from lineage_post.trace.result import Op
from lineage_post.values import ColumnLineage, Edge
from lineage_post.vocabulary import Certainty, Reason, State, Subtype


@dataclass(slots=True)
class Gathered:
    """What is known of one node by one run; ``claim()`` sorts it and says it once."""

    node: str
    run_id: str
    observed_at: datetime
    operation: str | None = None
    query: str | None = None
    trace_id: str | None = None
    columns: dict[str, ColumnLineage] = field(default_factory=dict)
    edges: dict[tuple[object, ...], Edge] = field(default_factory=dict)
    #: The nodes that were read and, where that is told, the columns that were read of them.
    inputs: dict[str, dict[str, None]] = field(default_factory=dict)

    def add_column(self, name: str, data_type: str | None = None) -> None:
        """A column that the producer has seen; the first to be added is the first in order."""
        known = self.columns.get(name)
        if known is None:
            self.columns[name] = ColumnLineage(
                len(self.columns) + 1, name, data_type, State.KNOWN, None
            )
        elif known.data_type is None and data_type:
            self.columns[name] = known._replace(data_type=data_type)

    def add(
        self,
        source: tuple[str, str],
        column: str | None,
        subtype: Subtype,
        *,
        field_path: str | None = None,
        masking: bool = False,
        certainty: Certainty = Certainty.EXACT,
        expression: str | None = None,
        ops: tuple[Op, ...] = (),
    ) -> None:
        """An edge from a column of a node to one of this node, or to its rows."""
        edge = Edge(
            from_node=source[0],
            from_column=source[1],
            from_field=field_path,
            to_node=self.node,
            to_column=column,
            subtype=subtype,
            masking=masking,
            certainty=certainty,
            expression=expression or None,
            ops=ops,
        )
        self.inputs.setdefault(source[0], {})
        if column is not None:
            self.add_column(column)
        key = (edge.sort_key, column is None)
        # Said twice, the edge that is masked nowhere is the one that counts.
        known = self.edges.get(key)
        if known is None or (known.masking and not masking):
            self.edges[key] = edge

    def claim(self) -> Claim:
        """Everything that was gathered. A producer that knows tables alone knows no columns."""
        is_known = bool(self.columns)
        return Claim(
            self.node,
            self.run_id,
            self.observed_at,
            tuple(self.columns.values()),
            tuple(sorted(self.edges.values(), key=lambda e: e.sort_key)),
            tuple(_input(node, columns) for node, columns in sorted(self.inputs.items())),
            operation=self.operation,
            query=self.query,
            state=State.KNOWN if is_known else State.UNKNOWN,
            reason=None if is_known else Reason.EXTERNAL,
            trace_id=self.trace_id,
        )


def _input(node: str, columns: Iterable[str]) -> InputVersion:
    listed = sorted(columns)
    return InputVersion(node, None, "observed", {"columns": listed} if listed else {})
