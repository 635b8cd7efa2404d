"""Functions that engines have and sqlglot has no class for: their arguments are all they read."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=1)
def _names() -> tuple[frozenset[str], frozenset[str]]:
    text = (files("lineage_post.trace") / "builtin_names.txt").read_text(encoding="utf-8")
    scalars, _, aggregates = text.partition("\n# aggregates\n")
    lines = [line for line in scalars.split() if not line.startswith("#")]
    return frozenset(lines), frozenset(aggregates.split())


def is_builtin(name: str) -> bool:
    """Whether an engine has a function of that lower-case name."""
    return name in _names()[0] or name in _names()[1]


def is_aggregate(name: str) -> bool:
    """Whether an engine has an aggregate of that lower-case name."""
    return name in _names()[1]
