"""The one element that a number picks out of an array or row whose items are written out.

::

    select [a, b][offset(1)], element_at(array(a, b), 2), (array[a, b])[2]     b, and a nowhere
    select row(a, b)[2]                                                        Trino, DuckDB: b

sqlglot counts the numbers in brackets from 0, whatever the dialect does, and so do the dialects
below; of another dialect, of a number from behind and of one beyond the end nothing is said.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.dialects import Rules

_CERTAIN = frozenset(
    {
        "bigquery", "duckdb", "trino", "presto", "athena", "postgres", "materialize", "risingwave",
        "redshift", "spark", "databricks", "hive", "snowflake", "clickhouse", "starrocks",
    }
)  # fmt: skip
#: Functions that pick an element, and what they call the first.
_BY_NAME = {
    "list_extract": 1, "list_element": 1, "array_extract": 1, "arrayelement": 1, "get": 0,
    "list_first": None, "list_last": None,
}  # fmt: skip
PICKING = frozenset(_BY_NAME)
#: Items that may stand for more or fewer than one, or have a name.
_NOT_ONE = (exp.Star, exp.Columns, exp.Select, exp.SetOperation, exp.PropertyEQ, exp.Alias)


def picked(rules: Rules, node: Any) -> Any:
    """The item that ``node`` picks, or None where that is not certain."""
    if rules.name not in _CERTAIN:
        return None
    items = _items(rules, _base_of(node))
    number = None if items is None else _number(node, len(items))
    if items is None or number is None or not 0 <= number < len(items):
        return None
    return items[number]


def first_item(rules: Rules, node: Any) -> Any:
    """The first item of the array that ``node`` picks from, which gives structs their names."""
    items = _items(rules, _base_of(node))
    return items[0] if items else None


def is_of_row(node: Any) -> bool:
    """Whether the item is a field of a row, and not an element of an array."""
    return not isinstance(_bare(_base_of(node)), (exp.Array, exp.List, exp.Bracket))


def _base_of(node: Any) -> Any:
    if isinstance(node, exp.Anonymous):
        return node.expressions[0] if node.expressions else None
    return node.args.get("this")


def _bare(node: Any) -> Any:
    while isinstance(node, exp.Paren):
        node = node.args["this"]
    return node


def _items(rules: Rules, node: Any) -> Any:
    """What an array or row is made of, one by one; None where it is not written out."""
    node = _bare(node)
    if isinstance(node, exp.Bracket):
        node = _bare(picked(rules, node))
    is_row = isinstance(node, exp.Struct) and rules.family == "trino"
    if isinstance(node, exp.Anonymous):
        is_row = str(node.name).lower() == "row" and rules.name == "duckdb"
    if not (is_row or isinstance(node, (exp.Array, exp.List))):
        return None
    items = node.expressions
    return None if any(isinstance(_unqualified(i), _NOT_ONE) for i in items) else items


def _unqualified(item: Any) -> Any:
    """The star of ``t.*``."""
    is_star = isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
    return item.this if is_star else item


def _number(node: Any, count: int) -> int | None:
    """The place of the item, counted from 0."""
    if isinstance(node, exp.Anonymous):
        name = str(node.name).lower()
        first = _BY_NAME.get(name)
        if first is None:
            return {"list_first": 0, "list_last": count - 1}.get(name)
        return None if len(node.expressions) != 2 else _literal(node.expressions[1], first)
    if isinstance(node, exp.Bracket):
        keys = node.expressions
        return _literal(keys[0], node.args.get("offset") or 0) if len(keys) == 1 else None
    first = 1 if isinstance(node, exp.StructExtract) else 0
    return _literal(node.args.get("expression"), first)


def _literal(node: Any, first: int) -> int | None:
    is_number = isinstance(node, exp.Literal) and not node.is_string and node.is_int
    return int(node.name) - first if is_number else None
