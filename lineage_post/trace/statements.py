"""One statement of any kind to its Trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

from sqlglot import exp

from lineage_post.trace import aggregates, conditions, fields, subqueries
from lineage_post.trace.commands import Commands
from lineage_post.trace.errors import TooComplex, Unsupported
from lineage_post.trace.finish import finished
from lineage_post.trace.pivot import pivot
from lineage_post.trace.queries import query
from lineage_post.trace.relation import Relation
from lineage_post.trace.result import Trace
from lineage_post.trace.schema_index import SchemaIndex
from lineage_post.trace.shape_of import column_shape, expression_shape
from lineage_post.trace.tracer import Hooks, Tracer
from lineage_post.vocabulary import Reason, State

_HOOKS = Hooks(query, pivot, column_shape, expression_shape)
#: Modules whose import registers handlers.
_HANDLERS = (aggregates, conditions, fields, subqueries)


def trace_node(
    node: Any,
    sql: str,
    tokens: Sequence[Any],
    schema: SchemaIndex,
    *,
    commands: Mapping[str, Any],
    stop_at: Mapping[str, str],
    masking: frozenset[str],
    has_expressions: bool,
) -> Trace:
    """The Trace of a parsed statement."""
    t = Tracer(sql, schema, Commands(commands), stop_at, masking, _HOOKS)
    t.tokens = tokens
    try:
        relation, operation, target = _relation(t, node)
        return finished(
            t, relation, operation=operation, target=target, has_expressions=has_expressions
        )
    except TooComplex as error:
        return failed(Reason.TOO_COMPLEX, str(error), t)
    except RecursionError:
        return failed(Reason.TOO_COMPLEX, "the statement is nested too deeply", t)
    except Unsupported as error:
        return failed(Reason.UNSUPPORTED_SYNTAX, str(error), t)


def failed(reason: Reason, detail: str, t: Optional[Tracer] = None) -> Trace:
    """A Trace that says why there is none."""
    reads = tuple(sorted(t.reads)) if t is not None else ()
    return Trace(State.UNKNOWN, "unknown", reason=reason, detail=detail, reads=reads)


def _relation(t: Tracer, node: Any) -> tuple[Relation, str, Optional[str]]:
    if isinstance(node, (exp.Query, exp.Values, exp.Pivot)):
        return query(t, node, {}, None), "select", None
    raise Unsupported(f"{type(node).__name__} is not traced")
