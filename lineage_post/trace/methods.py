"""Functions behind a dot: ``sch.f(a)`` in a schema, or a method of the value before it.

::

    select name.upper().trim() from t                                   DuckDB
    select doc.value('(/a)[1]', 'int') from t                           T-SQL
    select (select ',' + b from u for xml path(''), type).value('.', 'varchar(9)')

sqlglot writes all of them as Dot, and turns the columns before the dot into bare identifiers.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.builtin_names import is_aggregate, is_builtin
from lineage_post.trace.expressions import children, evaluate
from lineage_post.trace.frame import Frame
from lineage_post.trace.functions import named
from lineage_post.trace.masking_names import MASKING
from lineage_post.trace.provenance import aggregated, transformed
from lineage_post.trace.scope import binding_of, find_column, find_operand
from lineage_post.trace.tracer import Tracer

_TSQL_METHODS = frozenset({"value", "query", "exist", "nodes", "modify"})
#: Nodes whose identifiers are names of other things than columns.
_NAMING = (exp.Column, exp.Table, exp.TableAlias, exp.Alias, exp.Schema, exp.ColumnDef, exp.Lambda)


def method_call(t: Tracer, node: Any, f: Frame) -> int:
    """``base.f(x)``: a method where base is a value, else a function of a schema."""
    base, function = node.args["this"], node.args["expression"]
    name = str(function.name if isinstance(function, exp.Anonymous) else function.sql_name())
    if not is_value(t, base, name.lower(), f):
        if not isinstance(function, exp.Anonymous):
            return evaluate(t, function, f)
        return named(t, function, ".".join([*_names(base), name]), f)
    x = evaluate(t, as_columns(base), f) | children(t, function, f)
    if is_aggregate(name.lower()):
        x = aggregated(x)
    x = transformed(x)
    if name.lower() in MASKING or name.lower() in t.masking:
        x = t.sources.masked(x)
    if x:
        t.log.append((function, x))
    return x


def is_value(t: Tracer, base: Any, method: str, f: Frame) -> bool:
    """Whether what stands before the dot is a value, not the name of a schema."""
    names = _names_only(base)
    if names is None:
        return True
    key = t.key(names[0])
    if len(names) > 1:
        operand = find_operand(key, f)
        if operand is not None and operand.relation.position(t.key(names[1])) != -1:
            return True
    if find_column(t, key, f) is not None or binding_of(key, f) is not None:
        return True
    if t.rules.family == "tsql":
        return method in _TSQL_METHODS
    return t.rules.name == "duckdb" and is_builtin(method)


def _names_only(node: Any) -> list[Any] | None:
    """The identifiers of ``a.b.c``, or None for anything else."""
    if isinstance(node, exp.Identifier):
        return [node]
    if isinstance(node, exp.Column):
        parts = [node.args[p] for p in ("catalog", "db", "table", "this") if node.args.get(p)]
        return parts if all(isinstance(part, exp.Identifier) for part in parts) else None
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
        before = _names_only(node.this)
        return None if before is None else [*before, node.expression]
    return None


def _names(node: Any) -> list[str]:
    """The names before a function: ``db.schema`` of ``db.schema.f(x)``."""
    return [str(i.name) for i in node.find_all(exp.Identifier)]


def as_columns(node: Any) -> Any:
    """What stands before the dot, with its columns as columns again."""
    names = _names_only(node)
    if names is not None:
        return _column(names)
    holder = exp.Paren(this=node.copy())
    for inner in list(holder.find_all(exp.Dot)):
        names = _names_only(inner)
        if names is not None and not isinstance(inner.parent, exp.Dot):
            inner.replace(_column(names))
    for bare in list(holder.find_all(exp.Identifier)):
        is_name = isinstance(bare.parent, _NAMING) or (
            isinstance(bare.parent, exp.XMLElement) and bare.arg_key == "this"
        )
        if not is_name and not _is_bound(bare):
            bare.replace(_column([bare]))
    return holder


def _is_bound(identifier: Any) -> bool:
    """Whether a lambda around it declares the name."""
    node = identifier.parent
    while node is not None:
        if isinstance(node, exp.Lambda) and identifier.name in {e.name for e in node.expressions}:
            return True
        node = node.parent
    return False


def _column(names: list[Any]) -> Any:
    *before, last = [name.copy() for name in names]
    if len(before) > 3:
        return exp.Dot.build([_column(names[:4]), *names[4:]])
    parts = dict(zip(("table", "db", "catalog"), reversed(before)))
    return exp.Column(this=last, **parts)
