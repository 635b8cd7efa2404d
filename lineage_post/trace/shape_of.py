"""The shape of a column or of an expression, worked out when a field of it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from sqlglot import exp

from lineage_post.trace.expressions import evaluate
from lineage_post.trace.field_types import (
    ArrayType,
    FieldType,
    JsonType,
    StructType,
    field_type,
    struct_path,
    type_of_node,
)
from lineage_post.trace.frame import Frame
from lineage_post.trace.provenance import (
    CONDITIONAL,
    IDENTITY,
    SORT,
    aggregated,
    bits,
    collapsed,
    transformed,
)
from lineage_post.trace.relation import AnyStep, Arms, Relation, Step
from lineage_post.trace.resolve import find_column, find_operand
from lineage_post.trace.result import ColumnRef
from lineage_post.trace.shapes import Array, Document, Shape, Struct
from lineage_post.trace.sources import cell_of
from lineage_post.trace.tracer import Tracer

MaybeShape = Optional[Shape]


def column_shape(t: Tracer, relation: Relation, i: int) -> MaybeShape:
    """The shape of the i-th column of a relation."""
    t.spend()
    if relation.shapes is not None and i in relation.shapes:
        return relation.shapes[i]
    step = relation.steps[i]
    if step is None:
        return _source_shape(t, relation.at(i))
    return _step_shape(t, step)


def _step_shape(t: Tracer, step: AnyStep) -> MaybeShape:
    if isinstance(step, Step) and step.frame is not None:
        return expression_shape(t, step.node, step.frame)
    if isinstance(step, Arms):
        shapes = [_step_shape(t, arm) for arm in step.steps if arm is not None]
        return _merged(t, shapes)
    return None


def _source_shape(t: Tracer, x: int) -> MaybeShape:
    """The shape a declared type gives to copies of source columns."""
    shapes = []
    for i, kind in bits(x):
        ref = t.sources.table[i]
        if kind == IDENTITY and isinstance(ref, ColumnRef):
            declared = _declared_type(t, ref)
            if declared is None:
                return None
            shapes.append(_declared(t, declared, ref.relation, ref.column, ref.field))
    return _merged(t, shapes) if shapes else None


def _declared_type(t: Tracer, ref: ColumnRef) -> FieldType:
    entry = t.schema.by_key(ref.relation)
    if entry is None or ref.column not in entry.columns:
        return None
    text = entry.types[entry.columns.index(ref.column)]
    declared = None if text is None else field_type(text, t.rules.name)
    return declared if ref.field is None else struct_path(declared, ref.field)


def _declared(
    t: Tracer, kind: FieldType, relation: str, column: str, path: str | None
) -> MaybeShape:
    if isinstance(kind, JsonType):
        return Document()
    if isinstance(kind, ArrayType):
        return Array(_declared(t, kind.element, relation, column, path))
    if not isinstance(kind, StructType):
        return None
    names, provenances = [], []
    shapes: dict[int, Shape] = {}
    for n, (name, inner) in enumerate(kind.fields):
        below = _path(path, name)
        names.append(name or f"_{n + 1}")
        provenances.append(_field_bit(t, relation, column, below))
        shape = _declared(t, inner, relation, column, below)
        if shape is not None:
            shapes[n] = shape
    steps: list[AnyStep] = [None] * len(names)
    return Struct(Relation(t.rules, names, provenances, steps, shapes=shapes))


def _path(path: str | None, name: str) -> str | None:
    """The path of a field; an element of a tuple without names is told by its column alone."""
    if not name:
        return path
    return name if path is None else f"{path}.{name}"


def _field_bit(t: Tracer, relation: str, column: str, path: str | None) -> int:
    if path is not None:
        return t.sources.field(relation, column, path)
    table = t.table_of(relation)
    return table.at(list(table.spellings).index(column))


def _changed(t: Tracer, shape: MaybeShape, change: Callable[[int], int]) -> MaybeShape:
    """The same fields with each provenance changed."""
    if isinstance(shape, Array):
        return Array(_changed(t, shape.element, change), _changed(t, shape.row, change))
    if not isinstance(shape, Struct):
        return shape
    fields = shape.fields
    shapes: dict[int, Shape] = {}
    for i in range(len(fields.spellings)):
        inner = _changed(t, column_shape(t, fields, i), change)
        if inner is not None:
            shapes[i] = inner
    changed = [change(x) for x in fields.all()]
    return Struct(
        Relation(t.rules, fields.spellings, changed, fields.steps, open_=fields.open, shapes=shapes)
    )


def element_shape(t: Tracer, shape: Shape) -> MaybeShape:
    """The shape of an element of an array: what is read out of it is computed."""
    if isinstance(shape, Document):
        return shape
    return _changed(t, shape.element if isinstance(shape, Array) else None, transformed)


def _merged(t: Tracer, shapes: list[MaybeShape]) -> MaybeShape:
    """The shape of a value that is one of several."""
    known = [shape for shape in shapes if shape is not None]
    if not known or len(known) != len(shapes):
        return known[0] if known and len(shapes) == 1 else None
    first = known[0]
    for other in known[1:]:
        first_or_none = _pair(t, first, other)
        if first_or_none is None:
            return None
        first = first_or_none
    return first


def _pair(t: Tracer, a: Shape, b: Shape) -> MaybeShape:
    if isinstance(a, Array) and isinstance(b, Array):
        return Array(_merged(t, [a.element, b.element]))
    if isinstance(a, Document) and isinstance(b, Document):
        return a
    if not isinstance(a, Struct) or not isinstance(b, Struct):
        return None
    left, right = a.fields, b.fields
    if len(left.spellings) != len(right.spellings):
        return None
    provenances = [x | y for x, y in zip(left.all(), right.all())]
    steps: list[AnyStep] = [
        x if y is None else Arms([x, y]) for x, y in zip(left.steps, right.steps)
    ]
    return Struct(Relation(t.rules, left.spellings, provenances, steps, open_=left.open))


def expression_shape(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """The shape of an expression."""
    t.spend()
    for cls, shape in _SHAPES:
        if isinstance(node, cls):
            return shape(t, node, f)
    return None


def _of_inner(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    return expression_shape(t, node.args["this"], f)


def _of_column(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    parts = [node.args[p] for p in ("catalog", "db", "table") if node.args.get(p) is not None]
    identifier = node.args["this"]
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
                return _below(t, column_shape(t, operand.relation, i), parts[2:])
    hit = find_column(t, key, f)
    if hit is not None:
        return _below(t, column_shape(t, *hit), parts[1:])
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
        shape = column_shape(t, shape.fields, i)
        if is_element:
            shape = Array(_changed(t, shape, transformed))
    return shape


def _of_struct(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``struct(a as x, b)``, ``struct_pack(x := a)``, ``{'x': a}``, ``row(a, b)``."""
    names: list[str] = []
    provenances: list[int] = []
    steps: list[AnyStep] = []
    shapes: dict[int, Shape] = {}
    for n, item in enumerate(node.expressions):
        name, value = _field_of(t, item, n)
        x, step = cell_of(t, value, f)
        names.append(name)
        provenances.append(x)
        steps.append(step)
        if step is None:
            shape = expression_shape(t, value, f)
            if shape is not None:
                shapes[n] = shape
    return Struct(Relation(t.rules, names, provenances, steps, shapes=shapes))


