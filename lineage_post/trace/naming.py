"""The name an engine gives an output without an alias."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.tracer import Tracer


def output_name(t: Tracer, node: Any, position: int) -> str:
    """The name of the output at ``position``, counted from 0."""
    if isinstance(node, (exp.Column, exp.Dot, exp.Identifier)):
        return _last_name(t, node)
    name = t.rules.name
    if name == "bigquery":
        return f"f{position}_"
    if name in ("postgres", "redshift", "materialize", "risingwave"):
        return _postgres_name(node)
    if name in ("trino", "presto", "athena"):
        return f"_col{position}"
    if name in ("tsql", "fabric"):
        return f"_col_{position}"
    if isinstance(node, exp.Query):
        return f"_col{position}"
    text = str(node.sql(dialect=t.rules.dialect, copy=False))
    if name in ("snowflake", "oracle", "exasol"):
        return text.upper()
    return text.lower() if name in ("duckdb", "") else text


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
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    if isinstance(node, exp.Func) and not isinstance(node, exp.Connector):
        return str(node.sql_name()).lower()
    return "?column?"
