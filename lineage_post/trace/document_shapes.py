"""The shape of a document that is made of named parts, and of what is read out of it."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.expressions import evaluate
from lineage_post.trace.frame import Frame
from lineage_post.trace.opens import OpenDerived
from lineage_post.trace.provenance import transformed
from lineage_post.trace.relation import Relation
from lineage_post.trace.shape_changes import changed
from lineage_post.trace.shapes import Document, MaybeShape, Struct
from lineage_post.trace.struct_shapes import of_inner, of_struct
from lineage_post.trace.tracer import Tracer


def of_pairs(t: Tracer, pairs: Any, f: Frame) -> MaybeShape:
    """Names and values in turn; what stands under a name that is no constant may be any key."""
    holder = exp.Struct()
    holder.args["expressions"] = [
        exp.PropertyEQ(this=exp.to_identifier(key.name, quoted=True), expression=value)
        for key, value in pairs
        if isinstance(key, exp.Literal)
    ]
    shape = of_struct(t, holder, f)
    unnamed = [node for pair in pairs if not isinstance(pair[0], exp.Literal) for node in pair]
    if isinstance(shape, Struct) and unnamed:
        x = 0
        for node in unnamed:
            x |= evaluate(t, node, f)
        shape.fields.open = OpenDerived("an object", t.sources.assumed(transformed(x)))
    return shape


def of_json_object(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``json_object('a', x)``, ``object_construct_keep_null('a', x)``."""
    pairs = [(p.this, p.expression) for p in node.expressions if isinstance(p, exp.JSONKeyValue)]
    return of_document_pairs(t, pairs, f)


def of_document_pairs(t: Tracer, pairs: Any, f: Frame) -> MaybeShape:
    if not all(isinstance(key, exp.Literal) for key, _ in pairs):
        return Document()
    return _as_document(t, of_pairs(t, pairs, f))


def of_star_map(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """Snowflake's ``object_construct(*)``: a key for each column."""
    holder = exp.Struct()
    holder.args["expressions"] = [node.args["this"].copy()]
    return of_struct(t, holder, f)


def of_written(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``to_json(row)``, ``o::variant``, and a text of it that is parsed: what it was made of."""
    shape = changed(t, of_inner(t, node, f), transformed)
    return Document() if shape is None else _as_document(t, shape)


def _as_document(t: Tracer, shape: MaybeShape) -> MaybeShape:
    """An object of which any key may be read: one that nothing was put under is assumed."""
    if not isinstance(shape, Struct):
        return shape
    fields = shape.fields
    whole = 0
    for x in fields.all():
        whole |= x
    return Struct(
        Relation(
            t.rules, fields.spellings, fields.all(), fields.steps, shapes=fields.shapes,
            open_=fields.open or OpenDerived("a document", t.sources.assumed(transformed(whole))),
        )
    )  # fmt: skip


def of_json_path(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """``o:k``: what was put under k, where o was made by name."""
    shape, path = of_inner(t, node, f), node.args.get("expression")
    for part in path.expressions[1:] if isinstance(path, exp.JSONPath) else ():
        name = part.this if isinstance(part, exp.JSONPathKey) else None
        i = shape.fields.position(name) if isinstance(shape, Struct) and name else -1
        if not isinstance(shape, Struct) or i < 0:
            return Document()
        shape = t.shape(shape.fields, i)
    return shape or Document()
