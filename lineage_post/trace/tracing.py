"""A script from its text to its traces, one for each statement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lineage_post.trace.collector import collector_at_rest
from lineage_post.trace.deep import TOO_DEEP, with_room
from lineage_post.trace.dialects import Rules, rules_of
from lineage_post.trace.parsing import parse
from lineage_post.trace.result import Trace
from lineage_post.trace.running import Settings, trace_node, tracer_of
from lineage_post.trace.schema_index import index_of
from lineage_post.trace.script import Script
from lineage_post.trace.tokens import Tokens

if TYPE_CHECKING:
    from lineage_post.trace import Schema


def traces_of(
    sql: str,
    dialect: str | None,
    schema: Schema,
    *,
    commands: Mapping[str, Any],
    stop_at: Mapping[str, str],
    masking: frozenset[str],
    has_expressions: bool,
) -> tuple[Trace, ...]:
    """What ``trace_script`` gives. Raises OptionError for a dialect that does not exist."""
    settings = Settings(
        schema=index_of(schema, dialect),
        commands=commands,
        stop_at=stop_at,
        masking=masking,
        has_expressions=has_expressions,
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
