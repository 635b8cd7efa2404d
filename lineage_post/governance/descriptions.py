"""Descriptions that a column may take over: from the one column that it is a plain copy of.

Never by name alone: every step on the way is the only value edge of its column, an exact IDENTITY
of a whole column. Two origins, a cast, a branch or a guess on the way, and nothing is taken over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from lineage_post.artifacts import Node
from lineage_post.governance import yaml_tree
from lineage_post.governance.classification import Column, declared_columns
from lineage_post.governance.yaml_files import Patches, Read
from lineage_post.impact.walk import display_name
from lineage_post.lineage import Lineage
from lineage_post.vocabulary import Certainty, EdgeType, State, Subtype

_JINJA = ("{{", "{%", "{#")


@dataclass(frozen=True, slots=True)
class Inherited:
    """A description that a column takes over; ``path`` leads from its origin to the column."""

    column: Column
    text: str
    path: tuple[Column, ...]

    @property
    def origin(self) -> Column:
        return self.path[0]


def inherited_descriptions(lineage: Lineage, read: Read) -> list[Inherited]:
    """The missing descriptions that there is one origin for, sorted by column.

    ``read`` gives the YAML that an origin is described in, since the manifest has its description
    rendered: where that is made by Jinja, as by ``doc()``, the call itself is taken over.
    """
    told = _descriptions(lineage)
    found = []
    for column in _columns(lineage):
        path = None if column in told else _path(lineage, column, told)
        if path is not None:
            text = _written(lineage, path[0], told[path[0]], read)
            if text is not None:
                found.append(Inherited(column, text, path))
    return found


def identity_source(lineage: Lineage, column: Column) -> Column | None:
    """The column that this one is a plain copy of, None unless it surely is one, and of one."""
    node = lineage.nodes.get(column[0])
    own = node.column(column[1]) if node is not None else None
    if own is not None and own.state is not State.KNOWN:
        return None
    edges = lineage.graph.edges_into(*column)
    values = [edge for edge in edges if edge.type is EdgeType.DIRECT]
    # Another influence on the value alone, as a branch, makes it more than a copy.
    if not values or len(values) != len(edges):
        return None
    is_copy = all(
        edge.subtype is Subtype.IDENTITY
        and edge.from_field is None
        and not edge.masking
        and edge.certainty is Certainty.EXACT
        for edge in values
    )
    sources = {(edge.from_node, edge.from_column) for edge in values}
    return sources.pop() if is_copy and len(sources) == 1 else None


def origin_name(lineage: Lineage, column: Column) -> str:
    """``stg_users.email``, as people write it."""
    return f"{display_name(lineage, column[0])}.{column[1]}"


def _columns(lineage: Lineage) -> Iterator[Column]:
    for unique_id in sorted(lineage.nodes):
        node = lineage.project.nodes.get(unique_id)
        if node is None or node.resource_type not in ("model", "snapshot", "seed", "source"):
            continue
        if lineage.is_published(unique_id):
            yield from ((unique_id, name) for name in sorted(lineage.graph.columns(unique_id)))


def _descriptions(lineage: Lineage) -> dict[Column, str]:
    return {
        (unique_id, name): declared.description
        for unique_id in lineage.nodes
        for name, declared in declared_columns(lineage, unique_id)
        if declared.description.strip()
    }


def _path(
    lineage: Lineage, column: Column, told: Mapping[Column, str]
) -> tuple[Column, ...] | None:
    path = [column]
    while True:
        source = identity_source(lineage, path[0])
        if source is None or source in path:
            return None
        path.insert(0, source)
        if source in told:
            return tuple(path)


def _written(lineage: Lineage, origin: Column, rendered: str, read: Read) -> str | None:
    """The description as YAML has to have it; None where its Jinja cannot be had."""
    node = lineage.project.nodes.get(origin[0])
    raw = _raw(lineage, node, origin[1], read) if node is not None else None
    if raw is not None and any(mark in raw for mark in _JINJA):
        # A docs block of another package goes by its package's name only if that is written.
        return raw.strip()
    text = rendered.strip()
    if not any(mark in text for mark in _JINJA):
        return text
    return None if "endraw" in text else f"{{% raw %}}{text}{{% endraw %}}"


def _raw(lineage: Lineage, node: Node, column: str, read: Read) -> str | None:
    """What the YAML of a node in this project says of a column, before Jinja."""
    if node.package_name != lineage.project.name:
        return None
    path = Patches(lineage.project, read, {}).home(node)
    try:
        document = yaml_tree.load(read(path) or "")
    except yaml.YAMLError:
        return None
    return next(_described(document, node.name, column), None)


def _described(document: Any, name: str, column: str) -> Iterator[str]:
    """The descriptions of a column in every entry of this name."""
    if isinstance(document, dict):
        columns = document.get("columns")
        if document.get("name") == name and isinstance(columns, list):
            for entry in columns:
                is_it = isinstance(entry, dict) and str(entry.get("name")) == column
                if is_it and entry.get("description"):
                    yield str(entry["description"])
        document = list(document.values())
    for value in document if isinstance(document, list) else ():
        yield from _described(value, name, column)
