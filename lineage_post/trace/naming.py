"""The name an engine gives an output without an alias."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.duckdb_names import duckdb_name
from lineage_post.trace.frame import Frame
from lineage_post.trace.postgres_names import postgres_name
from lineage_post.trace.printing import printed
from lineage_post.trace.tracer import Tracer

#: Engines that name a subquery as they name other expressions.
_NAMES_QUERIES = frozenset({"duckdb", "mysql", "postgres", "snowflake", "sqlite"})


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
    if isinstance(node, exp.Query) and t.rules.family not in _NAMES_QUERIES:
        return f"_col{position}"
    return expression_name(t, node)


def expression_name(t: Tracer, node: Any) -> str:
    """An expression in the words its engine names it by: as it is written, where no rule of the
    engine's is known."""
    if t.rules.family == "postgres":
        return postgres_name(t, node)
    if t.rules.name == "duckdb":
        return duckdb_name(t, node)
    written = t.tokens.text_of(node)
    text = printed(node, t.rules.dialect) if written is None else written
    if t.rules.name in ("snowflake", "oracle", "exasol"):
        return text.upper()
    return text.lower() if t.rules.name == "" else text


def _last_name(t: Tracer, node: Any) -> str:
    while isinstance(node, exp.Dot):
        node = node.args["expression"]
    if isinstance(node, exp.Column):
        node = node.args["this"]
    return t.spell(node) if isinstance(node, exp.Identifier) else str(node.name or node.key)
