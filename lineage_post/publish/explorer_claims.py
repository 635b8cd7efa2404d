"""What other producers assert, from the imports below ``target/``, for the explorer to draw."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lineage_post.errors import LineageError
from lineage_post.publish.claims import DIRECTORY
from lineage_post.publish.files import read_rows
from lineage_post.publish.tables import EdgeRow, RefreshRow, Rows
from lineage_post.vocabulary import Status


@dataclass(frozen=True, slots=True)
class ClaimedEdge:
    """An edge as a producer asserts it; ``is_stale`` where it has asserted the node's lineage
    since, without this edge. ``seen`` is when it last did, as ISO date and time."""

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


def imported_claims(target_path: Path) -> list[ClaimedEdge]:
    """The column edges of all imports, sorted. An import that cannot be read is left out."""
    found: list[ClaimedEdge] = []
    root = target_path / DIRECTORY
    for folder in sorted(root.iterdir()) if root.is_dir() else ():
        # `lineage-post import` and the load tell what is wrong with it.
        with suppress(LineageError, OSError):
            found.extend(_claimed(read_rows(folder)))
    return sorted(found, key=lambda c: (c.producer, c.to_node, c.to_column, c.from_node, c.seen))


def _claimed(rows: Rows) -> Iterator[ClaimedEdge]:
    edges: dict[str, list[EdgeRow]] = defaultdict(list)
    for edge in rows.edges:
        edges[edge.fingerprint].append(edge)
    history: dict[tuple[str, str], list[RefreshRow]] = defaultdict(list)
    for refresh in rows.refreshes:
        history[refresh.producer, refresh.node].append(refresh)
    for refreshes in history.values():
        yield from _of_node(sorted(refreshes, key=lambda r: (r.refreshed_at, r.run_id)), edges)


def _of_node(refreshes: list[RefreshRow], edges: dict[str, list[EdgeRow]]) -> Iterator[ClaimedEdge]:
    """The edges of all refreshes of a node, each as of the last one that had it."""
    last: dict[tuple[str, ...], tuple[EdgeRow, RefreshRow]] = {}
    for refresh in refreshes:
        for edge in edges.get(refresh.fingerprint or "", ()):
            if edge.to_column is not None:
                key = (edge.from_node, edge.from_column, edge.to_column, edge.subtype)
                last[key] = edge, refresh
    current = refreshes[-1]
    is_gone = current.status not in (Status.SUCCESS.value, Status.DERIVED.value)
    for edge, refresh in last.values():
        yield ClaimedEdge(
            refresh.producer,
            refresh.refreshed_at.isoformat(timespec="minutes"),
            is_gone or refresh.fingerprint != current.fingerprint,
            edge.from_node,
            edge.from_column,
            edge.to_node,
            edge.to_column or "",
            edge.subtype,
            edge.masking,
            any(op.get("kind") == "command" for op in json.loads(edge.ops or "[]")),
        )
