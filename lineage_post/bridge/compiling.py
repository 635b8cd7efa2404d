"""Compiles nodes in dbt's process that this run did not compile, and leaves no trace of it."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from lineage_post.bridge.say import describe, detail


class InProcessCompiler:
    """Compiles copies of a live Manifest's nodes, each at most once.

    ``plain`` takes off what --empty and --sample wrap around every ref.
    """

    def __init__(self, manifest: Any, config: Any, *, plain: bool) -> None:
        self.manifest = _apart(manifest)
        self.config = _without_limits(config) if plain else config
        self._codes: dict[str, str | None] = {}

    def compile(self, unique_ids: Iterable[str]) -> dict[str, str]:
        """The compiled SQL of those nodes that have some and could be compiled."""
        for unique_id in unique_ids:
            if unique_id not in self._codes:
                self._codes[unique_id] = self._compile(unique_id)
        return {n: code for n in unique_ids if (code := self._codes[n]) is not None}

    def _compile(self, unique_id: str) -> str | None:
        from dbt.compilation import Compiler

        node = self.manifest.nodes.get(unique_id)
        if node is None or getattr(node, "language", "sql") != "sql":
            return None
        try:
            done = Compiler(self.config).compile_node(
                _uncompiled(node), self.manifest, {}, write=False
            )
        except Exception as error:
            detail(f"{unique_id} could not be compiled: {describe(error)}")
            return None
        code = done.compiled_code
        return str(code) if code else None


def _apart(manifest: Any) -> Any:
    """A manifest with ephemeral models of its own, since compiling a reader compiles them too."""
    apart = copy.copy(manifest)
    apart.nodes = {
        unique_id: _uncompiled(node) if node.is_ephemeral_model else node
        for unique_id, node in manifest.nodes.items()
    }
    return apart


def _uncompiled(node: Any) -> Any:
    fresh = copy.deepcopy(node)
    fresh.compiled, fresh.compiled_code = False, None
    fresh.extra_ctes, fresh.extra_ctes_injected = [], False
    return fresh


def _without_limits(config: Any) -> Any:
    plain = copy.copy(config)
    settings = {k: v for k, v in vars(config.args).items() if k.isidentifier()}
    settings.update(EMPTY=False, empty=False, SAMPLE=None, sample=None)
    plain.args = SimpleNamespace(**settings)
    return plain
