"""What may carry a value without anybody knowing: everything beyond SQL that is not understood."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from lineage_post.governance.classification import Column
from lineage_post.governance.flow import value_edges
from lineage_post.impact.possible import opaque
from lineage_post.lineage import Lineage
from lineage_post.vocabulary import State


@dataclass(frozen=True, slots=True)
class Gap:
    """A node that may have the value; ``columns`` are those that may, empty if any may.

    ``because`` is the node that is not understood, ``reason`` why.
    """

    unique_id: str
    columns: tuple[str, ...]
    because: str
    reason: str


def gaps_of(lineage: Lineage, carriers: Collection[Column]) -> tuple[Gap, ...]:
    """The nodes that possibly have what ``carriers`` surely have, sorted."""
    sure = frozenset(carriers)
    found: dict[str, tuple[set[str] | None, str, str]] = {}
    queue: deque[tuple[str, str | None, str, str]] = deque()
    for node in sorted({node for node, _ in sure}):
        queue.extend(_opaque_readers(lineage, node))
    while queue:
        node, column, because, reason = queue.popleft()
        if (column is not None and (node, column) in sure) or not _is_new(found, node, column):
            continue
        names = found.setdefault(node, (set(), because, reason))[0]
        if column is None:
            found[node] = (None, *found[node][1:])
        elif names is not None:
            names.add(column)
        queue.extend((n, c, because, reason) for n, c in _beyond(lineage, node, column))
    return tuple(
        Gap(node, tuple(sorted(names or ())), because, reason)
        for node, (names, because, reason) in sorted(found.items())
    )


def _is_new(
    found: dict[str, tuple[set[str] | None, str, str]], node: str, column: str | None
) -> bool:
    if node not in found:
        return True
    names = found[node][0]
    return names is not None and column not in names


def _opaque_readers(lineage: Lineage, node: str) -> Iterator[tuple[str, str | None, str, str]]:
    """The readers of a node that are not understood, by each column of theirs that is not."""
    for reader in lineage.children.get(node, ()):
        traced = lineage.nodes.get(reader)
        reason = opaque(traced)
        if traced is None or reason is None:
            continue
        unclear = [c for c in traced.columns if c.state is not State.KNOWN]
        is_whole = traced.state is State.UNKNOWN or any(not c.is_column for c in unclear)
        columns: list[str | None] = [None] if is_whole else [c.name for c in unclear]
        for column in columns:
            yield reader, column, reader, reason


def _beyond(lineage: Lineage, node: str, column: str | None) -> Iterator[tuple[str, str | None]]:
    """Where a column's value goes on to; of a whole node, the value of any column."""
    names = lineage.graph.columns(node) if column is None else [column]
    for name in names:
        for target, edges in value_edges(lineage, (node, name)):
            if not all(edge.masking for edge in edges):
                yield target
    for reader, unclear, _, _ in _opaque_readers(lineage, node):
        yield reader, unclear
