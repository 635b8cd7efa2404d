"""What is known of the builds and tests of nodes: by results of runs and by the lineage tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lineage_post.artifacts import Node, NodeResult, RunResults
from lineage_post.lineage.modes import FULL_REFRESH, INCREMENTAL, compiled_mode, has_modes
from lineage_post.vocabulary import Status

#: dbt commands that build, and those that test.
_BUILDS = ("build", "run", "seed", "snapshot", "retry")
_TESTS = ("build", "test", "retry")
_SUCCESS = "success"


@dataclass(frozen=True, slots=True)
class Refresh:
    """The build that made a node's data; fields as in ``lineage_refreshes``.

    ``said_by`` is ``run_results`` or ``lineage_refreshes``; what that does not say is None.
    """

    said_by: str
    run_id: str | None
    refreshed_at: str | None
    status: str
    operation: str | None = None
    producer: str | None = None
    definition_version: str | None = None
    git_revision: str | None = None
    build_mode: str | None = None
    fingerprint: str | None = None
    inputs: tuple[Mapping[str, Any], ...] | None = None
    compiled_code: str | None = field(default=None, repr=False)

    def mode_of(self, node: Node | None) -> str | None:
        """The form of an incremental model that was built, ``incremental`` or ``full_refresh``:
        as it was recorded, or as the SQL that ran tells. None of others, and where neither does."""
        if node is None or not has_modes(node):
            return None
        if self.build_mode is not None:
            return INCREMENTAL if self.build_mode == INCREMENTAL else FULL_REFRESH
        return compiled_mode(replace(node, compiled_code=self.compiled_code))


@dataclass(frozen=True, slots=True)
class TestResult:
    """The last result of a test. Its message is left out: it may hold what no record should."""

    status: str
    failures: int | None
    run_id: str | None
    executed_at: str | None


@dataclass(frozen=True)
class Facts:
    """Results of runs, newest last, and rows of ``lineage_refreshes``: ``facts.refresh(node)``."""

    runs: tuple[RunResults, ...] = ()
    rows: tuple[Mapping[str, Any], ...] = ()

    def refresh(self, unique_id: str) -> Refresh | None:
        """The last successful build of a node; the tables say more of it than a run's results."""
        return self._recorded(unique_id) or self._observed(unique_id)

    def test(self, unique_id: str) -> TestResult | None:
        """The last result of a test."""
        for run, result in reversed(list(self._results(unique_id, _TESTS))):
            at = result.completed_at or run.generated_at
            return TestResult(result.status, result.failures, run.invocation_id, at)
        return None

    def _observed(self, unique_id: str) -> Refresh | None:
        for run, result in reversed(list(self._results(unique_id, _BUILDS))):
            if result.status == _SUCCESS:
                return Refresh(
                    "run_results",
                    run.invocation_id,
                    result.completed_at or run.generated_at,
                    result.status,
                    compiled_code=result.compiled_code,
                )
        return None

    def _recorded(self, unique_id: str) -> Refresh | None:
        current = (Status.SUCCESS.value, Status.DERIVED.value)
        rows = [r for r in self.rows if r.get("node") == unique_id and r.get("status") in current]
        if not rows:
            return None
        last = max(rows, key=lambda r: (str(r.get("refreshed_at")), str(r.get("run_id"))))
        texts = {name: _text(last.get(name)) for name in REFRESH_COLUMNS if name != "inputs"}
        del texts["node"], texts["status"]
        return Refresh(
            said_by="lineage_refreshes",
            status=str(last["status"]),
            inputs=_inputs(last.get("inputs")),
            **texts,
        )

    def _results(
        self, unique_id: str, commands: Iterable[str]
    ) -> Iterable[tuple[RunResults, NodeResult]]:
        for run in sorted(self.runs, key=lambda r: r.generated_at or ""):
            result = run.results.get(unique_id)
            if result is not None and run.command is not None and run.command in commands:
                yield run, result


#: The columns of ``lineage_refreshes`` that a record needs.
REFRESH_COLUMNS = (
    "node",
    "run_id",
    "producer",
    "refreshed_at",
    "status",
    "operation",
    "definition_version",
    "git_revision",
    "build_mode",
    "fingerprint",
    "inputs",
)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _inputs(value: Any) -> tuple[Mapping[str, Any], ...] | None:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    if not isinstance(value, list):
        return None
    names = ("node", "version", "kind")
    return tuple({n: i.get(n) for n in names} for i in value if isinstance(i, dict))
