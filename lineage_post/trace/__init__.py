"""SQL to column lineage: names in, names out; knows no dbt."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, Optional

from sqlglot.errors import SqlglotError

from lineage_post.trace.dialects import rules_of
from lineage_post.trace.errors import TooComplex
from lineage_post.trace.limits import check
from lineage_post.trace.result import ColumnRef, Op, Output, Trace, TraceEdge, Unknown
from lineage_post.trace.running import Settings, failed, trace_node, tracer_of
from lineage_post.trace.schema_index import Entry, SchemaIndex, index_of
from lineage_post.trace.tokens import Tokens
from lineage_post.vocabulary import Reason

__all__ = [
    "ColumnRef", "Entry", "Op", "Output", "SchemaIndex", "Trace", "TraceEdge", "Unknown",
    "trace", "trace_script",
]  # fmt: skip

Schema = Mapping[str, Mapping[str, Optional[str]]] | SchemaIndex


def trace(
    sql: str,
    *,
    dialect: str | None,
    schema: Schema,
    commands: Mapping[str, Any] | None = None,
    stop_at: Mapping[str, str] | None = None,
    masking_functions: Sequence[str] = (),
    expressions: bool = True,
) -> Trace:
    """The lineage of one statement: the last one, where ``sql`` has several.

    ``schema`` maps a relation's name as SQL would write it to its columns {name: data type}, in
    the spelling the warehouse stores. ``commands`` are declared contracts of functions, ``stop_at``
    maps CTE names to keys of the schema: such a CTE is read as that relation. Bad SQL raises
    nothing: the state is unknown and the reason says why. Raises OptionError for a dialect that
    does not exist.
    """
    traces = trace_script(
        sql,
        dialect=dialect,
        schema=schema,
        commands=commands,
        stop_at=stop_at,
        masking_functions=masking_functions,
        expressions=expressions,
    )
    return traces[-1]


def trace_script(
    sql: str,
    *,
    dialect: str | None,
    schema: Schema,
    commands: Mapping[str, Any] | None = None,
    stop_at: Mapping[str, str] | None = None,
    masking_functions: Sequence[str] = (),
    expressions: bool = True,
) -> tuple[Trace, ...]:
    """The lineage of each statement of a script, in order; never empty."""
    rules = rules_of(dialect)
    try:
        tokens = rules.dialect.tokenize(sql)
        check(sql, tokens)
        nodes = [n for n in rules.dialect.parser().parse(tokens, sql) if n is not None]
    except SqlglotError as error:
        return (failed(Reason.PARSE_ERROR, _first_line(error)),)
    except TooComplex as error:
        return (failed(Reason.TOO_COMPLEX, str(error)),)
    except RecursionError:
        return (failed(Reason.TOO_COMPLEX, "the statement is nested too deeply"),)
    if not nodes:
        return (failed(Reason.PARSE_ERROR, "there is no statement in the text"),)
    settings = Settings(
        schema=index_of(schema, dialect),
        commands=commands or {},
        stop_at=stop_at or {},
        masking=frozenset(name.lower() for name in masking_functions),
        has_expressions=expressions,
    )
    text = Tokens(sql, tokens)
    return tuple(
        trace_node(node, tracer_of(text, settings), has_expressions=expressions)
        for node in nodes
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


class _CallableModule(ModuleType):
    """``lineage_post.trace(...)`` is the function, though this package has the same name: Python
    makes a package an attribute of its parent as soon as anything imports it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Trace:
        return trace(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule
