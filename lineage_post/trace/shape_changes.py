"""Shapes of what is read out of an array, chosen between, or computed."""

from __future__ import annotations

from collections.abc import Callable

from lineage_post.trace.opens import Open, OpenArms, OpenChanged, OpenUnknown
from lineage_post.trace.provenance import transformed
from lineage_post.trace.relation import AnyStep, Arms, Relation
from lineage_post.trace.shapes import Array, Document, MaybeShape, Shape, Struct
from lineage_post.trace.tracer import Tracer


def changed(t: Tracer, shape: MaybeShape, change: Callable[[int], int]) -> MaybeShape:
    """The same fields with each provenance changed."""
    if isinstance(shape, Array):
        element, row = changed(t, shape.element, change), changed(t, shape.row, change)
        return Array(element, row, shape.order)
    if not isinstance(shape, Struct):
        return shape
    fields = shape.fields
    shapes: dict[int, Shape] = {}
    for i in range(len(fields.spellings)):
        inner = changed(t, t.shape(fields, i), change)
        if inner is not None:
            shapes[i] = inner
    provenances = [change(x) for x in fields.all()]
    open_ = fields.open
    if open_ is not None and not isinstance(open_, OpenUnknown):
        open_ = OpenChanged(open_, change)
    return Struct(
        Relation(t.rules, fields.spellings, provenances, fields.steps, open_=open_, shapes=shapes)
    )


def element_shape(t: Tracer, shape: Shape) -> MaybeShape:
    """The shape of an element of an array: what is read out of it is computed."""
    if isinstance(shape, Document):
        return shape
    return changed(t, shape.element if isinstance(shape, Array) else None, transformed)


def merged(t: Tracer, shapes: list[MaybeShape]) -> MaybeShape:
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
        return Array(merged(t, [a.element, b.element]))
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
    open_ = _either(left, right)
    return Struct(Relation(t.rules, left.spellings, provenances, steps, open_=open_))


def _either(left: Relation, right: Relation) -> Open | None:
    """What is not listed of one row or the other."""
    return left.open if left.open is right.open else OpenArms([left, right])
