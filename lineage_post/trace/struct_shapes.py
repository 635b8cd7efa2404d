"""The shape of a struct that is written out, or made of another one."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.frame import Frame
from lineage_post.trace.opens import Open, one_of
from lineage_post.trace.relation import AnyStep, Relation
from lineage_post.trace.shapes import MaybeShape, Shape, Struct
from lineage_post.trace.sources import cell_of
from lineage_post.trace.star import is_star, items_of_argument
from lineage_post.trace.tracer import Tracer


def of_inner(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    return t.expression_shape(node.args["this"], f)


def of_struct(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``struct(a as x, b)``, ``struct_pack(x := a)``, ``{'x': a}``, ``row(a, b)``."""
    names: list[str] = []
    provenances: list[int] = []
    steps: list[AnyStep] = []
    shapes: dict[int, Shape] = {}
    opens: list[Open] = []
    for item in node.expressions:
        if isinstance(item, exp.PropertyEQ) and item.this.find(exp.Column) is not None:
            return None  # the names are data
        if is_star(item):
            found, unlisted = items_of_argument(t, item, f)
            opens += unlisted
            names += [one.spelling for one in found]
            provenances += [one.provenance for one in found]
            steps += [one.step for one in found]
            continue
        n = len(names)
        name, value = _field_of(t, item, n)
        x, step = cell_of(t, value, f)
        names.append(name)
        provenances.append(x)
        steps.append(step)
        if step is None:
            shape = t.expression_shape(value, f)
            if shape is not None:
                shapes[n] = shape
    open_ = one_of(opens)
    return Struct(Relation(t.rules, names, provenances, steps, open_=open_, shapes=shapes))


def _field_of(t: Tracer, item: Any, n: int) -> tuple[str, Any]:
    if isinstance(item, exp.PropertyEQ):
        name = item.this
        is_name = isinstance(name, exp.Identifier) and t.rules.name != "snowflake"
        spelled = t.spell(name) if is_name else str(name.name)  # of {'a': x} a text
        return spelled, item.expression
    if isinstance(item, exp.Alias):
        return t.spell(item.args["alias"]), item.this
    if t.rules.family == "postgres":  # ``row(a, b)`` has no names of its own
        return f"f{n + 1}", item
    if isinstance(item, exp.Column):
        return t.spell(item.this), item
    return f"_{n + 1}", item


def changed_struct(t: Tracer, first: Any, changes: Any, f: Frame) -> MaybeShape:
    """``struct_insert(s, z := a)``, ``struct_concat(s, r)``: all fields, the last of a name."""
    more = exp.Struct()
    more.args["expressions"] = [c for c in changes if isinstance(c, exp.PropertyEQ)]
    values = [first, *(c for c in changes if not isinstance(c, exp.PropertyEQ))]
    shapes = [*(t.expression_shape(value, f) for value in values), of_struct(t, more, f)]
    found: dict[str, tuple[int, AnyStep, MaybeShape]] = {}
    for shape in shapes:
        if not isinstance(shape, Struct):
            return None
        fields = shape.fields
        for i, name in enumerate(fields.spellings):
            found[name] = fields.at(i), fields.steps[i], t.shape(fields, i)
    below = {i: s for i, (_, _, s) in enumerate(found.values()) if s is not None}
    provenances, steps = [x for x, _, _ in found.values()], [s for _, s, _ in found.values()]
    return Struct(Relation(t.rules, list(found), provenances, steps, shapes=below))
