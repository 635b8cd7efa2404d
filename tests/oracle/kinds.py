"""Data types as DuckDB understands them, and the places inside a value that can change alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

_FAMILIES = {
    "tinyint": "integer", "smallint": "integer", "integer": "integer", "bigint": "integer",
    "hugeint": "integer", "utinyint": "integer", "usmallint": "integer", "uinteger": "integer",
    "ubigint": "integer", "decimal": "decimal", "float": "double", "double": "double",
    "varchar": "text", "boolean": "boolean", "date": "date", "time": "time",
    "timestamp": "timestamp", "timestamp with time zone": "timestamp", "timestamp_s": "timestamp",
    "timestamp_ms": "timestamp", "timestamp_ns": "timestamp", "list": "list", "array": "list",
    "struct": "struct", "map": "map",
}  # fmt: skip
_BITS = {"tinyint": 7, "utinyint": 7, "smallint": 15, "usmallint": 15}

#: The way to a field: names of struct fields; lists on the way are entered silently.
FieldPath = tuple[str, ...]


class UnsupportedType(Exception):
    """The oracle cannot make data of this type."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A data type: its family, its DuckDB text, and its members (fields, element, key, value)."""

    family: str
    sql: str
    scale: int = 0
    digits: int = 9
    members: tuple[tuple[str, Kind], ...] = ()

    @property
    def is_scalar(self) -> bool:
        return not self.members and self.family != "json"


def kind_of(data_type: str, dialect: str = "duckdb") -> Kind:
    """The kind of a column type written in ``dialect``. Raises UnsupportedType."""
    text = data_type
    if dialect != "duckdb" or "<" in data_type:
        try:
            text = exp.DataType.build(data_type, dialect=dialect).sql("duckdb")
        except sqlglot.errors.SqlglotError as fault:
            raise UnsupportedType(data_type) from fault
    if text.upper() in ("JSON", "VARIANT", "OBJECT", "SUPER"):
        return Kind("json", "JSON")
    try:
        return _kind(duckdb.sqltype(text))
    except duckdb.Error as fault:
        raise UnsupportedType(data_type) from fault


def _kind(native: Any) -> Kind:
    name, text = native.id, str(native)
    if text == "JSON":
        return Kind("json", "JSON")
    if name not in _FAMILIES:
        raise UnsupportedType(text)
    family = _FAMILIES[name]
    if family == "decimal":
        (_, precision), (_, scale) = native.children
        return Kind(family, text, scale=scale, digits=precision - scale)
    if family in ("list", "struct", "map"):
        members = tuple(
            (label, _kind(child)) for label, child in native.children if label != "size"
        )
        return Kind(family, text, members=members)
    return Kind(family, text, digits=2 if _BITS.get(name) == 7 else 4 if name in _BITS else 9)


def field_paths(kind: Kind, prefix: FieldPath = ()) -> Iterator[FieldPath]:
    """The column itself, then every struct field below it."""
    yield prefix
    if kind.family == "list":
        yield from (path for path in field_paths(kind.members[0][1], prefix) if path != prefix)
    elif kind.family == "struct":
        for name, member in kind.members:
            yield from field_paths(member, (*prefix, name))


def kind_at(kind: Kind, path: FieldPath) -> Kind:
    """The kind of the field that ``path`` leads to."""
    if not path:
        return kind
    if kind.family == "list":
        return kind_at(kind.members[0][1], path)
    return kind_at(dict(kind.members)[path[0]], path[1:])


def changed_at(value: Any, kind: Kind, path: FieldPath, change: Callable[[Any], Any]) -> Any:
    """``value`` with ``change`` applied to every part that ``path`` leads to."""
    if not path:
        return change(value)
    if value is None:
        return None
    if kind.family == "list":
        return [changed_at(item, kind.members[0][1], path, change) for item in value]
    members = dict(kind.members)
    return {
        name: changed_at(item, members[name], path[1:], change) if name == path[0] else item
        for name, item in value.items()
    }


def literal(value: Any, kind: Kind) -> str:
    """The value as DuckDB SQL text."""
    if value is None:
        return "NULL"
    if kind.family in ("integer", "decimal", "double", "boolean"):
        return str(value)
    if kind.family == "list":
        return f"[{', '.join(literal(item, kind.members[0][1]) for item in value)}]"
    if kind.family == "struct":
        members = dict(kind.members)
        inner = (f"'{name}': {literal(item, members[name])}" for name, item in value.items())
        return f"CAST({{{', '.join(inner)}}} AS {kind.sql})"
    if kind.family == "map":
        (_, key_kind), (_, value_kind) = kind.members
        keys = ", ".join(literal(key, key_kind) for key, _ in value)
        values = ", ".join(literal(item, value_kind) for _, item in value)
        return f"CAST(MAP([{keys}], [{values}]) AS {kind.sql})"
    return "'" + str(value).replace("'", "''") + "'"
