"""Names of several parts: ``db.table.column``, ``table.column.field``, ``column.field.field``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from lineage_post.trace.declared_shapes import is_declared_map
from lineage_post.trace.frame import Frame, Operand
from lineage_post.trace.provenance import transformed
from lineage_post.trace.pseudo_columns import is_pseudo_column_of_row
from lineage_post.trace.relation import Relation
from lineage_post.trace.scope import (
    Hit,
    binding_of,
    find_column,
    find_operand,
    open_operands,
    unresolved,
)
from lineage_post.trace.shapes import Array, Document, Struct
from lineage_post.trace.time_windows import time_window
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import Reason


def resolve_path(t: Tracer, parts: Sequence[Any], f: Frame) -> int:
    """``a.b.c``: a column of db.table, a field of table.column, a field of column.field."""
    for split in (len(parts) - 1, len(parts) - 2):
        hit = _of_full_name(t, parts, split, f) if split > 1 else None
        if hit is not None:
            return read_fields(t, *hit, parts[split + 1 :])
    operand = find_operand(t.key(parts[0]), f)
    if operand is None:
        return field_of_name(t, parts[0], parts[1:], f)
    relation = operand.relation
    i = relation.position(t.key(parts[1]))
    if i >= 0:
        return read_fields(t, relation, i, parts[2:])
    j = relation.position(t.key(parts[0]))
    if j >= 0:
        return read_fields(t, relation, j, parts[1:])
    if t.rules.name == "clickhouse":
        k = relation.position(".".join(map(t.key, parts[1:])))
        if k >= 0:
            t.step = relation.steps[k]
            return relation.at(k)
    x = beyond(t, operand, parts[0], parts[1], f)
    return transformed(t.sources.assumed(x)) if len(parts) > 2 else x


def _of_full_name(t: Tracer, parts: Sequence[Any], split: int, f: Frame) -> Hit | None:
    name = tuple(t.key(part) for part in parts[:split])
    g: Frame | None = f
    while g is not None:
        for operand in g.operands:
            if operand.parts and _same_table(operand.parts, name):
                return column_of(t, operand.relation, parts[split])
        g = g.outer
    return None


def _same_table(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    shared = min(len(a), len(b))
    return a[-shared:] == b[-shared:]


def column_of(t: Tracer, relation: Relation, identifier: Any) -> Hit:
    """A column as (relation, position), made up where the relation is open or lacks it."""
    key = t.key(identifier)
    i = relation.position(key)
    if i >= 0:
        return relation, i
    spelling = t.spell(identifier)
    if relation.open is not None:
        x = relation.open.column(t, key, spelling)
    else:
        x = unresolved(t, spelling, f"no column {spelling}")
    return Relation(t.rules, (spelling,), [x], [None]), 0


def field_of_name(t: Tracer, first: Any, path: Sequence[Any], f: Frame) -> int:
    """``a.b`` where no relation in scope is called ``a``: a field of a column ``a``."""
    key = t.key(first)
    name = ".".join([first.name, *(part.name for part in path)])
    last = t.spell(path[-1])
    if last.lower() in ("nextval", "currval"):
        t.step = None
        return 0  # a sequence
    if key == "_metadata" and t.rules.family == "spark":
        t.step = None
        return 0  # the file a row was read from
    if not t.rules.struct_dot:
        return unresolved(t, last, f"there is no {first.name} in scope for {name}")
    bound = binding_of(key, f)
    if bound is not None:
        t.step = None
        return transformed(bound)
    if t.rules.name == "clickhouse":  # the columns of a nested one have dotted names
        nested = find_column(t, ".".join(map(t.key, (first, *path))), f)
        if nested is not None:
            t.step = nested[0].steps[nested[1]]
            return nested[0].at(nested[1])
    hit = find_column(t, key, f)
    if hit is not None:
        return read_fields(t, *hit, path)
    of_time = time_window(t, first, key, f)
    if of_time is not None:
        return transformed(of_time)
    opens = open_operands(f)
    if len(opens) == 1 and opens[0].relation.open is not None:
        t.step = None
        x = opens[0].relation.open.column(t, key, t.spell(first))
        doubt = t.sources.doubt(
            Reason.SCHEMA_MISSING, f"{first.name} is taken for a struct column, as {name}"
        )
        return transformed(t.sources.assumed(x)) | doubt
    return unresolved(t, last, f"there is no {first.name} in scope for {name}")


def beyond(t: Tracer, operand: Operand, table: Any, identifier: Any, f: Frame) -> int:
    """A column that the known ones of a relation do not include."""
    t.step = None
    spelling = t.spell(identifier)
    is_pseudo = is_pseudo_column_of_row(t, identifier, spelling)
    if operand.relation.open is not None and not is_pseudo:
        return operand.relation.open.column(t, t.key(identifier), spelling)
    hit = find_column(t, t.key(table), f) if t.rules.struct_dot else None
    if hit is not None:
        return read_fields(t, *hit, [identifier])
    if is_pseudo:
        return 0
    return unresolved(t, spelling, f"{table.name} has no column {spelling}")


def read_fields(t: Tracer, relation: Relation, i: int, path: Sequence[Any]) -> int:
    """The field at the end of a path below the i-th column of a relation."""
    is_element = False
    for part in path:
        shape = t.shape(relation, i)
        if isinstance(shape, Array):
            is_element = True
            shape = shape.element
        if not isinstance(shape, Struct):
            is_exact = isinstance(shape, Document) or _is_map_of_scalars(t, relation, i)
            return _coarse(t, relation, i, is_exact=is_exact)
        hit = column_of(t, shape.fields, part)
        relation, i = hit
    t.step = relation.steps[i]
    x = relation.at(i)
    return transformed(x) if is_element else x


def _is_map_of_scalars(t: Tracer, relation: Relation, i: int) -> bool:
    """Spark reads ``m.k`` of a map as ``m['k']``."""
    if t.rules.family != "spark" or relation.steps[i] is not None:
        return False
    return is_declared_map(t, relation.at(i))


def _coarse(t: Tracer, relation: Relation, i: int, *, is_exact: bool) -> int:
    t.step = relation.steps[i]
    x = transformed(relation.at(i))
    return x if is_exact else t.sources.assumed(x)


def tuple_element(t: Tracer, relation: Relation, i: int, number: int) -> int:
    """The element of a tuple at a position counted from 1."""
    shape = t.shape(relation, i)
    if isinstance(shape, Struct) and 0 < number <= len(shape.fields.spellings):
        t.step = shape.fields.steps[number - 1]
        return shape.fields.at(number - 1)
    return _coarse(t, relation, i, is_exact=True)


def numbered(t: Tracer, this: Any, table: Any, f: Frame) -> int:
    """Snowflake's ``t.$1``, and ClickHouse's ``pair.1``."""
    if isinstance(this, exp.Literal) and table is not None:
        hit = find_column(t, t.key(table), f)
        if hit is not None:
            return tuple_element(t, *hit, int(this.name) if this.is_int else 0)
    number = this.args.get("this")
    if not isinstance(number, exp.Literal) or not number.is_int:
        return unresolved(t, "$", "a column that a variable numbers")
    return positional(t, f, int(number.name), None if table is None else t.key(table))


def positional(t: Tracer, f: Frame, number: int, key: str | None) -> int:
    """The column at a position, counted from 1, of an item of FROM."""
    t.step = None
    name = f"${number}"
    operand = next((o for o in f.operands if key in (None, o.key)), None)
    if operand is None:
        return unresolved(t, name, f"there is nothing in scope that {name} could be of")
    relation = operand.relation
    i = relation.place(number - 1, None) if number > 0 else None
    if i is not None:
        t.step = relation.steps[i]
        return relation.at(i)
    if relation.open is None:
        return unresolved(t, name, f"{operand.key} has no column {number}")
    if relation.open.label.startswith("@"):  # the columns of a file have no other names
        return relation.open.column(t, name, name)
    detail = f"{name} is a column of {relation.open.label}, whose columns are not known"
    return t.sources.unknown(name, Reason.SCHEMA_MISSING, detail)


def numbered_of_all(t: Tracer, node: Any, f: Frame) -> tuple[str, int]:
    """DuckDB's ``#2``: the name and provenance of the second of all columns of FROM."""
    i = int(node.name) - 1
    for operand in f.operands:
        relation = operand.relation
        if i < len(relation.spellings) or relation.open is not None:
            break
        i -= len(relation.spellings)
    else:
        return f"#{node.name}", unresolved(t, f"#{node.name}", "FROM has not so many columns")
    place = relation.place(i, None) if i >= 0 else None
    if place is not None:
        t.step = relation.steps[place]
        return relation.spellings[place], relation.at(place)
    if relation.open is not None:
        t.step = None
        detail = f"#{node.name} is a column of {relation.open.label}, whose columns are not known"
        return f"#{node.name}", t.sources.unknown(f"#{node.name}", Reason.SCHEMA_MISSING, detail)
    return f"#{node.name}", unresolved(t, f"#{node.name}", f"{operand.key} has no such column")
