"""The bits of a provenance as influences: which column reaches a target, and in which ways."""

from __future__ import annotations

from functools import lru_cache

from lineage_post.trace.provenance import AGGREGATION, KINDS, bits
from lineage_post.trace.result import ColumnRef
from lineage_post.trace.sources_table import Missing, Sources, Variant

#: (column, kind, masked on every path, assumed on every path, the bits it may stand at). A plain
#: tuple: a trace makes one for every edge.
Influence = tuple[ColumnRef, int, bool, bool, int]

_VALUE = 0b111
_ANY = (1 << KINDS) - 1


def influences(sources: Sources, x: int) -> tuple[list[Influence], list[Missing]]:
    """What ``x`` holds: the strongest value kind of each column, every other kind by itself."""
    if x & sources.others:
        return _of_variants(sources, x)
    found: list[Influence] = []
    table = sources.table
    while x:
        i = ((x & -x).bit_length() - 1) // KINDS
        at = i * KINDS
        kinds = x >> at & _ANY
        x ^= kinds << at
        ref: ColumnRef = table[i]  # type: ignore[assignment]
        for kind, pattern in _ways(kinds):
            found.append((ref, kind, False, False, pattern << at))
    return found, []


@lru_cache(maxsize=1 << KINDS)
def _ways(kinds: int) -> tuple[tuple[int, int], ...]:
    """The kinds of one column, and the bits each stands for: one value kind, all others."""
    value = kinds & _VALUE
    ways = [(value.bit_length() - 1, _VALUE)] if value else []
    return (*ways, *((k, 1 << k) for k in range(AGGREGATION + 1, KINDS) if kinds >> k & 1))


def _of_variants(sources: Sources, x: int) -> tuple[list[Influence], list[Missing]]:
    """The same where some are masked, assumed or missing."""
    missing: list[Missing] = []
    paths: dict[ColumnRef, list[tuple[int, bool, bool]]] = {}
    windows: dict[ColumnRef, int] = {}
    for i, kind in bits(x):
        source = sources.table[i]
        if isinstance(source, Missing):
            if source not in missing:
                missing.append(source)
            continue
        way = (kind, False, False)
        if isinstance(source, Variant):
            way = (kind, source.is_masked, source.is_assumed)
            source = source.ref
        paths.setdefault(source, []).append(way)
        if source not in windows:
            windows[source] = sources.window_of(source, i)
    found = []
    for ref, ways in paths.items():
        window = windows[ref]
        values = [way for way in ways if way[0] <= AGGREGATION]
        if values:
            found.append(_united(ref, max(values)[0], values, _spread(_VALUE, window)))
        for kind in sorted({way[0] for way in ways if way[0] > AGGREGATION}):
            of_kind = [way for way in ways if way[0] == kind]
            found.append(_united(ref, kind, of_kind, _spread(1 << kind, window)))
    return found, missing


def _united(
    ref: ColumnRef, kind: int, ways: list[tuple[int, bool, bool]], window: int
) -> Influence:
    """An edge is masked, or assumed, only if every path to it is."""
    is_masked = all(masked for _, masked, _ in ways)
    is_assumed = all(assumed for _, _, assumed in ways)
    return ref, kind, is_masked, is_assumed, window


def _spread(pattern: int, window: int) -> int:
    """The bits of a pattern within each variant of a column."""
    x = 0
    while window:
        at = ((window & -window).bit_length() - 1) // KINDS * KINDS
        x |= pattern << at
        window &= ~(_ANY << at)
    return x


def whole(window: int) -> int:
    """All bits of the column that ``window`` touches, in each of its variants."""
    at = (window.bit_length() - 1) // KINDS * KINDS
    if window >> at << at == window:
        return _ANY << at
    return _spread(_ANY, window)
