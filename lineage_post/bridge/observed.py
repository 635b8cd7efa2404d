"""What this dbt process saw of a run: its results, and which relations were there before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lineage_post.artifacts import Node
from lineage_post.history.inputs import FileState, files_of
from lineage_post.publish.run import BUILT_TYPES, Build, Run, git_revision, status_of, trace_id
from lineage_post.vocabulary import Status

#: Kinds whose build depends on whether their relation is there.
_GROWING = ("incremental", "snapshot")


class Existence:
    """What was there when a build began: the relation of an incremental model or snapshot, and the
    files that it reads."""

    def __init__(self, manifest: Any) -> None:
        self.manifest = manifest
        self._found: dict[str, bool] = {}
        self.files: dict[str, list[FileState]] = {}

    def look(self, unique_id: str, adapter: Any) -> None:
        """Called as a node starts, on its thread; asks dbt's cache, never the warehouse."""
        node = self.manifest.nodes.get(unique_id)
        if node is None:
            return
        self._look_at_files(node, adapter)
        if getattr(node.config, "materialized", None) not in _GROWING:
            return
        self._found[unique_id] = any(
            str(relation.identifier).casefold() == str(node.alias).casefold()
            and str(relation.type) != "view"
            for relation in adapter.cache.get_relations(node.database, node.schema)
        )

    def _look_at_files(self, node: Any, adapter: Any) -> None:
        for parent in getattr(node.depends_on, "nodes", ()):
            source = self.manifest.sources.get(parent)
            if source is None or "'" not in (source.relation_name or "") or parent in self.files:
                continue
            read = Node(parent, source.name, "source", "", "", relation_name=source.relation_name)
            self.files[parent] = files_of(read, Path(str(adapter.config.project_root)))

    def build_mode(self, node: Any, full_refresh: bool) -> str | None:
        """``first``, ``incremental``, ``full_refresh``; None where it does not apply."""
        existed = self._found.get(node.unique_id)
        if existed is None:
            return None
        if not existed:
            return "first"
        own = getattr(node.config, "full_refresh", None)
        is_full = full_refresh if own is None else bool(own)
        is_incremental = getattr(node.config, "materialized", None) == "incremental"
        return "full_refresh" if is_full and is_incremental else "incremental"


def observe(
    results: Iterable[Any], run_id: str, existence: Existence, flags: Any, project_dir: str
) -> Run:
    """The run that dbt's result objects tell of."""
    now = datetime.now(timezone.utc).replace(tzinfo=None)
    is_sample = bool(getattr(flags, "EMPTY", False)) or _is_sampled(flags)
    full_refresh = bool(getattr(flags, "FULL_REFRESH", False))
    builds: dict[str, Build] = {}
    for result in results:
        build = _build(result, now, is_sample)
        if build is not None:
            mode = existence.build_mode(result.node, full_refresh)
            builds[build.unique_id] = Build(build.unique_id, build.status, build.refreshed_at, mode)
    return Run(
        run_id=run_id,
        builds=builds,
        recorded_at=now,
        git_revision=git_revision(Path(project_dir)),
        trace_id=trace_id(run_id),
    )


def compiled_codes(results: Iterable[Any]) -> Mapping[str, str]:
    """The SQL that was executed, by unique_id."""
    codes = {}
    for result in results:
        code = getattr(getattr(result, "node", None), "compiled_code", None)
        if code:
            codes[result.node.unique_id] = code
    return codes


def _is_sampled(flags: Any) -> bool:
    return getattr(flags, "SAMPLE", None) is not None


def _build(result: Any, now: datetime, is_sample: bool) -> Build | None:
    node = getattr(result, "node", None)
    if node is None or str(node.resource_type) not in BUILT_TYPES:
        return None
    status = status_of(str(result.status))
    if status is None:
        return None
    if status is Status.SUCCESS and is_sample and str(node.resource_type) != "seed":
        status = Status.SAMPLE
    ended = [step.completed_at for step in result.timing or () if step.completed_at]
    at = max(ended) if ended else now
    return Build(node.unique_id, status, at.replace(tzinfo=None))
