"""Columns that nothing depends on: no value or row downstream, no consumer, no setting in YAML.

Only what is sure is claimed. A model that no model reads is an output: its readers are outside. Of
a node that something reads without saying what (a star that is open, a Python model, an exposure
that names no columns), any column may be used, and so may be what feeds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lineage_post.artifacts import Node
from lineage_post.consumers import Uses
from lineage_post.consumers.naming import dbts_own, is_shown
from lineage_post.consumers.uses import TABLES
from lineage_post.graph import Column
from lineage_post.impact.possible import opaque
from lineage_post.lineage import Lineage
from lineage_post.vocabulary import Reason


@dataclass(frozen=True, slots=True)
class UnusedColumn:
    """A column nothing depends on. ``readers`` are the nodes that read others of the same node,
    all of which are known; ``feeds`` are the unused columns that are made of it."""

    node: str
    column: str
    readers: tuple[str, ...]
    feeds: tuple[Column, ...]

    @property
    def because(self) -> str:
        """Why it is sure."""
        count = len(self.readers)
        known = f"{count} reader{'' if count == 1 else 's'}, all of them known"
        if self.feeds:
            return f"{known}: it feeds columns alone that are unused themselves"
        return f"{known}: none has it in a value, a row or a setting"


@dataclass(frozen=True, slots=True)
class Unsure:
    """A node of whose columns nothing is claimed, since it is not known what ``reader`` reads."""

    node: str
    reader: str
    reason: str


@dataclass(frozen=True, slots=True)
class Unused:
    """The answer, sorted by node; columns in the order of their table."""

    columns: tuple[UnusedColumn, ...]
    unsure: tuple[Unsure, ...]


def unused_columns(lineage: Lineage) -> Unused:
    """The columns of a project that nothing depends on, and where that cannot be said."""
    unsure = {u.node: u for u in _unsure(lineage)}
    used = _upstream(lineage, _roots(lineage, unsure))
    found = []
    for unique_id, node in _nodes(lineage):
        for name in lineage.graph.columns(unique_id):
            if (unique_id, name) not in used and name.casefold() not in dbts_own(node):
                found.append(_unused(lineage, unique_id, name))
    return Unused(tuple(found), tuple(unsure[node] for node in sorted(unsure)))


def _nodes(lineage: Lineage) -> list[tuple[str, Node]]:
    nodes = ((key, lineage.project.nodes.get(key)) for key in sorted(lineage.nodes))
    return [
        (key, node)
        for key, node in nodes
        if node is not None and node.resource_type in TABLES and lineage.is_published(key)
    ]


def _unused(lineage: Lineage, unique_id: str, name: str) -> UnusedColumn:
    readers = tuple(sorted(r for r in lineage.graph.readers(unique_id) if r != unique_id))
    edges = lineage.graph.edges_out_of(unique_id, name)
    feeds = sorted({(e.to_node, e.to_column or "") for e in edges})
    return UnusedColumn(unique_id, name, readers, tuple(feeds))


def _unsure(lineage: Lineage) -> Iterable[Unsure]:
    """Nodes with a reader of which it is not known what it reads, or whose own columns are not."""
    for unique_id, node in _nodes(lineage):
        own = lineage.nodes[unique_id]
        names = lineage.graph.columns(unique_id)
        if names and opaque(own) is not None and any(c.ordinal is None for c in own.columns):
            yield Unsure(unique_id, unique_id, opaque(own) or "")
            continue
        for reader in sorted(_readers(lineage, node)):
            reason = _unread(lineage, reader)
            if reason is not None:
                yield Unsure(unique_id, reader, reason)
                break


def _readers(lineage: Lineage, node: Node) -> set[str]:
    return {*lineage.children.get(node.unique_id, ()), *lineage.graph.readers(node.unique_id)}


def _unread(lineage: Lineage, reader: str) -> str | None:
    """Why it is not known what a reader reads."""
    if reader in lineage.nodes:
        return opaque(lineage.nodes[reader])
    node = lineage.project.nodes.get(reader)
    if node is None or node.resource_type != "test":
        return None
    is_told = node.compiled_code or node.details.get("test")
    return None if is_told else Reason.NOT_COMPILED.value


def _roots(lineage: Lineage, unsure: Mapping[str, Unsure]) -> set[Column]:
    """The columns that are used as such: by rows, by consumers, by readers outside."""
    uses = Uses(lineage)
    roots: set[Column] = set(uses.columns())
    for unique_id, node in _nodes(lineage):
        names = lineage.graph.columns(unique_id)
        if unique_id in unsure or _is_output(lineage, node):
            roots.update((unique_id, name) for name in names)
        roots.update((unique_id, c.name) for c in node.columns if is_shown(c.meta))
        for test in uses.singular_tests(unique_id):
            text = (test.compiled_code or "").casefold()
            roots.update((unique_id, name) for name in names if name.casefold() in text)
    for edge in lineage.edges():
        reader = lineage.project.nodes.get(edge.to_node)
        if edge.to_column is None or (reader is not None and reader.resource_type == "exposure"):
            roots.add((edge.from_node, edge.from_column))
    return roots


def _is_output(lineage: Lineage, node: Node) -> bool:
    """Whether others may read the node whom the project does not know."""
    readers = {r for r in lineage.graph.readers(node.unique_id) if r != node.unique_id}
    # A dashboard that names its columns says nothing of the next one.
    return node.access == "public" or all(r.startswith("exposure.") for r in readers)


def _upstream(lineage: Lineage, roots: set[Column]) -> set[Column]:
    found = set(roots)
    waiting = list(roots)
    while waiting:
        for edge in lineage.graph.edges_into(*waiting.pop()):
            source = (edge.from_node, edge.from_column)
            if source not in found:
                found.add(source)
                waiting.append(source)
    return found
