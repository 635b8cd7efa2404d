"""The name an engine gives an output without an alias."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.frame import Frame
from lineage_post.trace.tracer import Tracer


def stored_spelling(t: Tracer, column: Any, f: Frame) -> str:
    """The name of a column as its relation spells it."""
    key = t.key(column.args["this"])
    table = column.args.get("table")
    if table is None and key in f.merged:
        return f.merged[key].spelling
    if table is None:
        owners = f.owners()
        operand = None if owners is None else owners.get(key)
    else:
        operand = f.by_key.get(t.key(table))
    for candidate in f.operands if operand is None else (operand,):
        i = candidate.relation.position(key)
        if i >= 0:
            return candidate.relation.spellings[i]
    return t.spell(column.args["this"])


def dotted_name(t: Tracer, column: Any, f: Frame) -> str:
    """ClickHouse's name of ``t.nested.k`` and ``pair.a``: all of it but the item of FROM."""
    parts = [column.args[p] for p in ("catalog", "db", "table", "this") if column.args.get(p)]
    keys = [t.key(part) for part in parts]
    for n in range(len(parts) - 1, 0, -1):
        if _is_item(keys[:n], f):
            parts = parts[n:]
            break
    return ".".join(map(t.spell, parts))


def _is_item(name: list[str], f: Frame | None) -> bool:
    """Whether an item of FROM, of this SELECT or one around it, is called that."""
    while f is not None:
        for o in f.operands:
            if o.key == name[-1] and (len(name) == 1 or list(o.parts[-len(name) :]) == name):
                return True
        f = f.outer
    return False


def output_name(t: Tracer, node: Any, f: Frame) -> str:
    """The name of the next output of a SELECT, where it has no alias."""
    if isinstance(node, (exp.Column, exp.Dot, exp.Identifier)):
        return _last_name(t, node)
    n = f.unnamed
    f.unnamed += 1
    position = len(f.spellings)
    if t.rules.name == "bigquery":
        return f"f{n}_"
    if t.rules.family == "trino":
        return f"_col{position}"
    if t.rules.family == "tsql":
        return f"_col_{position}"
    return f"_col{position}" if isinstance(node, exp.Query) else expression_name(t, node)


def expression_name(t: Tracer, node: Any) -> str:
    """An expression in the words its engine names it by."""
    if t.rules.family == "postgres":
        return _postgres_name(node)
    if t.rules.name == "duckdb":
        return _duckdb_name(t, node)
    written = t.tokens.text_of(node) if t.rules.name == "snowflake" else None
    text = str(node.sql(dialect=t.rules.dialect, copy=False)) if written is None else written
    if t.rules.name in ("snowflake", "oracle", "exasol"):
        return text.upper()
    return text.lower() if t.rules.name == "" else text


def _last_name(t: Tracer, node: Any) -> str:
    while isinstance(node, exp.Dot):
        node = node.args["expression"]
    if isinstance(node, exp.Column):
        node = node.args["this"]
    return t.spell(node) if isinstance(node, exp.Identifier) else str(node.name or node.key)


def _postgres_name(node: Any) -> str:
    if isinstance(node, (exp.Cast, exp.Paren)):
        inner = node.args["this"]
        if isinstance(inner, exp.Column):
            return str(inner.name)
        return _postgres_name(inner)
    if isinstance(node, exp.Case):
        return "case"
    if isinstance(node, (exp.Window, exp.Filter)):
        return _postgres_name(node.args["this"])
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    if isinstance(node, exp.Func) and not isinstance(node, exp.Connector):
        return str(node.sql_name()).lower()
    return "?column?"


def _duckdb_name(t: Tracer, node: Any) -> str:
    """DuckDB puts every operator in parentheses: ``min(a) + 1`` is ``(min(a) + 1)``."""
    if isinstance(node, exp.Paren):
        return _duckdb_name(t, node.args["this"])
    if isinstance(node, exp.Count) and isinstance(node.args["this"], exp.Star):
        return "count_star()"
    written = _written_name(t, node)
    if written is not None:
        arguments = [v for v in node.args.values() if isinstance(v, (exp.Expr, list))]
        flat = [i for v in arguments for i in (v if isinstance(v, list) else [v])]
        return f"{written}({', '.join(_duckdb_name(t, i) for i in flat)})"
    plain = _plain_name(node)
    if plain is not None:
        return plain
    if _is_operator(node):
        return _chain_name(t, node)
    return str(node.sql(dialect=t.rules.dialect, copy=False))


def _is_operator(node: Any) -> bool:
    return isinstance(node, exp.Binary) and not isinstance(node, (exp.Func, exp.Dot))


def _chain_name(t: Tracer, node: Any) -> str:
    """``a || b || c`` as ``((a || b) || c)``, in one pass from the right to the left."""
    parts: list[str] = []
    count = 0
    while _is_operator(node):
        parts.append(f" {_word(t, node)} {_duckdb_name(t, node.args['expression'])})")
        count += 1
        node = node.args["this"]
        while isinstance(node, exp.Paren):
            node = node.args["this"]
    return "(" * count + _duckdb_name(t, node) + "".join(reversed(parts))


def _word(t: Tracer, node: Any) -> str:
    """The operator between two names, without its operands."""
    others = {k: v for k, v in node.args.items() if k not in ("this", "expression")}
    plain = type(node)(this=exp.column("a"), expression=exp.column("b"), **others)
    text = str(plain.sql(dialect=t.rules.dialect, copy=False))
    return text[1:].strip().split(" ", 1)[0]


def _plain_name(node: Any) -> str | None:
    """A column or number, which needs no generator to be spelled."""
    if node.__class__ is exp.Literal:
        return None if node.is_string else str(node.name)
    if node.__class__ is not exp.Column:
        return None
    parts = [node.args[p] for p in ("catalog", "db", "table", "this") if node.args.get(p)]
    if all(p.__class__ is exp.Identifier and not p.args.get("quoted") for p in parts):
        return ".".join(p.name for p in parts)
    return None


def _written_name(t: Tracer, node: Any) -> Any:
    """The function name as written, for a plain call."""
    if not isinstance(node, exp.Func) or isinstance(node, (exp.Binary, exp.Cast, exp.Case)):
        return None
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    meta = node._meta
    if meta is None or "start" not in meta:
        return str(node.sql_name()).lower()
    name = t.tokens.sql[meta["start"] : meta["end"] + 1]
    return name.lower() if name.replace("_", "").isalnum() else None
