"""What a column reference means: one function for each way to write one.

Each returns a provenance and leaves the step of the column in ``tracer.step``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from lineage_post.trace.ctes import Cte
from lineage_post.trace.dialects import Visible
from lineage_post.trace.frame import Frame, Operand
from lineage_post.trace.provenance import transformed
from lineage_post.trace.relation import Relation, Step
from lineage_post.trace.schema_index import AMBIGUOUS
from lineage_post.trace.shapes import Array, Document, Struct
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import Reason

Hit = tuple[Relation, int]

#: Names that engines answer without a column of that name.
_PSEUDO_COLUMNS = frozenset(
    {
        "level", "rownum", "rowid", "ora_rowscn", "connect_by_isleaf", "connect_by_iscycle",
        "sysdate", "systimestamp", "user", "current_date", "current_time", "current_timestamp",
        "current_user", "session_user", "localtime", "localtimestamp", "_partitiontime",
        "_partitiondate", "_file_name", "_table_suffix", "_metadata", "ctid", "xmin", "xmax",
        "tableoid", "oid", "_part", "_file", "_path", "$path", "$file_size", "$file_modified_time", "$action", "default", "today",
        "now", "yesterday", "tomorrow", "getdate",
    }
)  # fmt: skip


def resolve(t: Tracer, node: Any, f: Frame) -> int:
    """The provenance of an ``exp.Column``."""
    a = node.args
    table = a.get("table")
    if a["this"].__class__ is not exp.Identifier:
        return _numbered(t, a["this"], table, f)
    if table is None:
        return unqualified(t, a["this"], f)
    if a.get("db") is None:
        return _qualified(t, table, a["this"], f)
    parts = [a[part] for part in ("catalog", "db", "table") if a.get(part) is not None]
    return resolve_path(t, [*parts, a["this"]], f)


def unqualified(t: Tracer, identifier: Any, f: Frame) -> int:
    """The provenance of a bare name."""
    key = t.key(identifier)
    if t.rules.everywhere_alias_first and key in f.env and f.env[key].is_scalar:
        return _named_expression(t, f.env[key], f)
    g: Frame | None = f
    while g is not None:
        if g.bindings:
            for binding in reversed(g.bindings):
                if key in binding:
                    t.step = None
                    return binding[key]
        if g.alias_visible is Visible.BEFORE_COLUMNS:
            alias = g.alias(key, t.rules)
            if alias is not None:
                t.step = g.steps[alias]
                return g.provenances[alias]
        if g.merged and key in g.merged:
            merged = g.merged[key]
            t.step = merged.step
            return merged.provenance
        found: Relation | None = None
        position = 0
        for _, relation, _ in g.operands:
            names = relation.names
            exact = names.exact
            i = (names.build() if exact is None else exact).get(key)
            if i is None:
                if names.folded is None:
                    continue
                i = names.position(key)
            if i >= 0:
                if found is not None:
                    return _ambiguous(t, identifier, key, g)
                found = relation
                position = i
            elif i == AMBIGUOUS:
                return _ambiguous(t, identifier, key, g)
        if found is not None:
            t.step = found.steps[position]
            return found.provenances[position] or found.at(position)
        if g.alias_visible is Visible.AFTER_COLUMNS:
            alias = g.alias(key, t.rules)
            if alias is not None:
                return _alias(t, g, alias)
        g = g.outer
    return _not_listed(t, identifier, key, f)


def _named_expression(t: Tracer, cte: Cte, f: Frame) -> int:
    """ClickHouse's ``with a + b as s``: the expression stands wherever the name is used."""
    scope = Frame(f, cte.env)
    start = len(t.log)
    x = t.hooks.evaluate(t, cte.node.args["this"], scope)
    t.step = Step(cte.node.args["this"], scope, start, len(t.log), x)
    return x


def _alias(t: Tracer, g: Frame, i: int) -> int:
    """A sibling alias; over an open source it is only assumed that no column has its name."""
    t.step = g.steps[i]
    x = g.provenances[i]
    return t.sources.assumed(x) if any(o.relation.open for o in g.operands) else x


def _ambiguous(t: Tracer, identifier: Any, key: str, g: Frame) -> int:
    t.step = None
    name = t.spell(identifier)
    places = [o.key for o in g.operands if o.relation.position(key) != -1]
    return t.sources.unknown(
        name, Reason.AMBIGUOUS, f"{name} is ambiguous between {' and '.join(places)}"
    )


def _not_listed(t: Tracer, identifier: Any, key: str, f: Frame) -> int:
    """A bare name that no known column has: a row, a pseudo column, a column of an open source."""
    t.step = None
    if t.rules.row_alias:
        operand = find_operand(key, f)
        if operand is not None:
            return row_of(t, operand.relation)
    spelling = t.spell(identifier)
    if spelling.lower() in _PSEUDO_COLUMNS or spelling.startswith("@"):
        return 0
    if spelling.lower().startswith("metadata$") and f.operands:
        open_ = f.operands[0].relation.open
        return 0 if open_ is None else open_.column(t, key, spelling)
    g: Frame | None = f
    while g is not None:
        opens = [o for o in g.operands if o.relation.open is not None]
        if opens:
            return _of_open(t, opens, g, key, spelling)
        g = g.outer
    return unresolved(t, spelling, f"no relation in scope has a column {spelling}")


