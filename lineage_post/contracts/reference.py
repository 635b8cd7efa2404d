"""Names in a contract: ``stg_customers.email``, ``web.sessions.user_id``, ``stg_*.email``.

What is named must be there: a contract on a column that does not exist would hold for ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase

from lineage_post.artifacts import Node, Project
from lineage_post.artifacts.names import unquoted
from lineage_post.contracts.walks import is_surely_gone
from lineage_post.errors import SelectionError
from lineage_post.lineage import Lineage
from lineage_post.lineage.project import OWN_PACKAGE

READABLE = frozenset({"model", "snapshot", "seed", "source"})


@dataclass(frozen=True, slots=True)
class Reference:
    """Nodes that a text may mean, and the name or pattern of their columns.

    ``is_wild`` is a pattern of nodes, of which one at least must have such a column.
    """

    text: str
    nodes: tuple[str, ...]
    column: str
    is_wild: bool = False


class Names:
    """The names that the nodes of a project go by: ``Names(project).read("orders.id")``."""

    def __init__(self, project: Project, lineage: Lineage | None = None) -> None:
        self._nodes: dict[str, set[str]] = {}
        self._own: set[str] = set()
        for node in project.nodes.values():
            if node.package_name == OWN_PACKAGE:
                self._own.add(node.unique_id)
            if node.resource_type in READABLE:
                for name in _names_of(node):
                    self._nodes.setdefault(name.casefold(), set()).add(node.unique_id)
        for unique_id in lineage.nodes if lineage else ():
            if unique_id.startswith("external."):
                for name in (unique_id, unique_id.removeprefix("external.")):
                    self._nodes.setdefault(name.casefold(), set()).add(unique_id)

    def read(self, text: str) -> Reference:
        """Raises SelectionError with near names where no node is meant."""
        if text.casefold() in self._nodes:
            return Reference(text, (self._only(text),), "*")
        for head, tail in _splits(text):
            if head.casefold() in self._nodes:
                return Reference(text, (self._only(head),), unquoted(tail))
        for head, tail in [*_splits(text), (text, "*")]:
            found = self._matching(head) if is_wild(head) else set()
            if found:
                return Reference(text, tuple(sorted(found)), unquoted(tail), is_wild=True)
        head = text.rpartition(".")[0] or text
        shown = [name for name in self._nodes if name.count(".") < 2]
        near = get_close_matches(head.casefold(), shown, n=3)
        hint = f"Did you mean {', '.join(near)}?" if near else "Write model.column."
        raise SelectionError(f"there is no model or source for {text!r}", hint=hint)

    def _matching(self, pattern: str) -> set[str]:
        """What a pattern means: never the lineage tables, which hold nothing of the project."""
        folded = pattern.casefold()
        found = (ids for name, ids in self._nodes.items() if fnmatchcase(name, folded))
        return set().union(*found) - self._own

    def _only(self, name: str) -> str:
        found = self._nodes[name.casefold()]
        models = {n for n in found if not n.startswith("source.")} if len(found) > 1 else found
        if len(models) == 1:
            return next(iter(models))
        raise SelectionError(f"{name!r} may be {' or '.join(sorted(found))}", hint="Name one.")


def columns_of(lineage: Lineage, reference: Reference) -> frozenset[tuple[str, str]]:
    """The columns a reference means. Raises SelectionError with near names where there are none."""
    found: set[tuple[str, str]] = set()
    every: list[str] = []
    for node in reference.nodes:
        names = known_columns(lineage, node)
        every += names
        found |= {(node, name) for name in matching_columns(names, reference.column)}
    if not found:
        near = get_close_matches(reference.column, dict.fromkeys(every), n=3, cutoff=0.5)
        hint = f"Did you mean {', '.join(near)}?" if near else _listed(every)
        missing = f"{reference.nodes[0]} has no column {reference.column!r}"
        if reference.is_wild:
            missing = f"{reference.text!r} names no column"
        raise SelectionError(missing, hint=hint)
    return frozenset(found)


def known_columns(lineage: Lineage, unique_id: str) -> list[str]:
    """The columns that a node has by its lineage, and those that YAML alone speaks of, but for
    what is surely not there."""
    names = list(lineage.graph.columns(unique_id))
    node = lineage.project.nodes.get(unique_id)
    folded = {name.casefold() for name in names}
    declared = [c.name for c in node.columns if c.name.casefold() not in folded] if node else []
    return names + [name for name in declared if not is_surely_gone(lineage, (unique_id, name))]


def matching_columns(names: list[str], wanted: str) -> list[str]:
    """Exact, else but for case, else by pattern."""
    if wanted in names:
        return [wanted]
    folded = wanted.casefold()
    same = [name for name in names if name.casefold() == folded]
    if same or not is_wild(wanted):
        return same
    return [name for name in names if fnmatchcase(name.casefold(), folded)]


def is_wild(text: str) -> bool:
    return "*" in text or "?" in text


def _names_of(node: Node) -> Iterator[str]:
    yield node.unique_id
    if node.resource_type == "source":
        yield f"{node.details.get('source_name')}.{node.name}"
        yield node.name
        return
    names = [node.name] if node.version is None or node.is_latest_version else []
    if node.version is not None:
        names += [f"{node.name}.v{node.version}", f"{node.name}_v{node.version}"]
    for name in names:
        yield name
        yield f"{node.package_name}.{name}"


def _splits(text: str) -> list[tuple[str, str]]:
    """Where the name of the column may begin, the last dot first."""
    return [(text[:i], text[i + 1 :]) for i in range(len(text) - 1, 0, -1) if text[i] == "."]


def _listed(names: list[str]) -> str:
    return f"It has {', '.join(names[:20])}." if names else "None of its columns is known."
