"""SQL to column lineage: names in, names out; knows no dbt.

What traces is imported by the first call, and sqlglot with it: a command that finds all traces in
the cache needs neither.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from lineage_post.trace.result import ColumnRef, Op, Output, Trace, TraceEdge, Unknown
from lineage_post.trace.schema_index import Entry, SchemaIndex

#: The columns of relations, by the name that SQL gives them, with their data types.
Schema = Mapping[str, Mapping[str, str | None]] | SchemaIndex

__all__ = [
    "ColumnRef", "Entry", "Op", "Output", "Schema", "SchemaIndex", "Trace", "TraceEdge", "Unknown",
    "trace", "trace_script",
]  # fmt: skip


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
    from lineage_post.trace.tracing import traces_of

    return traces_of(
        sql,
        dialect,
        schema,
        commands=commands or {},
        stop_at=stop_at or {},
        masking=frozenset(name.lower() for name in masking_functions),
        has_expressions=expressions,
    )


class _CallableModule(ModuleType):
    """``lineage_post.trace(...)`` is the function, though this package has the same name: Python
    makes a package an attribute of its parent as soon as anything imports it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Trace:
        return trace(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule
