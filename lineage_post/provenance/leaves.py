"""A view that is refused is read as its stored rows, so that what reads it can still be told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from lineage_post.artifacts import Node
from lineage_post.provenance.prepare import prepare
from lineage_post.provenance.project_relations import ProjectRelations
from lineage_post.provenance.refusal import Refusal
from lineage_post.provenance.rewriter import Rewriter

T = TypeVar("T")


def made(make: Callable[[], T], node: Node, relations: ProjectRelations, dialect: str) -> T:
    """What ``make`` gives, with refused views above ``node`` as leaves where it needs that.

    They are added to ``relations.leaves``. Raises Refusal where it is ``node`` that is refused.
    """
    try:
        return make()
    except Refusal:
        before = len(relations.leaves)
        for view in _read_through(node, relations):
            refusal = _refusal(view, relations, dialect)
            if refusal is not None:
                relations.leaves[view.unique_id] = str(refusal)
        if len(relations.leaves) == before:
            raise
        return make()


def _refusal(view: Node, relations: ProjectRelations, dialect: str) -> Refusal | None:
    try:
        Rewriter(prepare(relations.sql_of(view) or "", dialect, relations)).rewrite()
    except Refusal as refusal:
        return refusal
    return None


def _read_through(node: Node, relations: ProjectRelations) -> Iterator[Node]:
    """The models above ``node`` that are read as their SQL, those nearest the sources first."""
    nodes = relations.lineage.project.nodes
    seen: set[str] = set()

    def visit(unique_id: str) -> Iterator[Node]:
        above = nodes.get(unique_id)
        if unique_id in seen or above is None or not relations.is_read_through(above):
            return
        seen.add(unique_id)
        for parent in above.depends_on:
            yield from visit(parent)
        if above.relation is not None and relations.sql_of(above):
            yield above

    for parent in node.depends_on:
        yield from visit(parent)
