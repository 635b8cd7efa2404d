"""A traced project and a run as rows of the base tables."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lineage_post.artifacts import Node
from lineage_post.history.claims import InputVersion
from lineage_post.publish.definition import canonical, node_row, operation_of
from lineage_post.publish.exposures import GENERATED_PATH
from lineage_post.publish.run import BUILT_TYPES, Build, Run
from lineage_post.publish.tables import ColumnRow, EdgeRow, NodeRow, RefreshRow, Rows
from lineage_post.vocabulary import EdgeType, Reason, State, Status

if TYPE_CHECKING:
    from lineage_post.lineage import Edge, Lineage, NodeLineage
    from lineage_post.trace.result import Op

#: This package's own nodes are never recorded.
OWN_PACKAGE = "lineage_post"
#: Builds whose lineage is recorded; an attempt that failed leaves only its refresh.
_TRACED = frozenset({Status.SUCCESS, Status.SAMPLE, Status.PLANNED, Status.DERIVED})
_CONSUMERS = frozenset({"exposure", "metric", "semantic_model", "saved_query"})


def rows_of(lineage: Lineage, run: Run, *, exclude_packages: Collection[str] = ()) -> Rows:
    """All rows of a run, as if nothing had been recorded before."""
    builder = _Builder(lineage, run, frozenset({*exclude_packages, OWN_PACKAGE}))
    builds = {b.unique_id: b for b in run.builds.values() if builder.is_published(b.unique_id)}
    derived = builder.derived(builds)
    refreshes = [builder.refresh(build) for build in _sorted([*builds.values(), *derived])]
    recorded = [r.node for r in refreshes if r.fingerprint is not None]
    nodes = [lineage.nodes[unique_id] for unique_id in recorded]
    return Rows(
        nodes=tuple(builder.node(r.node) for r in refreshes),
        edges=tuple(edge_row(node.fingerprint, e) for node in nodes for e in node.edges),
        columns=tuple(row for node in nodes for row in column_rows(node)),
        refreshes=tuple(refreshes),
    )


def inputs_of(lineage: Lineage, unique_id: str) -> Collection[str]:
    """The nodes that a node reads: what it declares and what its SQL was seen to read."""
    node = lineage.project.nodes.get(unique_id)
    traced = lineage.nodes.get(unique_id)
    declared = node.depends_on if node else ()
    return {*declared, *(edge.from_node for edge in (traced.edges if traced else ()))}


@dataclass(frozen=True, slots=True)
class _Builder:
    lineage: Lineage
    run: Run
    excluded: frozenset[str]

    def is_published(self, unique_id: str) -> bool:
        node = self.lineage.project.nodes.get(unique_id)
        if node is None:
            return unique_id in self.lineage.nodes
        return node.package_name not in self.excluded and node.path != GENERATED_PATH

    def derived(self, builds: Mapping[str, Build]) -> list[Build]:
        """Refreshes of the nodes that no run builds, of every input of what was built."""
        times: dict[str, datetime] = {}
        fresh = [b for b in builds.values() if b.status is Status.SUCCESS]
        for build in _sorted(fresh):
            for unique_id in self._unbuilt_inputs(build.unique_id, builds):
                times[unique_id] = max(build.refreshed_at, times.get(unique_id, datetime.min))
        for unique_id in self._written_by_hooks({b.unique_id for b in fresh} - times.keys()):
            read = inputs_of(self.lineage, unique_id)
            times[unique_id] = max(b.refreshed_at for b in fresh if b.unique_id in read)
        for unique_id in self._consumers({b.unique_id for b in fresh} | times.keys()):
            read = inputs_of(self.lineage, unique_id)
            times[unique_id] = max(
                [b.refreshed_at for b in fresh if b.unique_id in read]
                + [times[n] for n in read if n in times]
            )
        return [Build(unique_id, Status.DERIVED, at) for unique_id, at in times.items()]

    def _unbuilt_inputs(self, unique_id: str, builds: Mapping[str, Build]) -> Iterator[str]:
        seen: set[str] = set()
        queue = [unique_id]
        while queue:
            for parent in sorted(inputs_of(self.lineage, queue.pop())):
                if parent in seen or parent in builds or not self._is_derivable(parent):
                    continue
                seen.add(parent)
                queue.append(parent)
                yield parent

    def _is_derivable(self, unique_id: str) -> bool:
        node = self.lineage.project.nodes.get(unique_id)
        if unique_id not in self.lineage.nodes or not self.is_published(unique_id):
            return False
        return node is None or (
            node.is_ephemeral or node.resource_type not in BUILT_TYPES - {"seed"}
        )

    def _written_by_hooks(self, fresh: Collection[str]) -> Iterator[str]:
        """What no run builds and hooks of built nodes write to."""
        for unique_id in sorted(self.lineage.nodes):
            is_fed = any(parent in fresh for parent in self.lineage.nodes[unique_id].inputs)
            if is_fed and self._is_derivable(unique_id):
                node = self.lineage.project.nodes.get(unique_id)
                if node is None or node.resource_type in ("source", "seed"):
                    yield unique_id

    def _consumers(self, fresh: Collection[str]) -> Iterator[str]:
        for unique_id in sorted(self.lineage.nodes):
            node = self.lineage.project.nodes.get(unique_id)
            if node is None or node.resource_type not in _CONSUMERS:
                continue
            if self.is_published(unique_id) and any(n in fresh for n in node.depends_on):
                yield unique_id

    def node(self, unique_id: str) -> NodeRow:
        options = self.lineage.options
        return node_row(
            unique_id,
            self.lineage.project.nodes.get(unique_id),
            queries=options.expressions and options.queries,
        )

    def refresh(self, build: Build) -> RefreshRow:
        node = self.lineage.project.nodes.get(build.unique_id)
        traced = self.lineage.nodes.get(build.unique_id) if build.status in _TRACED else None
        state, reason = _state(build, traced)
        return RefreshRow(
            node=build.unique_id,
            run_id=self.run.run_id,
            producer=self.run.producer.value,
            refreshed_at=build.refreshed_at,
            recorded_at=self.run.recorded_at,
            status=build.status.value,
            operation=self._operation(node, build),
            definition_version=self.node(build.unique_id).definition_version,
            git_revision=self.run.git_revision,
            build_mode=build.build_mode,
            fingerprint=traced.fingerprint if traced else None,
            last_known_fingerprint=None,
            state=state,
            reason=reason,
            inputs=self._inputs(build),
            column_derivations=derivations(traced) if traced else None,
            trace_id=self.run.trace_id,
        )

    def _operation(self, node: Node | None, build: Build) -> str | None:
        if node is None or build.status is Status.DERIVED:
            return None
        return operation_of(node, build.build_mode, self.lineage.project.adapter_type)

    def _inputs(self, build: Build) -> str:
        """The inputs without versions, which only the warehouse knows; see ``prior``."""
        reader = self.lineage.project.nodes.get(build.unique_id)
        read = filter(self._is_input, inputs_of(self.lineage, build.unique_id))
        return inputs_json(version for n in read for version in self._versions(n, reader))

    def _versions(self, unique_id: str, reader: Node | None) -> Iterator[InputVersion]:
        if self._is_deferred(unique_id, reader):
            yield InputVersion(unique_id, None, "deferred")
            return
        node = self.lineage.project.nodes.get(unique_id)
        observed = self.run.input_versions.get(unique_id, ())
        # What no run builds has no refresh of its own to tell its versions apart.
        if not observed or (node is not None and node.resource_type in BUILT_TYPES):
            yield InputVersion(unique_id, None, "refresh")
        yield from observed

    def _is_deferred(self, unique_id: str, reader: Node | None) -> bool:
        """Whether the reader's SQL has the name of the other environment, and not its own."""
        node = self.lineage.project.nodes.get(unique_id)
        if node is None or node.defer_relation is None or node.defer_relation == node.relation:
            return False
        code = reader.compiled_code if reader else None
        return bool(code and node.relation_name and node.relation_name not in code)

    def _is_input(self, unique_id: str) -> bool:
        node = self.lineage.project.nodes.get(unique_id)
        return node is None or node.resource_type in (BUILT_TYPES | {"source"} | _CONSUMERS)


