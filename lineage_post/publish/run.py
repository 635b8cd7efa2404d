"""What a run did: the facts that refreshes are made of, whoever observed them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from lineage_post.artifacts import Project, RunResults
from lineage_post.history.claims import InputVersion
from lineage_post.vocabulary import Producer, Status

#: Resource types that a run builds; every other node is recorded with its readers.
BUILT_TYPES = frozenset({"model", "snapshot", "seed"})
_STATUSES = {
    "success": Status.SUCCESS,
    "partial success": Status.ERROR,
    "error": Status.ERROR,
    "runtime error": Status.ERROR,
    "fail": Status.ERROR,
    "skipped": Status.SKIPPED,
}
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


@dataclass(frozen=True, slots=True)
class Build:
    """One attempt to build one node. ``refreshed_at`` is in UTC, without a zone."""

    unique_id: str
    status: Status
    refreshed_at: datetime
    build_mode: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One invocation and the nodes it built; ``recorded_at`` None: when the rows are loaded.

    ``input_versions`` are the versions of inputs, by node, that were seen beside dbt's own runs.
    """

    run_id: str
    builds: Mapping[str, Build]
    producer: Producer = Producer.EXECUTION
    recorded_at: datetime | None = None
    git_revision: str | None = None
    trace_id: str | None = None
    input_versions: Mapping[str, tuple[InputVersion, ...]] = field(default_factory=dict)


def status_of(dbt_status: str) -> Status | None:
    """The status of a refresh for one of dbt's; None where nothing was attempted."""
    return _STATUSES.get(dbt_status.lower())


def run_from_results(
    results: RunResults, project: Project, *, project_dir: Path | None = None
) -> Run | None:
    """The run of a results file, or None where it is not of this manifest or built nothing."""
    if not results.invocation_id or results.invocation_id != project.invocation_id:
        return None
    if results.command not in ("run", "build", "seed", "snapshot"):
        return None
    finished = time_of(results.generated_at)
    builds = {}
    for result in results.results.values():
        status = status_of(result.status)
        node = project.nodes.get(result.unique_id)
        if status is not None and node is not None and node.resource_type in BUILT_TYPES:
            at = time_of(result.completed_at) if result.completed_at else finished
            builds[result.unique_id] = Build(result.unique_id, status, at)
    return Run(
        run_id=results.invocation_id,
        builds=builds,
        git_revision=git_revision(project_dir) if project_dir else None,
        trace_id=trace_id(results.invocation_id),
    )


def planned_run(project: Project, nodes: Iterable[str]) -> Run:
    """The run that stands for SQL which was compiled and not run: every node is planned."""
    run_id = project.invocation_id or "unknown"
    at = time_of(project.generated_at)
    builds = {unique_id: Build(unique_id, Status.PLANNED, at) for unique_id in sorted(nodes)}
    return Run(run_id, builds, Producer.MANIFEST, trace_id=trace_id(run_id))


def trace_id(run_id: str) -> str:
    """The trace id of ``TRACEPARENT`` (W3C Trace Context), else the run id in its form."""
    found = _TRACEPARENT.fullmatch(os.environ.get("TRACEPARENT", "").strip())
    return found[1] if found else run_id.replace("-", "")


def git_revision(directory: Path) -> str | None:
    """The commit checked out around a directory, read from ``.git`` without running git."""
    try:
        for parent in (directory.resolve(), *directory.resolve().parents):
            if (parent / ".git").exists():
                return _head(parent / ".git")
    except OSError:
        pass
    return None


def _head(git: Path) -> str | None:
    if git.is_file():  # a work tree: "gitdir: <path>"
        git = git.parent / git.read_text("utf-8").partition("gitdir:")[2].strip()
    head = (git / "HEAD").read_text("utf-8").strip()
    if not head.startswith("ref:"):
        return head if _COMMIT.fullmatch(head) else None
    name = head[4:].strip()
    common = git / "commondir"
    roots = [git, git / common.read_text("utf-8").strip()] if common.exists() else [git]
    for root in roots:
        if (root / name).is_file():
            return (root / name).read_text("utf-8").strip() or None
        for line in _lines(root / "packed-refs"):
            if line.endswith(f" {name}"):
                return line.split(" ", 1)[0]
    return None


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.is_file() else []


def time_of(value: str | None) -> datetime:
    """A time of an artifact in UTC, without a zone; the epoch where there is none."""
    try:
        found = datetime.fromisoformat((value or "").replace("Z", "+00:00"))
    except ValueError:
        return datetime(1970, 1, 1)
    return found.astimezone(timezone.utc).replace(tzinfo=None) if found.tzinfo else found
