"""The names that DuckDB gives to expressions without an alias: the expression as it prints it.

::

    a + b * 2                   (a + (b * 2))
    ifnull(a, 1)                COALESCE(a, 1)
    count(*) filter (where b)   count_star() FILTER (WHERE b)
    not a > 1                   (a <= 1)
    left(s, 2)                  "left"(s, 2)

What has no rule here is named as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib.resources import files
from typing import Any

from sqlglot import exp

from lineage_post.trace.printing import printed
from lineage_post.trace.tracer import Tracer

_NEGATED = {
    exp.EQ: "!=", exp.NEQ: "=", exp.GT: "<=", exp.GTE: "<", exp.LT: ">=", exp.LTE: ">",
}  # fmt: skip
_WORDS = {
    exp.EQ: "=", exp.NEQ: "!=", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=",
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.IntDiv: "//", exp.Mod: "%",
    exp.DPipe: "||", exp.BitwiseAnd: "&", exp.BitwiseOr: "|", exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>", exp.Is: "IS", exp.NullSafeNEQ: "IS DISTINCT FROM",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM", exp.Glob: "~~~",
}  # fmt: skip
_LIKE = {exp.Like: "~~", exp.ILike: "~~*"}
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONNECTORS = {exp.And: " AND ", exp.Or: " OR "}
#: Functions that only the grammar knows.
_OF_GRAMMAR = {"substring": 'main."substring"', "trim": 'main."trim"', "row": 'main."row"'}
_TYPES = {
    "INT": "INTEGER", "TEXT": "VARCHAR", "REAL": "FLOAT", "DOUBLE": '"DOUBLE"', "DATE": '"DATE"',
    "TINYINT": '"TINYINT"', "UUID": '"UUID"', "BLOB": '"BLOB"', "INT128": '"HUGEINT"',
    "JSON": '"json"', "TIMESTAMPTZ": '"TIMESTAMP WITH TIME ZONE"',
}  # fmt: skip


def duckdb_name(t: Tracer, node: Any) -> str:
    """The name of an output that is this expression."""
    while isinstance(node, exp.Paren):
        node = node.args["this"]
    rule = _RULES.get(node.__class__, _call)
    found = rule(t, node)
    if found is None:
        found = t.tokens.text_of(node)
    return printed(node, "duckdb") if found is None else found


def _names(t: Tracer, nodes: Iterable[Any]) -> str:
    return ", ".join(duckdb_name(t, node) for node in nodes)


def _chain(t: Tracer, node: Any) -> str:
    """``a || b || c`` as ``((a || b) || c)``, in one pass from the right to the left."""
    if t.tokens.is_call(node):
        return f"{node.key}({_names(t, [node.args['this'], node.args['expression']])})"
    parts: list[str] = []
    while node.__class__ in _WORDS and not t.tokens.is_call(node):
        right = duckdb_name(t, node.args["expression"])
        parts.append(f" {_WORDS[node.__class__]} {right})")
        node = node.args["this"]
        while isinstance(node, exp.Paren):
            node = node.args["this"]
    return "(" * len(parts) + duckdb_name(t, node) + "".join(reversed(parts))


def _connected(t: Tracer, node: Any) -> str:
    """``a and b and c`` has one pair of parentheses."""
    word, parts, cls = _CONNECTORS[node.__class__], [], node.__class__
    while node.__class__ is cls:
        parts.append(duckdb_name(t, node.args["expression"]))
        node = node.args["this"]
    parts.append(duckdb_name(t, node))
    return f"({word.join(reversed(parts))})"


def _not(t: Tracer, node: Any) -> str:
    inner = node.args["this"]
    cls = inner.__class__
    if cls in _NEGATED:
        left, right = inner.args["this"], inner.args["expression"]
        return f"({duckdb_name(t, left)} {_NEGATED[cls]} {duckdb_name(t, right)})"
    if cls is exp.In and inner.args.get("expressions"):
        return f"({_in(t, inner, 'NOT IN')})"
    if cls is exp.Is:
        left, right = inner.args["this"], inner.args["expression"]
        return f"({duckdb_name(t, left)} IS NOT {duckdb_name(t, right)})"
    return f"(NOT {duckdb_name(t, inner)})"


def _in(t: Tracer, node: Any, word: str = "IN") -> str:
    return f"{duckdb_name(t, node.args['this'])} {word} ({_names(t, node.args['expressions'])})"


def _in_list(t: Tracer, node: Any) -> str | None:
    return f"({_in(t, node)})" if node.args.get("expressions") else None


def _between(t: Tracer, node: Any) -> str:
    this, low, high = (duckdb_name(t, node.args[k]) for k in ("this", "low", "high"))
    return f"({this} BETWEEN {low} AND {high})"


def _like(t: Tracer, node: Any) -> str:
    word = ("!" if node.args.get("negate") else "") + _LIKE[node.__class__]
    left, right = duckdb_name(t, node.args["this"]), duckdb_name(t, node.args["expression"])
    return f"({left} {word} {right})"


def _negative(t: Tracer, node: Any) -> str:
    inner = node.args["this"]
    name = duckdb_name(t, inner)
    return f"-{name}" if isinstance(inner, exp.Literal) else f"-({name})"


def _case(t: Tracer, node: Any) -> str:
    a = node.args
    operand = "" if a.get("this") is None else f"{duckdb_name(t, a['this'])} = "
    branches = [(branch.args["this"], branch.args["true"]) for branch in a["ifs"]]
    return _choice(t, operand, branches, a.get("default"))


def _if(t: Tracer, node: Any) -> str:
    a = node.args
    return _choice(t, "", [(a["this"], a["true"])], a.get("false"))


def _choice(t: Tracer, operand: str, branches: Iterable[tuple[Any, Any]], default: Any) -> str:
    text = "CASE "
    for condition, value in branches:
        name = duckdb_name(t, condition)
        name = f"({operand}{name})" if operand else name
        text += f" WHEN ({name}) THEN ({duckdb_name(t, value)})"
    return f"{text} ELSE {'NULL' if default is None else duckdb_name(t, default)} END"


def _cast(t: Tracer, node: Any) -> str:
    word = "TRY_CAST" if node.__class__ is exp.TryCast else "CAST"
    kind = str(node.args["to"].sql(dialect="duckdb"))
    return f"{word}({duckdb_name(t, node.args['this'])} AS {_TYPES.get(kind, kind)})"


def _filtered(t: Tracer, node: Any) -> str:
    condition = duckdb_name(t, node.args["expression"].args["this"])
    return f"{duckdb_name(t, node.args['this'])} FILTER (WHERE {condition})"


def _windowed(t: Tracer, node: Any) -> str | None:
    a = node.args
    name = duckdb_name(t, a["this"])
    if a.get("alias") is not None:
        return f"{name} OVER {a['alias'].name}"
    by, order, spec = a.get("partition_by"), a.get("order"), a.get("spec")
    parts = [f"PARTITION BY {_names(t, by)}"] if by else []
    parts += [f"ORDER BY {_names(t, order.args['expressions'])}"] if order is not None else []
    parts += [_frame(t, spec.args)] if spec is not None else []
    return f"{name} OVER ({' '.join(parts)})"


def _frame(t: Tracer, a: Any) -> str:
    ends = [_end(t, a.get(end), a.get(f"{end}_side")) for end in ("start", "end")]
    return f"{a['kind'].upper()} BETWEEN {' AND '.join(ends)}"


def _end(t: Tracer, value: Any, side: str | None) -> str:
    if value is None:
        return "CURRENT ROW"
    text = duckdb_name(t, value) if isinstance(value, exp.Expr) else str(value).upper()
    return f"{text} {side.upper()}" if side else text


def _ordered(t: Tracer, node: Any) -> str:
    """A key of ORDER BY: NULLS LAST is named where it is written, which the tree does not tell."""
    a = node.args
    name = duckdb_name(t, a["this"])
    name += " DESC" if a.get("desc") else ""
    last = t.tokens.last_of(a["this"])
    follows = [] if last is None else t.tokens.tokens[last + 1 : last + 3]
    if all(token.text.lower() != "nulls" for token in follows):
        return name
    return f"{name} NULLS {'FIRST' if a.get('nulls_first') else 'LAST'}"


def _count(t: Tracer, node: Any) -> str | None:
    return "count_star()" if isinstance(node.args["this"], exp.Star) else _call(t, node)


def _coalesce(t: Tracer, node: Any) -> str:
    return f"COALESCE({_names(t, [node.args['this'], *node.args['expressions']])})"


def _boolean(t: Tracer, node: Any) -> str:
    return f"CAST('{'t' if node.args['this'] else 'f'}' AS BOOLEAN)"


def _literal(t: Tracer, node: Any) -> str | None:
    return None if node.is_string else str(node.name)


def _column(t: Tracer, node: Any) -> str:
    """A column, which needs no generator to be spelled."""
    parts = [node.args[p] for p in ("catalog", "db", "table", "this") if node.args.get(p)]
    if all(isinstance(p, exp.Identifier) for p in parts):
        return ".".join(_quoted(p.name) for p in parts)
    return printed(node, "duckdb")


def _quoted(name: str) -> str:
    """A name as it is printed: in quotes where it is a word of the grammar, or no plain name."""
    is_plain = _PLAIN.fullmatch(name) is not None and name.lower() not in _keywords()
    return name if is_plain else '"' + name.replace('"', '""') + '"'


@lru_cache(maxsize=1)
def _keywords() -> frozenset[str]:
    text = (files("lineage_post.trace") / "duckdb_keywords.txt").read_text(encoding="utf-8")
    return frozenset(text.partition("\n")[2].split())


def _distinct(t: Tracer, node: Any) -> str:
    return f"DISTINCT {_names(t, node.args['expressions'])}"


def _ignoring(t: Tracer, node: Any) -> str:
    name = duckdb_name(t, node.args["this"])
    # sqlglot says it of every any_value
    if isinstance(node.args["this"], exp.AnyValue):
        return name
    return f"{name.removesuffix(')')} IGNORE NULLS)"


def _extract(t: Tracer, node: Any) -> str:
    part = str(node.args["this"].name).lower()
    return f"main.date_part('{part}', {duckdb_name(t, node.args['expression'])})"


def _in_zone(t: Tracer, node: Any) -> str:
    return f"main.timezone({_names(t, [node.args['zone'], node.args['this']])})"


def _list(t: Tracer, node: Any) -> str | None:
    written = t.tokens.first_of(node) is not None
    return _call(t, node) if written else f"main.list_value({_names(t, node.expressions)})"


def _struct(t: Tracer, node: Any) -> str | None:
    written = t.tokens.first_of(node) is not None
    return _call(t, node) if written else f"main.struct_pack({_names(t, node.expressions)})"


def _field(t: Tracer, node: Any) -> str:
    return f"{node.args['this'].name} := {duckdb_name(t, node.args['expression'])}"


def _lambda(t: Tracer, node: Any) -> str:
    variables = [v.name for v in node.expressions]
    names = variables[0] if len(variables) == 1 else f"({', '.join(variables)})"
    return f"({names} -> {duckdb_name(t, node.args['this'])})"


def _power(t: Tracer, node: Any) -> str | None:
    base, exponent = node.args["this"], node.args["expression"]
    if t.tokens.first_of(node) is not None:
        return _call(t, node)
    return f"({duckdb_name(t, base)} ** {duckdb_name(t, exponent)})"


def _call(t: Tracer, node: Any) -> str | None:
    """A call by its own name, with its arguments where they stand in the order of the text."""
    first = t.tokens.first_of(node) if isinstance(node, exp.Func) else None
    if first is None or not t.tokens.opens_call(first):
        return None
    written = t.tokens.tokens[first].text.lower()
    name = _OF_GRAMMAR.get(written) or _quoted(written)
    nodes = [v for v in node.args.values() if isinstance(v, (exp.Expr, list))]
    arguments = [i for v in nodes for i in (v if isinstance(v, list) else [v])]
    order = ""
    if arguments and isinstance(arguments[0], exp.Order):
        order = f" ORDER BY {_names(t, arguments[0].args['expressions'])}"
        arguments[0] = arguments[0].args["this"]
    if _are_in_order(t, arguments):
        return f"{name}({_names(t, arguments)}{order})"
    last = t.tokens.last_of(node)
    return None if last is None else name + t.tokens.spaced(first + 1, last)


def _are_in_order(t: Tracer, arguments: list[Any]) -> bool:
    """Whether the parser has left them as they were: ``date_trunc('day', a)`` it turns round."""
    before = -1
    for argument in arguments:
        while isinstance(argument, (exp.Distinct, exp.IgnoreNulls)):
            argument = (argument.args.get("expressions") or [argument.args.get("this")])[0]
        at = t.tokens.first_of(argument)
        if at is None and not isinstance(argument, (exp.Star, exp.Lambda, exp.PropertyEQ)):
            return False
        if at is not None and at < before:
            return False
        before = before if at is None else at
    return True


_RULES: dict[type, Callable[[Tracer, Any], str | None]] = {
    **dict.fromkeys(_WORDS, _chain),
    **dict.fromkeys(_CONNECTORS, _connected),
    **dict.fromkeys(_LIKE, _like),
    exp.Array: _list,
    exp.AtTimeZone: _in_zone,
    exp.Between: _between,
    exp.Boolean: _boolean,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.Coalesce: _coalesce,
    exp.Column: _column,
    exp.Count: _count,
    exp.Distinct: _distinct,
    exp.Extract: _extract,
    exp.Filter: _filtered,
    exp.If: _if,
    exp.IgnoreNulls: _ignoring,
    exp.In: _in_list,
    exp.Lambda: _lambda,
    exp.Literal: _literal,
    exp.Neg: _negative,
    exp.Not: _not,
    exp.Ordered: _ordered,
    exp.Pow: _power,
    exp.PropertyEQ: _field,
    exp.Struct: _struct,
    exp.TryCast: _cast,
    exp.Window: _windowed,
}
