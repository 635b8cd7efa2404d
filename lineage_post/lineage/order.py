"""The order nodes are traced in: parents first, and as soon as they are done."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lineage_post.components import components


class Order:
    """Which nodes can be traced next: ``take`` them, and say of each when it is ``done``.

    ``needs`` says what each node reads. A cycle (a model that reads a table its own reader builds)
    is ``cut`` at the first of its nodes by name, so that the order is the same in every run.
    """

    def __init__(self, needs: Mapping[str, Collection[str]]) -> None:
        self._waiting = {
            node: {n for n in read if n in needs and n != node} for node, read in needs.items()
        }
        self._readers: dict[str, list[str]] = {}
        for node, read in self._waiting.items():
            for parent in read:
                self._readers.setdefault(parent, []).append(node)
        self._ready = [node for node, read in self._waiting.items() if not read]

    def take(self) -> list[str]:
        """The nodes all of whose needs are done, sorted; each is given once."""
        taken = sorted(self._ready)
        self._ready = []
        for node in taken:
            del self._waiting[node]
        return taken

    def done(self, node: str) -> None:
        """A node was traced: those that waited for it alone are ready."""
        for reader in self._readers.get(node, ()):
            needs = self._waiting.get(reader)
            if needs and node in needs:
                needs.discard(node)
                if not needs:
                    self._ready.append(reader)

    def cut(self) -> bool:
        """Makes a node of each cycle ready, when nothing else is; False when none is left."""
        self._ready = [
            min(component)
            for component in components(self._waiting)
            if all(self._waiting[node] <= component for node in component)
        ]
        return bool(self._ready)


def levels(needs: Mapping[str, Collection[str]]) -> list[list[str]]:
    """The nodes in levels, each sorted, whose nodes do not need each other."""
    order = Order(needs)
    found: list[list[str]] = []
    while level := order.take() or (order.cut() and order.take()):
        found.append(level)
        for node in level:
            order.done(node)
    return found
