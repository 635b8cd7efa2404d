"""Which recorded refreshes count at a time, and how a column's derivation changed."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from lineage_post.cli.history import _named as named
from lineage_post.cli.recorded import before_all
from lineage_post.errors import LineageError, OptionError
from lineage_post.history.claims import Claims, require_producer
from lineage_post.history.moments import moment, span
from lineage_post.history.recalled import of_whole_build, vouched_edges
from lineage_post.history.replay import (
    Derivation,
    Recorded,
    changes,
    current,
    standing,
    whole_builds,
)
from lineage_post.options import Options
from lineage_post.values import ColumnLineage, Edge
from lineage_post.vocabulary import State, Subtype

START = datetime(2026, 1, 1)
NODE = "model.shop.m"


def at(day: float) -> datetime:
    return START + timedelta(days=day)


def recorded(day: float, fingerprint: str | None = None, **changed: object) -> Recorded:
    values: dict[str, object] = {
        "node": NODE,
        "run_id": f"r{day}",
        "producer": "execution",
        "refreshed_at": at(day),
        "recorded_at": at(day),
        "status": "success",
        "reason": None,
        "fingerprint": fingerprint,
        "definition_version": f"{fingerprint}.c.s",
    }
    return Recorded(**{**values, **changed})  # type: ignore[arg-type]


TIMELINE = [
    recorded(0, "a"),
    recorded(1, "b"),
    recorded(2, status="error"),
    recorded(3, "c", reason="internal_error"),
    recorded(4, "logs", producer="logs", refreshed_at=at(0.5), recorded_at=at(4)),
    recorded(5, status="purged", producer="logs"),
    recorded(6, "logs", producer="logs", refreshed_at=at(0.5), recorded_at=at(6)),
    recorded(7, status="removed"),
    recorded(8, "d"),
]


@pytest.mark.parametrize(
    ("as_of", "as_recorded", "found"),
    [
        (0, None, {"a"}),
        (0.5, None, {"a", "logs"}),
        (0.5, 3, {"a"}),
        (1, 3, {"b"}),
        (3, 3, {"b"}),
        (5, 5, {"b"}),
        (5, 4.5, {"b", "logs"}),
        (6, None, {"b", "logs"}),
        (7, None, set()),
        (None, None, {"d"}),
        (-1, None, set()),
    ],
)
def test_what_counts_at_a_time_as_recorded_by_a_time(
    as_of: float | None, as_recorded: float | None, found: set[str]
) -> None:
    counting = current(
        TIMELINE,
        None if as_of is None else at(as_of),
        None if as_recorded is None else at(as_recorded),
    )
    assert {refresh.fingerprint for refresh in counting.values()} == found


DERIVATIONS: dict[str, dict[str | None, Derivation]] = {
    "a": {"x": Derivation(("s.x",), "x")},
    "b": {"x": Derivation(("s.x",), "x + 1"), "y": Derivation(("s.y",), "y")},
    "d": {"x": Derivation(("s.z",), "z")},
}


def test_changes_tell_edits_and_breaks_of_each_column() -> None:
    ours = [refresh for refresh in TIMELINE if refresh.producer == "execution"]
    told = [(c.column, c.kind, c.refresh.run_id) for c in changes(NODE, ours, DERIVATIONS)]
    assert told == [
        ("x", "first", "r0"),
        ("x", "changed", "r1"),
        ("y", "added", "r1"),
        ("x", "break", "r8"),
        ("y", "break", "r8"),
    ]


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("fct_ordrs", "Did you mean fct_orders?"),
        ("fct_ordrs.revenue", "Did you mean fct_orders?"),
        ("nope", "dbt build records it; history goes no further."),
    ],
)
def test_a_name_that_nothing_is_recorded_of_is_answered_with_near_ones(
    target: str, hint: str
) -> None:
    refreshes = [recorded(1, "a", node="model.shop.fct_orders"), recorded(1, "b")]
    with pytest.raises(LineageError) as refused:
        named(target, refreshes)
    assert (refused.value.message, refused.value.hint) == (
        f"Nothing is recorded of {target!r}",
        hint,
    )


@pytest.mark.parametrize("column", ["total", "Net.Amount", '"Net.Amount"', '"First Name"'])
def test_a_column_may_have_dots_and_quotes(column: str) -> None:
    refreshes = [recorded(1, "a", node="model.shop.fct_orders"), recorded(1, "b")]
    expected = ("model.shop.fct_orders", column.strip('"'))
    for node in ("fct_orders", "shop.fct_orders", "model.shop.fct_orders"):
        assert named(f"{node}.{column}", refreshes) == expected


@pytest.mark.parametrize(
    ("as_of", "as_recorded", "said", "starts"),
    [
        (-1, None, "There is no build as early as 2025-12-31", "2026-01-01"),
        (None, 0, "Nothing had been recorded by 2026-01-01", "2026-01-03"),
        (5, 5, "No build stands at that time", "2026-01-01"),
    ],
)
def test_a_time_before_the_first_run_is_answered_with_when_history_starts(
    as_of: float | None, as_recorded: float | None, said: str, starts: str
) -> None:
    refreshes = [recorded(0, "a", recorded_at=at(2)), recorded(3, "b")]
    times = [None if t is None else at(t) for t in (as_of, as_recorded)]
    told = before_all(refreshes, *times)
    assert said in told.message and f"History starts at {starts}" in (told.hint or "")
    assert "dbt build" in (before_all([], *times).hint or "")


def test_a_renamed_node_goes_on_with_its_history() -> None:
    old, new = "model.shop.old", "model.shop.new"
    listed = [
        recorded(0, "a", node=old),
        recorded(1, "b", node=new),
        recorded(1.5, status="removed", node=old),
        recorded(2, "d", node=old),
    ]
    told = changes(new, listed, DERIVATIONS, [(old, new)])
    assert [(c.column, c.kind) for c in told] == [("x", "first"), ("x", "changed"), ("y", "added")]
    # What is made under the old name since then is another node's history.
    assert [c.kind for c in changes(old, listed, DERIVATIONS, [(old, new)])] == ["first"]


def test_rows_of_the_whole_build_stand_beside_those_that_were_added() -> None:
    listed = [
        recorded(0, "old", build_mode="first"),
        recorded(1, "whole", build_mode="full_refresh"),
        recorded(2, "added", build_mode="incremental"),
        recorded(3, "later", build_mode="incremental"),
        recorded(4, "other", producer="logs"),
    ]
    whole = whole_builds(standing(listed))
    assert {key: r.fingerprint for key, r in whole.items()} == {(NODE, "execution"): "whole"}
    assert whole_builds(standing(listed, at(1))) == {}
    by, kept, gone = (
        Edge("model.shop.a", "x", None, NODE, column, Subtype.IDENTITY) for column in "xyz"
    )
    columns = [ColumnLineage(1, name, None, State.KNOWN, None) for name in "xy"]
    assert of_whole_build([by], [by, kept, gone], columns) == [kept]


def test_an_edge_is_stale_when_none_of_its_producers_confirms_it_any_more() -> None:
    column = ("model.shop.a", "x", None, "model.shop.b", "x")
    copied, computed = Edge(*column, Subtype.IDENTITY), Edge(*column, Subtype.TRANSFORMATION)
    other = Edge("model.shop.a", "y", None, "model.shop.b", "y", Subtype.IDENTITY)
    counting = [
        recorded(0, "ours", producer="execution", node="model.shop.b"),
        recorded(50, "logged", producer="logs", node="model.shop.b"),
    ]
    node = "model.shop.b"
    edges = {(node, "execution"): [copied, other], (node, "logs"): [computed]}
    options = Options(stale_after_days={"default": 30, "logs": 60})
    found = vouched_edges(counting, edges, options, at(100))
    # This tool's details go before those of the logs, which confirm the column all the same.
    assert {e: v.producers for e, v in found.items()} == {
        copied: ("execution", "logs"),
        other: ("execution",),
    }
    assert [found[copied].is_stale, found[other].is_stale] == [False, True]
    late = vouched_edges(counting, edges, options, at(111))
    assert late[copied].is_stale
    assert not vouched_edges(counting, edges, Options(), at(9999))[other].is_stale


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-03-31", datetime(2026, 3, 31, 23, 59, 59, 999_999)),
        ("2026-03-31T18:00:00+02:00", datetime(2026, 3, 31, 16)),
        ("2026-03-31 18:00:00", datetime(2026, 3, 31, 18)),
        ("2026-03-31T18:00:00Z", datetime(2026, 3, 31, 18)),
    ],
)
def test_a_time_is_in_utc_and_a_date_is_its_end(text: str, time: datetime) -> None:
    assert moment(text, "--as-of") == time
    assert span(f"2026-01-01..{text}", "--as-of")[1] == time


def test_what_is_no_time_is_named_with_its_flag() -> None:
    with pytest.raises(OptionError, match="--as-of is 'soon'"):
        moment("soon", "--as-of")


def test_a_span_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(OptionError, match="the second time is before the first"):
        span("2026-03-02..2026-03-01", "--as-of")
    assert span("2026-03-01..", "--as-of")[1] is None


@pytest.mark.parametrize("name", ["execution", "manifest", "", "No", "a b", "x'y"])
def test_an_importer_cannot_speak_for_us_nor_bear_any_name(name: str) -> None:
    with pytest.raises(LineageError):
        Claims(name)
    assert require_producer("warehouse_logs") == "warehouse_logs"
