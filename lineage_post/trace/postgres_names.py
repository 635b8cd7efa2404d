"""The names that Postgres and those that follow it give to expressions without an alias.

::

    date_trunc('month', a)   date_trunc      the name of a function, as written
    a::int, (t.a)            a               what is cast
    1::int                   int4            its type, where what is cast has no name
    case ... else b end      b               the last branch, else case
    (select max(a) from t)   max             the first output of a subquery
    a + b, 'x'               ?column?        all else
"""

from __future__ import annotations

from typing import Any

from sqlglot import TokenType, exp

from lineage_post.trace.tracer import Tracer

_UNNAMED = "?column?"
_TYPES = {
    "int": "int4", "integer": "int4", "bigint": "int8", "smallint": "int2", "real": "float4",
    "double precision": "float8", "float": "float8", "decimal": "numeric", "boolean": "bool",
    "char": "bpchar", "character": "bpchar",
}  # fmt: skip
_TRIMS = {"LEADING": "ltrim", "TRAILING": "rtrim"}
#: Functions that do not say where they stand, where sqlglot calls them otherwise.
_PLAIN = {exp.StrPosition: "position", exp.GroupConcat: "string_agg"}
_WRAPPERS = (exp.Paren, exp.Window, exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)
_TRANSPARENT = (*_WRAPPERS, exp.Collate, exp.Bracket)


def postgres_name(t: Tracer, node: Any) -> str:
    """The name of an output that is this expression."""
    return _named(t, node)[0] or _UNNAMED


def _named(t: Tracer, node: Any) -> tuple[str | None, bool]:
    """A name, and whether it is of more worth than that of a type or the word CASE."""
    while isinstance(node, _TRANSPARENT):
        node = node.args["this"]
    if isinstance(node, exp.Column):
        return t.spell(node.args["this"]), True
    if isinstance(node, exp.Dot):
        return str(node.args["expression"].name), True
    if isinstance(node, exp.Cast):
        name, is_own = _named(t, node.args["this"])
        return (name, True) if is_own else (_type_name(node.args["to"]), False)
    if isinstance(node, exp.Case):
        default = node.args.get("default")
        name, is_own = (None, False) if default is None else _named(t, default)
        return (name, True) if is_own else ("case", False)
    if isinstance(node, exp.Query):
        return _name_of_query(t, node)
    name = _name_of_call(t, node)
    return name, name is not None


def _type_name(kind: Any) -> str:
    text = str(kind.sql(dialect="postgres")).lower().partition("(")[0].strip()
    return _TYPES.get(text, text)


def _name_of_query(t: Tracer, node: Any) -> tuple[str | None, bool]:
    while isinstance(node, (exp.Subquery, exp.SetOperation)):
        node = node.args["this"]
    items = node.args.get("expressions") if isinstance(node, exp.Select) else None
    if not items:
        return None, False
    if isinstance(items[0], exp.Alias):
        return t.spell(items[0].args["alias"]), True
    return _named(t, items[0])


def _name_of_call(t: Tracer, node: Any) -> str | None:
    if isinstance(node, exp.Interval):
        return "interval"
    if isinstance(node, exp.AtTimeZone):
        return "timezone"
    if isinstance(node, (exp.Exists, exp.Array, exp.Tuple)):
        return "row" if isinstance(node, exp.Tuple) else str(node.key)
    if isinstance(node, exp.Binary) and t.tokens.is_call(node):
        return str(node.key)
    if not isinstance(node, exp.Func) or isinstance(node, exp.Connector):
        return None
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    first = t.tokens.first_of(node)
    if first is not None:
        written = str(t.tokens.tokens[first].text).lower()
        is_bare = not node.args.get("this") and not node.args.get("expressions")
        if t.tokens.opens_call(first) or is_bare:
            return "btrim" if written == "trim" else written
        return None
    if isinstance(node, exp.Extract):
        at = t.tokens.first_of(node.args["expression"])
        is_call = at and t.tokens.tokens[at - 1].token_type is TokenType.COMMA
        return "date_part" if is_call else "extract"
    if isinstance(node, exp.Trim):
        return _TRIMS.get(str(node.args.get("position") or "").upper(), "btrim")
    if isinstance(node, exp.GroupConcat) and t.rules.name == "redshift":
        return "listagg"
    return None if isinstance(node, exp.Binary) else _PLAIN.get(node.__class__, _key_of(node))


def _key_of(node: Any) -> str:
    return str(node.sql_name()).lower()
