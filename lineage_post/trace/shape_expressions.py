"""The shape of each kind of expression that makes or passes a struct."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.aggregates import window_keys
from lineage_post.trace.declared_shapes import typed_shape
from lineage_post.trace.document_shapes import of_document_pairs, of_pairs, of_written
from lineage_post.trace.elements import first_item, is_of_row, picked
from lineage_post.trace.expressions import evaluate
from lineage_post.trace.field_types import (
    ArrayType,
    FieldType,
    JsonType,
    StructType,
    field_type,
    type_of_node,
)
from lineage_post.trace.frame import Frame
from lineage_post.trace.provenance import CONDITIONAL, SORT, aggregated, collapsed, transformed
from lineage_post.trace.relation import Relation
from lineage_post.trace.scope import find_column, find_operand
from lineage_post.trace.shape_changes import changed, is_null, merged
from lineage_post.trace.shapes import Array, Document, MaybeShape, Struct
from lineage_post.trace.struct_shapes import changed_struct, of_inner, of_struct
from lineage_post.trace.time_windows import TIME_WINDOWS
from lineage_post.trace.tracer import Tracer


def of_column(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    parts = [node.args[p] for p in ("catalog", "db", "table") if node.args.get(p) is not None]
    identifier = node.args["this"]
    if isinstance(identifier, exp.Star) and len(parts) == 1 and not any(identifier.args.values()):
        row = find_operand(t.key(parts[0]), f)  # Postgres' ``to_jsonb(t.*)``
        return None if row is None else Struct(row.relation)
    if not isinstance(identifier, exp.Identifier):
        return None
    parts.append(identifier)
    return _of_parts(t, parts, f)


def _of_parts(t: Tracer, parts: list[Any], f: Frame) -> MaybeShape:
    key = t.key(parts[0])
    if len(parts) > 1:
        operand = find_operand(key, f)
        if operand is not None:
            i = operand.relation.position(t.key(parts[1]))
            if i >= 0:
                return _below(t, t.shape(operand.relation, i), parts[2:])
    hit = find_column(t, key, f)
    if hit is not None:
        return _below(t, t.shape(*hit), parts[1:])
    operand = find_operand(key, f)
    if operand is not None and t.rules.row_alias:
        return _below(t, Struct(operand.relation), parts[1:])
    return None


def _below(t: Tracer, shape: MaybeShape, path: Any) -> MaybeShape:
    for part in path:
        is_element = isinstance(shape, Array)
        if isinstance(shape, Array):
            shape = shape.element
        if not isinstance(shape, Struct):
            return shape if isinstance(shape, Document) else None
        i = shape.fields.position(t.key(part))
        if i < 0:
            return None
        shape = t.shape(shape.fields, i)
        if is_element:
            shape = Array(changed(t, shape, transformed))
    return shape


#: Aggregates and functions by name: what each makes of the shape of its first argument.
_ARRAYS_OF_ROWS = frozenset(
    {"list", "array_agg", "collect_list", "collect_set", "grouparray", "groupuniqarray"}
)
_SAME = frozenset({"first", "last", "any_value", "any", "anylast", "list_reverse", "list_slice"})
#: Functions of DuckDB that give a struct other fields, or more.
_CHANGED = frozenset({"struct_insert", "struct_update", "struct_concat"})
#: Functions of Postgres that give records, each field of which is of all that goes in.
_RECORDS = frozenset(
    f"{prefix}_{name}"
    for prefix in ("json", "jsonb")
    for name in ("each", "each_text", "populate_record", "to_record", "populate_recordset",
                 "to_recordset")
)  # fmt: skip
_SORTED = frozenset({"arraysort", "arrayreversesort"})
_FIRST = frozenset(
    {"list_extract", "list_element", "array_extract", "list_first", "list_last", "arrayelement",
     "get"}
)  # fmt: skip


def of_named_arguments(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """Functions that sqlglot knows by name only, and take names and values in turn."""
    name = str(node.name).lower()
    if name in ("struct_pack", "row", "struct"):
        return of_struct(t, node, f)
    if name in ("named_struct", "object_construct", "object_construct_keep_null"):
        return of_pairs(t, list(zip(node.expressions[::2], node.expressions[1::2])), f)
    if name in ("json_build_object", "jsonb_build_object"):
        pairs = list(zip(node.expressions[::2], node.expressions[1::2]))
        return of_document_pairs(t, pairs, f)
    if name in ("to_json", "to_jsonb", "row_to_json") and node.expressions:
        return of_written(t, exp.Paren(this=node.expressions[0].copy()), f)
    first = node.expressions[0] if node.expressions else None
    if name in _ARRAYS_OF_ROWS:
        row = None if first is None else t.expression_shape(first, f)
        return Array(changed(t, row, aggregated), row)
    if name in _SAME and first is not None:
        return t.expression_shape(first, f)
    if name in _SORTED and first is not None and len(node.expressions) == 1:
        return of_sorted(t, exp.Paren(this=first.copy()), f)
    if name in _FIRST and first is not None:
        item = picked(t.rules, node)
        if item is not None:
            return _of_picked(t, node, item, f)
        return of_first(t, exp.Paren(this=first.copy()), f)
    if name in _RECORDS and t.rules.family == "postgres":
        return Document()
    if name in ("json_transform", "json_transform_strict", "from_json_strict"):
        return Document()
    if name in _CHANGED and first is not None:
        return changed_struct(t, first, node.expressions[1:], f)
    if name in TIME_WINDOWS and t.rules.family == "spark":
        return Document()  # both ends are of the time alone
    return None


def of_array_agg(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    row = of_inner(t, node, f)
    return Array(changed(t, row, aggregated), row)


def of_arg_max(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``arg_max(row, b)``: one row as it was, and b decides which."""
    key = collapsed(evaluate(t, node.args["expression"], f), CONDITIONAL)
    return changed(t, of_inner(t, node, f), lambda x: x | key)


