"""Taking the names of hidden nodes out of the texts of the nodes that are seen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from lineage_post.artifacts import Node, Project

#: What stands in the place of a name.
HIDDEN = "restricted"

_WORD = re.compile(r"\w+")


class Redactor:
    """Replaces the names of some nodes in texts: ``Redactor(hidden ids, project).text("...")``."""

    def __init__(self, hidden: Iterable[str], project: Project) -> None:
        gone = frozenset(hidden)
        seen = {n.name.casefold() for n in project.nodes.values() if n.unique_id not in gone}
        names = {name for n in gone for name in _names_of(n, project)}
        # A name that a visible node has too tells nothing.
        self._names = {name.casefold() for name in names if name} - seen

    def text(self, text: str) -> str:
        """``text`` with each word that is a hidden name replaced."""
        return _WORD.sub(
            lambda word: HIDDEN if word[0].casefold() in self._names else word[0], text
        )

    def value(self, value: Any) -> Any:
        """The same for all texts in a value of lists and mappings."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(k)): self.value(v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self.value(v) for v in value)
        return value

    def node(self, node: Node, is_telling: bool) -> Node:
        """A visible node with its texts redacted; without its code where that names the hidden."""
        columns = tuple(
            replace(c, description=self.text(c.description), meta=self.value(dict(c.meta)))
            for c in node.columns
        )
        return replace(
            node,
            raw_code="" if is_telling else node.raw_code,
            compiled_code=None if is_telling else node.compiled_code,
            ctes=() if is_telling else node.ctes,
            columns=columns,
            description=self.text(node.description),
            meta=self.value(dict(node.meta)),
            config=self.value(dict(node.config)),
            details=self.value(dict(node.details)),
            macros=(),
        )


def _names_of(unique_id: str, project: Project) -> set[str]:
    node = project.nodes.get(unique_id)
    if node is None:
        return {unique_id.rsplit(".", 1)[-1]}
    if node.resource_type in ("test", "unit_test"):
        return set()
    return {node.name, node.relation.identifier if node.relation else node.name}
