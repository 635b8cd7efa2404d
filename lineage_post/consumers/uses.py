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
        self._found: dict[Column, dict[Use, None]] = {}
        self._tests: dict[str, list[Node]] = {}
        names: dict[str, dict[str, str]] = {}
        for use in self._all():
            if use.node not in names:
                columns = lineage.graph.columns(use.node) if use.node in lineage.nodes else ()
                names[use.node] = {name.casefold(): name for name in columns}
            column = names[use.node].get(use.column.casefold())
            if column is not None:
                self._found.setdefault((use.node, column), {})[use] = None

    def of(self, node: str, column: str) -> list[Use]:
        return sorted(self._found.get((node, column), ()), key=_order)

    def singular_tests(self, node: str) -> list[Node]:
        """Data tests that read the node and whose SQL alone says what of it."""
        return self._tests.get(node, [])

    def columns(self) -> Iterable[Column]:
        """The columns whose names are stored anywhere but in a mere description."""
        return [c for c, uses in self._found.items() if any(not use.is_text for use in uses)]

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