def _field_of(t: Tracer, item: Any, n: int) -> tuple[str, Any]:
    if isinstance(item, exp.PropertyEQ):
        name = item.this
        spelled = t.spell(name) if isinstance(name, exp.Identifier) else str(name.name)
        return spelled, item.expression
    if isinstance(item, exp.Alias):
        return t.spell(item.args["alias"]), item.this
    if isinstance(item, exp.Column):
        return t.spell(item.this), item
    return f"_{n + 1}", item


def _of_named_arguments(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """Functions that sqlglot knows by name only, and take names and values in turn."""
    name = str(node.name).lower()
    if name in ("struct_pack", "row", "struct"):
        return _of_struct(t, node, f)
    if name in ("named_struct", "object_construct", "object_construct_keep_null"):
        items = node.expressions
        pairs = [
            exp.PropertyEQ(this=exp.to_identifier(key.name, quoted=True), expression=value)
            for key, value in zip(items[::2], items[1::2])
            if isinstance(key, exp.Literal)
        ]
        holder = exp.Struct()
        holder.args["expressions"] = pairs
        return _of_struct(t, holder, f)
    if name in ("first", "last", "any_value", "list", "array_agg", "collect_list"):
        inner = expression_shape(t, node.expressions[0], f) if node.expressions else None
        return Array(inner) if name in ("list", "array_agg", "collect_list") else inner
    return None


def _of_array_agg(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    row = _of_inner(t, node, f)
    return Array(_changed(t, row, aggregated), row)


def _of_arg_max(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``arg_max(row, b)``: one row as it was, and b decides which."""
    key = collapsed(evaluate(t, node.args["expression"], f), CONDITIONAL)
    return _changed(t, _of_inner(t, node, f), lambda x: x | key)


def _of_order(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``array_agg(row order by ts)``: the order is a SORT of each field."""
    shape = _of_inner(t, node, f)
    keys = 0
    for key in node.expressions:
        keys |= evaluate(t, key, f)
    sort = collapsed(keys, SORT)
    return _changed(t, shape, lambda x: x | sort)


def _of_array(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    items = node.expressions
    if len(items) == 1 and isinstance(items[0], exp.Query):
        return Array(_row_shape(t, items[0], f))
    return Array(_merged(t, [expression_shape(t, item, f) for item in items]))


def _row_shape(t: Tracer, query: Any, f: Frame) -> MaybeShape:
    relation = t.query(t, query, f.env, f)
    if str(query.args.get("kind") or "").upper() == "STRUCT":
        return Struct(relation)
    return column_shape(t, relation, 0) if relation.spellings else None


def _of_query(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    inner = node.this if isinstance(node, exp.Subquery) else node
    return _row_shape(t, inner, f) if isinstance(inner, exp.Query) else None


def _of_bracket(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``a[1]``; the first of an ordered aggregate is one row of it, not a computed value."""
    base = node.args["this"]
    shape = expression_shape(t, base, f)
    if isinstance(shape, Struct):
        name = node.expressions[0] if node.expressions else None
        if isinstance(name, exp.Literal) and name.is_string:
            return _below(t, shape, [exp.to_identifier(name.name, quoted=True)])
        return None
    if not isinstance(shape, Array):
        return shape if isinstance(shape, Document) else None
    return shape.row or _changed(t, shape.element, transformed)


def _of_case(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    a = node.args
    c = evaluate(t, a["this"], f) if a.get("this") is not None else 0
    if isinstance(node, exp.Case):
        branches = [branch.args["true"] for branch in a["ifs"]]
        for branch in a["ifs"]:
            c |= evaluate(t, branch.args["this"], f)
        branches.append(a.get("default"))
    else:
        branches = [a.get("true"), a.get("false")]
    present = [b for b in branches if b is not None and not isinstance(b, exp.Null)]
    merged = _merged(t, [expression_shape(t, b, f) for b in present])
    chosen = collapsed(c, CONDITIONAL)
    return _changed(t, merged, lambda x: transformed(x) | chosen)


def _of_coalesce(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    items = [node.this, *node.expressions]
    return _changed(t, _merged(t, [expression_shape(t, i, f) for i in items]), transformed)


def _of_cast(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    kind = type_of_node(node.args["to"]) if isinstance(node.args.get("to"), exp.DataType) else None
    if isinstance(kind, JsonType):
        return Document()
    inner = _of_inner(t, node, f)
    if isinstance(inner, Struct) and isinstance(kind, StructType):
        names = [name for name, _ in kind.fields]
        if len(names) == len(inner.fields.spellings):
            return _changed(t, Struct(inner.fields.renamed(names)), transformed)
    return None


def _of_dot(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    return _below(t, _of_inner(t, node, f), [node.expression])


def _of_document(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    return Document()


def _classes(*names: str) -> tuple[type, ...]:
    return tuple(getattr(exp, name) for name in names if hasattr(exp, name))


_SHAPES: tuple[tuple[tuple[type, ...], Callable[[Tracer, Any, Frame], MaybeShape]], ...] = (
    (_classes("Column"), _of_column),
    (_classes("Dot"), _of_dot),
    (_classes("Order"), _of_order),
    (_classes("Paren", "Alias", "Window", "IgnoreNulls", "RespectNulls", "Limit"), _of_inner),
    (_classes("AnyValue", "First", "Last", "Max", "Min"), _of_inner),
    (_classes("ArgMax", "ArgMin"), _of_arg_max),
    (_classes("FirstValue", "LastValue", "Filter", "HavingMax"), _of_inner),
    (_classes("Struct"), _of_struct),
    (_classes("ArrayAgg", "ArrayUniqueAgg"), _of_array_agg),
    (_classes("Array", "List"), _of_array),
    (_classes("Bracket"), _of_bracket),
    (_classes("Case", "If"), _of_case),
    (_classes("Coalesce"), _of_coalesce),
    (_classes("Cast", "TryCast"), _of_cast),
    (_classes("Query"), _of_query),
    (_classes("ParseJSON", "JSONExtract", "JSONObject"), _of_document),
    (_classes("Anonymous"), _of_named_arguments),
)
