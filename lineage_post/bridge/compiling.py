"""Compiles nodes in dbt's process that this run did not compile, and leaves no trace of it."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from lineage_post.artifacts import Node, Project
from lineage_post.artifacts.nodes import NodeReader
from lineage_post.bridge.say import describe, detail
from lineage_post.lineage.hooks import writing_hooks


class InProcessCompiler:
    """Compiles copies of a live Manifest's nodes.

    ``plain`` takes off what --empty and --sample wrap around every ref.
    """

    def __init__(self, manifest: Any, config: Any, *, plain: bool) -> None:
        self.manifest = _apart(manifest)
        self.config = _without_limits(config) if plain else config
        self._reader = NodeReader(str(manifest.metadata.adapter_type), {})

    def compile(
        self, project: Project, unique_ids: Iterable[str], *, full_refresh: bool = False
    ) -> Project:
        """The project with the SQL of those of the nodes that could be compiled; with
        ``full_refresh`` that of the first build of an incremental model."""
        nodes = dict(project.nodes)
        for unique_id in unique_ids:
            found = self._compile(unique_id, full_refresh=full_refresh)
            if found is not None and found.compiled_code:
                nodes[unique_id] = replace(
                    nodes[unique_id], compiled_code=found.compiled_code, ctes=found.ctes
                )
        return replace(project, nodes=nodes)

    def render_hooks(self, project: Project) -> Project:
        """The project with the SQL of the hooks that write to relations."""
        nodes = dict(project.nodes)
        for node, hook in writing_hooks(project):
            if hook.code is None:
                found = self._compile(node.unique_id, hook.raw_code)
                done = replace(hook, code=found.compiled_code if found is not None else None)
                own = nodes[node.unique_id]
                hooks = tuple(done if h == hook else h for h in own.hooks)
                nodes[node.unique_id] = replace(own, hooks=hooks)
        return replace(project, nodes=nodes)

    def _compile(
        self, unique_id: str, raw_code: str | None = None, *, full_refresh: bool = False
    ) -> Node | None:
        """The node compiled; with ``raw_code`` that text in its place, as one of its hooks is."""
        from dbt.compilation import Compiler

        node = self.manifest.nodes.get(unique_id)
        if node is None or (raw_code is None and getattr(node, "language", "sql") != "sql"):
            return None
        fresh = _uncompiled(node)
        if raw_code is not None:
            fresh.raw_code, fresh.language = raw_code, "sql"
        if full_refresh:
            fresh.config.full_refresh = True
        try:
            done = Compiler(self.config).compile_node(fresh, self.manifest, {}, write=False)
        except Exception as error:
            detail(f"{unique_id} could not be compiled: {describe(error)}")
            return None
        return self._reader.read(unique_id, done)


def _apart(manifest: Any) -> Any:
    """A manifest with ephemeral models of its own, since compiling a reader compiles them too."""
    apart = copy.copy(manifest)
    # dbt's own way to copy a Manifest puts its lookups into each other's places.
    vars(apart).update(vars(manifest))
    apart.nodes = {
        unique_id: _uncompiled(node) if node.is_ephemeral_model else node
        for unique_id, node in manifest.nodes.items()
    }
    return apart


def _uncompiled(node: Any) -> Any:
    fresh = copy.deepcopy(node)
    fresh.compiled, fresh.compiled_code = False, None
    # A seed has no CTEs: of it this is a property that cannot be set.
    if not isinstance(getattr(type(fresh), "extra_ctes", None), property):
        fresh.extra_ctes, fresh.extra_ctes_injected = [], False
    return fresh


def _without_limits(config: Any) -> Any:
    plain = copy.copy(config)
    settings = {k: v for k, v in vars(config.args).items() if k.isidentifier()}
    settings.update(EMPTY=False, empty=False, SAMPLE=None, sample=None)
    plain.args = SimpleNamespace(**settings)
    return plain
