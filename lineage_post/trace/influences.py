"""The bits of a provenance as influences: which column reaches a target, and in which ways."""

from __future__ import annotations

from typing import NamedTuple

from lineage_post.trace.provenance import AGGREGATION, KINDS, bits
from lineage_post.trace.result import ColumnRef
from lineage_post.trace.sources_table import Missing, Sources, Variant

#: The kinds of one source, as bits: a mere copy, any value, anything.
COPY = 0b1
VALUE_KINDS = 0b111
ANY_KIND = (1 << KINDS) - 1


class Influence(NamedTuple):
    """One way in which a column reaches a target; ``window`` holds the bits it may stand at."""

    ref: ColumnRef
    kind: int
    is_masked: bool
    is_assumed: bool
    window: int


def ways_of(kinds: int, at: int) -> list[tuple[int, int]]:
    """The kinds of one column with the bits each stands at; of the value kinds the strongest."""
    ways = []
    value = kinds & VALUE_KINDS
    if value:
        ways.append((value.bit_length() - 1, VALUE_KINDS << at))
        kinds ^= value
    while kinds:
        kind = (kinds & -kinds).bit_length() - 1
        kinds ^= 1 << kind
        ways.append((kind, 1 << (at + kind)))
    return ways


def influences(sources: Sources, x: int) -> tuple[list[Influence], list[Missing]]:
    """What ``x`` holds; an edge is masked, or assumed, only if every path to it is."""
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
        windows[source] = windows.get(source, 0) | ANY_KIND << (i * KINDS)
    found = []
    for ref, ways in paths.items():
        window = sources.window_of(ref) if sources.has_others else windows[ref]
        values = [way for way in ways if way[0] <= AGGREGATION]
        if values:
            found.append(_united(ref, max(values)[0], values, _spread(VALUE_KINDS, window)))
        for kind in sorted({way[0] for way in ways if way[0] > AGGREGATION}):
            of_kind = [way for way in ways if way[0] == kind]
            found.append(_united(ref, kind, of_kind, _spread(1 << kind, window)))
    return found, missing


def _united(
    ref: ColumnRef, kind: int, ways: list[tuple[int, bool, bool]], window: int
) -> Influence:
    is_masked = all(masked for _, masked, _ in ways)
    is_assumed = all(assumed for _, _, assumed in ways)
    return Influence(ref, kind, is_masked, is_assumed, window)


def _spread(pattern: int, window: int) -> int:
    """The bits of a pattern within each variant of a column."""
    x = 0
    while window:
        at = ((window & -window).bit_length() - 1) // KINDS * KINDS
        x |= pattern << at
        window &= ~(ANY_KIND << at)
    return x


def whole(window: int) -> int:
    """All bits of the columns that ``window`` touches."""
    return _spread(ANY_KIND, window)
