"""run_results.json: what a run did to each node."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lineage_post.artifacts.access import read_json, take, text
from lineage_post.artifacts.model import NodeResult, RunResults

RUN_RESULTS_HINT = "Run dbt build, run or compile first."


def read_run_results(path: Path) -> RunResults:
    """The results of a run. Raises ArtifactError naming the file."""
    return run_results_from_dict(read_json(path, what="file of run results", hint=RUN_RESULTS_HINT))


def run_results_from_dict(document: Mapping[str, Any]) -> RunResults:
    """The results of a parsed file. Of the run's arguments only the command's name is kept."""
    metadata = document.get("metadata") or {}
    results = [_result(result) for result in document.get("results") or ()]
    return RunResults(
        invocation_id=text(take(metadata, "invocation_id")),
        generated_at=text(take(metadata, "generated_at")),
        command=text(take(document.get("args") or {}, "which")),
        results={result.unique_id: result for result in results},
    )


def _result(result: Any) -> NodeResult:
    timing = take(result, "timing") or ()
    failures = take(result, "failures")
    return NodeResult(
        unique_id=str(take(result, "unique_id")),
        status=str(text(take(result, "status"))),
        message=text(take(result, "message")),
        compiled_code=text(take(result, "compiled_code")),
        started_at=min(
            (t for t in (text(take(s, "started_at")) for s in timing) if t), default=None
        ),
        completed_at=max(
            (t for t in (text(take(s, "completed_at")) for s in timing) if t), default=None
        ),
        failures=failures if isinstance(failures, int) else None,
    )
