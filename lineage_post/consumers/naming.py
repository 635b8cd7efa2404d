"""The nodes of which it can be said that a column is unused, and all words that may name one.

From the parsed project alone, without compiled SQL: what is said of tests is therefore every word
of their text and of the macros that they call. A word too many claims less, never more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from lineage_post.artifacts import Node, Project
from lineage_post.consumers.own import own_uses
from lineage_post.consumers.semantic import semantic_uses
from lineage_post.consumers.tested import (
    called_nodes,
    data_test_uses,
    foreign_key_uses,
    unit_test_uses,
)
from lineage_post.consumers.use import Use, words
from lineage_post.consumers.uses import TABLES

#: What has lineage of its own, so that the warehouse tells what it reads.
READERS = TABLES | {"exposure"}
#: What dbt itself needs of a snapshot.
SNAPSHOT_COLUMNS = frozenset(
    {"dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to", "dbt_is_deleted"}
)


@dataclass(frozen=True, slots=True)
class Named:
    """``words``: the folded names that tests, settings and consumers have of a node's columns.
    ``readers``: what reads the node, by dbt's own list."""

    unique_id: str
    words: frozenset[str]
    readers: tuple[str, ...]


def named_columns(
    project: Project, macros: Mapping[str, str], excluded: Collection[str] = ()
) -> list[Named]:
    """The nodes that a claim can be made of, sorted. A node that is public, or that no model
    reads, has readers outside: none is made of it. ``macros`` has the text of each by its id."""
    readers: dict[str, list[str]] = {}
    for node in project.nodes.values():
        if node.resource_type in READERS:
            for parent in node.depends_on:
                readers.setdefault(parent, []).append(node.unique_id)
    found = _words(project, macros)
    return [
        Named(node.unique_id, frozenset(found[node.unique_id]), tuple(sorted(readers[key])))
        for key, node in sorted(project.nodes.items())
        if node.resource_type in TABLES
        and node.package_name not in excluded
        and node.access != "public"
        and any(not reader.startswith("exposure.") for reader in readers.get(key, ()))
    ]


def dbts_own(node: Node) -> frozenset[str]:
    """The folded names of the columns that a snapshot has for dbt's sake."""
    if node.resource_type != "snapshot":
        return frozenset()
    renamed = node.config.get("snapshot_meta_column_names")
    own = renamed.values() if isinstance(renamed, Mapping) else ()
    return SNAPSHOT_COLUMNS | {str(name).casefold() for name in own}


def _words(project: Project, macros: Mapping[str, str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {key: set() for key in project.nodes}
    for use in _uses(project):
        if not use.is_text and use.node in found:
            found[use.node].add(use.column.casefold())
    for node in project.nodes.values():
        found[node.unique_id] |= dbts_own(node)
        found[node.unique_id].update(c.name.casefold() for c in node.columns if is_shown(c.meta))
        if node.resource_type == "test":
            # The compiled SQL is not there yet; dbt's own tests name what their arguments do.
            called = (macros.get(m, "") for m in node.macros if not m.startswith("macro.dbt."))
            told = {w.casefold() for text in (node.raw_code, *called) for w in words(text)}
            for parent in node.depends_on:
                found.setdefault(parent, set()).update(told)
    return found


def _uses(project: Project) -> Iterator[Use]:
    called = called_nodes(project)
    for node in project.nodes.values():
        if node.resource_type in TABLES:
            yield from own_uses(node)
            yield from foreign_key_uses(node, project)
        elif node.resource_type == "unit_test":
            yield from unit_test_uses(node, project)
        elif node.resource_type == "test":
            yield from data_test_uses(node, project, called)
    yield from semantic_uses(project)


def is_shown(meta: Mapping[str, object]) -> bool:
    """Whether a column's meta asks for an exposure of it."""
    lineage = meta.get("lineage")
    return isinstance(lineage, Mapping) and bool(lineage.get("expose"))
