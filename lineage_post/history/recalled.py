"""The lineage that stood at a time, made of recorded rows, and who vouches for each edge of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from lineage_post.history.moments import is_overdue
from lineage_post.history.replay import Recorded
from lineage_post.lineage.modes import FULL_REFRESH, INCREMENTAL
from lineage_post.lineage.record import packed_node
from lineage_post.options import Options
from lineage_post.values import ColumnLineage, Edge, NodeLineage
from lineage_post.vocabulary import EdgeType, Reason, State

#: A node and a producer.
Key: TypeAlias = "tuple[str, str]"
#: Whose details of an edge are shown: this tool's own first, then by name.
_RANKS = {"execution": "0", "manifest": "1"}


@dataclass(frozen=True, slots=True)
class Times:
    """The times that an answer is of, and when it was read; None is now. All are in UTC."""

    as_of: datetime | None
    as_recorded: datetime | None
    read_at: datetime

    def to_dict(self) -> dict[str, str | None]:
        """``as_of``, ``as_recorded`` and ``read_at``, as ISO 8601."""
        return {
            "as_of": None if self.as_of is None else f"{self.as_of.isoformat()}Z",
            "as_recorded": None if self.as_recorded is None else f"{self.as_recorded.isoformat()}Z",
            "read_at": f"{self.read_at.isoformat(timespec='seconds')}Z",
        }

    def __str__(self) -> str:
        return f"As of {self.as_of or 'now'}, as recorded by {self.as_recorded or 'now'} (UTC)."


@dataclass(frozen=True, slots=True)
class Vouched:
    """Who asserts an edge, and when one of them last did. Stale: none of them still confirms it."""

    producers: tuple[str, ...]
    confirmed_at: datetime
    is_stale: bool

    def to_dict(self) -> dict[str, Any]:
        return {
            "producers": list(self.producers),
            "confirmed_at": f"{self.confirmed_at.isoformat()}Z",
            "stale": self.is_stale,
        }


@dataclass(frozen=True, slots=True)
class Recalled:
    """``times`` of an answer and, of each edge in it, who vouches for it."""

    times: Times
    vouched: Mapping[Edge, Vouched] = field(default_factory=dict)

    def is_stale(self, edges: Collection[Edge]) -> bool:
        """Whether nobody confirms any of these edges any more."""
        return all(edge in self.vouched and self.vouched[edge].is_stale for edge in edges)


def in_order(counting: Collection[Recorded]) -> list[Recorded]:
    """The refreshes that count, those whose details go before the others first."""
    return sorted(counting, key=lambda r: _RANKS.get(r.producer, "2" + r.producer))


def vouched_edges(
    counting: Collection[Recorded],
    edges: Mapping[Key, Collection[Edge]],
    options: Options,
    now: datetime,
) -> dict[Edge, Vouched]:
    """The edges that each (node, producer) asserts, each once: what several producers assert has
    the details of the first of them and the names of all, as in the view lineage_column_edges."""
    groups: dict[tuple[Any, ...], tuple[dict[str, datetime], dict[Edge, None]]] = {}
    for refresh in in_order(counting):
        for edge in edges.get((refresh.node, refresh.producer), ()):
            seen, kept = groups.setdefault(_key(edge), ({}, {}))
            seen[refresh.producer] = refresh.refreshed_at
            if next(iter(seen)) == refresh.producer:
                kept[edge] = None
    found = {}
    for seen, kept in groups.values():
        is_stale = all(is_overdue(p, at, options, now) for p, at in seen.items())
        vouched = Vouched(tuple(sorted(seen)), max(seen.values()), is_stale)
        found.update(dict.fromkeys(kept, vouched))
    return found


def asserted_edges(
    stands: Mapping[Key, Sequence[Recorded]],
    whole: Mapping[Key, Recorded],
    edges: Mapping[str | None, Collection[Edge]],
    columns: Mapping[str | None, Collection[ColumnLineage]],
) -> tuple[dict[Key, Collection[Edge]], dict[str, dict[Edge, str]]]:
    """What each (node, producer) asserts, and which build of an incremental model alone has an
    edge; ``edges`` and ``columns`` are by fingerprint."""
    asserted: dict[Key, Collection[Edge]] = {}
    modes: dict[str, dict[Edge, str]] = {}
    for key, (last, *_) in stands.items():
        now = asserted[key] = edges.get(last.fingerprint, ())
        if key in whole:
            before, there = edges.get(whole[key].fingerprint, ()), columns.get(last.fingerprint, ())
            left = of_whole_build(now, before, there)
            asserted[key] = [*now, *left]
            alone = dict.fromkeys(of_whole_build(before, now, there), INCREMENTAL)
            modes[last.node] = {**dict.fromkeys(left, FULL_REFRESH), **alone}
    return asserted, modes


def of_whole_build(
    now: Collection[Edge], before: Iterable[Edge], columns: Iterable[ColumnLineage]
) -> list[Edge]:
    """What the build of a whole table had and the last one, which added rows to it, has not; of a
    column that is there no more no row is left."""
    there = {None, *(column.name for column in columns)}
    known = {_key(edge) for edge in now}
    return [edge for edge in before if edge.to_column in there and _key(edge) not in known]


def recalled_nodes(
    counting: Collection[Recorded],
    columns: Mapping[str | None, Collection[ColumnLineage]],
    edges: Collection[Edge],
) -> dict[str, NodeLineage]:
    """The nodes with the columns that the first of their producers knows, and all edges."""
    into: dict[str, list[Edge]] = {}
    for edge in edges:
        into.setdefault(edge.to_node, []).append(edge)
    nodes = {}
    for refresh in reversed(in_order(counting)):
        listed = columns.get(refresh.fingerprint, ())
        own = into.get(refresh.node, [])
        nodes[refresh.node] = packed_node(
            refresh.node,
            listed,
            own,
            state=_state(listed) if refresh.reason else State.KNOWN,
            reason=Reason(refresh.reason) if refresh.reason else None,
            operation="",
            inputs={edge.from_node for edge in own},
        )
    return nodes


def _key(edge: Edge) -> tuple[Any, ...]:
    kind = edge.type if edge.type is EdgeType.DIRECT else edge.subtype
    return edge.from_node, edge.from_column, edge.to_node, edge.to_column, kind


def _state(columns: Collection[ColumnLineage]) -> State:
    return State.PARTIAL if any(c.state is State.KNOWN for c in columns) else State.UNKNOWN
