"""The order nodes are traced in: parents first, in levels whose nodes do not need each other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from lineage_post.components import components


def levels(needs: Mapping[str, Collection[str]]) -> list[list[str]]:
    """Levels of nodes, each sorted; ``needs`` says what each node reads.

    A cycle (a model that reads a table its own reader builds) is cut at the first of its nodes by
    name, so that the order is the same in every run.
    """
    waiting = {node: {n for n in read if n in needs and n != node} for node, read in needs.items()}
    readers: dict[str, list[str]] = {}
    for node, read in waiting.items():
        for parent in read:
            readers.setdefault(parent, []).append(node)
    ready = [node for node, read in waiting.items() if not read]
    found: list[list[str]] = []
    while waiting:
        level = sorted(ready or _cut(waiting))
        found.append(level)
        ready = _done(level, waiting, readers)
    return found


def _done(
    level: Iterable[str], waiting: dict[str, set[str]], readers: Mapping[str, list[str]]
) -> list[str]:
    for node in level:
        del waiting[node]
    ready = []
    for node in level:
        for reader in readers.get(node, ()):
            if reader in waiting:
                waiting[reader].discard(node)
                if not waiting[reader]:
                    ready.append(reader)
    return list(dict.fromkeys(ready))


def _cut(waiting: Mapping[str, set[str]]) -> list[str]:
    return [
        min(component)
        for component in components(waiting)
        if all(waiting[node] <= component for node in component)
    ]
