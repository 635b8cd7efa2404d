"""The nodes that a node is built from and those that read it: what ``show MODEL`` says of them."""

from __future__ import annotations

from collections.abc import Mapping

from lineage_post.cli import wording
from lineage_post.cli.console import marked
from lineage_post.lineage import Lineage

#: Resources that are checks of others, not made from them.
_CHECKS = frozenset({"test", "unit_test"})
#: So many names are listed; the rest is counted.
NAMED = 12


def relatives(
    lineage: Lineage, node: str, up: int | None, down: int | None
) -> dict[str, tuple[str, ...]]:
    """The unique_ids ``upstream`` and ``downstream`` of a node, nearest first, by what dbt and the
    SQL say; ``up`` and ``down`` are steps, None without end."""
    parents = _parents(lineage)
    children: dict[str, list[str]] = {}
    for child, listed in parents.items():
        for parent in listed:
            children.setdefault(parent, []).append(child)
    return {
        "upstream": _reached(parents, node, up),
        "downstream": _reached(children, node, down),
    }


def said_of(lineage: Lineage, heading: str, found: tuple[str, ...]) -> str:
    """``read by: a, b (exposure) and 3 more``."""
    names = [
        f"[node]{marked(wording.node_name(lineage, one))}[/]{_kind(lineage, one)}"
        for one in found[:NAMED]
    ]
    more = f" [quiet]and {len(found) - NAMED} more[/]" if len(found) > NAMED else ""
    return f"[quiet]{heading}:[/] {', '.join(names)}{more}"


def _kind(lineage: Lineage, unique_id: str) -> str:
    node = lineage.project.nodes.get(unique_id)
    kind = node.resource_type if node is not None else "model"
    return "" if kind in ("model", "seed", "source") else f" [quiet]({kind.replace('_', ' ')})[/]"


def _parents(lineage: Lineage) -> dict[str, dict[str, None]]:
    found: dict[str, dict[str, None]] = {}
    for unique_id, node in lineage.project.nodes.items():
        if node.resource_type not in _CHECKS:
            found[unique_id] = dict.fromkeys(node.depends_on)
    for unique_id, traced in lineage.nodes.items():
        found.setdefault(unique_id, {}).update(dict.fromkeys(traced.inputs))
    return found


def _reached(
    steps: Mapping[str, Mapping[str, None] | list[str]], start: str, limit: int | None
) -> tuple[str, ...]:
    """Level by level, each level by name; a node that reads itself is not its own relative."""
    seen, level, distance = {start: None}, [start], 0
    while level and (limit is None or distance < limit):
        nearest = {other for one in level for other in steps.get(one, ())} - seen.keys()
        level, distance = sorted(nearest), distance + 1
        seen.update(dict.fromkeys(level))
    return tuple(seen)[1:]
