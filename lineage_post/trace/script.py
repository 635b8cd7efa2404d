"""What the statements of a script have made so far, for the statements that come after.

::

    create temporary table paid as select id, amount from orders where is_paid;
    insert into totals select id, sum(amount) from paid group by id

A temporary table is read through, as a CTE is: the second statement's edges begin at orders. A
table that stays is a relation of its own: its columns are known, and edges begin there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlglot import exp

from lineage_post.trace.alterations import altered, new_name, single_alterations
from lineage_post.trace.ctes import Cte
from lineage_post.trace.frame import Env
from lineage_post.trace.running import Settings
from lineage_post.trace.schema_index import Entry, SchemaIndex
from lineage_post.trace.statements import Written
from lineage_post.trace.variables import filled_by

_CHANGES = (exp.Update, exp.Delete, exp.Merge)


class SchemaOverlay(SchemaIndex):
    """A schema with relations of its own before those of another."""

    def __init__(self, below: SchemaIndex) -> None:
        super().__init__(below.rules.name)
        self._below = below

    def by_key(self, key: str) -> Entry | None:
        return super().by_key(key) or self._below.by_key(key)

    def _find(self, name: tuple[str, ...]) -> Entry | None:
        found = super()._find(name)
        if found is not None and len(found.parts) == len(name):
            return found
        below = self._below.find(name)
        is_altered = found is not None and below is not None and found.key == below.key
        return found if below is None or is_altered else below


class Script:
    """The tables that earlier statements made."""

    def __init__(self, settings: Settings) -> None:
        #: (key, CTE) of each temporary table in the order they were made, None where one went.
        self._made: list[tuple[str, Any]] = []
        self._schema = SchemaOverlay(settings.schema)
        self.variables: frozenset[str] = frozenset()
        #: Those of them, and of the session, whose values were read from tables.
        self.filled: frozenset[str] = frozenset()
        self._columns: dict[str, Mapping[str, str | None]] = {}
        self.settings = replace(settings, schema=self._schema)

    @property
    def env(self) -> Env:
        """The temporary tables as CTEs, each of which sees those that were made before it."""
        env: Env = {}
        for key, node in self._made:
            if node is None:
                env = {k: cte for k, cte in env.items() if k != key}
            else:
                env = {**env, key: Cte(node, env, key, None, is_recursive=False)}
        return env

    def note(self, node: Any, made: Written) -> None:
        """Takes in what a statement made or changed."""
        if isinstance(node, (exp.Declare, exp.Set, exp.Select, exp.Update)):
            self.filled |= filled_by(node, self.settings.schema.rules.family)
        if isinstance(node, exp.Create) or (
            isinstance(node, exp.Select) and node.args.get("into") is not None
        ):
            self._create(node, made)
        elif isinstance(node, exp.Declare):
            key = self.settings.schema.rules.key
            named = {key(n) for n in node.find_all(exp.Identifier)}
            self.variables |= named
        elif isinstance(node, exp.Drop):
            self._forget(self._key(node.args.get("this")))
        elif isinstance(node, exp.Alter):
            self._alter(node, made)
        elif isinstance(node, exp.Command):
            for one in single_alterations(node, self.settings.schema.rules.dialect):
                self._change_columns(one)
        elif isinstance(node, exp.Insert):
            self._insert(node)
        elif isinstance(node, _CHANGES):
            # no query gives these rows any more: the table is read as a relation
            self._forget(self.settings.schema.rules.key_of(made.target or ""))
        elif isinstance(node, exp.TruncateTable):
            self._made += [(key, None) for key in map(self._key, node.expressions) if key]

    def _create(self, node: Any, made: Written) -> None:
        target, listed = _target(node)
        if not isinstance(target, exp.Table) or made.target is None:
            return
        columns = dict.fromkeys(made.relation.spellings)
        columns = columns or {**self._like(node), **_declared(self._spell, listed)}
        key = self._key(target)
        if columns:
            parts = (made.target,) if key is not None else tuple(made.target.split("."))
            is_complete = made.relation.open is None
            self._schema.add(parts, columns, key=made.target, complete=is_complete)
        has_rows = bool(made.relation.spellings or made.relation.open)
        if key is None or not _is_temporary(node, target):
            self._forget(key)
            return
        if not has_rows:
            self._forget(key)
        self._columns[key] = columns
        if has_rows:
            self._read_through(key, target, _query_of(node), listed)

    def _like(self, node: Any) -> dict[str, str | None]:
        """The columns of ``create table t (like u)``, ``create table t like u``."""
        like = node.find(exp.LikeProperty) if isinstance(node, exp.Create) else None
        entry = (
            None if like is None or not isinstance(like.this, exp.Table) else self._entry(like.this)
        )
        is_known = entry is not None and entry.is_complete
        return dict(zip(entry.columns, entry.types)) if entry is not None and is_known else {}

    def _entry(self, table: Any) -> Entry | None:
        """The relation of the schema that a table is."""
        named = [table.args[p] for p in ("catalog", "db", "this") if table.args.get(p)]
        return self._schema.find(tuple(map(self._spell, named)))

    def _read_through(self, key: str, table: Any, query: Any, listed: Any) -> None:
        names = [c.this if isinstance(c, exp.ColumnDef) else c for c in listed or ()]
        alias = exp.TableAlias(this=table.this, columns=[n.copy() for n in names])
        self._made.append((key, exp.CTE(this=query, alias=alias)))

    def _insert(self, node: Any) -> None:
        """More rows for a temporary table: a union of what it had and what is inserted."""
        target, listed = _target(node)
        key = self._key(target)
        if key is None or key not in self._columns:
            return
        source = _query_of(node)
        if source is None or node.args.get("conflict") is not None:
            self._forget(key)
            return
        names = [exp.to_identifier(name, quoted=True) for name in self._columns[key]]
        if listed:
            source = _arranged(source, listed, names, self._spell)
        if self._is_filled(key) and not node.args.get("overwrite"):
            before = exp.select("*").from_(exp.Table(this=target.this.copy()))
            by_name = bool(node.args.get("by_name"))
            source = exp.Union(this=before, expression=source, distinct=False, by_name=by_name)
        self._read_through(key, target, source, names)

    def _alter(self, node: Any, made: Written) -> None:
        """Other columns of a table, or another name for it."""
        target = new_name(node)
        if target is None:
            self._change_columns(node)
            return
        key, new_key = self._key(node.this), self._key(target)
        columns: dict[str, str | None] = dict.fromkeys(made.relation.spellings)
        if columns and made.target is not None:
            parts = (made.target,) if new_key is not None else tuple(made.target.split("."))
            is_complete = made.relation.open is None
            self._schema.add(parts, columns, key=made.target, complete=is_complete)
        if key is None or new_key is None or key not in self._columns:
            self._forget(new_key)
            return
        self._columns[new_key] = self._columns[key]
        if self._is_filled(key):
            query = exp.select("*").from_(exp.Table(this=node.this.this.copy()))
            self._read_through(new_key, target, query, None)
        self._forget(key)

    def _change_columns(self, node: Any) -> None:
        table = node.this
        if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
            return
        entry = self._entry(table)
        if entry is None:
            return
        types = dict(zip(entry.columns, entry.types))
        columns = altered(types, node, self._spell)
        now = {name: kind for name, (kind, _) in columns.items()}
        if now == types:
            return
        self._schema.add(entry.parts, now, key=entry.key, complete=entry.is_complete)
        key = self._key(table)
        if key is None or key not in self._columns:
            return
        self._columns[key] = now
        if self._is_filled(key):
            items = [_as_it_was(name, before) for name, (_, before) in columns.items()]
            query = exp.select(*items).from_(exp.Table(this=table.this.copy()))
            self._read_through(key, table, query, None)

    def _is_filled(self, key: str) -> bool:
        """Whether a temporary table has rows so far."""
        nodes = [node for name, node in self._made if name == key]
        return bool(nodes) and nodes[-1] is not None

    def _forget(self, key: str | None) -> None:
        if key is not None and self._columns.pop(key, None) is not None:
            self._made.append((key, None))

    def _spell(self, identifier: Any) -> str:
        return self.settings.schema.rules.spell(identifier)

    def _key(self, table: Any) -> str | None:
        """What a table is looked up by, where its name has one part."""
        if isinstance(table, exp.Schema):
            table = table.args["this"]
        if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
            return None
        is_short = table.args.get("db") is None
        return self.settings.schema.rules.key(table.this) if is_short else None


def _target(node: Any) -> tuple[Any, Any]:
    """The table a statement makes or fills, and the columns it lists."""
    target = node.args["into"].this if isinstance(node, exp.Query) else node.args["this"]
    if isinstance(target, exp.Schema):
        return target.args["this"], target.expressions
    return target, None


def _query_of(node: Any) -> Any:
    """The query of a statement, with the CTEs that stand before the statement."""
    if isinstance(node, exp.Query):
        return node
    query, with_ = node.args.get("expression"), node.args.get("with_")
    if with_ is not None and isinstance(query, exp.Query) and query.args.get("with_") is None:
        query = query.copy()
        query.set("with_", with_.copy())
    return query


def _is_temporary(node: Any, target: Any) -> bool:
    if isinstance(node, exp.Query) and node.args["into"].args.get("temporary"):
        return True
    properties = node.args.get("properties")
    has_word = properties is not None and properties.find(exp.TemporaryProperty) is not None
    return has_word or bool(target.this.args.get("temporary"))


def _declared(spell: Any, listed: Any) -> dict[str, str | None]:
    """The columns of ``create table t (a int, b text)``."""
    found: dict[str, str | None] = {}
    for column in listed or ():
        if isinstance(column, exp.ColumnDef) and isinstance(column.this, exp.Identifier):
            kind = column.args.get("kind")
            found[spell(column.this)] = None if kind is None else str(kind.sql())
    return found


def _as_it_was(name: str, before: str | None) -> Any:
    """A column of a table that was altered, by the name it had; a new one is null."""
    if before is None:
        return exp.alias_(exp.null(), name, quoted=True)
    return exp.alias_(exp.column(exp.to_identifier(before, quoted=True)), name, quoted=True)


def _arranged(source: Any, listed: Any, names: list[Any], spell: Any) -> Any:
    """The inserted columns in the order of the table; what is not listed is null."""
    given = {spell(c.this if isinstance(c, exp.ColumnDef) else c) for c in listed}
    alias = exp.TableAlias(this=exp.to_identifier("inserted"), columns=[c.copy() for c in listed])
    values = [
        exp.column(name.copy()) if name.name in given else exp.alias_(exp.null(), name.copy())
        for name in names
    ]
    return exp.select(*values).from_(exp.Subquery(this=source, alias=alias))
