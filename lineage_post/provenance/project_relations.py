"""The relations of a dbt project as provenance sees them: stored tables, or SQL to read through."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from lineage_post.artifacts import Node
from lineage_post.lineage import Lineage
from lineage_post.provenance.connection import (
    Adapter,
    Connection,
    QueryFailed,
    Stored,
    describe,
)
from lineage_post.provenance.keys import declared_keys
from lineage_post.provenance.relations import BaseTable, View
from lineage_post.relations import Relations as Names
from lineage_post.trace.dialects import Case, dialect_of, rules_of

#: Materializations that store no rows of their own.
READ_THROUGH = frozenset({"view", "ephemeral"})
STORED = frozenset({"table", "incremental", "snapshot", "seed"})


@dataclass(slots=True)
class ProjectRelations:
    """Finds relations for ``prepare``. ``inlined`` models are read as their SQL.

    ``sql_of`` gives the SQL of a model, None where it has none to read. ``leaves`` are views that
    are refused, by why: they are read as stored rows.
    """

    lineage: Lineage
    connection: Connection | None
    sql_of: Callable[[Node], str | None]
    inlined: Collection[str] = frozenset()
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    leaves: dict[str, str] = field(default_factory=dict)
    _names: Names = field(init=False)
    _stored: dict[tuple[str, ...], Stored] = field(default_factory=dict)
    _described: bool = False

    def __post_init__(self) -> None:
        self._names = Names(self.lineage.project)
        self.keys = self.keys or declared_keys(self.lineage.project)

    def inlining(self, inlined: Collection[str]) -> ProjectRelations:
        """The same relations with other models read as their SQL."""
        return ProjectRelations(
            self.lineage,
            self.connection,
            self.sql_of,
            inlined,
            self.keys,
            self.leaves,
            self._stored,
            self._described,
        )

    def find(self, parts: tuple[str, ...]) -> BaseTable | View | None:
        """The table or view of this name."""
        unique_id = self._names.find(parts)
        if unique_id is None:
            stored = self._describe(parts)
            if stored is None:
                return None
            return BaseTable(".".join(parts), stored.columns, (), stored.is_table)
        node = self.lineage.project.nodes[unique_id]
        sql = self.sql_of(node) if self.is_read_through(node) else None
        return View(unique_id, sql) if sql else self.table(unique_id)

    def find_call(self, sql: str) -> BaseTable | None:
        """A table function: its columns are asked of the engine."""
        unique_id = self._names.find((sql.strip("'"),))
        node = self.lineage.project.nodes.get(unique_id or "")
        name = node.unique_id if node is not None else sql
        if node is None:
            same = [n for n in self.lineage.project.nodes.values() if n.relation_name == sql]
            name = same[0].unique_id if len(same) == 1 else sql
        columns = self._columns_of_call(sql) or self._known_columns(name)
        return BaseTable(name, columns, self.keys.get(name, ())) if columns else None

    def table(self, unique_id: str) -> BaseTable:
        """The relation of a node as a stored table."""
        node = self.lineage.project.nodes[unique_id]
        parts = node.relation.parts if node.relation is not None else ()
        stored = self._describe(parts) if parts else None
        key = self.keys.get(unique_id, ())
        if stored is not None:
            return BaseTable(unique_id, stored.columns, key, stored.is_table)
        columns = self._known_columns(unique_id)
        if not columns and node.resource_type == "source" and node.relation_name:
            # dbt-duckdb lets a source stand for a file.
            columns = self._columns_of_call(node.relation_name)
        is_table = node.resource_type == "seed" or node.materialized in STORED
        return BaseTable(unique_id, columns, key, is_table)

    def is_read_through(self, node: Node) -> bool:
        """Is ``node`` read as its SQL?"""
        if node.unique_id in self.leaves:
            return False
        if node.resource_type != "model" or node.language != "sql":
            return False
        return node.unique_id in self.inlined or node.materialized in READ_THROUGH

    def _known_columns(self, unique_id: str) -> Mapping[str, str | None]:
        traced = self.lineage.nodes.get(unique_id)
        if traced is None:
            return {}
        found = {c.name: c.data_type for c in traced.columns if c.is_column and c.name is not None}
        node = self.lineage.project.nodes[unique_id]
        if node.resource_type in ("source", "seed") and self._are_unquoted(found):
            return {name.upper(): data_type for name, data_type in found.items()}
        return found

    def _are_unquoted(self, names: Collection[str]) -> bool:
        """Names that a person wrote in YAML, on an engine that stores such names in capitals."""
        dialect = self.lineage.options.dialect or dialect_of(self.lineage.project.adapter_type)
        is_folded = rules_of(dialect).case is Case.UPPER
        return is_folded and all(name == name.lower() for name in names)

    def _describe(self, parts: tuple[str, ...]) -> Stored | None:
        if self.connection is None:
            return None
        if not self._described:
            self._described = True
            nodes = self.lineage.project.nodes.values()
            names = [n.relation.parts for n in nodes if n.relation is not None and _is_relation(n)]
            self._stored.update(self._asked(names))
        folded = tuple(part.lower() for part in parts)
        for known, stored in self._stored.items():
            width = min(len(known), len(folded))
            if width > 1 and tuple(p.lower() for p in known[-width:]) == folded[-width:]:
                return stored
        if self._names.find(parts) is None and len(parts) > 1:
            self._stored.update(self._asked([parts]))
            return self._stored.get(parts)
        return None

    def _asked(self, names: list[tuple[str, ...]]) -> Mapping[tuple[str, ...], Stored]:
        assert self.connection is not None
        try:
            return describe(self.connection, names)
        except QueryFailed:
            if isinstance(self.connection, Adapter):
                # Not every warehouse has an information schema: then what is traced has to do.
                return {}
            raise

    def _columns_of_call(self, sql: str) -> Mapping[str, str | None]:
        if self.connection is None or self.connection.dialect != "duckdb":
            return {}
        statement = exp.Command(this="describe", expression=f" select * from {sql}")
        try:
            return {str(row[0]): str(row[1]) for row in self.connection.rows(statement)}
        except QueryFailed:
            return {}


def _is_relation(node: Node) -> bool:
    return node.resource_type in ("model", "seed", "snapshot", "source")
