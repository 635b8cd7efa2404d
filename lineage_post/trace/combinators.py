"""ClickHouse's aggregates with suffixes: which of the arguments only choose.

::

    sumIf(a, b > 1)                  b decides which a are summed
    sumArgMax(a, ts)                 ts decides whose
    argMaxIf(a, ts, b > 1)           both do
    sumIfMerge(s)                    what was chosen for the state s has been chosen before

The name of the aggregate is read in any case, as ClickHouse reads those of the SQL standard; its
suffixes are not.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from lineage_post.trace.builtin_names import is_aggregate

_SUFFIXES = (
    "SimpleState", "MergeState", "OrDefault", "Resample", "Distinct", "ForEach", "OrNull",
    "ArgMax", "ArgMin", "Array", "Merge", "State", "Map", "If",
)  # fmt: skip
#: Suffixes that add an argument, behind all others, which chooses.
_CHOOSING = frozenset({"If", "ArgMax", "ArgMin", "Resample"})
_OF_KEY = frozenset({"argmax", "argmin", "argandmax", "argandmin"})


@lru_cache(maxsize=4096)
def parts_of(name: str, names: frozenset[str]) -> tuple[str, tuple[str, ...]] | None:
    """The aggregate in lower case and its suffixes, or None for a name that is no aggregate's.

    ``names`` are those in lower case that sqlglot knows, beside our own.
    """
    suffixes: list[str] = []
    while name:
        plain = name.lower()
        if plain in names or plain in _OF_KEY or (is_aggregate(plain) and not plain.endswith("if")):
            return plain, tuple(reversed(suffixes))
        suffix = next((s for s in _SUFFIXES if name.endswith(s)), None)
        if suffix is None and plain.endswith("if"):  # ``sumif``, of which all others are kept
            suffix = "If"
        if suffix is None:
            return None
        suffixes.append(suffix)
        name = name[: -len(suffix)]
    return None


@lru_cache(maxsize=8)
def aggregates_of(parser: Any) -> frozenset[str]:
    """The aggregates that the parser of a dialect knows, in lower case."""
    return frozenset(name.lower() for name in getattr(parser, "AGG_FUNCTIONS", ()))


def choosing_arguments(base: str, suffixes: tuple[str, ...]) -> int:
    """How many arguments at the end choose."""
    merged = max((i for i, s in enumerate(suffixes) if s.startswith("Merge")), default=None)
    if merged is not None:
        return sum(s in _CHOOSING for s in suffixes[merged + 1 :])
    return sum(s in _CHOOSING for s in suffixes) + (base in _OF_KEY)


def keeps_key(base: str, suffixes: tuple[str, ...]) -> bool:
    """Whether the key comes out beside the value: ``argAndMax(a, b)`` is (a, b)."""
    return base.startswith("argand") and not any(s.startswith("Merge") for s in suffixes)
