"""A lineage as one viewer sees it, made before anything is published from it.

What is hidden keeps its place: a node becomes ``restricted.3``, its columns ``column 1``, and its
edges stay. Whatever could tell its name goes: code and expressions of its readers, and the name
itself wherever a text has it as a word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

from lineage_post.artifacts import Node
from lineage_post.lineage import Lineage
from lineage_post.policy.file import Viewer
from lineage_post.policy.redact import HIDDEN, Redactor
from lineage_post.selection import select
from lineage_post.values import ColumnLineage, Edge, NodeLineage

#: What is said to a viewer who may not see all, and no more than that.
INCOMPLETE = "nodes outside the viewer's scope are left out"


@dataclass(frozen=True, slots=True)
class View:
    """What a viewer sees. ``is_incomplete`` says that nodes outside their scope were dropped, and
    no more than that. ``shown`` maps each node to the id it has in the view; what has no name has
    an id of its own there, what was dropped has none. ``telling`` are visible nodes whose code
    names something hidden."""

    lineage: Lineage
    viewer: Viewer
    shown: Mapping[str, str]
    is_incomplete: bool = False
    telling: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()

    @property
    def named(self) -> frozenset[str]:
        """The ids of what may be seen by its name."""
        return frozenset(unique_id for unique_id, shown in self.shown.items() if unique_id == shown)

    @property
    def restricted(self) -> frozenset[str]:
        """The ids of what has no name."""
        return frozenset(shown for unique_id, shown in self.shown.items() if unique_id != shown)


def view_of(lineage: Lineage, viewer: Viewer) -> View:
    """The lineage as ``viewer`` may see it. Raises SelectionError for a selector that is wrong."""
    if not viewer.natives:
        lineage = _without_natives(lineage)
    every = {*lineage.project.nodes, *lineage.nodes}
    if not viewer.is_limited:
        return View(lineage, viewer, {unique_id: unique_id for unique_id in every})
    warnings: list[str] = []
    scope = _picked(lineage, viewer.scope, every, warnings)
    seen = _picked(lineage, viewer.see, every, warnings)
    hidden = _picked(lineage, viewer.hide, set(), warnings)
    allowed = scope & seen - hidden
    visible = {n for n in allowed if _is_visible(lineage.project.nodes.get(n), allowed)}
    restriction = _Restriction(lineage, scope=scope, visible=visible)
    return View(
        restriction.lineage(),
        viewer,
        restriction.ids,
        is_incomplete=bool(every - scope),
        telling=restriction.telling,
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _without_natives(lineage: Lineage) -> Lineage:
    """The lineage without the raw addresses of sources."""
    if not any(node.native for node in lineage.project.nodes.values()):
        return lineage
    nodes = {n: replace(node, native={}) for n, node in lineage.project.nodes.items()}
    return replace(lineage, project=replace(lineage.project, nodes=nodes))


def _picked(
    lineage: Lineage, selectors: tuple[str, ...] | None, default: set[str], warnings: list[str]
) -> set[str]:
    if selectors is None:
        return set(default)
    if not selectors:
        return set()
    selection = select(lineage, selectors)
    warnings.extend(selection.warnings)
    # A column of a selector limits nothing here: a policy speaks of whole nodes.
    return set(selection.nodes)


def _is_visible(node: Node | None, allowed: set[str]) -> bool:
    """A test names columns of what it tests: it is seen only where all of that is."""
    return node is None or not _is_test(node) or allowed.issuperset(node.depends_on)


def _is_test(node: Node | None) -> bool:
    return node is not None and node.resource_type in ("test", "unit_test")


class _Restriction:
    """One pass over a lineage that gives names to none of what is hidden."""

    def __init__(self, lineage: Lineage, *, scope: set[str], visible: set[str]) -> None:
        self.source = lineage
        self.visible = visible
        self.telling = frozenset(n for n in visible if self._reads_hidden(n))
        kept = {n for n in scope if not _is_test(lineage.project.nodes.get(n))}
        # Ranked by hash: an order by name would tell something of the names.
        self.hidden = sorted(kept - visible, key=lambda n: sha256(n.encode()).digest())
        self.ids = {unique_id: unique_id for unique_id in visible}
        self.ids.update({n: f"{HIDDEN}.{i}" for i, n in enumerate(self.hidden, 1)})
        self.columns = {n: self._renamed(n) for n in self.hidden}
        gone = [n for n in {*lineage.project.nodes, *lineage.nodes} if n not in visible]
        self.redactor = Redactor(gone, lineage.project)

    def lineage(self) -> Lineage:
        lineage, project = self.source, self.source.project
        nodes = {self.ids[n]: self._node(n) for n in project.nodes if n in self.ids}
        return Lineage(
            replace(project, nodes=nodes, macro_paths={}, external_packages=frozenset()),
            {self.ids[n]: self._lineage(n) for n in lineage.nodes if n in self.ids},
            lineage.options,
            tuple(note for note in lineage.notes if note.unique_id in self.visible),
        )

    def _renamed(self, unique_id: str) -> dict[str, str]:
        names = self.source.graph.columns(unique_id)
        return {name: f"column {i}" for i, name in enumerate(names, 1)}

    def _node(self, unique_id: str) -> Node:
        node = self.source.project.nodes[unique_id]
        parents = tuple(self.ids[p] for p in node.depends_on if p in self.ids)
        if unique_id not in self.visible:
            return Node(
                unique_id=self.ids[unique_id],
                name=HIDDEN,
                resource_type=node.resource_type,
                package_name="",
                path="",
                materialized=node.materialized,
                depends_on=parents,
            )
        return self.redactor.node(replace(node, depends_on=parents), unique_id in self.telling)

    def _lineage(self, unique_id: str) -> NodeLineage:
        node = self.source.nodes[unique_id]
        is_telling = unique_id not in self.visible or unique_id in self.telling
        return replace(
            node,
            unique_id=self.ids[unique_id],
            detail=None if is_telling else node.detail,
            columns=[self._column(unique_id, c, is_telling) for c in node.columns],
            edges=[self._edge(e) for e in node.edges if e.from_node in self.ids],
            fingerprint="" if is_telling else node.fingerprint,
            inputs=tuple(self.ids[n] for n in node.inputs if n in self.ids),
        )

    def _reads_hidden(self, unique_id: str) -> bool:
        """Whether the code of a node names something that is not visible."""
        node = self.source.project.nodes.get(unique_id)
        lineage = self.source.nodes.get(unique_id)
        read = {*(node.depends_on if node else ()), *(lineage.inputs if lineage else ())}
        return not read <= self.visible

    def _column(self, unique_id: str, column: ColumnLineage, is_telling: bool) -> ColumnLineage:
        renamed: Mapping[str, str] = self.columns.get(unique_id, {})
        name = column.name
        if unique_id in self.columns and name is not None and column.is_column:
            name = renamed.get(name, HIDDEN)
        if not is_telling:
            return column
        return column._replace(
            name=name,
            data_type=column.data_type if unique_id in self.visible else None,
            expression=None,
            detail=None,
        )

    def _edge(self, edge: Edge) -> Edge:
        ends = (edge.from_node, edge.to_node)
        if all(n in self.visible for n in ends):
            is_plain = edge.to_node not in self.telling
            return edge if is_plain else edge._replace(expression=None)
        to_column = edge.to_column
        return Edge(
            self.ids[edge.from_node],
            self._name(edge.from_node, edge.from_column),
            edge.from_field if edge.from_node in self.visible else None,
            self.ids[edge.to_node],
            to_column if to_column is None else self._name(edge.to_node, to_column),
            edge.subtype,
            edge.masking,
            edge.certainty,
        )

    def _name(self, unique_id: str, column: str) -> str:
        if unique_id in self.visible:
            return column
        return self.columns[unique_id].get(column, HIDDEN)