def inputs_json(inputs: Iterable[InputVersion]) -> str:
    """``inputs`` of a refresh: a JSON array of ``node``, ``version``, ``kind`` and other facts."""
    found = sorted(inputs, key=lambda i: (i.node, i.kind, i.version or ""))
    return canonical(
        [{**i.facts, "node": i.node, "version": i.version, "kind": i.kind} for i in found]
    )


def versions_in(inputs: str) -> list[InputVersion]:
    """The inputs that such an array lists."""
    named = ("node", "version", "kind")
    return [
        InputVersion(
            entry["node"],
            entry.get("version"),
            entry.get("kind") or "observed",
            {key: value for key, value in entry.items() if key not in named},
        )
        for entry in json.loads(inputs)
    ]


def edge_row(fingerprint: str, edge: Edge) -> EdgeRow:
    """The row of an edge under its node's fingerprint."""
    source, column, field, target, to, subtype, masking, certainty, expression, ops = edge
    return EdgeRow(
        fingerprint,
        source,
        column,
        field,
        target,
        to,
        subtype.type._value_,
        subtype._value_,
        masking,
        certainty._value_,
        expression,
        _ops_json(ops),
    )


@lru_cache(maxsize=4096)
def _ops_json(ops: tuple[Op, ...]) -> str:
    return canonical([{"name": op.name, "kind": op.kind.value} for op in ops])


def column_rows(node: NodeLineage) -> Iterator[ColumnRow]:
    """The rows of a node's columns, those without a name included."""
    for column in node.columns:
        yield ColumnRow(
            fingerprint=node.fingerprint,
            node=node.unique_id,
            column_name=column.name,
            ordinal=column.ordinal,
            data_type=column.data_type,
            state=column.state.value,
            reason=column.reason and column.reason.value,
            expression=column.expression,
        )


def derivations(node: NodeLineage) -> str:
    """``column_derivations``: for each column the columns its value is computed from, and how."""
    found: dict[str, dict[str, Any]] = {
        column.name: {"sources": [], "expression": column.expression}
        for column in node.columns
        if column.name is not None
    }
    for edge in node.edges:
        if edge.type is EdgeType.DIRECT and edge.to_column in found:
            source = {"node": edge.from_node, "column": edge.from_column}
            if edge.from_field is not None:
                source["field"] = edge.from_field
            found[edge.to_column]["sources"].append(source)
    return canonical(found)


def _state(build: Build, traced: NodeLineage | None) -> tuple[str | None, str | None]:
    if build.status not in _TRACED:
        return None, None
    if traced is None:
        return State.UNKNOWN.value, Reason.NOT_COMPILED.value
    return traced.state.value, traced.reason and traced.reason.value


def _sorted(builds: Iterable[Build]) -> list[Build]:
    return sorted(builds, key=lambda build: build.unique_id)
