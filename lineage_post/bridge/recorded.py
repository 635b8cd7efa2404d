"""The base tables, read on the user's dbt profile: refreshes, derivations, lineage as of a time."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from sqlglot import parse_one

from lineage_post.artifacts import Node, Project, RelationName, read_manifest
from lineage_post.bridge.profile import connect
from lineage_post.errors import LineageError
from lineage_post.history.recalled import (
    Recalled,
    Times,
    asserted_edges,
    recalled_nodes,
    vouched_edges,
)
from lineage_post.history.replay import (
    Change,
    Derivation,
    Recorded,
    changes,
    identities,
    standing,
    whole_builds,
)
from lineage_post.lineage import Lineage
from lineage_post.options import Options
from lineage_post.trace.dialects import dialect_of
from lineage_post.trace.result import Op
from lineage_post.values import ColumnLineage, Edge
from lineage_post.vocabulary import Certainty, OpKind, Reason, State, Subtype

_REFRESH = (
    "node, run_id, producer, refreshed_at, coalesce(recorded_at, refreshed_at), status, reason,"
    " fingerprint, definition_version, git_revision, build_mode"
)
_EDGE = (
    "fingerprint, from_node, from_column, from_field, to_node, to_column, subtype, masking,"
    " certainty, expression, ops"
)
_COLUMN = "fingerprint, column_name, ordinal, data_type, state, reason, expression"
_NODE = "node, definition_version, resource_type, relation, package, materialization, tags"
_MOST_VALUES = 500


class RecordedTables:
    """Reads the tables that the hook fills. Raises LineageError where they cannot be read."""

    def __init__(
        self,
        manifest: Path,
        project_dir: Path,
        *,
        profiles_dir: str | None = None,
        target: str | None = None,
    ) -> None:
        self.project = read_manifest(manifest)
        self.dialect = dialect_of(self.project.adapter_type)
        self._connection = connect(
            project_dir, self.dialect, profiles_dir=profiles_dir, target=target
        )

    def table(self, name: str) -> str:
        """The name of one of this package's tables or views in the warehouse."""
        node = self.project.nodes.get(f"model.lineage_post.{name}")
        if node is None or not node.relation_name:
            raise LineageError(
                f"The manifest has no model {name}: the package lineage_post is not in it",
                hint="Run dbt deps and dbt build, then ask again.",
            )
        return node.relation_name

    def query(self, sql: str) -> list[Sequence[Any]]:
        """The rows of a query."""
        return list(self._connection.rows(parse_one(sql, dialect=self.dialect)))

    def refreshes(self) -> list[Recorded]:
        """Every refresh there is."""
        rows = self.query(f"select {_REFRESH} from {self.table('lineage_refreshes')}")
        return [_recorded(row) for row in rows]

    def renames(self) -> list[tuple[str, str]]:
        """Pairs of the node that was and the node that it is now."""
        rows = self.query(
            f"select distinct renamed_from, node from {self.table('lineage_nodes')}"
            " where renamed_from is not null"
        )
        return [(row[0], row[1]) for row in rows]

    def changes(self, nodes: Collection[str], refreshes: Collection[Recorded]) -> list[Change]:
        """How the columns of nodes changed by these refreshes, in the order of their times."""
        renames = self.renames()
        own: dict[str, list[Recorded]] = {node: [] for node in nodes}
        for node, refresh in identities(refreshes, renames):
            if node in own:
                own[node].append(refresh)
        prints = {r.fingerprint for listed in own.values() for r in listed if r.fingerprint}
        derivations = self.derivations(prints)
        found = [c for n, listed in own.items() for c in changes(n, listed, derivations, renames)]
        return sorted(found, key=lambda c: (c.refresh.order, c.node))

    def derivations(self, fingerprints: Collection[str]) -> dict[str, dict[str | None, Derivation]]:
        """What each column of these fingerprints, and the rows (None), come from."""
        sources: dict[tuple[str, str | None], set[str]] = {}
        for edge in self._edges(fingerprints):
            fingerprint, value = edge
            name = ".".join(p for p in (value.from_node, value.from_column, value.from_field) if p)
            kind = "" if value.type.value == "DIRECT" else f" ({value.subtype.value})"
            sources.setdefault((fingerprint, value.to_column), set()).add(name + kind)
        found: dict[str, dict[str | None, Derivation]] = {f: {} for f in fingerprints}
        for fingerprint, column in self._columns(fingerprints):
            if column.name not in (None, "*"):
                listed = tuple(sorted(sources.pop((fingerprint, column.name), ())))
                found[fingerprint][column.name] = Derivation(
                    listed, column.expression, column.state.value
                )
        for (fingerprint, name_or_none), names in sources.items():
            found[fingerprint][name_or_none] = Derivation(tuple(sorted(names)))
        return found

    def lineage(
        self, as_of: datetime | None, as_recorded: datetime | None, options: Options
    ) -> tuple[Lineage, Recalled]:
        """The lineage as it stood at a time, of what had been recorded by another."""
        read_at = datetime.now(timezone.utc).replace(tzinfo=None)
        stands = standing(self.refreshes(), as_of, as_recorded)
        whole = whole_builds(stands)
        counting = [listed[0] for listed in stands.values()]
        prints = {r.fingerprint for r in (*counting, *whole.values()) if r.fingerprint}
        edges: dict[str | None, list[Edge]] = {}
        for fingerprint, edge in self._edges(prints):
            edges.setdefault(fingerprint, []).append(edge)
        columns: dict[str | None, list[ColumnLineage]] = {}
        for fingerprint, column in self._columns(prints):
            columns.setdefault(fingerprint, []).append(column)
        asserted, modes = asserted_edges(stands, whole, edges, columns)
        vouched = vouched_edges(counting, asserted, options, as_of or read_at)
        nodes = recalled_nodes(counting, columns, vouched)
        lineage = Lineage(self._project_of(counting), nodes, options, modes=modes)
        return lineage, Recalled(Times(as_of, as_recorded, read_at), vouched)

    def _project_of(self, refreshes: Collection[Recorded]) -> Project:
        wanted = {(r.node, r.definition_version) for r in refreshes}
        nodes: dict[str, Node] = {}
        for row in self.query(f"select distinct {_NODE} from {self.table('lineage_nodes')}"):
            node, version, kind, relation, package, materialized, tags = row
            if (node, version) in wanted and kind != "external":
                nodes[node] = Node(
                    node,
                    node.split(".", 2)[-1].rsplit(".", 1)[-1]
                    if kind == "source"
                    else node.split(".")[2],
                    kind,
                    package,
                    "",
                    relation=_relation(relation),
                    materialized=materialized,
                    tags=tuple(json.loads(tags or "[]")),
                )
        return Project(self.project.name, self.project.adapter_type, nodes)

    def _edges(self, fingerprints: Collection[str]) -> Iterator[tuple[str, Edge]]:
        for row in self._of("lineage_edges", _EDGE, fingerprints):
            fingerprint, *ends, subtype, masking, certainty, expression, listed = row
            ops = tuple(Op(o["name"], OpKind(o["kind"])) for o in json.loads(listed or "[]"))
            from_node, from_column, from_field, to_node, to_column = ends
            edge = Edge(
                from_node,
                from_column,
                from_field,
                to_node,
                to_column,
                Subtype(subtype),
                bool(masking),
                Certainty(certainty),
                expression,
                ops,
            )
            yield fingerprint, edge

    def _columns(self, fingerprints: Collection[str]) -> Iterator[tuple[str, ColumnLineage]]:
        for fingerprint, name, ordinal, data_type, state, reason, expression in self._of(
            "lineage_columns", _COLUMN, fingerprints
        ):
            why = Reason(reason) if reason else None
            yield (
                fingerprint,
                ColumnLineage(ordinal, name, data_type, State(state), why, expression),
            )

    def _of(
        self, table: str, columns: str, fingerprints: Collection[str]
    ) -> Iterator[Sequence[Any]]:
        ordered = sorted(fingerprints)
        for start in range(0, len(ordered), _MOST_VALUES):
            # Hashes of our own: there is no quote in them.
            listed = ", ".join(f"'{f}'" for f in ordered[start : start + _MOST_VALUES])
            yield from self.query(
                f"select distinct {columns} from {self.table(table)}"
                f" where fingerprint in ({listed})"
            )


def _recorded(row: Sequence[Any]) -> Recorded:
    node, run_id, producer, refreshed_at, recorded_at, *rest = row
    return Recorded(node, run_id, producer, _naive(refreshed_at), _naive(recorded_at), *rest)


def _relation(text: str | None) -> RelationName | None:
    parts = (text or "").split(".")
    if not parts[-1]:
        return None
    padded = [None] * (3 - len(parts)) + list(parts) if len(parts) < 3 else parts[-3:]
    return RelationName(padded[0], padded[1], str(padded[2]))


def _naive(value: Any) -> datetime:
    found = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return found.replace(tzinfo=None)
