"""Which node a relation name stands for. Full names only: a shorter one matches where it is known
what the connection makes of it, as it is in dbt's process."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lineage_post.artifacts import Node, Project, RelationName
from lineage_post.artifacts.names import parse_relation_name
from lineage_post.artifacts.native import without_credentials

#: Relations dbt makes for a moment while it builds a node; they stand for that node (case IN-07).
_TEMPORARY = re.compile(r"__dbt_(?:tmp|new|backup|old|temp)\w*$", re.IGNORECASE)

_CALLED = re.compile(r"\w+\(\s*'((?:[^']|'')+)'")

#: Among nodes of one relation the one that builds it is first.
_BUILDS = {"model": 0, "snapshot": 1, "seed": 2, "source": 3}


class Relations:
    """The names of all relations of a project.

    ``find(("dev", "main", "orders"))`` is ``"model.shop.orders"``; so is the name it has in the
    environment that is deferred to. Two nodes of one relation (a source that is really a model's
    table) are twins, and a name finds the one that builds it.
    """

    def __init__(self, project: Project) -> None:
        self.adapter_type = project.adapter_type
        self._ids: dict[tuple[str, ...], str] = {}
        self._spelled: dict[tuple[str, ...], str] = {}
        self._twins: dict[str, list[str]] = {}
        self._builders: dict[str, str] = {}
        for node in sorted(project.nodes.values(), key=_builder_first):
            for parts in _names(node, project.adapter_type):
                self._add(parts, node)
        for parts, unique_id in _pointers(project):
            if self.find(parts) is None:
                self._ids[tuple(part.casefold() for part in parts)] = unique_id
                self._spelled[parts] = unique_id
        for parts, unique_id in _at_home([*self._spelled.items()], project.home):
            self._ids.setdefault(tuple(part.casefold() for part in parts), unique_id)
            self._spelled.setdefault(parts, unique_id)

    def _add(self, parts: tuple[str, ...], node: Node) -> None:
        folded = tuple(part.casefold() for part in parts)
        first = self._spelled.get(parts)
        if first is None and node.resource_type == "source":
            # YAML often spells a table another way than the model that builds it.
            first = self._ids.get(folded)
        if first is None:
            first = node.unique_id
        self._ids.setdefault(folded, first)
        self._spelled.setdefault(parts, first)
        self._builders.setdefault(node.unique_id, first)
        twins = self._twins.setdefault(first, [first])
        if node.unique_id not in twins:
            twins.append(node.unique_id)

    def names(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Every name, in its stored spelling, with the node it stands for."""
        yield from self._spelled.items()

    def find(self, parts: Sequence[str]) -> str | None:
        """The node of a full name, exact or but for case; None where there is none."""
        exact = self._spelled.get(tuple(parts))
        if exact is not None:
            return exact
        return self._ids.get(tuple(part.casefold() for part in without_temporary(parts)))

    def twins(self, unique_id: str) -> tuple[str, ...]:
        """Other nodes of the same relation that ``unique_id`` builds."""
        return tuple(self._twins.get(unique_id, (unique_id,))[1:])

    def builder(self, unique_id: str) -> str:
        """The node that builds the relation of ``unique_id``: mostly that node itself."""
        return self._builders.get(unique_id, unique_id)


def external_id(parts: Sequence[str]) -> str:
    """The id of a relation no node is: ``external.<database>.<schema>.<identifier>``.

    SQL may read a file by its address: what gives access to it stays out of the id.
    """
    return ".".join(("external", *map(without_credentials, parts)))


def external_name(parts: Sequence[str]) -> RelationName:
    """The name of an external relation; parts that its SQL leaves out are None."""
    padded = (None,) * (3 - len(parts)) + tuple(parts)
    return RelationName(padded[-3], padded[-2], str(padded[-1]))


def without_temporary(parts: Sequence[str]) -> tuple[str, ...]:
    """The relation that a name like ``orders__dbt_tmp`` is being built for."""
    return (*parts[:-1], _TEMPORARY.sub("", parts[-1]))


def is_temporary(identifier: str) -> bool:
    """Whether dbt makes this relation only while it builds another."""
    return _TEMPORARY.search(identifier) is not None


def _at_home(
    names: Sequence[tuple[tuple[str, ...], str]], home: tuple[str, str | None] | None
) -> Iterator[tuple[tuple[str, ...], str]]:
    """The shorter names that the connection completes: ``orders``, ``main.orders``; the latter
    alone where no schema is given."""
    if home is None:
        return
    database, schema = home[0].casefold(), home[1] and home[1].casefold()
    for parts, unique_id in names:
        if len(parts) == 3 and parts[0].casefold() == database:
            yield parts[1:], unique_id
        in_schema = schema is not None and len(parts) > 1 and parts[-2].casefold() == schema
        if in_schema and (len(parts) == 2 or parts[0].casefold() == database):
            yield parts[-1:], unique_id


def _builder_first(node: Node) -> tuple[int, str]:
    return _BUILDS.get(node.resource_type, 9), node.unique_id


def _pointers(project: Project) -> Iterator[tuple[tuple[str, ...], str]]:
    """The views that dbt 1.12 makes over the latest version of a model, where its config says so:
    ``select * from orders_v2`` under the name ``orders``."""
    for node in sorted(project.nodes.values(), key=_builder_first):
        pointer = node.config.get("latest_version_pointer") if node.is_latest_version else None
        if node.relation is not None and isinstance(pointer, dict) and pointer.get("enabled"):
            name = str(pointer.get("alias") or node.name)
            yield (*node.relation.parts[:-1], name), node.unique_id


def _names(node: Node, adapter_type: str) -> Iterator[tuple[str, ...]]:
    if node.resource_type not in _BUILDS:
        return
    if node.relation is not None:
        yield node.relation.parts
    if node.defer_relation is not None:
        yield node.defer_relation.parts
    # dbt-duckdb lets a source stand for a file: its name is 'orders.csv', quotes and all.
    name = node.relation_name
    if name and ("'" in name or "(" in name) and parse_relation_name(name, adapter_type) is None:
        yield (name.strip("'"),)
        # Of a function that reads it, as delta_scan('lake/orders'), SQL is known to name the path.
        called = _CALLED.match(name)
        if called:
            yield (called[1].replace("''", "'"),)
