"""All places that store a column's name, by the column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lineage_post.artifacts import Node
from lineage_post.consumers.own import own_uses
from lineage_post.consumers.semantic import semantic_uses
from lineage_post.consumers.tested import (
    called_nodes,
    data_test_uses,
    foreign_key_uses,
    unit_test_uses,
)
from lineage_post.consumers.use import Use
from lineage_post.graph import Column
from lineage_post.lineage import Lineage

TABLES = frozenset({"model", "snapshot", "seed", "source"})


class Uses:
    """``Uses(lineage).of(node, column)``: who stores the column's name, in a stable order.

    A word counts as a column only if the node has a column of this name. Exposures are not among
    them: they are nodes of the lineage, like whatever reads columns by SQL.
    """

    def __init__(self, lineage: Lineage) -> None:
        self._lineage = lineage
        self._nodes = lineage.project.nodes
        self._found: dict[str, dict[str, list[Use]]] = {}
        self._tests: dict[str, list[Node]] = {}
        self._of_test: dict[str, list[Use]] = {}
        self._rest: dict[str, list[Use]] = {}
        self._called = called_nodes(lineage.project)
        for test in self._nodes.values():
            if test.resource_type == "test":
                attached = str(test.details.get("attached_node") or "")
                for parent in dict.fromkeys((*test.depends_on, attached)):
                    self._tests.setdefault(parent, []).append(test)
        for use in self._far():
            self._rest.setdefault(use.node, []).append(use)

    def of(self, node: str, column: str) -> list[Use]:
        return self._of_node(node).get(column, [])

    def singular_tests(self, node: str) -> list[Node]:
        """Data tests that read the node and whose SQL alone says what of it."""
        return [test for test in self._tests.get(node, ()) if node in test.depends_on]

    def columns(self) -> Iterable[Column]:
        """The columns whose names are stored anywhere but in a mere description."""
        return [
            (node, column)
            for node in self._lineage.nodes
            for column, uses in self._of_node(node).items()
            if any(not use.is_text for use in uses)
        ]

    def stored(self) -> Iterable[Use]:
        """Every word that may be a column, whether or not the node has it (any more)."""
        for node in self._nodes:
            yield from self._near(node)
        yield from (use for uses in self._rest.values() for use in uses)

    def _of_node(self, node: str) -> dict[str, list[Use]]:
        """The uses of each column of a node, found when they are first asked for."""
        if node not in self._found:
            columns = self._lineage.graph.columns(node) if node in self._lineage.nodes else ()
            names = {name.casefold(): name for name in columns}
            found: dict[str, dict[Use, None]] = {}
            for use in (*self._near(node), *self._rest.get(node, ())):
                column = names.get(use.column.casefold())
                if column is not None:
                    found.setdefault(column, {})[use] = None
            self._found[node] = {c: sorted(uses, key=_order) for c, uses in found.items()}
        return self._found[node]

    def _near(self, node: str) -> Iterator[Use]:
        """What the node itself and the tests that depend on it say of its columns."""
        own = self._nodes.get(node)
        if own is not None and own.resource_type in TABLES:
            yield from own_uses(own)
        for test in self._tests.get(node, ()):
            if test.unique_id not in self._of_test:
                uses = data_test_uses(test, self._lineage.project, self._called)
                self._of_test[test.unique_id] = list(uses)
            yield from (use for use in self._of_test[test.unique_id] if use.node == node)

    def _far(self) -> Iterator[Use]:
        """What others say: unit tests, the semantic layer, whatever names others' columns."""
        project = self._lineage.project
        for node in project.nodes.values():
            if node.details.get("constraints"):
                yield from foreign_key_uses(node, project)
            elif node.resource_type == "unit_test":
                yield from unit_test_uses(node, project)
            elif node.resource_type == "test" and node.details.get("namespace") == "lineage_post":
                near = {*node.depends_on, node.details.get("attached_node")}
                uses = data_test_uses(node, project, self._called)
                yield from (use for use in uses if use.node not in near)
        yield from semantic_uses(project)


def _order(use: Use) -> tuple[str, ...]:
    return use.kind, use.unique_id, use.role, use.through or ""
