"""The items of FROM: tables, CTEs, derived tables, VALUES, functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from lineage_post.trace.ctes import relation_of
from lineage_post.trace.expressions import evaluate
from lineage_post.trace.field_types import named_columns
from lineage_post.trace.frame import Frame, Operand
from lineage_post.trace.opens import OpenUnknown, one_of
from lineage_post.trace.printing import printed
from lineage_post.trace.relation import AnyStep, Arms, Relation, Step
from lineage_post.trace.renaming import renamed
from lineage_post.trace.schema_index import split_name
from lineage_post.trace.scope import find_operand
from lineage_post.trace.star import unqualified_items
from lineage_post.trace.table_functions import (
    function_relation,
    lateral_relation,
    name_of,
    side_by_side,
)
from lineage_post.trace.tracer import Tracer
from lineage_post.trace.unnesting import exploded, indexed, object_unpivot
from lineage_post.vocabulary import Reason

#: ClickHouse's ``t final``, Databricks' ``stream t``: the table inside.
_WRAPPERS = frozenset(c for n in ("Final", "Stream") if (c := getattr(exp, n, None)) is not None)


def add_source(t: Tracer, node: Any, f: Frame) -> None:
    """Appends what one FROM item brings into scope."""
    if node.__class__ in _WRAPPERS:
        node = node.args["this"]
    a = node.args
    is_table = node.__class__ is exp.Table
    if not is_table and isinstance(node, exp.Subquery) and _is_join_in_parentheses(node):
        add_parenthesized(t, node, f)
        return
    relation, key, parts = (_table if is_table else _relation_of_item)(t, node, f)
    alias = a.get("alias")
    if alias is not None:
        relation, key, parts = _under_alias(t, node, alias, relation, key, parts)
    for pivot in a.get("pivots") or ():
        relation = t.hooks.pivot(t, pivot, relation, f)
        name = pivot.args.get("alias")
        if isinstance(name, exp.TableAlias) and name.this is not None:
            key, parts = t.key(name.this), ()
    if not parts and t.rules.renames_duplicates:
        relation = _without_duplicates(t, relation)
    f.add_operand(Operand(key, relation, parts))
    if node.__class__ is exp.Unnest and t.rules.name == "bigquery":
        _bring_offset(t, node, relation, f)
    if t.recorder is not None:
        _record(t, node, f, key, relation)
    # FROM that stands before SELECT has its joins on its first item, whatever that is
    if (a.get("joins") or a.get("laterals")) and not _is_flattened(node):
        add_joins(t, a.get("joins"), f)
        for lateral in a.get("laterals") or ():
            add_source(t, lateral, f)


def _record(t: Tracer, node: Any, f: Frame, key: str, relation: Relation) -> None:
    this = node.args.get("this")
    function = this.this if isinstance(this, exp.Window) else this
    is_command = isinstance(function, exp.Func) and t.commands.find(name_of(function)) is not None
    assert t.recorder is not None
    t.recorder.source(f, node, key, relation, "command" if is_command else "scan")


def _query(t: Tracer, node: Any, f: Frame) -> Relation:
    """A derived table: it sees the CTEs and the outer query; its siblings only on DuckDB."""
    outer = f if t.rules.implicit_lateral and f.operands else f.outer
    if t.recorder is None:
        return t.query(t, node, f.env, outer)
    alias = node.args.get("alias")
    named = isinstance(alias, exp.TableAlias) and alias.args.get("this") is not None
    with t.recorder.scope(t.spell(alias.this) if named else "(derived table)"):
        return t.query(t, node, f.env, outer)


def _under_alias(
    t: Tracer, node: Any, alias: Any, relation: Relation, key: str, parts: tuple[str, ...]
) -> tuple[Relation, str, tuple[str, ...]]:
    """``t as x(a, b)``: the alias hides the name, its columns hide those of the relation."""
    if not isinstance(alias, exp.TableAlias):
        return relation, key, parts
    if alias.args.get("columns") and not isinstance(node, (exp.Unnest, exp.Lateral)):
        relation = _with_columns(t, relation, alias)
    if alias.args.get("this") is not None:
        return relation, t.key(alias.args["this"]), ()
    return relation, key, parts


def add_joins(t: Tracer, nodes: Any, f: Frame) -> None:
    """The joins that hang on an item of FROM."""
    for node in nodes or ():
        t.hooks.join(t, node, f)


def _relation_of_item(t: Tracer, node: Any, f: Frame) -> tuple[Relation, str, tuple[str, ...]]:
    if isinstance(node, exp.Unnest):
        return exploded(t, node, f, node.args.get("alias")), _row_name(t, node), ()
    if isinstance(node, exp.Lateral):
        return lateral_relation(t, node, f), "", ()
    if isinstance(node, exp.Values):
        return values(t, node, f), "", ()
    if _is_flattened(node):
        g = Frame(f.outer, f.env)
        add_parenthesized(t, node, g)
        return flattened(t, g), "", ()
    if isinstance(node, exp.Query):
        return _query(t, node, f), "", ()
    rows = getattr(exp, "TableFromRows", None)
    if rows is not None and isinstance(node, rows):
        return function_relation(t, node.args["this"], f, node), "", ()
    if isinstance(node, exp.Pivot) and isinstance(node.args["this"], exp.AtIndex):
        return object_unpivot(t, node.args["this"], f), "", ()
    if isinstance(node, exp.AtIndex):
        relation = indexed(t, node, f)
        return relation, t.rules.key_of(relation.spellings[0]), ()
    if isinstance(node, exp.Alias):
        return _relation_of_item(t, node.args["this"], f)
    if isinstance(node, exp.TableAlias):  # ``|> as q``: what stands before is the CTE q
        return _table(t, exp.Table(this=node.args["this"].copy()), f)
    label = t.label(node)
    open_ = OpenUnknown(label, Reason.UNSUPPORTED_SYNTAX, f"the columns of {label} are not known")
    return Relation(t.rules, (), [], [], open_=open_), "", ()


def _row_name(t: Tracer, node: Any) -> str:
    """What an ``unnest(a)`` without an alias is called, and BigQuery's ``unnest(a) as x``, of
    which sqlglot lists x as a column."""
    if t.rules.name != "bigquery":
        return t.rules.key_of("unnest")
    alias = node.args.get("alias")
    columns = alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None
    return t.key(columns[0]) if columns else ""


def _bring_offset(t: Tracer, node: Any, relation: Relation, f: Frame) -> None:
    """The offset is a column beside the row, not one of its fields."""
    offset = node.args.get("offset")
    if isinstance(offset, exp.Identifier) and relation.position(t.key(offset)) < 0:
        f.bring(Operand("", Relation(t.rules, [t.spell(offset)], [0], [None])))


def _table(t: Tracer, node: Any, f: Frame) -> tuple[Relation, str, tuple[str, ...]]:
    a = node.args
    this = a.get("this")
    if this is None:
        return side_by_side(t, node, f), "", ()
    if this.__class__ is exp.Identifier:
        if a.get("db") is None:
            key = t.key(this)
            cte = f.env.get(key)
            if cte is not None:
                return relation_of(t, cte), key, (key,)
            return t.table(_parts(t, this)), key, (key,)
        identifiers = [a[p] for p in ("catalog", "db") if a.get(p)]  # none between the dots of a..b
        if t.rules.name in ("bigquery", "redshift"):
            array = _array_in_scope(t, node, [*identifiers, this], f)
            if array is not None:
                return array, t.key(this), ()
        names = tuple([*map(t.spell, identifiers), t.spell(this)])
        return t.table(names), t.key(this), tuple([*map(t.key, identifiers), t.key(this)])
    if isinstance(this, exp.Dot):
        names = tuple(t.spell(x) for x in this.flatten() if isinstance(x, exp.Identifier))
        prefix = [a[p] for p in ("catalog", "db") if a.get(p) is not None]
        names = (*map(t.spell, prefix), *names)
        return t.table(names), t.rules.key_of(names[-1]), tuple(map(t.rules.key_of, names))
    return _dynamic(t, node, this, f)


def _array_in_scope(t: Tracer, node: Any, parts: list[Any], f: Frame) -> Relation | None:
    """``from t left join t.items as i``, ``(select sum(i.x) from t.items as i)``: an array of t."""
    operand = find_operand(t.key(parts[0]), f)
    if operand is None:
        return None
    relation = operand.relation
    is_row = relation.position(t.key(parts[0])) >= 0 and not operand.parts  # an element
    is_alias = is_row or (relation.open is not None and not operand.parts)
    if not is_alias and relation.position(t.key(parts[1])) < 0:
        return None
    names = dict(zip(("this", "table", "db", "catalog"), (part.copy() for part in parts[::-1])))
    unnest = exp.Unnest(expressions=[exp.Column(**names)])
    return exploded(t, unnest, f, node.args.get("alias"))


def _parts(t: Tracer, identifier: Any) -> tuple[str, ...]:
    name = t.spell(identifier)
    if "." in name and t.rules.name == "bigquery":
        return split_name(name)
    return (name,)


def _dynamic(t: Tracer, node: Any, this: Any, f: Frame) -> tuple[Relation, str, tuple[str, ...]]:
    """``identifier('db.t')``, a function, a stage, a file, a parameter."""
    dynamic = getattr(exp, "DynamicIdentifier", None)
    if dynamic is not None and isinstance(this, dynamic):
        inner = this.args["this"]
        if isinstance(inner, exp.Literal):
            parts = tuple(t.spell(exp.to_identifier(p)) for p in split_name(inner.name))
            return t.table(parts), t.rules.key_of(parts[-1]), tuple(map(t.rules.key_of, parts))
    if isinstance(this, exp.Anonymous) and str(this.name).lower() == "identifier":
        inner = this.expressions[0] if this.expressions else None
        if isinstance(inner, exp.Literal):
            parts = tuple(t.spell(exp.to_identifier(p)) for p in split_name(inner.name))
            return t.table(parts), t.rules.key_of(parts[-1]), tuple(map(t.rules.key_of, parts))
    if isinstance(this, exp.Func):
        return function_relation(t, this, f, node), _function_key(t, this), ()
    label = printed(this, t.rules.dialect)
    return t.table((label,)), label, (label,)


def _function_key(t: Tracer, function: Any) -> str:
    return t.rules.key_of(name_of(function).lower())


def _is_join_in_parentheses(node: Any) -> bool:
    if node.args.get("alias") is not None or node.args.get("pivots"):
        return False
    inner = node.args["this"]
    return isinstance(inner, exp.Table) or (
        type(inner) is exp.Subquery and (bool(node.args.get("joins")) or _holds_join(inner))
    )


def _is_flattened(node: Any) -> bool:
    """``(a join b) as x``, whose columns are those of both."""
    return isinstance(node, exp.Subquery) and _holds_join(node.args["this"])


def _holds_join(inner: Any) -> bool:
    return _holds_table(inner) or (type(inner) is exp.Subquery and bool(inner.args.get("joins")))


def _holds_table(node: Any) -> bool:
    while type(node) is exp.Subquery and not node.args.get("alias"):
        node = node.args["this"]
    return isinstance(node, exp.Table)


def add_parenthesized(t: Tracer, node: Any, f: Frame) -> None:
    """``from (a join b on ...)``: its tables stay in scope."""
    add_source(t, node.args["this"], f)
    add_joins(t, node.args.get("joins"), f)


def flattened(t: Tracer, f: Frame) -> Relation:
    """All columns of a FROM list as one relation, as ``from (a join b) as x`` makes of it."""
    items, opens = unqualified_items(t, f)
    names = [item.spelling for item in items]
    provenances = [item.provenance for item in items]
    steps = [item.step for item in items]
    open_ = one_of(opens)
    return Relation(t.rules, names, provenances, steps, f.rows, f.rows_of, open_)


def _with_columns(t: Tracer, relation: Relation, alias: Any) -> Relation:
    columns = alias.args.get("columns")
    if not columns:
        return relation
    names = [t.spell(c.this if isinstance(c, exp.ColumnDef) else c) for c in columns]
    return renamed(t, relation, names)


def _without_duplicates(t: Tracer, relation: Relation) -> Relation:
    spellings = relation.spellings
    if len(set(spellings)) == len(spellings):
        return relation
    return relation.renamed(unique_names(spellings))


def unique_names(spellings: Any) -> list[str]:
    """``code, code`` become ``code, code_1``, as DuckDB names them."""
    seen: set[str] = set()
    names: list[str] = []
    for spelling in spellings:
        name, n = spelling, 0
        while name.lower() in seen:
            n += 1
            name = f"{spelling}_{n}"
        seen.add(name.lower())
        names.append(name)
    return names


def values(t: Tracer, node: Any, f: Frame) -> Relation:
    """``values (a, 1), (b, 2)``: a set operation by position, each row an arm."""
    provenances: list[int] = []
    arms: list[list[AnyStep]] = []
    rows, listed = _rows_of(t, node)
    for row in rows:
        cells = row.args["expressions"] if isinstance(row, exp.Tuple) else [row]
        if len(cells) == 1 and _is_row(cells[0]):
            cells = cells[0].expressions
        for i, cell in enumerate(cells):
            x, step = cell_of(t, cell, f)
            if i == len(provenances):
                provenances.append(0)
                arms.append([])
            provenances[i] |= x
            if x or not arms[i]:
                arms[i].append(step)
    steps = [united(column) for column in arms]
    names = [f"{t.rules.values_prefix}{i + t.rules.values_base}" for i in range(len(provenances))]
    if len(listed) == len(names):
        names = listed
    return Relation(t.rules, names, provenances, steps)


def _rows_of(t: Tracer, node: Any) -> tuple[list[Any], list[str]]:
    """The rows of VALUES, and the names that it lists itself.

    ClickHouse's is a function too: ``values('a Int64', 1, 2)``, or of rows as tuples, which parses
    as one row of them all.
    """
    rows: list[Any] = node.args["expressions"]
    is_function = t.rules.name == "clickhouse" and not isinstance(node.parent, exp.Insert)
    if not is_function or len(rows) != 1 or not isinstance(rows[0], exp.Tuple):
        return rows, []
    items = list(rows[0].expressions)
    first = items[0] if items else None
    if isinstance(first, exp.Tuple) and len(first.expressions) == 1:
        first = first.expressions[0]
    if isinstance(first, exp.Literal) and first.is_string and len(items) > 1:
        listed = named_columns(first.name, t.rules.name)
        if listed:
            return items[1:], listed
    return (items if all(isinstance(item, exp.Tuple) for item in items) else rows), []


def _is_row(node: Any) -> bool:
    """MySQL's ``values row(1, 2)``."""
    return isinstance(node, exp.Anonymous) and str(node.name).lower() == "row"


def united(arms: list[AnyStep], origins: Sequence[tuple[Relation, int]] = ()) -> AnyStep:
    """The step of a column that comes through several arms."""
    if len(arms) == 1:
        return arms[0]
    return Arms(arms, origins) if any(arm is not None for arm in arms) else None


def cell_of(t: Tracer, node: Any, f: Frame) -> tuple[int, AnyStep]:
    """An expression as an output: its provenance, and its step unless it is a bare reference."""
    if node.__class__ is exp.Column and node.args["this"].__class__ is not exp.Star:
        x = evaluate(t, node, f)
        return x, t.step
    start = len(t.log)
    x = evaluate(t, node, f)
    return x, Step(node, f, start, len(t.log), x)
