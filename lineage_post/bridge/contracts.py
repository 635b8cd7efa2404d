"""Contract tests in dbt's process: traced as the project stands now, whatever this run compiled.

dbt compiles tests on several threads. One thread of our own does the tracing, on a connection of
its own, so that neither a test's transaction nor its connection is touched.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from lineage_post.bridge.contract_tracing import ContractTracer
from lineage_post.bridge.say import describe, detail, tell
from lineage_post.bridge.warehouse import Warehouse

if TYPE_CHECKING:
    from lineage_post.bridge.bridge import Bridge
    from lineage_post.contracts import Finding
    from lineage_post.contracts.fresh import Recorded
    from lineage_post.lineage import Lineage
    from lineage_post.options import Options

#: Failing rows of one test, and characters of one value; what is left out is counted.
MOST_ROWS = 100
MOST_TEXT = 2_000
#: Failing rows of one test that are told in dbt's log.
MOST_TOLD = 5
_LOCK = threading.Lock()
_THREAD = "lineage_post_contracts"


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


def tell_findings(rows: Sequence[Mapping[str, str]], file: str) -> None:
    """``masked_from of mailing.email: stg_users.email (tag pii) reaches it unmasked: path``."""
    for row in rows[:MOST_TOLD]:
        node = row["unique_id"].split(".", 2)[-1]
        name = f"{node}.{row['column_name']}" if row["column_name"] else node
        path = f": {row['path']}" if row["path"] else ""
        told = f"{row['contract']} of {name}: {row['because']}{path} ({file})"
        # Names come from data: none of them must move the reader's cursor.
        tell("".join(char if char.isprintable() else "\ufffd" for char in told))
    if rows[MOST_TOLD:]:
        tell(f"and {len(rows) - MOST_TOLD} more; lineage-post check lists them all ({file})")


class ContractBook:
    """Answers the contract tests of one dbt command."""

    def __init__(self, bridge: Bridge, settings: Mapping[str, Any], timestamp_type: str) -> None:
        self.bridge = bridge
        self.settings = settings
        self.timestamp_type = timestamp_type
        self._tracer: ContractTracer | None = None
        self._traced: dict[frozenset[str], tuple[int, Lineage]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=_THREAD)

    def ask(self, kind: str, unique_id: str, arguments: dict[str, Any]) -> list[dict[str, str]]:
        """The failing rows, from the one thread that traces; dbt's context goes with it.

        That thread itself asks when it compiles the view of violations, of which only the columns
        matter to it: it would wait for itself.
        """
        if threading.current_thread().name.startswith(_THREAD):
            return []
        context = contextvars.copy_context()
        return self._thread.submit(context.run, self._ask, kind, unique_id, arguments).result()

    def _ask(self, kind: str, unique_id: str, arguments: dict[str, Any]) -> list[dict[str, str]]:
        from lineage_post.contracts import Proof

        with self.bridge.adapter.connection_named(_THREAD):
            wanted = self.tracer.needed(unique_id, arguments)
            found = self._findings(wanted, kind, unique_id, arguments)
            if any(finding.proof is Proof.UNCHECKED for finding in found):
                # Of the nodes of a pattern none that is upstream may have the column it names.
                everything = self.tracer.needed(unique_id, arguments, patterns=True)
                if everything != wanted:
                    found = self._findings(everything, kind, unique_id, arguments)
            return [finding.row() for finding in found]

    def _findings(
        self, nodes: frozenset[str], kind: str, unique_id: str, arguments: dict[str, Any]
    ) -> tuple[Finding, ...]:
        from lineage_post.contracts import Evaluator

        evaluator = Evaluator(self._lineage(nodes), self._recorded)
        return evaluator.findings(kind, unique_id, arguments)

    @property
    def tracer(self) -> ContractTracer:
        """Made on our own thread, where the warehouse may be asked."""
        if self._tracer is None:
            from lineage_post.options import options_in_dbt

            options: Options = options_in_dbt(self.settings)
            bridge = self.bridge
            warehouse = Warehouse(bridge.adapter, bridge.manifest, self.timestamp_type)
            self._tracer = ContractTracer(bridge.manifest, warehouse, options, bridge.target_path)
        return self._tracer

    def _lineage(self, wanted: frozenset[str]) -> Lineage:
        """The lineage of these nodes, traced anew where one of them was compiled since."""
        everything, version = self.tracer.prepare(wanted)
        known = self._traced.get(everything)
        if known is None or known[0] != version:
            known = (version, self.tracer.trace(everything))
            self._traced[everything] = known
        return known[1]

    def _recorded(self, unique_id: str) -> Recorded | None:
        from lineage_post.contracts.fresh import Recorded

        warehouse = Warehouse(self.bridge.adapter, self.bridge.manifest, self.timestamp_type)
        now = datetime.now(timezone.utc).replace(tzinfo=None)
        if unique_id in self.bridge.started:
            return Recorded(now, now, self._why_not_recorded(warehouse))
        if warehouse.disabled or warehouse.missing:
            names = ", ".join(warehouse.disabled or warehouse.missing)
            return Recorded(None, now, f"no lineage is recorded: there is no table {names}")
        return self.tracer.recorded(warehouse, unique_id, now)

    def _why_not_recorded(self, warehouse: Warehouse) -> str | None:
        """Why the hook will not record what this run built, None where it will."""
        nodes = self.bridge.manifest.nodes.values()
        hooks = (n for n in nodes if str(n.resource_type) == "operation")
        if not any("lineage_post.publish" in (n.raw_code or "") for n in hooks):
            return 'no hook records it: add on-run-end: "{{ lineage_post.publish(results) }}"'
        if not self.tracer.options.enabled:
            return "no lineage is recorded: the option enabled is false"
        if warehouse.disabled:
            return f"no lineage is recorded: {', '.join(warehouse.disabled)} are disabled"
        missing = [f"model.lineage_post.{table}" for table in warehouse.missing]
        if missing and not set(missing) <= _selected():
            return "no lineage is recorded: run dbt run --select package:lineage_post once"
        return None


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
