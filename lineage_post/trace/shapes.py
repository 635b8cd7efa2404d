"""The shape of a struct value: which fields it has, and where each comes from.

A shape is asked for only when a field is read, so that models without structs pay nothing.
"""

from __future__ import annotations

from lineage_post.trace.relation import Relation


class Struct:
    """Fields by name: a relation of one row."""

    __slots__ = ("fields",)

    def __init__(self, fields: Relation) -> None:
        self.fields = fields


class Array:
    """An array, list or map whose elements have a shape of their own.

    ``row`` is the shape of one element picked out of an aggregate: a row as it was. ``order`` are
    the SORT bits of what it was sorted by afterwards, which decides what is at a place.
    """

    __slots__ = ("element", "order", "row")

    def __init__(self, element: Shape | None, row: Shape | None = None, order: int = 0) -> None:
        self.element = element
        self.row = row
        self.order = order


class Document:
    """JSON or variant: any path may be read, all of it from one column."""

    __slots__ = ()


Shape = Struct | Array | Document
MaybeShape = Shape | None
