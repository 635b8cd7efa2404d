"""Who else vouches for the lineage: imports below ``target/`` and the run, for the explorer."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from lineage_post.errors import LineageError
from lineage_post.history.moments import is_overdue
from lineage_post.options import Options
from lineage_post.publish.claims import DIRECTORY
from lineage_post.publish.files import read_rows
from lineage_post.publish.run import Run
from lineage_post.publish.tables import EdgeRow, RefreshRow, Rows
from lineage_post.vocabulary import Status

_STANDS = frozenset({Status.SUCCESS.value, Status.DERIVED.value})


@dataclass(frozen=True, slots=True)
class ClaimedEdge:
    """An edge as a producer asserts it; ``is_stale`` where it has gone quiet: it has asserted the
    node's lineage since without this edge, or said nothing for longer than the options allow.
    ``seen`` is when it last did, as ISO date and time."""

    producer: str
    seen: str
    is_stale: bool
    from_node: str
    from_column: str
    to_node: str
    to_column: str
    subtype: str
    masking: bool = False
    has_command: bool = False


@dataclass(frozen=True, slots=True)
class Vouched:
    """That a producer asserts the lineage of a node, and when it last did."""

    producer: str
    said: str
    is_stale: bool = False


@dataclass(frozen=True, slots=True)
class Claimed:
    """The column edges of other producers, and by node who vouches for its lineage."""

    edges: tuple[ClaimedEdge, ...] = ()
    nodes: Mapping[str, tuple[Vouched, ...]] = field(default_factory=dict)

    def within(self, visible: Collection[str]) -> Claimed:
        """What is claimed between nodes that may be seen by name, and nothing of any other."""
        return Claimed(
            tuple(e for e in self.edges if e.from_node in visible and e.to_node in visible),
            {node: found for node, found in self.nodes.items() if node in visible},
        )


def imported_claims(target_path: Path, options: Options, now: datetime) -> Claimed:
    """What all imports claim, sorted. An import that cannot be read is left out."""
    edges: list[ClaimedEdge] = []
    nodes: dict[str, list[Vouched]] = defaultdict(list)
    root = target_path / DIRECTORY
    for folder in sorted(root.iterdir()) if root.is_dir() else ():
        # `lineage-post import` and the load tell what is wrong with it.
        with suppress(LineageError, OSError):
            rows = read_rows(folder)
            by_fingerprint = _by_fingerprint(rows)
            for refreshes in _by_node(rows):
                last = refreshes[-1]
                quiet = is_overdue(last.producer, last.refreshed_at, options, now)
                edges.extend(_of_node(refreshes, by_fingerprint, quiet))
                if last.status == Status.SUCCESS.value:
                    nodes[last.node].append(Vouched(last.producer, _when(last), quiet))
    return Claimed(
        tuple(sorted(edges, key=lambda c: (c.producer, c.to_node, c.to_column, c.from_node))),
        {node: tuple(found) for node, found in sorted(nodes.items())},
    )


def built_by(run: Run | None) -> dict[str, tuple[Vouched, ...]]:
    """The nodes that a run has built: what was executed vouches for itself."""
    found: dict[str, tuple[Vouched, ...]] = {}
    for unique_id, build in run.builds.items() if run is not None else ():
        if build.status is Status.SUCCESS:
            when = build.refreshed_at.isoformat(" ", timespec="minutes")
            found[unique_id] = (Vouched(str(run and run.producer), f"built {when}"),)
    return found


def _by_fingerprint(rows: Rows) -> dict[str, list[EdgeRow]]:
    found: dict[str, list[EdgeRow]] = defaultdict(list)
    for edge in rows.edges:
        found[edge.fingerprint].append(edge)
    return found


def _by_node(rows: Rows) -> Iterator[list[RefreshRow]]:
    history: dict[tuple[str, str], list[RefreshRow]] = defaultdict(list)
    for refresh in rows.refreshes:
        history[refresh.producer, refresh.node].append(refresh)
    for _, refreshes in sorted(history.items()):
        yield sorted(refreshes, key=lambda r: (r.refreshed_at, r.run_id))


def _of_node(
    refreshes: Iterable[RefreshRow], edges: Mapping[str, list[EdgeRow]], is_quiet: bool
) -> Iterator[ClaimedEdge]:
    """The edges of all refreshes of a node, each as of the last one that had it."""
    last: dict[tuple[str, ...], tuple[EdgeRow, RefreshRow]] = {}
    current: RefreshRow | None = None
    for current in refreshes:
        for edge in edges.get(current.fingerprint or "", ()):
            if edge.to_column is not None:
                key = (edge.from_node, edge.from_column, edge.to_column, edge.subtype)
                last[key] = edge, current
    is_gone = current is None or current.status not in _STANDS
    for edge, refresh in last.values():
        is_dropped = current is not None and refresh.fingerprint != current.fingerprint
        yield ClaimedEdge(
            refresh.producer,
            _when(refresh),
            is_quiet or is_gone or is_dropped,
            edge.from_node,
            edge.from_column,
            edge.to_node,
            edge.to_column or "",
            edge.subtype,
            edge.masking,
            any(op.get("kind") == "command" for op in json.loads(edge.ops or "[]")),
        )


def _when(refresh: RefreshRow) -> str:
    return refresh.refreshed_at.isoformat(" ", timespec="minutes")
