"""One of the two states that are compared: its lineage, and what its statements define."""

from __future__ import annotations

import re
from collections.abc import Callable

from lineage_post.artifacts import Node
from lineage_post.diff.definition import Definition, definition_of
from lineage_post.lineage import Lineage
from lineage_post.relations import external_id
from lineage_post.trace.dialects import dialect_of
from lineage_post.vocabulary import Reason, Subtype

_SPACE = re.compile(r"\s+")
#: Settings that decide what is built, not how it is described.
SETTINGS = (
    "materialized",
    "incremental_strategy",
    "on_schema_change",
    "unique_key",
    "strategy",
    "updated_at",
    "check_cols",
    "partition_by",
    "cluster_by",
    "contract",
)


class Side:
    """``Side(lineage).definition(unique_id, name_before)``."""

    def __init__(self, lineage: Lineage) -> None:
        self.lineage = lineage
        self.relations, self.tasks = lineage.relations, lineage.tasks
        self.dialect = lineage.options.dialect or dialect_of(lineage.project.adapter_type)

    def columns(self, unique_id: str) -> list[str]:
        """The columns of a node, without those that only its table of long ago still has."""
        node = self.lineage.nodes.get(unique_id)
        found = (c for c in (node.columns if node else ()) if c.reason is not Reason.NOT_IN_SQL)
        return [c.name for c in found if c.is_column and c.name]

    def is_open(self, unique_id: str) -> bool:
        """Whether a node may have more columns than are listed."""
        node = self.lineage.nodes.get(unique_id)
        if node is None or node.reason is Reason.SCHEMA_MISSING:
            return True
        return any(c.name == "*" and c.ordinal is None for c in node.columns)

    def sql(self, unique_id: str) -> str:
        """The code of a node, compiled if it is SQL, without layout; relations have their node's
        name, since two environments have them in two databases."""
        task = self.tasks.get(unique_id)
        nodes = self.lineage.project.nodes
        node = nodes.get(unique_id)
        if node is None:
            return ""
        text = task.sql if task is not None else node.raw_code
        for parent in (unique_id, *node.depends_on):
            relation = nodes[parent].relation_name if parent in nodes else None
            if relation:
                text = text.replace(relation, f"<{parent}>")
        return _SPACE.sub(" ", text).strip()

    def settings(self, node: Node) -> dict[str, str]:
        return {key: str(node.config[key]) for key in SETTINGS if key in node.config}

    def definition(
        self, unique_id: str, name_before: Callable[[str, str], str]
    ) -> Definition | None:
        """What the statement of a node defines, None where it has none that can be read."""
        task = self.tasks.get(unique_id)
        if task is None:
            return None
        return definition_of(
            task.sql,
            self.columns(unique_id),
            dialect=self.dialect,
            node_of=self._node,
            name_before=name_before,
            stop_at=dict(task.stop_at),
        )

    def expressions(
        self, unique_id: str, column: str | None, subtype: Subtype | None = None
    ) -> list[str]:
        """The SQL that the edges of a column, or of the rows, have, as the user wrote it."""
        edges = self.lineage.graph.edges_into(unique_id, column)
        found = (e for e in edges if subtype is None or e.subtype is subtype)
        return sorted({e.expression for e in found if e.expression})

    def _node(self, parts: tuple[str, ...]) -> str:
        found = self.relations.find(parts)
        return found if found is not None else external_id(parts)
