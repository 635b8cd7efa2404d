"""What contract tests ask about, traced as it is defined now, whatever this run compiled."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineage_post.artifacts import Node
from lineage_post.artifacts.nodes import NodeReader
from lineage_post.bridge.compiling import InProcessCompiler
from lineage_post.bridge.say import dbt_flags
from lineage_post.bridge.tracing import LiveTracer
from lineage_post.bridge.warehouse import Warehouse
from lineage_post.lineage.hooks import writers_to
from lineage_post.lineage.modes import FULL_REFRESH, INCREMENTAL, has_modes, with_other_mode

if TYPE_CHECKING:
    from lineage_post.contracts.fresh import Recorded
    from lineage_post.lineage import Lineage
    from lineage_post.options import Options

_COMPILED = ("model", "snapshot")


class ContractTracer(LiveTracer):
    """Traces what contracts ask about, as the nodes are defined now."""

    def __init__(
        self, manifest: Any, warehouse: Warehouse, options: Options, target_path: Path
    ) -> None:
        super().__init__(manifest, warehouse, options, target_path)
        #: Incremental models as their first build runs them.
        self._first_builds: dict[str, Node] = {}
        self._has_hooks = False
        #: What was prepared for a set of nodes, as long as their SQL stays what it is.
        self._closures: dict[frozenset[str], frozenset[str]] = {}

    def needed(
        self, unique_id: str, arguments: Mapping[str, Any], *, patterns: bool = False
    ) -> frozenset[str]:
        """The node, the nodes that its contract names, and all they are built from. Those that
        a pattern may mean only where ``patterns`` asks for them: they may be all there are."""
        from lineage_post.contracts.reference import Names
        from lineage_post.errors import LineageError

        starts = {unique_id} & self.project.nodes.keys()
        names = Names(self.project)
        for text in _named(arguments):
            try:
                reference = names.read(text)
            except LineageError:
                continue  # The evaluation says so.
            if patterns or not reference.is_wild:
                starts |= set(reference.nodes)
        return frozenset(starts.union(*(self._ancestors(n) for n in starts)))

    def prepare(self, wanted: frozenset[str]) -> tuple[frozenset[str], int]:
        """Compiles these nodes, and what their SQL and hooks show to be part of it: tables that
        are named without a ref, nodes whose hooks write to them. All of it, and a hash of its SQL.
        """
        known = self._closures.get(wanted)
        if known is not None:
            before = self._version(known)
            self._compile(known)
            if self._version(known) == before:
                return known, before
        everything: set[str] = set()
        more = set(wanted)
        while more:
            everything |= more
            self._compile(more)
            found = self._hard_coded(everything) | set(writers_to(self.project, everything))
            more = found.union(*(self._ancestors(n) for n in found)) - everything
        self._closures[wanted] = frozenset(everything)
        return self._closures[wanted], self._version(everything)

    def _version(self, unique_ids: Collection[str]) -> int:
        return hash(tuple((n, self._code(n)) for n in sorted(unique_ids)))

    def _compile(self, unique_ids: Collection[str]) -> None:
        """Takes the SQL that this run compiled, and compiles what it did not."""
        nodes = sorted(n for n in unique_ids if self._type(n) in _COMPILED)
        flags = dbt_flags()
        is_plain = bool(getattr(flags, "EMPTY", False) or getattr(flags, "SAMPLE", None))
        if not is_plain:
            self._take_compiled(nodes)
        missing = [n for n in nodes if not self._code(n)]
        changing = [
            n for n in nodes if n not in self._first_builds and has_modes(self.project.nodes[n])
        ]
        if not missing and not changing and self._has_hooks:
            return
        compiler = InProcessCompiler(self.manifest, self.adapter.config, plain=is_plain)
        self.project = compiler.compile(self.project, missing)
        if not self._has_hooks:
            self.project, self._has_hooks = compiler.render_hooks(self.project), True
        first = compiler.compile(self.project, changing, full_refresh=True).nodes
        self._first_builds.update({n: first[n] for n in changing})

    def trace(self, wanted: frozenset[str]) -> Lineage:
        """The lineage of nodes that were prepared: of an incremental model, whose table has the
        rows of its first build too, both forms. The cache on disk is read, not written: a run with
        many tests would age what other runs need."""
        leaves = {n for n in wanted if self._type(n) == "source"} | self._not_sql(wanted)
        self.catalog.update(self._columns(leaves - self.catalog.keys(), set(wanted)))
        lineage = self._traced(wanted)
        first_builds = {
            n: node
            for n, node in self._first_builds.items()
            if n in wanted and node.compiled_code != self._code(n)
        }
        if not first_builds:
            return lineage
        now = self.project
        self.project = replace(now, nodes={**now.nodes, **first_builds})
        try:
            first = self._traced(wanted)
        finally:
            self.project = now
        return with_other_mode(lineage, first, forms=(INCREMENTAL, FULL_REFRESH))

    def _take_compiled(self, unique_ids: list[str]) -> None:
        reader = NodeReader(str(self.manifest.metadata.adapter_type), {})
        nodes = dict(self.project.nodes)
        for unique_id in unique_ids:
            live = self.manifest.nodes.get(unique_id)
            code = getattr(live, "compiled_code", None)
            if code and code != nodes[unique_id].compiled_code:
                found = reader.read(unique_id, live)
                nodes[unique_id] = replace(
                    nodes[unique_id], compiled_code=found.compiled_code, ctes=found.ctes
                )
        self.project = replace(self.project, nodes=nodes)

    def recorded(self, warehouse: Warehouse, unique_id: str, now: datetime) -> Recorded | None:
        """The last that is recorded of a node, and whether it is of the definition of now."""
        from lineage_post.contracts.fresh import Recorded
        from lineage_post.publish.definition import node_row

        found = _last_recorded(warehouse, unique_id)
        if found is None:
            return None
        version, refreshed_at, status, build_mode = found
        problem = None
        if status in ("removed", "purged"):
            problem = f"its recorded lineage was {status}"
        else:
            current = node_row(unique_id, self.project.nodes.get(unique_id)).definition_version
            if _is_other(str(version or ""), current, build_mode):
                problem = "what is recorded is of another definition: build the model again"
        return Recorded(refreshed_at, now, problem)


def _last_recorded(
    warehouse: Warehouse, unique_id: str
) -> tuple[str | None, datetime | None, str, str | None] | None:
    """Definition version, time, status and build mode of the last refresh that says anything."""
    node = warehouse.literals.text(unique_id)
    found = warehouse.query(
        "select definition_version, refreshed_at, status, build_mode from ("
        "select definition_version, refreshed_at, status, build_mode, row_number() over ("
        "order by refreshed_at desc, run_id desc) as age"
        f" from {warehouse.relations['lineage_refreshes']} where node = {node}"
        " and producer in ('execution', 'manifest')"
        " and status in ('success', 'derived', 'planned', 'removed', 'purged')"
        ") as ordered where age = 1"
    )
    row = next(found, None)
    if row is None:
        return None
    version, at, status, build_mode = row
    if at is not None and not isinstance(at, datetime):
        at = datetime.fromisoformat(str(at))
    return version, at.replace(tzinfo=None) if at else None, str(status), build_mode


def _is_other(one: str, other: str, build_mode: str | None) -> bool:
    """See the macro is_other_definition: incremental SQL differs between builds by itself."""
    parts = list(zip(one.split("."), other.split("."), strict=False))
    if len(parts) < 3:
        return True
    compared = [parts[0], parts[2]] if build_mode is not None else parts
    return any(a != b for a, b in compared)


def _named(arguments: Mapping[str, Any]) -> list[str]:
    nested = arguments.get("arguments")
    given = nested.get("columns") if isinstance(nested, Mapping) else arguments.get("columns")
    listed = [given] if isinstance(given, str) else given
    return [text for text in listed or () if isinstance(text, str)]
