"""The shape that a declared data type gives to copies of a source column."""

from __future__ import annotations

from lineage_post.trace.field_types import (
    ArrayType,
    FieldType,
    JsonType,
    StructType,
    field_type,
    struct_path,
)
from lineage_post.trace.provenance import IDENTITY, bits
from lineage_post.trace.relation import AnyStep, Relation
from lineage_post.trace.result import ColumnRef
from lineage_post.trace.shape_changes import merged
from lineage_post.trace.shapes import Array, Document, MaybeShape, Shape, Struct
from lineage_post.trace.tracer import Tracer


def source_shape(t: Tracer, x: int) -> MaybeShape:
    """The shape a declared type gives to copies of source columns."""
    shapes = []
    for i, kind in bits(x):
        ref = t.sources.table[i]
        declared = _declared_type(t, ref) if isinstance(ref, ColumnRef) else None
        if kind != IDENTITY or declared is None or not isinstance(ref, ColumnRef):
            return None
        shapes.append(_declared(t, declared, ref.relation, ref.column, ref.field))
    return merged(t, shapes) if shapes else None


def is_declared_map(t: Tracer, x: int) -> bool:
    """Whether ``x`` is a copy of source columns that are declared as maps."""
    texts = []
    for ref in [t.sources.table[i] for i, kind in bits(x) if kind == IDENTITY]:
        if not isinstance(ref, ColumnRef) or ref.field is not None:
            return False
        entry = t.schema.by_key(ref.relation)
        if entry is None or ref.column not in entry.columns:
            return False
        texts.append(entry.types[entry.columns.index(ref.column)] or "")
    return bool(texts) and all(text.lower().startswith("map") for text in texts)


def typed_shape(t: Tracer, kind: FieldType, x: int) -> MaybeShape:
    """The shape of a computed value that was given a type: each field is of all of it."""
    if isinstance(kind, JsonType):
        return Document()
    if isinstance(kind, ArrayType):
        return Array(typed_shape(t, kind.element, x))
    if not isinstance(kind, StructType):
        return None
    names = [name or f"_{n + 1}" for n, (name, _) in enumerate(kind.fields)]
    shapes = {
        n: shape
        for n, (_, inner) in enumerate(kind.fields)
        if (shape := typed_shape(t, inner, x)) is not None
    }
    count = len(names)
    return Struct(Relation(t.rules, names, [x] * count, [None] * count, shapes=shapes))


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
