"""Reading a field of a struct value: ``(s).f``, ``f(x).g``, ``s['f']``, ``struct_extract``."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.elements import is_of_row, picked
from lineage_post.trace.expressions import children, computed, evaluate, handles
from lineage_post.trace.frame import Frame
from lineage_post.trace.methods import method_call
from lineage_post.trace.paths import resolve_path
from lineage_post.trace.provenance import transformed
from lineage_post.trace.relation import AnyStep
from lineage_post.trace.shapes import Array, Document, MaybeShape, Shape, Struct
from lineage_post.trace.tracer import Tracer

#: An entry of the log that says nothing: as if what was logged since then acted as a value.
_NOTHING = (1 << 62, 0)
#: What makes a struct out of its parts, or passes one on as it is.
_MAKING = (exp.Struct, exp.Tuple, exp.JSONObject)
_PASSING = (exp.Paren, exp.Cast, exp.ParseJSON, exp.JSONFormat)
_MAKING_BY_NAME = frozenset({"struct_pack", "row", "struct", "named_struct", "object_construct"})


def is_made_in_place(node: Any) -> bool:
    """Whether it is a struct that is written out: its fields are all there is to evaluate."""
    while isinstance(node, _PASSING):
        node = node.args["this"]
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower() in _MAKING_BY_NAME
    return isinstance(node, _MAKING)


@handles("Dot")
def dot(t: Tracer, node: Any, f: Frame) -> int:
    """A field behind a parenthesis, a function or many names; or a function in a schema."""
    base, last = node.args["this"], node.args["expression"]
    if isinstance(last, exp.Func):
        return method_call(t, node, f)
    if isinstance(last, exp.Literal):
        return _element(t, base, last, f)
    if not isinstance(last, exp.Identifier):
        return evaluate(t, last, f)
    parts = _parts(node)
    if parts is not None:
        x = resolve_path(t, parts, f)
        if t.step is not None:
            t.log.append((t.step, x))
        return x
    return _field(t, node, base, last, f)


def _element(t: Tracer, base: Any, number: Any, f: Frame) -> int:
    """``(a, b).1``, ``tuple(a, b).1``: the first of a tuple."""
    shape = t.expression_shape(base, f)
    i = int(number.name) - 1 if number.is_int else -1
    if isinstance(shape, Struct) and 0 <= i < len(shape.fields.spellings):
        if shape.fields.steps[i] is not None:
            t.log.append((shape.fields.steps[i], shape.fields.at(i)))
        return shape.fields.at(i)
    return transformed(t.sources.assumed(evaluate(t, base, f)))


def _parts(node: Any) -> Any:
    """The names of ``a.b.c.d.e``, or None where something else stands among them."""
    tail = []
    while isinstance(node, exp.Dot):
        tail.append(node.args["expression"])
        node = node.args["this"]
    if not isinstance(node, exp.Column) or not all(isinstance(x, exp.Identifier) for x in tail):
        return None
    head = [node.args[p] for p in ("catalog", "db", "table", "this") if node.args.get(p)]
    return [*head, *reversed(tail)]


def _field(t: Tracer, node: Any, base: Any, name: Any, f: Frame) -> int:
    shape = t.expression_shape(base, f)
    start = len(t.log)
    is_found = isinstance(shape, Struct) and shape.fields.position(t.key(name)) >= 0
    whole = 0 if is_found and is_made_in_place(base) else transformed(evaluate(t, base, f))
    return field_of_shape(t, node, shape, name, whole, start)


def field_of_shape(
    t: Tracer, node: Any, shape: Shape | None, name: Any, whole: int, start: int
) -> int:
    """The field of a value with that shape; of the whole value where the shape is not known."""
    is_element = isinstance(shape, Array)
    if isinstance(shape, Array):
        shape = shape.element
    if isinstance(shape, Struct):
        fields = shape.fields
        i = fields.position(t.key(name))
        if i < 0 and fields.open is not None:
            leave_out(t, start, len(t.log))
            x = fields.open.column(t, t.key(name), t.spell(name))
            return transformed(x) if is_element else x
        if i >= 0:
            x = fields.at(i)
            leave_out(t, start, len(t.log))
            if fields.steps[i] is not None:
                t.log.append((fields.steps[i], x))
            return transformed(x) if is_element else x
    x = whole if isinstance(shape, Document) else t.sources.assumed(whole)
    if x:
        t.log.append((node, x))
    return x


@handles("JSONExtract", "JSONExtractScalar", "JSONBExtract", "JSONBExtractScalar")
def json_path(t: Tracer, node: Any, f: Frame) -> int:
    """``o:k``, ``j ->> 'k'``: of an object made by name it is what was put under k."""
    base, path = node.args.get("this"), node.args.get("expression")
    if base is None or not isinstance(path, exp.JSONPath) or node.args.get("expressions"):
        return computed(t, node, f)
    keys = path.expressions[1:]
    shape = t.expression_shape(base, f) if is_made_in_place(base) else None
    if isinstance(shape, Struct) and keys and _position(shape, keys[0]) >= 0:
        x = _below_object(t, shape, keys, 0)
    else:
        x = _read_path(t, base, keys, f)
    if x:
        t.log.append((node, x))
    return x


def _read_path(t: Tracer, base: Any, keys: Any, f: Frame) -> int:
    start = len(t.log)
    t.step = t.relation = None
    x = transformed(evaluate(t, base, f))
    end = len(t.log)
    is_bare = base.__class__ is exp.Column and t.step is None
    if is_bare and (t.relation is None or not t.relation.shapes):
        return x
    shape = t.expression_shape(base, f)
    if isinstance(shape, Struct) and keys and _position(shape, keys[0]) >= 0:
        leave_out(t, start, end)
    return _below_object(t, shape, keys, x)


def _position(shape: Struct, key: Any) -> int:
    name = key.this if isinstance(key, exp.JSONPathKey) else None
    return shape.fields.position(name) if isinstance(name, str) else -1


def _below_object(t: Tracer, shape: MaybeShape, path: Any, x: int) -> int:
    step: AnyStep = None
    fields, i = None, -1
    for part in path:
        if fields is not None:
            shape, fields = t.shape(fields, i), None
        if isinstance(shape, Array) and isinstance(part, exp.JSONPathSubscript):
            shape = shape.element  # o:items[0].k
            continue
        if not isinstance(shape, Struct):
            break
        i = _position(shape, part)
        if i < 0:  # null, or a row of Postgres that is one document
            is_object = t.rules.name == "snowflake" or shape.fields.open is not None
            return t.sources.assumed(x) if is_object else x
        fields = shape.fields
        x, step = transformed(fields.at(i)), fields.steps[i]
    if step is not None:
        t.log.append((step, x))
    return x


def leave_out(t: Tracer, start: int, end: int) -> None:
    """Takes out of the log what was evaluated and turned out to be no part of the value. The places
    stay, since steps remember where in the log they are."""
    t.log[start:end] = [_NOTHING] * (end - start)


@handles("Bracket", "StructExtract")
def subscript(t: Tracer, node: Any, f: Frame) -> int:
    """``s['f']`` of a struct is its field; ``a[1]`` is computed from the array, or from the one
    element that it picks."""
    item = picked(t.rules, node)
    if item is not None:
        return of_picked(t, node, item, f)
    keys = node.args.get("expressions") or [node.args.get("expression")]
    key = keys[0] if len(keys) == 1 else None
    is_name = isinstance(key, exp.Literal) and key.is_string
    shape = t.expression_shape(node.args["this"], f) if is_name else None
    if isinstance(shape, Struct) and key is not None:
        name = exp.to_identifier(key.name, quoted=True)
        start = len(t.log)
        whole = transformed(evaluate(t, node.args["this"], f))
        return field_of_shape(t, node, shape, name, whole, start)
    x = transformed(children(t, node, f))
    if x:
        t.log.append((node, x))
    return x


def of_picked(t: Tracer, node: Any, item: Any, f: Frame) -> int:
    """The value of the one item that ``node`` picks of an array or row written out."""
    x = evaluate(t, item, f)
    if x and not is_of_row(node):
        x = transformed(x)
        t.log.append((node, x))
    return x


@handles("GetExtract")
def got(t: Tracer, node: Any, f: Frame) -> int:
    """Snowflake's ``get(o, 'k')`` and ``get(a, 0)``."""
    item = picked(t.rules, node)
    if item is not None:
        return of_picked(t, node, item, f)
    key = node.args["expression"]
    if not (isinstance(key, exp.Literal) and key.is_string):
        return computed(t, node, f)
    path = exp.JSONPath(expressions=[exp.JSONPathRoot(), exp.JSONPathKey(this=key.name)])
    return json_path(t, exp.JSONExtract(this=node.args["this"].copy(), expression=path), f)
