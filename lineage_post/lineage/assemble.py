"""From traced nodes to the lineage of the whole project: leaves, consumers, external relations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lineage_post.artifacts import Node, Project
from lineage_post.cache import Record
from lineage_post.lineage import untraced
from lineage_post.lineage.project import Lineage
from lineage_post.lineage.record import Packed, Unpacked
from lineage_post.options import Options
from lineage_post.relations import Relations
from lineage_post.schema import NO_COLUMNS, Columns
from lineage_post.values import ColumnLineage, Edge, NodeLineage, Note

#: Resource types that have lineage.
TRACED_TYPES = frozenset({"model", "snapshot", "seed", "source", "exposure"})


def assembled(
    project: Project,
    options: Options,
    relations: Relations,
    records: Mapping[str, Record],
    columns: Mapping[str, Columns],
) -> Lineage:
    """The lineage of a project, of whose nodes those with SQL were traced.

    ``columns`` are what readers see of each relation.
    """
    nodes = {key: node_lineage(key, record) for key, record in records.items()}
    notes = [
        Note(key, kind, text) for key, record in records.items() for kind, text in record.notes
    ]
    used = _used(records.values())
    rest = _Rest(project, relations, columns)
    for node in project.nodes.values():
        if node.unique_id not in nodes and node.resource_type in TRACED_TYPES:
            nodes[node.unique_id], more = rest.lineage(node, used.get(node.unique_id, ()))
            notes += more
    for unique_id in {parent for record in records.values() for parent in record.inputs}:
        if unique_id not in nodes:
            nodes[unique_id] = untraced.external(unique_id, used.get(unique_id, ()))
    return Lineage(
        project=project,
        nodes={key: nodes[key] for key in sorted(nodes)},
        options=options,
        notes=tuple(sorted(notes, key=lambda n: (n.unique_id, n.kind, n.message))),
    )


def node_lineage(unique_id: str, record: Record) -> NodeLineage:
    """The lineage of a traced node, decoded when its columns or edges are first looked at."""
    packed = Packed(record.packed)
    return NodeLineage(
        unique_id=unique_id,
        state=record.state,
        reason=record.reason,
        detail=record.detail,
        operation=record.operation,
        columns=Unpacked[ColumnLineage](packed.columns),
        edges=Unpacked[Edge](packed.edges),
        fingerprint=record.fingerprint,
        inputs=record.inputs,
        counts=record.counts,
    )


def _used(records: Iterable[Record]) -> dict[str, set[str]]:
    """Columns that readers speak of, by the node they are of."""
    found: dict[str, set[str]] = {}
    for record in records:
        for unique_id, columns in record.used:
            found.setdefault(unique_id, set()).update(columns)
    return found


class _Rest:
    """The nodes that have no SQL to trace."""

    def __init__(
        self, project: Project, relations: Relations, columns: Mapping[str, Columns]
    ) -> None:
        self.project = project
        self.relations = relations
        self.columns = columns

    def lineage(self, node: Node, used: Iterable[str]) -> tuple[NodeLineage, list[Note]]:
        if node.resource_type == "exposure":
            return untraced.consumer(node, self.project, self._names)
        builder = self.relations.builder(node.unique_id)
        if builder != node.unique_id:
            return untraced.twin(node, builder, self.columns[builder]), []
        columns = self.columns.get(node.unique_id, NO_COLUMNS)
        if node.resource_type in ("source", "seed"):
            return untraced.leaf(node, columns, used), []
        declared = untraced.declared(node, self.project, self._names)
        if declared is not None:
            return declared
        reason = untraced.reason_of(node, self.project)
        return untraced.unknown(node, columns, used, reason), []

    def _names(self, unique_id: str) -> Iterable[str]:
        return self.columns.get(unique_id, NO_COLUMNS).types
