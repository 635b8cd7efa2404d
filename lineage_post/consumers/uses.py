"""All places that store a column's name, by the column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lineage_post.artifacts import Node
from lineage_post.consumers.own import own_uses
from lineage_post.consumers.semantic import semantic_uses
from lineage_post.consumers.tested import data_test_uses, unit_test_uses
from lineage_post.consumers.use import Use
from lineage_post.graph import Column
from lineage_post.lineage import Lineage


class Uses:
    """``Uses(lineage).of(node, column)``: who stores the column's name, in a stable order.

    A word counts as a column only if the node has a column of this name. Exposures are not among
    them: they are nodes of the lineage, like whatever reads columns by SQL.
    """

    def __init__(self, lineage: Lineage) -> None:
        self._lineage = lineage
        self._named: dict[str, list[Use]] = {}
        self._found: dict[str, dict[str, list[Use]]] = {}
        self._tests: dict[str, list[Node]] = {}
        for use in self._all():
            self._named.setdefault(use.node, []).append(use)

    def of(self, node: str, column: str) -> list[Use]:
        return self._of_node(node).get(column, [])

    def singular_tests(self, node: str) -> list[Node]:
        """Data tests that read the node and whose SQL alone says what of it."""
        return self._tests.get(node, [])

    def columns(self) -> Iterable[Column]:
        """The columns whose names are stored anywhere but in a mere description."""
        return [
            (node, column)
            for node in self._named
            for column, uses in self._of_node(node).items()
            if any(not use.is_text for use in uses)
        ]

    def _of_node(self, node: str) -> dict[str, list[Use]]:
        """The uses of each column of a node, found when they are first asked for."""
        if node not in self._found:
            columns = self._lineage.graph.columns(node) if node in self._lineage.nodes else ()
            names = {name.casefold(): name for name in columns}
            found: dict[str, dict[Use, None]] = {}
            for use in self._named.get(node, ()):
                column = names.get(use.column.casefold())
                if column is not None:
                    found.setdefault(column, {})[use] = None
            self._found[node] = {c: sorted(uses, key=_order) for c, uses in found.items()}
        return self._found[node]

    def stored(self) -> Iterable[Use]:
        """Every word that may be a column, whether or not the node has it (any more)."""
        return self._all()

    def _all(self) -> Iterator[Use]:
        project = self._lineage.project
        for node in project.nodes.values():
            if node.resource_type in ("model", "snapshot", "seed", "source"):
                yield from own_uses(node)
            elif node.resource_type == "unit_test":
                yield from unit_test_uses(node, project)
            elif node.resource_type == "test":
                yield from data_test_uses(node, project)
                for parent in node.depends_on:
                    self._tests.setdefault(parent, []).append(node)
        yield from semantic_uses(project)


def _order(use: Use) -> tuple[str, ...]:
    return use.kind, use.unique_id, use.role, use.through or ""
