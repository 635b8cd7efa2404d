"""From selectors to nodes and columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase

from lineage_post.artifacts import Node
from lineage_post.errors import SelectionError
from lineage_post.lineage import Lineage
from lineage_post.selection.methods import is_wild, matching
from lineage_post.selection.near import near_selectors
from lineage_post.selection.syntax import Selector, parse_selection
from lineage_post.selection.targets import without_quotes

#: What is picked of each node: some of its columns, or None for the whole node.
Picked = Mapping[str, "frozenset[str] | None"]

#: Methods whose value may go on with ``.column``.
_WITH_COLUMNS = frozenset({"fqn", "source", "exposure"})
#: A name that a selector takes for one word.
_PLAIN = re.compile(r"[^\s,+\"]+")


@dataclass(frozen=True, slots=True)
class Selection:
    """What selectors pick: nodes, and columns as (unique_id, name) where only columns were meant.

    ``whole`` are the nodes picked as such, ``nodes`` those and the nodes of the columns.
    """

    whole: frozenset[str] = frozenset()
    columns: frozenset[tuple[str, str]] = frozenset()
    warnings: tuple[str, ...] = ()

    @property
    def nodes(self) -> frozenset[str]:
        return self.whole | {node for node, _ in self.columns}

    def __contains__(self, column: tuple[str, str]) -> bool:
        """Whether a column is picked, by itself or with its node."""
        return column[0] in self.whole or column in self.columns


def select(
    lineage: Lineage,
    selectors: str | Iterable[str],
    *,
    exclude: str | Iterable[str] = (),
    indirect: bool = True,
) -> Selection:
    """What the selectors pick, without what ``exclude`` picks.

    A space unites, a comma intersects. ``+`` beside a column follows values and, where
    ``indirect``, what decides rows or their order; beside a node it follows what dbt follows.
    Raises SelectionError for a column that is not there, with near names; a selector that matches
    nothing is a warning.
    """
    picker = _Picker(lineage, indirect)
    picked = picker.union(_texts(selectors))
    for node, columns in picker.union(_texts(exclude)).items():
        if columns is None:
            picked.pop(node, None)
        elif node in picked:
            present = picked[node]
            every = frozenset(lineage.graph.columns(node)) if present is None else present
            picked[node] = every - columns
    return Selection(
        whole=frozenset(node for node, columns in picked.items() if columns is None),
        columns=frozenset(
            (node, name) for node, columns in picked.items() for name in columns or ()
        ),
        warnings=tuple(picker.warnings),
    )


def _texts(selectors: str | Iterable[str]) -> tuple[str, ...]:
    return (selectors,) if isinstance(selectors, str) else tuple(selectors)


class _Picker:
    """Picks nodes and columns of one lineage, and gathers warnings."""

    def __init__(self, lineage: Lineage, indirect: bool) -> None:
        self.lineage = lineage
        self.indirect = indirect
        self.project = lineage.project
        self.warnings: list[str] = []

    def union(self, texts: tuple[str, ...]) -> dict[str, frozenset[str] | None]:
        found: dict[str, frozenset[str] | None] = {}
        for parts in parse_selection(texts):
            for node, columns in self._intersection(parts).items():
                present = found.get(node, frozenset())
                found[node] = None if columns is None or present is None else columns | present
        return found

    def _intersection(self, parts: list[Selector]) -> Picked:
        found: dict[str, frozenset[str] | None] | None = None
        empty = []
        for part in parts:
            picked = self._picked(part)
            if not picked:
                empty.append(f"the selector {part.text!r} matches nothing{self._near(part)}")
            found = dict(picked) if found is None else _both(found, picked)
        if not found and not empty:
            # Each part may match something, and all of them together nothing.
            text = ",".join(part.text for part in parts)
            empty = [f"the selector {text!r} matches nothing"]
        self.warnings += empty
        return found or {}

    def _near(self, selector: Selector) -> str:
        near = near_selectors(selector, self.project)
        return f"; did you mean {' or '.join(near)}?" if near else ""

    def _picked(self, selector: Selector) -> Picked:
        nodes = self._matching(selector.method, selector.value, selector.key)
        if nodes:
            return dict.fromkeys(self._walked(nodes, selector), None)
        if selector.method in _WITH_COLUMNS:
            return self._picked_columns(selector)
        return {}

    def _matching(self, method: str, value: str, key: str | None) -> set[str]:
        found = matching(method, value, key, self.project, self.project.nodes.values())
        if method == "fqn":
            found |= {unique_id for unique_id in self.lineage.nodes if unique_id == value}
        return found

    def _picked_columns(self, selector: Selector) -> Picked:
        fault: SelectionError | None = None
        for at in _dots(selector.value):
            name = without_quotes(selector.value[at + 1 :])
            nodes = self._matching(selector.method, selector.value[:at], selector.key)
            nodes &= set(self.lineage.nodes)
            starts = [(node, c) for node in sorted(nodes) for c in self._columns_named(node, name)]
            if starts:
                return self._walked_columns(starts, selector)
            if nodes and fault is None:
                fault = self._no_column(sorted(nodes), selector.value[:at], name, selector)
        if fault is not None:
            raise fault
        return {}

    def _columns_named(self, node: str, name: str) -> list[str]:
        names = self.lineage.graph.columns(node)
        if name in names:
            return [name]
        folded = name.casefold()
        same = [n for n in names if n.casefold() == folded]
        if same or not is_wild(name):
            return same
        return [n for n in names if fnmatchcase(n.casefold(), folded)]

    def _no_column(
        self, nodes: list[str], node: str, name: str, selector: Selector
    ) -> SelectionError:
        names = [n for unique_id in nodes for n in self.lineage.graph.columns(unique_id)]
        # Of source:raw.order the last part may have been meant as a table.
        tables = near_selectors(selector, self.project) if selector.method == "source" else []
        near = get_close_matches(name, names, n=3, cutoff=0.5) or tables
        near = [_as_selected(n) for n in near]
        some = ", ".join(map(_as_selected, names[:20]))
        hint = f"Did you mean {', '.join(near)}?" if near else f"It has {some}."
        return SelectionError(f"{node} has no column {name!r}", hint=hint)

    def _walked_columns(self, starts: list[tuple[str, str]], selector: Selector) -> Picked:
        graph, indirect = self.lineage.graph, self.indirect
        found: dict[str, set[str]] = {}
        up = None if selector.with_family else selector.up
        if selector.with_family:
            # dbt's @: all that is made of it, and all that each of these is made of.
            steps = [s for start in starts for s in graph.downstream(*start, indirect=indirect)]
            starts = [*starts, *((s.node, s.column) for s in steps if s.column is not None)]
        for node, name in dict.fromkeys(starts):
            found.setdefault(node, set()).add(name)
            steps = []
            if up != 0:
                steps += graph.upstream(node, name, depth=up, indirect=indirect)
            if selector.down != 0:
                steps += graph.downstream(node, name, depth=selector.down, indirect=indirect)
            for step in steps:
                if step.column is not None:
                    found.setdefault(step.node, set()).add(step.column)
        return {node: frozenset(names) for node, names in found.items()}

    def _walked(self, nodes: set[str], selector: Selector) -> set[str]:
        found = set(nodes)
        if selector.with_family:
            found |= _walk(nodes, self._children, None)
            return found | _walk(found, self._parents, None)
        found |= _walk(nodes, self._parents, selector.up)
        return found | _walk(nodes, self._children, selector.down)

    def _parents(self, unique_id: str) -> Iterable[str]:
        node: Node | None = self.project.nodes.get(unique_id)
        lineage = self.lineage.nodes.get(unique_id)
        parents = (*(node.depends_on if node else ()), *(lineage.inputs if lineage else ()))
        return (p for p in parents if p in self.project.nodes or p in self.lineage.nodes)

    def _children(self, unique_id: str) -> Iterable[str]:
        return self.lineage.children.get(unique_id, ())


def _dots(text: str) -> list[int]:
    """Where a column may begin, the last dot first; a column may have some itself."""
    return [at for at in range(len(text) - 2, 0, -1) if text[at] == "."]


def _as_selected(name: str) -> str:
    """A column as a selector has to name it: in quotes where it is no single word."""
    return name if _PLAIN.fullmatch(name) else '"{}"'.format(name.replace('"', '""'))


def _both(first: Picked, second: Picked) -> dict[str, frozenset[str] | None]:
    found: dict[str, frozenset[str] | None] = {}
    for node in first.keys() & second.keys():
        one, other = first[node], second[node]
        if one is None or other is None:
            found[node] = other if one is None else one
        elif one & other:
            found[node] = one & other
    return found


def _walk(
    starts: Iterable[str], neighbours: Callable[[str], Iterable[str]], depth: int | None
) -> set[str]:
    found: set[str] = set()
    level = set(starts)
    while level and (depth is None or depth > 0):
        level = {other for node in level for other in neighbours(node)} - found
        found |= level
        depth = None if depth is None else depth - 1
    return found
