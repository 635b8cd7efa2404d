"""Declared data types as shapes: which fields a struct, array or JSON column has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError


@dataclass(frozen=True, slots=True)
class StructType:
    """Fields in order, without a name in a tuple that has none; the type of a field is None where
    it has no fields of its own."""

    fields: tuple[tuple[str, FieldType], ...]


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array, list or map of elements."""

    element: FieldType


@dataclass(frozen=True, slots=True)
class JsonType:
    """JSON, VARIANT, OBJECT and SUPER: any path may be read."""


FieldType = StructType | ArrayType | JsonType | None

_STRUCTS = {"STRUCT", "OBJECT", "ROW", "UNION", "TUPLE"}
_ARRAYS = {"ARRAY", "LIST"}
_JSON = {"JSON", "JSONB", "VARIANT", "SUPER", "OBJECT", "HSTORE", "XML"}


@lru_cache(maxsize=4096)
def field_type(text: str, dialect: str) -> FieldType:
    """The fields of a data type as the catalog spells it; None for a scalar or unknown type."""
    try:
        built = exp.DataType.build(text, dialect=dialect or None, udt=True)
    except (SqlglotError, ValueError, TypeError, RecursionError):
        return None
    # A text that is no type may still be an expression: ``from_json(a, '["json"]')``.
    return type_of_node(built) if isinstance(built, exp.DataType) else None


def named_columns(text: str, dialect: str) -> list[str]:
    """The names in ``a Int64, b Nullable(String)``, a list of columns as ClickHouse writes it in a
    text; none where it is no such list."""
    try:
        built = exp.DataType.build(f"Tuple({text})", dialect=dialect)
    except (SqlglotError, ValueError, TypeError, RecursionError):
        return []
    listed = built.expressions if isinstance(built, exp.DataType) else []
    return [node.name for node in listed if isinstance(node, exp.ColumnDef)]


def type_of_node(node: Any) -> FieldType:
    """The fields of an ``exp.DataType``."""
    kind = node.args.get("this")
    name = str(getattr(kind, "value", kind)).upper()
    inner = node.args.get("expressions") or []
    if name == "NESTED":
        return ArrayType(StructType(_fields(inner)))
    if name in _STRUCTS and inner:
        return StructType(_fields(inner))
    if name in _ARRAYS:
        return ArrayType(type_of_node(inner[0]) if inner and _is_type(inner[0]) else None)
    if name == "MAP":
        value = inner[-1] if inner else None
        return ArrayType(type_of_node(value) if _is_type(value) else None)
    return JsonType() if name in _JSON else None


def _is_type(node: Any) -> bool:
    return isinstance(node, exp.DataType)


def _fields(nodes: Any) -> tuple[tuple[str, FieldType], ...]:
    fields = []
    for node in nodes:
        if isinstance(node, exp.ColumnDef):
            kind = node.args.get("kind")
            fields.append((node.name, type_of_node(kind) if _is_type(kind) else None))
        elif _is_type(node):
            fields.append(("", type_of_node(node)))
    return tuple(fields)


def struct_path(kind: FieldType, path: str) -> FieldType | None:
    """The type of the field at a dotted path."""
    for name in path.split("."):
        if isinstance(kind, ArrayType):
            kind = kind.element
        if not isinstance(kind, StructType):
            return None
        kind = dict(kind.fields).get(name)
    return kind
