"""The arithmetic on provenance: one bit a source and kind, changed by masks and shifts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_post.trace.errors import TooComplex
from lineage_post.trace.influences import influences
from lineage_post.trace.provenance import (
    AGGREGATION,
    CAPACITY,
    CONDITIONAL,
    FILTER,
    IDENTITY,
    KINDS,
    TRANSFORMATION,
    aggregated,
    bits,
    collapsed,
    transformed,
)
from lineage_post.trace.sources_table import Sources

ANYTHING = st.sets(
    st.tuples(st.integers(0, 40), st.integers(0, KINDS - 1)), min_size=0, max_size=30
)


def provenance(pairs: set[tuple[int, int]]) -> int:
    return sum(1 << (source * KINDS + kind) for source, kind in pairs)


@given(ANYTHING)
def test_bits_gives_back_what_was_put_in(pairs: set[tuple[int, int]]) -> None:
    assert set(bits(provenance(pairs))) == pairs


@given(ANYTHING)
def test_a_transformation_strengthens_copies_and_leaves_the_rest(
    pairs: set[tuple[int, int]],
) -> None:
    expected = {(s, TRANSFORMATION if k == IDENTITY else k) for s, k in pairs}
    assert set(bits(transformed(provenance(pairs)))) == expected


@given(ANYTHING)
def test_an_aggregate_strengthens_every_value_and_leaves_the_rest(
    pairs: set[tuple[int, int]],
) -> None:
    expected = {(s, AGGREGATION if k <= AGGREGATION else k) for s, k in pairs}
    assert set(bits(aggregated(provenance(pairs)))) == expected


@given(ANYTHING, st.sampled_from([CONDITIONAL, FILTER]))
def test_what_decides_takes_everything_it_depends_on(
    pairs: set[tuple[int, int]], kind: int
) -> None:
    assert set(bits(collapsed(provenance(pairs), kind))) == {(s, kind) for s, _ in pairs}


def test_an_edge_is_masked_only_if_every_path_to_it_is() -> None:
    sources = Sources()
    email = sources.add("people", "email")
    hashed = sources.masked(transformed(email))
    assert [i[2] for i in influences(sources, hashed)[0]] == [True]
    assert [i[2] for i in influences(sources, hashed | email)[0]] == [False]


def test_an_edge_is_assumed_only_if_every_path_to_it_is() -> None:
    sources = Sources()
    a = sources.add("t", "a")
    assert [i[3] for i in influences(sources, sources.assumed(a))[0]] == [True]
    assert [i[3] for i in influences(sources, sources.assumed(a) | transformed(a))[0]] == [False]


def test_of_several_value_kinds_the_strongest_is_the_edge() -> None:
    sources = Sources()
    a = sources.add("t", "a")
    found, _ = influences(sources, a | aggregated(a))
    assert [(ref.column, kind) for ref, kind, *_ in found] == [("a", AGGREGATION)]


def test_more_sources_than_the_masks_hold_are_too_complex() -> None:
    sources = Sources()
    for i in range(CAPACITY):
        sources.add("t", f"c{i}")
    with pytest.raises(TooComplex):
        sources.add("t", "one_more")