def _of_open(t: Tracer, opens: Sequence[Operand], g: Frame, key: str, spelling: str) -> int:
    if len({id(o.relation.open) for o in opens}) > 1 or len(opens) > 1:
        labels = " and ".join(sorted({o.relation.open.label for o in opens if o.relation.open}))
        return t.sources.unknown(
            spelling, Reason.AMBIGUOUS, f"{spelling} is ambiguous between {labels}"
        )
    open_ = opens[0].relation.open
    assert open_ is not None
    x = open_.column(t, key, spelling)
    if len(g.operands) == 1 and not g.is_partial and not _has_open(g.outer):
        return x
    doubt = t.sources.doubt(
        Reason.SCHEMA_MISSING,
        f"{spelling} is taken for a column of {open_.label}, whose columns are not known",
    )
    return t.sources.assumed(x) | doubt


def _has_open(g: Frame | None) -> bool:
    while g is not None:
        if any(o.relation.open is not None for o in g.operands):
            return True
        g = g.outer
    return False


def _numbered(t: Tracer, this: Any, table: Any, f: Frame) -> int:
    """Snowflake's ``t.$1``, and ClickHouse's ``pair.1``."""
    if isinstance(this, exp.Literal) and table is not None:
        hit = find_column(t, t.key(table), f)
        if hit is not None:
            return tuple_element(t, *hit, int(this.name) if this.is_int else 0)
    number = this.args.get("this")
    if not isinstance(number, exp.Literal) or not number.is_int:
        return unresolved(t, "$", "a column that a variable numbers")
    return positional(t, f, int(number.name), None if table is None else t.key(table))


def tuple_element(t: Tracer, relation: Relation, i: int, number: int) -> int:
    """The element of a tuple at a position counted from 1."""
    shape = t.shape(relation, i)
    if isinstance(shape, Struct) and 0 < number <= len(shape.fields.spellings):
        t.step = shape.fields.steps[number - 1]
        return shape.fields.at(number - 1)
    return _coarse(t, relation, i, is_exact=True)


def positional(t: Tracer, f: Frame, number: int, key: str | None) -> int:
    """The column at a position, counted from 1, of an item of FROM."""
    t.step = None
    name = f"${number}"
    operand = next((o for o in f.operands if key in (None, o.key)), None)
    if operand is None:
        return unresolved(t, name, f"there is nothing in scope that {name} could be of")
    relation = operand.relation
    if 0 < number <= len(relation.spellings):
        t.step = relation.steps[number - 1]
        return relation.at(number - 1)
    if relation.open is not None:
        return relation.open.column(t, name, name)
    return unresolved(t, name, f"{operand.key} has no column {number}")


def unresolved(t: Tracer, name: str, detail: str) -> int:
    """The unknown that stands for a name nothing in scope has."""
    t.step = None
    return t.sources.unknown(name, Reason.UNRESOLVED_COLUMN, detail)


def row_of(t: Tracer, relation: Relation) -> int:
    """A whole row as a value."""
    x = 0
    for y in relation.all():
        x |= y
    if relation.open is not None:
        label = relation.open.label
        x |= t.sources.unknown(
            "*", Reason.STAR_UNEXPANDED, f"a whole row of {label}, whose columns are not known"
        )
    return transformed(x)


def find_operand(key: str, f: Frame | None) -> Operand | None:
    """The item of FROM that ``key`` refers to, innermost frame first."""
    while f is not None:
        operand = f.by_key.get(key)
        if operand is not None:
            return operand
        f = f.outer
    return None


def _qualified(t: Tracer, table: Any, identifier: Any, f: Frame) -> int:
    key = t.key(identifier)
    table_key = t.key(table)
    operand = find_operand(table_key, f)
    if operand is None:
        return _field_of_name(t, table, [identifier], f)
    relation = operand.relation
    i = relation.position(key)
    if i >= 0:
        t.step = relation.steps[i]
        return relation.at(i)
    if i == AMBIGUOUS:
        return _among_same_names(t, table_key, identifier, key, f)
    j = relation.position(table_key)
    if j >= 0:
        return read_fields(t, relation, j, [identifier])
    others = [o for o in f.operands if o.key == table_key and o.relation.position(key) >= 0]
    if others:
        i = others[0].relation.position(key)
        t.step = others[0].relation.steps[i]
        return others[0].relation.at(i)
    return _beyond(t, operand, table, identifier, f)


