"""``lineage-post sql``: the lineage of a statement or a script, without a project."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import click
from sqlglot import TokenType
from sqlglot.errors import SqlglotError

from lineage_post.cli import FINDINGS, console, wording
from lineage_post.cli.loading import Request, known_dialect, options_of
from lineage_post.cli.places import Places, place_options
from lineage_post.cli.sql_input import SqlCommand, read_schema, read_text
from lineage_post.cli.stages import show_stages, stage_to_dict
from lineage_post.errors import LineageError, OptionError
from lineage_post.options import Options
from lineage_post.publish import json
from lineage_post.trace import Trace, TraceEdge, trace_script
from lineage_post.trace.dialects import rules_of
from lineage_post.trace.folding import conservative as folded
from lineage_post.trace.steps import steps
from lineage_post.vocabulary import Certainty, EdgeType, State

_ADAPTER = re.compile(r'"adapter_type":\s*"(\w+)"')
_HEAD = 65_536


@click.command("sql", cls=SqlCommand)
@click.argument("statement", metavar="SQL | FILE | -")
@click.option(
    "--dialect",
    help="SQL dialect or adapter type; default: the project's adapter, else standard SQL.",
)
@click.option(
    "--schema",
    "schema_file",
    metavar="FILE",
    help="YAML or JSON: {relation: {column: type}}, or a list of columns; below db, schema too.",
)
@click.option("--steps", "with_steps", is_flag=True, help="Show the columns after every stage.")
@click.option("--conservative", is_flag=True, help="Let outputs inherit what decides rows.")
@click.option("--output", type=click.Choice(["text", "json"]), default="text")
@place_options
def command(
    places: Places,
    statement: str,
    dialect: str | None,
    schema_file: str | None,
    with_steps: bool,
    conservative: bool,
    output: str,
) -> None:
    """Trace a pasted statement or script: its outputs, edges and what is not known.

    Takes the text itself, a file, or - for stdin. Contracts of functions and masking functions
    come from the lineage_post vars of dbt_project.yml where there is one.
    """
    dialect = known_dialect(dialect) if dialect else None
    options = _in_dialect(options_of(places, Request(dialect=dialect)), places)
    text = read_text(statement)
    _require_statement(text, options.dialect)
    settings: dict[str, Any] = {
        "dialect": options.dialect,
        "schema": read_schema(schema_file) if schema_file else {},
        "commands": options.commands,
        "masking_functions": options.masking_functions,
    }
    traces = trace_script(text, **settings)
    if conservative:
        traces = tuple(folded(trace) for trace in traces)
    stages = steps(text, **settings) if with_steps else ()
    if output == "json":
        more = {"steps": [stage_to_dict(stage) for stage in stages]} if with_steps else {}
        console.say_json({**_document(traces, options, conservative), **more})
    else:
        for number, trace in enumerate(traces, 1):
            _show(trace, f"statement {number}" if len(traces) > 1 else None, conservative)
        if with_steps:
            show_stages(stages)
    if any(trace.state is State.UNKNOWN for trace in traces):
        click.get_current_context().exit(FINDINGS)


def _in_dialect(options: Options, places: Places) -> Options:
    """The options with the dialect of the project's adapter, where nothing else names one."""
    manifest = places.target_path / "manifest.json"
    if options.dialect or not manifest.is_file():
        return options
    with manifest.open(encoding="utf-8", errors="replace") as file:
        # dbt writes the metadata first: a manifest of many megabytes is not read for one word.
        found = _ADAPTER.search(file.read(_HEAD))
    if found is None:
        return options
    try:
        dialect = known_dialect(found[1])
    except OptionError:
        return options
    console.note(f"Read as {dialect}, of {places.shown(manifest)}; --dialect names another.")
    return replace(options, dialect=dialect)


def _require_statement(text: str, dialect: str | None) -> None:
    """Raises LineageError for a text that has no statement at all, such as a comment alone."""
    try:
        tokens = rules_of(dialect or "").dialect.tokenize(text)
    except SqlglotError:
        return
    if all(token.token_type is TokenType.SEMICOLON for token in tokens):
        raise LineageError(
            "there is no statement in the text",
            hint="Give SQL, the name of a file with it, or - for standard input.",
        )


def _document(traces: tuple[Trace, ...], options: Options, conservative: bool) -> dict[str, Any]:
    """The last statement's Trace at the top; all of them under ``statements``."""
    forms = [trace.to_dict() for trace in traces]
    return {
        "metadata": {**json.metadata_of(None, options), "conservative": conservative},
        **forms[-1],
        "statements": forms,
    }


def _show(trace: Trace, title: str | None, conservative: bool) -> None:
    target = f" into [node]{console.marked(trace.target)}[/]" if trace.target else ""
    lead = f"[bold]{title}[/]: " if title else ""
    detail = f" [quiet]{console.marked(trace.detail)}[/]" if trace.detail else ""
    console.say(
        f"{lead}{console.marked(trace.operation)}{target} "
        f"{wording.state(trace.state, trace.reason)}{detail}"
    )
    for output in trace.outputs:
        shown = wording.shortened(output.expression or "")
        state = "" if output.state is State.KNOWN else wording.state(output.state, output.reason)
        console.say(
            f"[column]{console.marked(output.name)}[/] [quiet]{console.marked(shown)}[/] {state}"
        )
        for step in output.steps:
            console.say(f"  [quiet]of[/] {console.marked(wording.shortened(step))}")
        for edge in trace.edges:
            if edge.to is not None and edge.to_ordinal == output.ordinal:
                console.say(f"  ← {_edge(edge)}")
    rows = [edge for edge in trace.edges if edge.to is None]
    if rows:
        console.say("[column]rows[/] [quiet]are decided by[/]")
    for edge in rows:
        console.say(f"  ← {_edge(edge)}")
    for unknown in trace.unknowns:
        what = "rows" if unknown.column is None else unknown.column
        console.say(
            f"[unknown]not known:[/] {console.marked(what)} ({unknown.reason.value}) "
            f"[quiet]{console.marked(unknown.detail)}[/]"
        )
    for warning in trace.warnings:
        console.say(f"[warning]Note:[/] {console.marked(warning)}")
    if trace.open and trace.state is not State.UNKNOWN:
        console.say("[partial]There are more outputs:[/] a star could not be expanded.")
    if conservative:
        console.say("[quiet]Conservative: what decides the rows counts for every output.[/]")


def _edge(edge: TraceEdge) -> str:
    source = edge.source
    path = f"{source.column}.{source.field}" if source.field else source.column
    style = "direct" if edge.type is EdgeType.DIRECT else "indirect"
    subtype = edge.subtype.value.lower().replace("_", " ")
    marks = ["masked"] if edge.masking else []
    marks += ["assumed"] if edge.certainty is Certainty.ASSUMED else []
    marks += [f"by {name}" for name in wording.commands(edge.ops)]
    said = f" [warning]({console.marked(', '.join(marks))})[/]" if marks else ""
    return (
        f"[node]{console.marked(source.relation)}[/].[column]{console.marked(path)}[/] "
        f"[{style}]{subtype}[/]{said}"
    )
