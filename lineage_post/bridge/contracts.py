"""Contract tests in dbt's process: traced as the project stands now, whatever this run compiled.

dbt compiles tests on several threads. One thread of our own does the tracing, on a connection of
its own, so that neither a test's transaction nor its connection is touched.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from lineage_post.artifacts.nodes import NodeReader
from lineage_post.bridge.compiling import InProcessCompiler
from lineage_post.bridge.say import dbt_flags, describe, detail
from lineage_post.bridge.tracing import LiveTracer
from lineage_post.bridge.warehouse import Warehouse

if TYPE_CHECKING:
    from lineage_post.bridge.bridge import Bridge
    from lineage_post.contracts.fresh import Recorded
    from lineage_post.lineage import Lineage
    from lineage_post.options import Options

#: Failing rows of one test, and characters of one value; what is left out is counted.
MOST_ROWS = 100
MOST_TEXT = 2_000
_COMPILED = ("model", "snapshot")
_LOCK = threading.Lock()


def rows(
    bridge: Bridge,
    kind: str,
    unique_id: str,
    arguments: Mapping[str, Any],
    settings: Mapping[str, Any],
    timestamp_type: str,
) -> list[dict[str, str]]:
    """The failing rows of one contract test; none where it holds. Never raises."""
    try:
        with _LOCK:
            if bridge.contracts is None:
                bridge.contracts = ContractBook(bridge, settings, timestamp_type)
        found = bridge.contracts.ask(kind, unique_id, dict(arguments))
    except Exception as error:
        import traceback

        detail("".join(traceback.format_exception(error)))
        because = f"it could not be checked: {describe(error)}"
        found = [_row(kind, unique_id, because)]
    return [{name: _plain(value) for name, value in row.items()} for row in _cut(found)]


class ContractBook:
    """Answers the contract tests of one dbt command."""

    def __init__(self, bridge: Bridge, settings: Mapping[str, Any], timestamp_type: str) -> None:
        self.bridge = bridge
        self.settings = settings
        self.timestamp_type = timestamp_type
        self._tracer: ContractTracer | None = None
        self._traced: dict[frozenset[str], tuple[int, Lineage]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="lineage_post")

    def ask(self, kind: str, unique_id: str, arguments: dict[str, Any]) -> list[dict[str, str]]:
        """The failing rows, from the one thread that traces; dbt's context goes with it."""
        context = contextvars.copy_context()
        return self._thread.submit(context.run, self._ask, kind, unique_id, arguments).result()

    def _ask(self, kind: str, unique_id: str, arguments: dict[str, Any]) -> list[dict[str, str]]:
        from lineage_post.contracts import Evaluator

        with self.bridge.adapter.connection_named("lineage_post_contracts"):
            tracer = self.tracer
            lineage = self._lineage(tracer.needed(unique_id, arguments))
            evaluator = Evaluator(lineage, lambda node: self._recorded(tracer, node))
            return [f.row() for f in evaluator.findings(kind, unique_id, arguments)]

    @property
    def tracer(self) -> ContractTracer:
        """Made on our own thread, where the warehouse may be asked."""
        if self._tracer is None:
            from lineage_post.options import options_from_mapping

            options: Options = options_from_mapping(self.settings, where="the var lineage_post")
            bridge = self.bridge
            warehouse = Warehouse(bridge.adapter, bridge.manifest, self.timestamp_type)
            self._tracer = ContractTracer(bridge.manifest, warehouse, options, bridge.target_path)
        return self._tracer

    def _lineage(self, wanted: frozenset[str]) -> Lineage:
        """The lineage of these nodes, traced anew where one of them was compiled since."""
        version = self.tracer.compile(wanted)
        known = self._traced.get(wanted)
        if known is None or known[0] != version:
            known = (version, self.tracer.trace(wanted))
            self._traced[wanted] = known
        return known[1]

    def _recorded(self, tracer: ContractTracer, unique_id: str) -> Recorded | None:
        from lineage_post.contracts.fresh import Recorded

        warehouse = Warehouse(self.bridge.adapter, self.bridge.manifest, self.timestamp_type)
        now = datetime.now(timezone.utc).replace(tzinfo=None)
        if unique_id in self.bridge.started:
            return Recorded(now, now, self._why_not_recorded(tracer, warehouse))
        if warehouse.disabled or warehouse.missing:
            names = ", ".join(warehouse.disabled or warehouse.missing)
            return Recorded(None, now, f"no lineage is recorded: there is no table {names}")
        return tracer.recorded(warehouse, unique_id, now)

    def _why_not_recorded(self, tracer: ContractTracer, warehouse: Warehouse) -> str | None:
        """Why the hook will not record what this run built, None where it will."""
        nodes = self.bridge.manifest.nodes.values()
        hooks = (n for n in nodes if str(n.resource_type) == "operation")
        if not any("lineage_post.publish" in (n.raw_code or "") for n in hooks):
            return 'no hook records it: add on-run-end: "{{ lineage_post.publish(results) }}"'
        if not tracer.options.enabled:
            return "no lineage is recorded: the option enabled is false"
        if warehouse.disabled:
            return f"no lineage is recorded: {', '.join(warehouse.disabled)} are disabled"
        missing = [f"model.lineage_post.{table}" for table in warehouse.missing]
        if missing and not set(missing) <= _selected():
            return "no lineage is recorded: run dbt run --select package:lineage_post once"
        return None