def _among_same_names(t: Tracer, table_key: str, identifier: Any, key: str, f: Frame) -> int:
    t.step = None
    name = t.spell(identifier)
    return t.sources.unknown(name, Reason.AMBIGUOUS, f"{table_key} has {name} more than once")


def _beyond(t: Tracer, operand: Operand, table: Any, identifier: Any, f: Frame) -> int:
    """A column that the known ones of a relation do not include."""
    t.step = None
    spelling = t.spell(identifier)
    if operand.relation.open is not None:
        return operand.relation.open.column(t, t.key(identifier), spelling)
    hit = find_column(t, t.key(table), f) if t.rules.struct_dot else None
    if hit is not None:
        return read_fields(t, *hit, [identifier])
    if spelling.lower() in _PSEUDO_COLUMNS:
        return 0
    return unresolved(t, spelling, f"{table.name} has no column {spelling}")


def resolve_path(t: Tracer, parts: Sequence[Any], f: Frame) -> int:
    """``a.b.c``: a column of db.table, a field of table.column, a field of column.field."""
    for split in (len(parts) - 1, len(parts) - 2):
        hit = _of_full_name(t, parts, split, f) if split > 1 else None
        if hit is not None:
            return read_fields(t, *hit, parts[split + 1 :])
    operand = find_operand(t.key(parts[0]), f)
    if operand is None:
        return _field_of_name(t, parts[0], parts[1:], f)
    relation = operand.relation
    i = relation.position(t.key(parts[1]))
    if i >= 0:
        return read_fields(t, relation, i, parts[2:])
    j = relation.position(t.key(parts[0]))
    if j >= 0:
        return read_fields(t, relation, j, parts[1:])
    x = _beyond(t, operand, parts[0], parts[1], f)
    return transformed(t.sources.assumed(x)) if len(parts) > 2 else x


def _of_full_name(t: Tracer, parts: Sequence[Any], split: int, f: Frame) -> Hit | None:
    name = tuple(t.key(part) for part in parts[:split])
    g: Frame | None = f
    while g is not None:
        for operand in g.operands:
            if operand.parts and _same_table(operand.parts, name):
                return _column_of(t, operand.relation, parts[split])
        g = g.outer
    return None


def _same_table(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    shared = min(len(a), len(b))
    return a[-shared:] == b[-shared:]


def _column_of(t: Tracer, relation: Relation, identifier: Any) -> Hit:
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


def find_column(t: Tracer, key: str, f: Frame | None) -> Hit | None:
    """The one known column of that name, innermost frame first."""
    while f is not None:
        for operand in f.operands:
            i = operand.relation.position(key)
            if i >= 0:
                return operand.relation, i
        alias = f.alias(key, t.rules) if f.alias_visible is not Visible.NO else None
        if alias is not None:
            return Relation(t.rules, f.spellings, f.provenances, f.steps), alias
        f = f.outer
    return None


def _field_of_name(t: Tracer, first: Any, path: Sequence[Any], f: Frame) -> int:
    """``a.b`` where no relation in scope is called ``a``: a field of a column ``a``."""
    key = t.key(first)
    name = ".".join([first.name, *(part.name for part in path)])
    last = t.spell(path[-1])
    if not t.rules.struct_dot:
        return unresolved(t, last, f"there is no {first.name} in scope for {name}")
    bound = _binding(key, f)
    if bound is not None:
        t.step = None
        return transformed(bound)
    hit = find_column(t, key, f)
    if hit is not None:
        return read_fields(t, *hit, path)
    opens = [o for o in f.operands if o.relation.open is not None]
    if len(opens) == 1 and opens[0].relation.open is not None:
        t.step = None
        x = opens[0].relation.open.column(t, key, t.spell(first))
        doubt = t.sources.doubt(
            Reason.SCHEMA_MISSING, f"{first.name} is taken for a struct column, as {name}"
        )
        return transformed(t.sources.assumed(x)) | doubt
    return unresolved(t, last, f"there is no {first.name} in scope for {name}")


def _binding(key: str, f: Frame | None) -> int | None:
    while f is not None:
        for binding in reversed(f.bindings):
            if key in binding:
                return binding[key]
        f = f.outer
    return None


def read_fields(t: Tracer, relation: Relation, i: int, path: Sequence[Any]) -> int:
    """The field at the end of a path below the i-th column of a relation."""
    is_element = False
    for part in path:
        shape = t.shape(relation, i)
        if isinstance(shape, Array):
            is_element = True
            shape = shape.element
        if not isinstance(shape, Struct):
            return _coarse(t, relation, i, is_exact=isinstance(shape, Document))
        hit = _column_of(t, shape.fields, part)
        relation, i = hit
    t.step = relation.steps[i]
    x = relation.at(i)
    return transformed(x) if is_element else x


def _coarse(t: Tracer, relation: Relation, i: int, *, is_exact: bool) -> int:
    t.step = relation.steps[i]
    x = transformed(relation.at(i))
    return x if is_exact else t.sources.assumed(x)