def of_extreme(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``max(struct(ts, a)).a``: one row as it was, and all of its fields decide which."""
    key = collapsed(evaluate(t, node.args["this"], f), CONDITIONAL)
    return changed(t, of_inner(t, node, f), lambda x: x | key)


def of_chosen(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``any_value(row having max b)``, ``array_agg(row) filter (where b)``: b decides which."""
    chooser = node.args["expression"]
    if isinstance(chooser, exp.Where):
        chooser = chooser.args["this"]
    key = collapsed(evaluate(t, chooser, f), CONDITIONAL)
    return changed(t, of_inner(t, node, f), lambda x: x | key)


def of_window(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``first_value(row) over (partition by k)``: the keys are a WINDOW of each field."""
    shape = of_inner(t, node, f)
    if shape is None:
        return None
    keys = window_keys(t, node, f)
    return changed(t, shape, lambda x: x | keys)


def of_other_row(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``lag(row)`` without a default."""
    return None if node.args.get("default") is not None else of_inner(t, node, f)


def of_order(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``array_agg(row order by ts)``: the order is a SORT of each field."""
    return _in_order(t, node, node.expressions, f)


def of_within_group(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``array_agg(row) within group (order by ts)``."""
    return _in_order(t, node, node.args["expression"].expressions, f)


def _in_order(t: Tracer, node: Any, order: Any, f: Frame) -> MaybeShape:
    shape = of_inner(t, node, f)
    keys = 0
    for key in order:
        keys |= evaluate(t, key, f)
    sort = collapsed(keys, SORT)
    return changed(t, shape, lambda x: x | sort)


def of_sorted(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``sort_array(a)``: what an element holds decides at which place it is."""
    order = collapsed(evaluate(t, node.args["this"], f), SORT)
    shape = changed(t, of_inner(t, node, f), lambda x: x | order)
    return Array(shape.element, shape.row, order) if isinstance(shape, Array) else shape


def of_exploded(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``unnest(a)`` in a select list: an element."""
    array = node.args.get("this") or next(iter(node.expressions), None)
    shape = None if array is None else t.expression_shape(array, f)
    return None if shape is None else t.hooks.element_shape(t, shape)


def of_first(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """The first or the last element of an array; where it was sorted, the order decides which."""
    shape = of_inner(t, node, f)
    if not isinstance(shape, Array):
        return None
    if shape.row is not None:
        return shape.row
    order, key = shape.order, collapsed(shape.order, CONDITIONAL)
    return changed(t, shape.element, lambda x: transformed(x & ~order) | key)


def of_greatest(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``array_max(a)``: one element, and all that elements hold decides which."""
    key = collapsed(evaluate(t, node.args["this"], f), CONDITIONAL)
    return changed(t, of_first(t, node, f), lambda x: x | key)


def of_array(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    items = node.expressions
    if len(items) == 1 and isinstance(items[0], exp.Query):
        return Array(_row_shape(t, items[0], f))
    return Array(merged(t, [_item_shape(t, item, f) for item in items]))


def _item_shape(t: Tracer, item: Any, f: Frame) -> MaybeShape:
    """A tuple among structs is one without names."""
    return of_struct(t, item, f) if isinstance(item, exp.Tuple) else t.expression_shape(item, f)


def _row_shape(t: Tracer, query: Any, f: Frame) -> MaybeShape:
    relation = t.query(t, query, f.env, f)
    if _gives_row(query, relation):
        shape: MaybeShape = Struct(relation)
    else:
        shape = t.shape(relation, 0) if relation.spellings else None
    rows = relation.rows  # what decides which row it is decides each of its fields
    return changed(t, shape, lambda x: x | rows) if rows else shape


def _gives_row(query: Any, relation: Relation) -> bool:
    """Whether its columns are the fields of one value: ``select as struct``, ``select as value`` of
    a struct."""
    kind = str(query.args.get("kind") or "").upper()
    if kind != "VALUE":
        return kind == "STRUCT"
    item = query.expressions[0].unalias() if query.expressions else None
    return isinstance(item, exp.Struct) or len(relation.spellings) > 1


def of_query(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    inner = node.this if isinstance(node, exp.Subquery) else node
    return _row_shape(t, inner, f) if isinstance(inner, exp.Query) else None


def of_bracket(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``a[1]``; the first of an ordered aggregate is one row of it, not a computed value."""
    item = picked(t.rules, node)
    if item is not None:
        return _of_picked(t, node, item, f)
    base = node.args["this"]
    shape = t.expression_shape(base, f)
    if isinstance(shape, Struct):
        name = node.expressions[0] if node.expressions else None
        if isinstance(name, exp.Literal) and name.is_string:
            return _below(t, shape, [exp.to_identifier(name.name, quoted=True)])
        return None
    if not isinstance(shape, Array):
        return _document(shape)
    number = node.expressions[0]
    if isinstance(number, exp.Slice):
        return shape
    key = transformed(evaluate(t, number, f))
    element = of_first(t, node, f)
    return changed(t, element, lambda x: x | key) if key else element


def _of_picked(t: Tracer, node: Any, item: Any, f: Frame) -> MaybeShape:
    shape = _item_shape(t, item, f)
    if is_of_row(node):
        return shape
    first = _item_shape(t, first_item(t.rules, node), f)
    if isinstance(shape, Struct) and isinstance(first, Struct):
        names = first.fields.spellings
        if len(names) == len(shape.fields.spellings):
            shape = Struct(shape.fields.renamed(names))
    return changed(t, shape, transformed)


def of_case(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    a = node.args
    c = evaluate(t, a["this"], f) if a.get("this") is not None else 0
    if isinstance(node, exp.Case):
        branches = [branch.args["true"] for branch in a["ifs"]]
        for branch in a["ifs"]:
            c |= evaluate(t, branch.args["this"], f)
        branches.append(a.get("default"))
    else:
        branches = [a.get("true"), a.get("false")]
    either = _one_of(t, [b for b in branches if b is not None], f)
    chosen = collapsed(c, CONDITIONAL)
    return changed(t, either, lambda x: transformed(x) | chosen)


def of_coalesce(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    return changed(t, _one_of(t, [node.this, *node.expressions], f), transformed)


def _one_of(t: Tracer, nodes: list[Any], f: Frame) -> MaybeShape:
    """The shape of a value that is one of several; of those that are null nothing is read."""
    present = [node for node in nodes if not is_null(node)]
    shapes = [t.expression_shape(node, f) for node in present]
    has_documents = any(isinstance(shape, Document) for shape in shapes)
    return merged(t, shapes, [evaluate(t, node, f) for node in present] if has_documents else ())


def of_cast(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    kind = type_of_node(node.args["to"]) if isinstance(node.args.get("to"), exp.DataType) else None
    if isinstance(kind, JsonType):
        return of_written(t, node, f)
    inner = of_inner(t, node, f)
    found = _under_type(inner, kind)
    if found is not None:
        return changed(t, found, transformed)
    if inner is None or isinstance(inner, Document):
        return _typed(t, kind, node.args["this"], f)
    return None


def _under_type(shape: MaybeShape, kind: FieldType) -> MaybeShape:
    """The fields under the names that a type of as many gives them."""
    if isinstance(shape, Struct) and isinstance(kind, StructType):
        names = [name for name, _ in kind.fields]
        if len(names) == len(shape.fields.spellings):
            return Struct(shape.fields.renamed(names))
    if isinstance(shape, Array) and isinstance(kind, ArrayType):
        element = _under_type(shape.element, kind.element)
        return None if element is None else Array(element)
    return None


def of_parsed(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """Spark's ``from_json(a, 'b int, c struct<d: int>')``; of another schema no fields are known,
    but that each of them is of all that is read."""
    schema = node.args.get("expression")
    if not isinstance(schema, exp.Literal):
        return Document()
    kind = field_type(schema.name, t.rules.name) or field_type(
        f"struct<{schema.name}>", t.rules.name
    )
    return Document() if kind is None else _typed(t, kind, node.args["this"], f)


def _typed(t: Tracer, kind: FieldType, node: Any, f: Frame) -> MaybeShape:
    return None if kind is None else typed_shape(t, kind, transformed(evaluate(t, node, f)))


def of_dot(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    return _below(t, of_inner(t, node, f), [node.expression])


def _document(shape: MaybeShape) -> MaybeShape:
    return shape if isinstance(shape, Document) else None
