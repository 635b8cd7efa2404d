"""The keys of each node, as the project declares them, and where a key's value goes on to."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lineage_post.artifacts import Node
from lineage_post.governance.classification import Column
from lineage_post.governance.descriptions import identity_source
from lineage_post.governance.flow import value_edges
from lineage_post.lineage import Lineage

_NAME = re.compile(r"[\"`\[]?(\w+)[\"`\]]?")
#: Tests that say a key; those with a ``where`` say it of some rows only.
_TESTS = ("primary_key", "unique", "unique_combination_of_columns")
_CONSTRAINTS = ("primary_key", "unique")


@dataclass(frozen=True, slots=True, order=True)
class RowKey:
    """Columns that identify a row of a node, and what declares that: ``test unique``."""

    columns: tuple[str, ...]
    by: str


@dataclass(frozen=True, slots=True)
class Locator:
    """A column of a table by which the rows of a person, say, are found.

    It is a plain copy of ``key``; ``path`` leads from there to it.
    """

    column: Column
    key: Column
    path: tuple[Column, ...]


@dataclass(frozen=True)
class Keys:
    """Keys of all nodes: ``Keys(lineage).of("model.shop.orders")``."""

    lineage: Lineage

    @cached_property
    def _by_node(self) -> Mapping[str, tuple[RowKey, ...]]:
        found: dict[str, set[RowKey]] = {}
        for unique_id, node in self.lineage.project.nodes.items():
            if node.resource_type == "test":
                for owner, key in _tested(node):
                    found.setdefault(owner, set()).add(key)
            else:
                found.setdefault(unique_id, set()).update(_configured(node))
        return {unique_id: tuple(sorted(keys)) for unique_id, keys in found.items() if keys}

    def of(self, unique_id: str) -> tuple[RowKey, ...]:
        """The keys of a node, each with the names that its columns have in the lineage."""
        traced = self.lineage.nodes.get(unique_id)
        keys = self._by_node.get(unique_id, ())
        if traced is None:
            return keys
        columns = [tuple(getattr(traced.column(n), "name", n) for n in key.columns) for key in keys]
        return tuple(RowKey(names, key.by) for names, key in zip(columns, keys, strict=True))

    def anchors(self, unique_id: str) -> tuple[Column, ...]:
        """The columns that tell the rows of a node apart, one each, at the place they come from.

        A key of a plain copy of the node counts: a source's own keys are often declared only on
        the staging model.
        """
        found = {self._origin((unique_id, k.columns[0])) for k in self.of(unique_id) if _is_one(k)}
        for node, keys in self._by_node.items():
            for key in keys:
                if _is_one(key) and node != unique_id:
                    name = self.of_column(node, key.columns[0])
                    if any(step[0] == unique_id for step in self._chain((node, name))):
                        found.add(self._origin((node, name)))
        return tuple(sorted(found))

    def of_column(self, unique_id: str, name: str) -> str:
        """A name as the lineage has it."""
        traced = self.lineage.nodes.get(unique_id)
        column = traced.column(name) if traced is not None else None
        return (column.name if column is not None else None) or name

    def locators(self, anchor: Column) -> dict[str, list[Locator]]:
        """The columns that are plain copies of a key, by node, nearest first."""
        paths: dict[Column, tuple[Column, ...]] = {anchor: (anchor,)}
        queue = deque([anchor])
        while queue:
            column = queue.popleft()
            for target, _ in value_edges(self.lineage, column):
                if target not in paths and identity_source(self.lineage, target) == column:
                    paths[target] = (*paths[column], target)
                    queue.append(target)
        found: dict[str, list[Locator]] = {}
        for column, path in paths.items():
            found.setdefault(column[0], []).append(Locator(column, anchor, path))
        return found

    def _origin(self, column: Column) -> Column:
        return list(self._chain(column))[-1]

    def _chain(self, column: Column) -> Iterator[Column]:
        """A column, what it is a plain copy of, and so on."""
        seen: set[Column] = set()
        at: Column | None = column
        while at is not None and at not in seen:
            seen.add(at)
            yield at
            at = identity_source(self.lineage, at)


def _is_one(key: RowKey) -> bool:
    return len(key.columns) == 1


def _configured(node: Node) -> Iterator[RowKey]:
    names = _names(node.config.get("unique_key"))
    if names:
        yield RowKey(names, "unique_key")
    for constraint in node.details.get("constraints") or ():
        if constraint["type"] in _CONSTRAINTS and constraint["columns"]:
            yield RowKey(tuple(constraint["columns"]), f"constraint {constraint['type']}")


def _tested(test: Node) -> Iterator[tuple[str, RowKey]]:
    name = test.details.get("test")
    kwargs = test.details.get("kwargs") or {}
    owner = test.details.get("attached_node") or next(iter(test.depends_on), None)
    if name not in _TESTS or owner is None or kwargs.get("where"):
        return
    listed = kwargs.get("combination_of_columns") or test.details.get("column")
    names = _names(listed or kwargs.get("column_name") or kwargs.get("columns"))
    if names:
        yield owner, RowKey(names, f"test {name}")


def _names(value: Any) -> tuple[str, ...] | None:
    """Plain column names; None for an expression, which is no column."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, (list, tuple)) or not listed:
        return None
    matches = [_NAME.fullmatch(str(name).strip()) for name in listed]
    found = [match[1] for match in matches if match is not None]
    return tuple(found) if len(found) == len(matches) else None
