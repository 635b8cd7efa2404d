"""Names of columns: every column qualified, every star expanded, outputs told apart."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from lineage_post.provenance.building import windows_and_aggregates
from lineage_post.provenance.prepared import Cte, Prepared
from lineage_post.provenance.refusal import Refusal, refuse

#: Columns that the rewriter adds.
_ADDED = re.compile(r"_p|_cell\d+", re.IGNORECASE)


def qualify_columns(prepared: Prepared) -> None:
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
