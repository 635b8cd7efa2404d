"""The lineage of a project: the answer everything else reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from lineage_post.artifacts import Project
from lineage_post.graph import ColumnGraph, Step
from lineage_post.lineage.record import edge_row
from lineage_post.lineage.task import Task, tasks_of
from lineage_post.options import Options
from lineage_post.relations import Relations
from lineage_post.values import ColumnLineage, Edge, NodeLineage, Note
from lineage_post.vocabulary import State

#: An answer of ``lineage_post.impact``, whose modules come after this one.
Impact: TypeAlias = Any

#: The dbt package of this tool; its own models are never part of what it publishes.
OWN_PACKAGE = "lineage_post"


@dataclass(frozen=True, slots=True)
class Counts:
    """So many are known, partial and unknown."""

    known: int = 0
    partial: int = 0
    unknown: int = 0

    @property
    def total(self) -> int:
        return self.known + self.partial + self.unknown


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much is known, of nodes that are built from others and of their columns."""

    nodes: Counts
    columns: Counts


@dataclass(frozen=True)
class Lineage:
    """Every node that has or could have lineage, by unique_id; external relations too."""

    project: Project
    nodes: Mapping[str, NodeLineage]
    options: Options = field(default_factory=Options)
    notes: tuple[Note, ...] = ()
    #: Of incremental models that are known in both forms the edges that one form alone has.
    modes: Mapping[str, Mapping[Edge, str]] = field(default_factory=dict)
    #: Where the project's files are, if they are at hand: lines are counted in them.
    project_dir: Path | None = None

    @cached_property
    def graph(self) -> ColumnGraph:
        """The graph of all columns, built on first use."""
        return ColumnGraph(self)

    @cached_property
    def relations(self) -> Relations:
        """The names of all relations."""
        return Relations(self.project)

    @cached_property
    def tasks(self) -> Mapping[str, Task]:
        """The SQL of each node that has some, and what its trace is of."""
        return tasks_of(self.project, self.relations, {})

    def made_of(self, relations: Relations, tasks: Mapping[str, Task]) -> Lineage:
        """This lineage, which need not make again what tracing it took."""
        self.__dict__.update(relations=relations, tasks=tasks)
        return self

    def within(self, project_dir: Path | None) -> Lineage:
        """This lineage, of a project whose files are in that folder."""
        return replace(self, project_dir=project_dir).made_of(self.relations, self.tasks)

    @cached_property
    def children(self) -> Mapping[str, tuple[str, ...]]:
        """The nodes that depend on each node, by dbt's own list or by their SQL."""
        found: dict[str, set[str]] = {}
        for unique_id, node in self.project.nodes.items():
            for parent in node.depends_on:
                found.setdefault(parent, set()).add(unique_id)
        for unique_id, lineage in self.nodes.items():
            for parent in lineage.inputs:
                found.setdefault(parent, set()).add(unique_id)
        return {parent: tuple(sorted(children)) for parent, children in found.items()}

    def edges(self) -> Iterator[Edge]:
        """All edges, sorted by node, target, source and kind."""
        for unique_id in sorted(self.nodes):
            yield from self.nodes[unique_id].edges

    def upstream(self, node: str, column: str, depth: int | None = None) -> list[Step]:
        """What a column is computed from, nearest first. Raises SelectionError for a wrong name."""
        return self.graph.upstream(node, column, depth=depth)

    def downstream(self, node: str, column: str, depth: int | None = None) -> list[Step]:
        """What is computed from a column, nearest first. Raises SelectionError for a wrong name."""
        return self.graph.downstream(node, column, depth=depth)

    def impact(
        self,
        *,
        rename: Mapping[str, str] | None = None,
        drop: str | Iterable[str] = (),
        retype: Mapping[str, str | None] | None = None,
    ) -> tuple[Impact, ...]:
        """What each change breaks: ``impact(rename={"stg_orders.status": "state"})``.

        Dependents have the file and line that the command tells. Raises SelectionError for a
        column that is not there, and for a name that cannot be one.
        """
        # The answers are made of lineages, so that this module comes before theirs.
        asking = import_module("lineage_post.impact.asking")
        found: tuple[Impact, ...] = asking.impacts(self, rename=rename, drop=drop, retype=retype)
        return found

    def is_published(self, unique_id: str) -> bool:
        """Whether a node is to be shown; excluded packages still serve as steps between."""
        node = self.project.nodes.get(unique_id)
        excluded = (OWN_PACKAGE, *self.options.exclude_packages)
        return node is None or node.package_name not in excluded

    def coverage(self) -> Coverage:
        """Counts over models, snapshots and consumers that are published; leaves are left out."""
        built = [
            lineage
            for unique_id, lineage in self.nodes.items()
            if self._is_built(unique_id) and self.is_published(unique_id)
        ]
        states = [lineage.state for lineage in built]
        columns = [sum(c[i] for c in (lineage.counts for lineage in built)) for i in range(3)]
        return Coverage(
            nodes=Counts(*(states.count(state) for state in State)),
            columns=Counts(*columns),
        )

    def _is_built(self, unique_id: str) -> bool:
        node = self.project.nodes.get(unique_id)
        return node is not None and node.resource_type in ("model", "snapshot")

    def unknowns(self) -> Iterator[tuple[NodeLineage, ColumnLineage | None]]:
        """What is not known and why: nodes (column None), then their columns, in order."""
        for unique_id in sorted(self.nodes):
            lineage = self.nodes[unique_id]
            if lineage.state is not State.KNOWN:
                yield lineage, None
                for column in lineage.columns:
                    if column.state is not State.KNOWN:
                        yield lineage, column

    def to_dict(self) -> dict[str, Any]:
        """The stable JSON form: ``metadata``, then ``nodes`` with their columns and edges."""
        project = self.project
        return {
            "metadata": {
                "project": project.name,
                "adapter_type": project.adapter_type,
                "invocation_id": project.invocation_id,
                "generated_at": project.generated_at,
                "dbt_version": project.dbt_version,
            },
            "nodes": [
                node_to_dict(self.nodes[unique_id])
                for unique_id in sorted(self.nodes)
                if self.is_published(unique_id)
            ],
        }


#: The parts of an edge, in the order in which every document and file has them.
EDGE_KEYS = (
    "from_node",
    "from_column",
    "from_field",
    "to_node",
    "to_column",
    "type",
    "subtype",
    "masking",
    "certainty",
    "expression",
    "ops",
)


def node_to_dict(lineage: NodeLineage) -> dict[str, Any]:
    """A node in the form that ``Lineage.to_dict`` gives it."""
    return {
        "unique_id": lineage.unique_id,
        "state": lineage.state.value,
        "reason": lineage.reason and lineage.reason.value,
        "detail": lineage.detail,
        "operation": lineage.operation,
        "fingerprint": lineage.fingerprint,
        "inputs": list(lineage.inputs),
        "columns": [_column_to_dict(column) for column in lineage.columns],
        "edges": [dict(zip(EDGE_KEYS, edge_row(edge), strict=True)) for edge in lineage.edges],
    }


def _column_to_dict(column: ColumnLineage) -> dict[str, Any]:
    return {
        "ordinal": column.ordinal,
        "name": column.name,
        "data_type": column.data_type,
        "state": column.state.value,
        "reason": column.reason and column.reason.value,
        "expression": column.expression,
        "detail": column.detail,
    }
