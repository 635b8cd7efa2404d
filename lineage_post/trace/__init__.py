"""SQL to column lineage: names in, names out; knows no dbt."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from lineage_post.trace.collector import collector_at_rest
from lineage_post.trace.deep import TOO_DEEP, with_room
from lineage_post.trace.dialects import Rules, rules_of
from lineage_post.trace.parsing import parse
from lineage_post.trace.result import ColumnRef, Op, Output, Trace, TraceEdge, Unknown
from lineage_post.trace.running import Settings, trace_node, tracer_of
from lineage_post.trace.schema_index import Entry, SchemaIndex, index_of
from lineage_post.trace.script import Script
from lineage_post.trace.tokens import Tokens

__all__ = [
    "ColumnRef", "Entry", "Op", "Output", "SchemaIndex", "Trace", "TraceEdge", "Unknown",
    "trace", "trace_script",
]  # fmt: skip

Schema = Mapping[str, Mapping[str, str | None]] | SchemaIndex


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
    """The lineage of each statement of a script, in order; never empty.

    A statement sees what those before it made: it reads through their temporary tables, and knows
    the columns of the tables that stay. ``insert all`` gives a Trace for each table it fills.
    """
    settings = Settings(
        schema=index_of(schema, dialect),
        commands=commands or {},
        stop_at=stop_at or {},
        masking=frozenset(name.lower() for name in masking_functions),
        has_expressions=expressions,
    )
    rules = rules_of(dialect)
    with collector_at_rest():
        traces = _traces(sql, rules, settings)
        if any(found.detail == TOO_DEEP for found in traces):
            traces = with_room(lambda: _traces(sql, rules, settings))
        return traces


def _traces(sql: str, rules: Rules, settings: Settings) -> tuple[Trace, ...]:
    parsed = parse(sql, rules)
    if isinstance(parsed, Trace):
        return (parsed,)
    tokens, nodes = parsed
    text = Tokens(sql, tokens)
    script = Script(settings) if len(nodes) > 1 else None
    traces = []
    for node in nodes:
        if isinstance(node, Trace):
            traces.append(node)
            continue
        tracer = tracer_of(text, settings if script is None else script.settings)
        traces.append(
            trace_node(node, tracer, has_expressions=settings.has_expressions, script=script)
        )
    return tuple(traces)


class _CallableModule(ModuleType):
    """``lineage_post.trace(...)`` is the function, though this package has the same name: Python
    makes a package an attribute of its parent as soon as anything imports it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Trace:
        return trace(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule
