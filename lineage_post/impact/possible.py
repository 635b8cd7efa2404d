"""What may be affected: everything beyond a node of which it is not known what it reads."""

from __future__ import annotations

from collections import deque

from lineage_post.impact.change import BREAKS, BreaksOn, Possible
from lineage_post.impact.walk import BY_NAME, Walk, display_name
from lineage_post.lineage import Lineage, NodeLineage
from lineage_post.vocabulary import Reason, State


def possible_of(walk: Walk) -> tuple[Possible, ...]:
    """The nodes and consumers that are possibly affected, sorted; none that surely is."""
    lineage = walk.lineage
    affected = walk.affected()
    surely = {unique_id for unique_id, _, _ in walk.entries}
    found: dict[str, tuple[str, str, tuple[BreaksOn, ...]]] = {}
    queue: deque[tuple[str, str, str, tuple[BreaksOn, ...]]] = deque()
    for node, is_named in sorted(affected.items()):
        breaks: tuple[BreaksOn, ...] = BY_NAME if is_named else (BreaksOn.REMOVE,)
        for reader in sorted(lineage.graph.readers(node)):
            reason = opaque(lineage.nodes.get(reader))
            if reason is not None:
                queue.append((reader, reader, reason, breaks))
    done: dict[str, set[BreaksOn]] = {}
    while queue:
        node, because, reason, breaks = queue.popleft()
        if set(breaks) <= done.setdefault(node, set()):
            continue
        done[node] |= set(breaks)
        if node not in surely:
            first = found.get(node, (because, reason, ()))
            both = tuple(b for b in BREAKS if b in {*first[2], *breaks})
            found[node] = (first[0], first[1], both)
        for child in _beyond(lineage, node, is_partial=node in surely):
            queue.append((child, because, reason, breaks))
    return tuple(_possible(lineage, unique_id, *found[unique_id]) for unique_id in sorted(found))


def opaque(node: NodeLineage | None) -> str | None:
    """The reason that something a node reads is not known, None where all of it is."""
    if node is None:
        return None
    if node.state is State.UNKNOWN:
        return str(node.reason or Reason.INTERNAL_ERROR)
    for column in node.columns:
        # A column that only the table still has reads nothing.
        if column.state is not State.KNOWN and column.reason is not Reason.NOT_IN_SQL:
            return str(column.reason or column.state)
    return None


def _beyond(lineage: Lineage, node: str, *, is_partial: bool) -> list[str]:
    """What depends on a node; where some of its columns are known, on the others only."""
    children = list(lineage.children.get(node, ()))
    traced = lineage.nodes.get(node)
    if traced is None or not is_partial or traced.state is State.UNKNOWN:
        return children
    unclear = {c.name for c in traced.columns if c.state is not State.KNOWN and c.name}
    if "*" in unclear or any(c.name is None for c in traced.columns):
        return children
    reading = {e.to_node for name in unclear for e in lineage.graph.edges_out_of(node, name)}
    return [child for child in children if child in reading]


def _possible(
    lineage: Lineage, unique_id: str, because: str, reason: str, breaks: tuple[BreaksOn, ...]
) -> Possible:
    node = lineage.project.nodes.get(unique_id)
    kind = node.resource_type if node is not None else "external"
    name = display_name(lineage, unique_id)
    return Possible(unique_id, kind, name, because, reason, breaks, node.path if node else "")
