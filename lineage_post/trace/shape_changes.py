"""Shapes of what is read out of an array, chosen between, or computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from sqlglot import exp

from lineage_post.trace.opens import Open, OpenArms, OpenChanged, OpenDerived, OpenUnknown
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


def merged(t: Tracer, shapes: Sequence[MaybeShape], provenances: Sequence[int] = ()) -> MaybeShape:
    """The shape of a value that is one of several; ``provenances`` are theirs, where known."""
    if any(isinstance(shape, Struct) for shape in shapes):
        shapes = [
            _any_field(t, x) if isinstance(shape, Document) else shape
            for shape, x in zip_longest(shapes, provenances[: len(shapes)])
        ]
    first = shapes[0] if shapes else None
    for other in shapes[1:]:
        first = None if first is None or other is None else _pair(t, first, other)
    return first


def is_null(node: object) -> bool:
    """Whether it is a null, of whatever type."""
    while isinstance(node, (exp.Cast, exp.Paren)):
        node = node.args["this"]
    return isinstance(node, exp.Null)


def _any_field(t: Tracer, x: int | None) -> MaybeShape:
    """A document beside objects: any key may be read of it, and is of all of it."""
    if x is None:
        return None
    open_ = OpenDerived("a document", transformed(x))
    return Struct(Relation(t.rules, (), [], [], open_=open_))


def _pair(t: Tracer, a: Shape, b: Shape) -> MaybeShape:
    if isinstance(a, Array) and isinstance(b, Array):
        return Array(merged(t, [a.element, b.element]))
    if isinstance(a, Document) and isinstance(b, Document):
        return a
    if not isinstance(a, Struct) or not isinstance(b, Struct):
        return None
    left, right = a.fields, b.fields
    if _is_object(t, left) or _is_object(t, right):
        names = list(dict.fromkeys((*left.spellings, *right.spellings)))
        return _stacked(t, left, right, [(n, _at(left, n), _at(right, n)) for n in names])
    if len(left.spellings) != len(right.spellings):
        return None
    places = [_at(right, n) for n in left.spellings] if t.rules.name == "duckdb" else []
    if any(place is None for place in places):
        return None
    positions = places or range(len(right.spellings))
    triples = zip(left.spellings, range(len(left.spellings)), positions)
    return _stacked(t, left, right, list(triples))


def _is_object(t: Tracer, fields: Relation) -> bool:
    """Whether its fields are keys, which have no order."""
    return t.rules.name == "snowflake" or isinstance(fields.open, OpenDerived)


def _at(fields: Relation, name: str) -> int | None:
    i = fields.position(name)
    return i if i >= 0 else None


def _stacked(
    t: Tracer, left: Relation, right: Relation, triples: list[tuple[str, int | None, int | None]]
) -> Struct:
    """A field of each name, which is one of two; of an object that lacks it, it is of what is not
    told by name."""
    provenances: list[int] = []
    steps: list[AnyStep] = []
    for name, i, j in triples:
        origins = [
            (fields, place) if place is not None else _told_by_no_name(t, fields, name)
            for fields, place in ((left, i), (right, j))
            if place is not None or fields.open is not None
        ]
        x = 0
        for fields, place in origins:
            x |= fields.at(place)
        provenances.append(x)
        steps.append(Arms([fields.steps[place] for fields, place in origins], origins))
    names = [name for name, _, _ in triples]
    return Struct(Relation(t.rules, names, provenances, steps, open_=_either(left, right)))


def _told_by_no_name(t: Tracer, fields: Relation, name: str) -> tuple[Relation, int]:
    """A key that may be among those that are not listed."""
    assert fields.open is not None
    x = fields.open.column(t, name, name)
    return Relation(t.rules, (name,), [x], [None], shapes={0: Document()}), 0


def _either(left: Relation, right: Relation) -> Open | None:
    """What is not listed of one row or the other."""
    if left.open is right.open:
        return left.open
    if isinstance(left.open, OpenDerived) or isinstance(right.open, OpenDerived):
        return OpenArms([left, right], is_by_name=True)
    return OpenArms([left, right])
