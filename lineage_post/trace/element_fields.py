"""Fields that a lambda reads of the elements of an array.

::

    select transform(sort_array(collect_list(struct(ts, v))), x -> x.v) from t     v, sorted by both
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.expressions import computed, evaluate, handles
from lineage_post.trace.frame import Frame
from lineage_post.trace.provenance import transformed
from lineage_post.trace.shapes import Array, Struct
from lineage_post.trace.tracer import Tracer


@handles("Transform")
def transform(t: Tracer, node: Any, f: Frame) -> int:
    """``transform(list, x -> x.a + b)``: of a list made of structs it is what a was made of."""
    function = node.args.get("expression")
    fields = _fields(function) if isinstance(function, exp.Lambda) else None
    shape = t.expression_shape(node.args["this"], f) if fields else None
    if not fields or not isinstance(shape, Array) or not isinstance(shape.element, Struct):
        return computed(t, node, f)
    relation = shape.element.fields
    positions = [_position(t, field, shape.element) for field in fields]
    if min(positions) < 0 or max(positions) >= len(relation.spellings):
        return computed(t, node, f)
    x = 0
    for i in positions:
        y = relation.at(i)
        if relation.steps[i] is not None:
            t.log.append((relation.steps[i], y))
        x |= y
    x = transformed(x | evaluate(t, function, f))
    if x:
        t.log.append((node, x))
    return x


def _position(t: Tracer, field: Any, row: Struct) -> int:
    if isinstance(field, exp.Literal):
        return int(field.name) - 1 if field.is_int else -1
    return row.fields.position(t.key(field))


def _fields(function: Any) -> list[Any] | None:
    """The fields that are read of the variable, or None where it is used in another way."""
    variable, *others = function.expressions
    if others or not isinstance(variable, exp.Identifier):
        return None
    found = []
    for name in function.args["this"].find_all(exp.Identifier):
        if name.name.lower() != variable.name.lower():
            continue
        dot = name.parent
        if not isinstance(dot, exp.Dot):
            return None
        if name.arg_key == "expression":
            continue  # a field of that name
        if not isinstance(dot.expression, (exp.Identifier, exp.Literal)):
            return None
        found.append(dot.expression)
    return found
