"""Runs a parsed statement through the engine and turns every failure into a state and a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from lineage_post.trace import (
    aggregates,
    conditions,
    element_fields,
    fields,
    functions,
    subqueries,
)
from lineage_post.trace.commands import Commands
from lineage_post.trace.deep import TOO_DEEP
from lineage_post.trace.errors import TooComplex, Unsupported
from lineage_post.trace.expressions import evaluate
from lineage_post.trace.finish import finished
from lineage_post.trace.joins import join
from lineage_post.trace.pivot import pivot
from lineage_post.trace.queries import query
from lineage_post.trace.result import Trace, failed, fault_of
from lineage_post.trace.schema_index import SchemaIndex
from lineage_post.trace.shape_changes import element_shape
from lineage_post.trace.shape_of import column_shape, expression_shape
from lineage_post.trace.statements import Written, written, written_relation
from lineage_post.trace.tokens import Tokens
from lineage_post.trace.tracer import Hooks, Tracer
from lineage_post.trace.variables import filled_by
from lineage_post.vocabulary import Reason

if TYPE_CHECKING:
    from lineage_post.trace.script import Script

_HOOKS = Hooks(
    query=query,
    evaluate=evaluate,
    write=written_relation,
    join=join,
    pivot=pivot,
    column_shape=column_shape,
    expression_shape=expression_shape,
    element_shape=element_shape,
)
#: Modules whose import registers handlers.
_HANDLERS = (aggregates, conditions, element_fields, fields, functions, subqueries)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a caller asks for beside the SQL."""

    schema: SchemaIndex
    commands: Mapping[str, Any]
    stop_at: Mapping[str, str]
    masking: frozenset[str]
    has_expressions: bool


def tracer_of(tokens: Tokens, settings: Settings) -> Tracer:
    """A fresh tracer for one statement."""
    return Tracer(
        tokens,
        settings.schema,
        Commands(settings.commands),
        settings.stop_at,
        settings.masking,
        _HOOKS,
    )


def trace_node(
    node: Any, t: Tracer, *, has_expressions: bool, script: Script | None = None
) -> Trace:
    """The Trace of a parsed statement; ``script`` knows what was made before it."""
    try:
        if script is not None:
            t.variables, t.filled = script.variables, script.filled
        if (t.rules.name == "mysql" and ":=" in t.tokens.sql) or isinstance(node, exp.Update):
            t.filled |= filled_by(node, t.rules.family)
        result: Written = written(t, node, {} if script is None else script.env)
        if script is not None:
            script.note(node, result)
        return finished(
            t,
            result.relation,
            operation=result.operation,
            target=result.target,
            has_expressions=has_expressions,
        )
    except TooComplex as error:
        return failed(Reason.TOO_COMPLEX, str(error), t.reads)
    except RecursionError:
        return failed(Reason.TOO_COMPLEX, TOO_DEEP, t.reads)
    except Unsupported as error:
        return failed(Reason.UNSUPPORTED_SYNTAX, str(error), t.reads)
    except Exception as error:
        return failed(Reason.INTERNAL_ERROR, fault_of(error), t.reads)
    finally:
        t.cut_loose()