class ContractTracer(LiveTracer):
    """Traces what contracts ask about, as the nodes are defined now."""

    def needed(self, unique_id: str, arguments: Mapping[str, Any]) -> frozenset[str]:
        """The node, the nodes that its contract names, and all they are built from."""
        from lineage_post.contracts.reference import Names
        from lineage_post.errors import LineageError

        starts = {unique_id} & self.project.nodes.keys()
        names = Names(self.project)
        for text in _named(arguments):
            try:
                reference = names.read(text)
            except LineageError:
                continue  # The evaluation says so.
            starts |= set() if reference.is_wild else set(reference.nodes)
        return frozenset(starts.union(*(self._ancestors(n) for n in starts)))

    def compile(self, wanted: frozenset[str]) -> int:
        """Takes the SQL that this run compiled, compiles what it did not; a hash of all of it."""
        nodes = [n for n in sorted(wanted) if self._type(n) in _COMPILED]
        is_plain = bool(
            getattr(dbt_flags(), "EMPTY", False) or getattr(dbt_flags(), "SAMPLE", None)
        )
        if not is_plain:
            self._take_compiled(nodes)
        missing = [n for n in nodes if not self._code(n)]
        if missing:
            compiler = InProcessCompiler(self.manifest, self.adapter.config, plain=is_plain)
            self.project = compiler.compile(self.project, missing)
        return hash(tuple(self._code(n) for n in nodes))

    def trace(self, wanted: frozenset[str]) -> Lineage:
        """The lineage of nodes that were compiled. The cache on disk is read, not written: a run
        with many tests would age what other runs need."""
        leaves = {n for n in wanted if self._type(n) == "source"} | self._not_sql(wanted)
        self.catalog.update(self._columns(leaves - self.catalog.keys(), set(wanted)))
        return self._traced(wanted)

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


def _selected() -> set[str]:
    from dbt import selected_resources

    return set(selected_resources.SELECTED_RESOURCES)


def _row(kind: str, unique_id: str, because: str) -> dict[str, str]:
    return {
        "contract": kind,
        "unique_id": unique_id,
        "column_name": "",
        "path": "",
        "because": because,
    }


def _cut(found: list[dict[str, str]]) -> list[dict[str, str]]:
    if len(found) <= MOST_ROWS:
        return found
    more = f"and {len(found) - MOST_ROWS} more; lineage-post check lists them all"
    return [*found[:MOST_ROWS], {**found[0], "column_name": "", "path": "", "because": more}]


def _plain(text: str) -> str:
    """One line that every warehouse can hold as a literal."""
    line = " ".join(text.replace("\0", "\ufffd").split())
    line = line.encode("utf-8", "replace").decode("utf-8")
    return line if len(line) <= MOST_TEXT else line[: MOST_TEXT - 1] + "…"
