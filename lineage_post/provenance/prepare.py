"""From SQL text to a query ready for rewriting: names resolved, stars expanded, CTEs at the top.

Every physical table becomes an internal name (``_r1``), so that neither its database parts nor a
CTE of the same name can be mistaken; every CTE, and every view that is read as its SQL, becomes one
CTE of the whole query. What cannot be rewritten is refused here, before any name is touched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from lineage_post.provenance.building import names_of, windows_and_aggregates
from lineage_post.provenance.refusal import Refusal, refuse
from lineage_post.provenance.relations import BaseTable, Relations, View
from lineage_post.provenance.scopes import resolved_columns

VOLATILE = frozenset(
    [
        "random",
        "rand",
        "uuid",
        "gen_random_uuid",
        "uuid_generate_v4",
        "newid",
        "nextval",
        "setseed",
        "uuidv4",
        "uuidv7",
    ]
)
CLOCKS = (exp.CurrentTimestamp, exp.CurrentDate, exp.CurrentTime, exp.CurrentDatetime)
CLOCK_NAMES = frozenset(
    ["now", "getdate", "sysdate", "clock_timestamp", "today", "current_localtimestamp"]
)


#: Names that the rewriter gives: to tables, and to CTEs once they are annotated.
_OURS = re.compile(r"^_r\d+$|__p$")
#: Columns that the rewriter adds.
_ADDED = re.compile(r"_p|_cell\d+", re.IGNORECASE)


@dataclass(slots=True)
class Base:
    """A relation as one query reads it: ``table`` as written, ``label`` its name in tokens."""

    relation: BaseTable
    table: exp.Table
    label: str
    #: Columns the query reads, in the relation's order where that is known.
    read: tuple[str, ...] = ()
    types: Mapping[str, exp.DataType] = field(default_factory=dict)
    #: The relation's own spelling of the columns that ``types`` has folded.
    names: Mapping[str, str] = field(default_factory=dict)

    def spelled(self, column: str) -> str:
        """A column as the relation spells it."""
        return self.names.get(column, column)


@dataclass(slots=True)
class Cte:
    """A named query; ``columns`` are the names after it, as in ``with x(a, b) as``."""

    name: str
    query: exp.Expr
    columns: tuple[str, ...] = ()
    recursive: bool = False


@dataclass(slots=True)
class Prepared:
    """A qualified query without WITH, and what its names stand for."""

    body: exp.Expr
    #: The output names as the query gives them, by position.
    names: tuple[str, ...]
    ctes: dict[str, Cte]
    bases: dict[str, Base]
    dialect: str
    notes: dict[str, None]


def prepare(sql: str, dialect: str, relations: Relations) -> Prepared:
    """``sql`` ready for a Rewriter. Raises Refusal for what has no rule."""
    body = parsed(sql, dialect)
    notes: dict[str, None] = {}
    _refuse_operators(body)
    resolver = _Resolver(dialect, relations)
    names = tuple(names_of(body))
    resolver.resolve(body, {})
    for query in [body, *(cte.query for cte in resolver.ctes.values())]:
        _note_volatile(query, dialect, notes)
    prepared = Prepared(body, names, resolver.ctes, resolver.bases, dialect, notes)
    _rename_clashes(prepared)
    _qualify(prepared)
    _note_reads(prepared)
    written = names_of(prepared.body)
    if len(names) != len(written) or "*" in names:
        prepared.names = tuple(written)
    return prepared


def parsed(sql: str, dialect: str) -> exp.Expr:
    """The one query in ``sql``. Raises Refusal for anything else."""
    try:
        statements = [s for s in sqlglot.parse(sql, read=dialect) if s is not None]
    except SqlglotError as error:
        line = re.search(r"Line (\d+)", str(error))
        raise Refusal("SQL that cannot be parsed", int(line[1]) if line else None) from error
    except RecursionError as error:
        raise Refusal("an expression nested too deeply") from error
    if len(statements) != 1:
        raise Refusal(f"a script of {len(statements)} statements")
    statement = statements[0]
    if isinstance(statement, exp.Pivot):
        raise refuse("UNPIVOT" if statement.args.get("unpivot") else "PIVOT", statement)
    if not isinstance(statement, exp.Query):
        raise refuse(f"{statement.key.upper()} statement", statement)
    return statement


def _refuse_operators(query: exp.Expr) -> None:
    for node in query.walk():
        if isinstance(node, exp.Pivot):
            raise refuse("UNPIVOT" if node.args.get("unpivot") else "PIVOT", node)
        if isinstance(node, exp.TableSample):
            raise refuse("TABLESAMPLE", node, "A sample cannot be drawn a second time.")
        if isinstance(node, exp.MatchRecognize):
            raise refuse("MATCH_RECOGNIZE", node)
        if isinstance(node, exp.Join) and (node.method or "").upper() == "POSITIONAL":
            raise refuse("POSITIONAL JOIN", node)
        if isinstance(node, exp.Columns):
            raise refuse("COLUMNS(...)", node)


def _note_volatile(query: exp.Expr, dialect: str, notes: dict[str, None]) -> None:
    for node in query.find_all(exp.Func, *CLOCKS):
        name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
        if isinstance(node, (exp.Rand, exp.Uuid)) or name in VOLATILE:
            notes[f"volatile function {node.sql(dialect)}: values differ at each run"] = None
        elif isinstance(node, CLOCKS) or name in CLOCK_NAMES:
            notes[f"the clock is read by {node.sql(dialect)}: values differ at each run"] = None


class _Resolver:
    """Replaces table names by internal ones and lifts CTEs and views to the top.

    Both are quoted, so that no dialect folds them.
    """

    def __init__(self, dialect: str, relations: Relations) -> None:
        self.dialect = dialect
        self.relations = relations
        self.ctes: dict[str, Cte] = {}
        self.bases: dict[str, Base] = {}
        self._internal: dict[str, str] = {}
        self._views: dict[str, str] = {}
        self._opening: list[str] = []
        self._taken: set[str] = set()

    def resolve(self, node: exp.Expr, scope: Mapping[str, str]) -> None:
        """Resolve in place; ``scope`` maps the CTE names that are visible to their unique names."""
        clause = node.args.get("with_")
        if clause is not None:
            scope = self._lift(clause, dict(scope))
            node.set("with_", None)
        if isinstance(node, exp.Table):
            self._table(node, scope)
        for child in list(node.iter_expressions()):
            self.resolve(child, scope)

    def _lift(self, clause: exp.With, scope: dict[str, str]) -> dict[str, str]:
        for cte in clause.expressions:
            name, query = cte.alias.lower(), cte.this
            if not isinstance(query, exp.Query):
                raise refuse(f"a {query.key} statement in WITH", cte)
            unique = self._unique(name)
            recursive = bool(clause.args.get("recursive")) and _reads(query, name)
            if recursive and cte.args.get("key_expressions"):
                raise refuse("a recursive CTE with USING KEY", cte)
            self.resolve(query, {**scope, name: unique} if recursive else scope)
            named = cte.args["alias"].args.get("columns") or []
            columns = tuple(normalize_identifiers(c, dialect=self.dialect).name for c in named)
            self.ctes[unique] = Cte(unique, query, columns, recursive)
            scope[name] = unique
        return scope

    def _unique(self, name: str) -> str:
        wanted = re.sub(r"\W", "_", name)
        if _OURS.search(wanted):
            wanted += "_"
        unique, n = wanted, 1
        while unique in self._taken:
            n += 1
            unique = f"{wanted}_{n}"
        self._taken.add(unique)
        return unique

    def _table(self, node: exp.Table, scope: Mapping[str, str]) -> None:
        if not isinstance(node.this, exp.Identifier):
            self._call(node)
            return
        name = node.name
        if not node.alias:
            alias = exp.TableAlias(this=exp.to_identifier(name, quoted=node.this.args["quoted"]))
            node.set("alias", alias)
        if not node.db and name.lower() in scope:
            internal = scope[name.lower()]
        else:
            internal = self._physical(node)
        for part in ("db", "catalog"):
            node.set(part, None)
        node.set("this", exp.to_identifier(internal, quoted=True))

    def _physical(self, node: exp.Table) -> str:
        parts = tuple(part for part in (node.catalog, node.db, node.name) if part)
        relation = self.relations.find(parts)
        if isinstance(relation, View):
            return self._view(relation, node)
        return self._base(relation or BaseTable(".".join(parts)), node, node.name)

    def _base(self, relation: BaseTable, node: exp.Table, name: str) -> str:
        if relation.name not in self._internal:
            internal = f"_r{len(self._internal) + 1}"
            self._internal[relation.name] = internal
            written = exp.Table(**{k: node.args.get(k) for k in ("this", "db", "catalog")}).copy()
            self.bases[internal] = Base(relation, written, self._label(name))
        return self._internal[relation.name]

    def _call(self, node: exp.Table) -> None:
        """A table function whose columns are known is read like a table."""
        relation = self.relations.find_call(node.this.sql(self.dialect))
        if relation is None:
            return
        internal = self._base(relation, node, relation.name.rsplit(".", 1)[-1])
        if not node.alias:
            alias = exp.to_identifier(self.bases[internal].label)
            node.set("alias", exp.TableAlias(this=alias))
        node.set("this", exp.to_identifier(internal, quoted=True))

    def _label(self, name: str) -> str:
        label = re.sub(r"\W", "_", name)
        label = label if label[:1].isalpha() else f"t{label}"
        taken = {base.label for base in self.bases.values()}
        unique, n = label, 1
        while unique in taken:
            n += 1
            unique = f"{label}_{n}"
        return unique

    def _view(self, view: View, node: exp.Table) -> str:
        if view.name in self._opening:
            raise refuse(f"a view that reads itself: {view.name}", node)
        if view.name not in self._views:
            self._opening.append(view.name)
            query = parsed(view.sql, self.dialect)
            _refuse_operators(query)
            self.resolve(query, {})
            self._opening.pop()
            unique = self._unique(node.name.lower())
            self.ctes[unique] = Cte(unique, query)
            self._views[view.name] = unique
        return self._views[view.name]


def _rename_clashes(prepared: Prepared) -> None:
    """A CTE named like a table without a schema would hide it from the other CTEs."""
    plain = {base.table.name.lower() for base in prepared.bases.values() if not base.table.db}
    for name in [n for n in prepared.ctes if n in plain or f"{n}__p" in plain]:
        new = name
        while new in plain or f"{new}__p" in plain or new in prepared.ctes:
            new += "_cte"
        queries = [prepared.body, *(cte.query for cte in prepared.ctes.values())]
        for table in [t for query in queries for t in query.find_all(exp.Table)]:
            if table.name == name and not table.db:
                table.set("this", exp.to_identifier(new, quoted=True))
        prepared.ctes = {(new if key == name else key): cte for key, cte in prepared.ctes.items()}
        prepared.ctes[new].name = new


def _reads(query: exp.Expr, name: str) -> bool:
    return any(t.name.lower() == name and not t.db for t in query.find_all(exp.Table))


def _qualify(prepared: Prepared) -> None:
    """Qualify columns and expand stars, in the query and its CTEs."""
    body = prepared.body.copy()
    if prepared.ctes:
        clauses = [_cte_node(cte) for cte in prepared.ctes.values()]
        recursive = any(cte.recursive for cte in prepared.ctes.values())
        body.set("with_", exp.With(expressions=clauses, recursive=recursive))
    schema = _schema(prepared)
    try:
        done = _qualified(body, schema, prepared.dialect)
        # A star over a query with two outputs of one name waits for them to be told apart.
        stars = _stars(done)
        while stars:
            for select in done.find_all(exp.Select):
                _tell_outputs_apart(select)
            done = _qualified(done, schema, prepared.dialect)
            left = _stars(done)
            if left == stars:
                break
            stars = left
        done = annotate_types(done, schema=schema, dialect=prepared.dialect)
    except (SqlglotError, RecursionError) as error:
        raise Refusal(f"names that cannot be resolved ({error})") from error
    clause = done.args.get("with_")
    for node in clause.expressions if clause is not None else ():
        cte = prepared.ctes[node.alias]
        cte.query = node.this.pop()
        # Qualifying moves the names after a CTE into its query, unless it recurses.
        cte.columns = tuple(c.name for c in node.args["alias"].args.get("columns") or [])
    done.set("with_", None)
    prepared.body = done
    _refuse_stars(prepared)
    _refuse_added_names(prepared)
    for query in [prepared.body, *(cte.query for cte in prepared.ctes.values())]:
        for select in query.find_all(exp.Select):
            _name_windows(select)
            _spell_group_by_all(select)
            _tell_outputs_apart(select)


def _stars(query: exp.Expr) -> int:
    return sum(bool(select.is_star) for select in query.find_all(exp.Select))


def _qualified(query: exp.Expr, schema: MappingSchema, dialect: str) -> exp.Expr:
    return qualify(
        query,
        schema=schema,
        dialect=dialect,
        validate_qualify_columns=False,
        canonicalize_table_aliases=False,
    )


def _cte_node(cte: Cte) -> exp.CTE:
    columns = [exp.to_identifier(name, quoted=True) for name in cte.columns]
    alias = exp.TableAlias(this=exp.to_identifier(cte.name, quoted=True), columns=columns or None)
    return exp.CTE(this=cte.query, alias=alias)


def _schema(prepared: Prepared) -> MappingSchema:
    mapping: dict[str, object] = {}
    for internal, base in prepared.bases.items():
        types = {
            _folded(name, prepared.dialect): _data_type(data_type, prepared.dialect)
            for name, data_type in base.relation.columns.items()
        }
        base.types = types
        base.names = {_folded(name, prepared.dialect): name for name in base.relation.columns}
        if types:
            mapping[internal] = types
    return MappingSchema(mapping, dialect=prepared.dialect, normalize=False)


def _folded(name: str, dialect: str) -> str:
    return str(normalize_identifiers(exp.to_identifier(name, quoted=True), dialect=dialect).name)


def _data_type(name: str | None, dialect: str) -> exp.DataType:
    try:
        return exp.DataType.build(name or "unknown", dialect=dialect)
    except (SqlglotError, ValueError):
        return exp.DataType.build("unknown")


def _refuse_stars(prepared: Prepared) -> None:
    for query in [prepared.body, *(cte.query for cte in prepared.ctes.values())]:
        for select in query.find_all(exp.Select):
            for item in select.expressions:
                if item.is_star:
                    raise refuse(
                        "a star over unknown columns",
                        item,
                        "The columns of its relation are in neither catalog.json nor YAML; "
                        "run dbt docs generate.",
                    )


def _refuse_added_names(prepared: Prepared) -> None:
    """A column called like one that is added would be taken for it."""
    read = [name for base in prepared.bases.values() for name in base.types]
    queries = [prepared.body, *(cte.query for cte in prepared.ctes.values())]
    given = [name for q in queries for s in q.find_all(exp.Select) for name in s.named_selects]
    given += [name for cte in prepared.ctes.values() for name in cte.columns]
    for name in (*read, *given):
        if _ADDED.fullmatch(name):
            raise Refusal(f"a column named {name}, which annotations are named")


def _name_windows(select: exp.Select) -> None:
    """``over w`` becomes the window that ``window w as (...)`` defines."""
    named = {w.name.lower(): w for w in select.args.get("windows") or []}
    for window in list(select.find_all(exp.Window)) if named else ():
        name = window.args.get("alias")
        definition = named.get(name.name.lower()) if name is not None else None
        if definition is None or window is definition:
            continue
        for key in ("partition_by", "order", "spec"):
            if not window.args.get(key) and definition.args.get(key):
                value = definition.args[key]
                copied = [v.copy() for v in value] if isinstance(value, list) else value.copy()
                window.set(key, copied)
        window.set("alias", None)
    select.set("windows", None)


def _spell_group_by_all(select: exp.Select) -> None:
    group = select.args.get("group")
    if group is None or not group.args.get("all"):
        return
    keys = [item.unalias() for item in select.expressions]
    # A constant in the clause would be read as the position of an output; it groups nothing.
    keys = [key for key in keys if key.find(exp.Column, exp.Query)]
    keys = [key for key in keys if not windows_and_aggregates([key])[1]]
    select.set("group", exp.Group(expressions=[key.copy() for key in keys]) if keys else None)


def _tell_outputs_apart(select: exp.Select) -> None:
    """Two outputs of one name get two names, as DuckDB numbers them."""
    seen: set[str] = set()
    for item in select.expressions:
        name, n = item.alias_or_name, 0
        unique = name
        while unique.lower() in seen:
            n += 1
            unique = f"{name}_{n}"
        seen.add(unique.lower())
        if unique != name and isinstance(item, exp.Alias):
            item.set("alias", exp.to_identifier(unique, quoted=True))


def _note_reads(prepared: Prepared) -> None:
    """Remember which columns of each base are read."""
    read: dict[str, dict[str, None]] = {internal: {} for internal in prepared.bases}
    for query in [prepared.body, *(cte.query for cte in prepared.ctes.values())]:
        for column, source in resolved_columns(query):
            if isinstance(source, exp.Table) and source.name in read:
                read[source.name][column.name] = None
    for internal, base in prepared.bases.items():
        order = {name: position for position, name in enumerate(base.types)}
        names = sorted(read[internal], key=lambda name: order.get(name, len(order)))
        base.read = tuple(names)
