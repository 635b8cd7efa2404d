"""Compares a Trace with what a case expects, and says in readable lines where they differ."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lineage_post.trace.result import Trace, TraceEdge
from lineage_post.vocabulary import Certainty, State
from tests.cases.notation import ExpectedEdge, edges_of, name_parts
from tests.cases.reading import Expected


def differences(expected: Expected, trace: Trace) -> list[str]:
    """Lines that say what is missing, extra or other; empty when the trace is right."""
    return [
        *_output_differences(expected, trace),
        *_edge_differences(expected, trace),
        *_unknown_differences(expected, trace),
        *_state_differences(expected, trace),
        *_text_differences(expected, trace),
    ]


def actual_edge(edge: TraceEdge) -> ExpectedEdge:
    """An edge of a trace in the words of the cases."""
    return ExpectedEdge(
        to=edge.to,
        relation=".".join(name_parts(edge.source.relation)),
        column=edge.source.column,
        field=edge.source.field,
        subtypes=frozenset({edge.subtype}),
        masking=edge.masking,
        assumed=edge.certainty is Certainty.ASSUMED,
    )


def _matches(actual: ExpectedEdge, wanted: ExpectedEdge) -> bool:
    same_ends = (actual.to, actual.relation, actual.column, actual.field) == (
        wanted.to, wanted.relation, wanted.column, wanted.field,
    )  # fmt: skip
    same_flags = (actual.masking, actual.assumed) == (wanted.masking, wanted.assumed)
    return same_ends and same_flags and actual.subtypes <= wanted.subtypes


def _output_differences(expected: Expected, trace: Trace) -> Iterator[str]:
    names = tuple(output.name for output in trace.outputs)
    if names != expected.outputs:
        yield f"outputs are {list(names)}, expected {list(expected.outputs)}"
    if [output.ordinal for output in trace.outputs] != list(range(1, len(names) + 1)):
        yield "ordinals do not count from 1"
    for edge in trace.edges:
        at = edge.to_ordinal
        if (edge.to is None) != (at is None) or (at is not None and names[at - 1] != edge.to):
            yield f"edge to {edge.to!r} has ordinal {at}"


def _edge_differences(expected: Expected, trace: Trace) -> Iterator[str]:
    actual = {actual_edge(edge) for edge in trace.edges}
    if len(actual) < len(trace.edges):
        yield "an edge is listed twice"
    for wanted in expected.edges:
        if not any(_matches(edge, wanted) for edge in actual):
            yield f"missing  {wanted}"
    allowed = (*expected.edges, *expected.accept)
    for edge in sorted(actual, key=str):
        if not any(_matches(edge, wanted) for wanted in allowed):
            yield f"extra    {edge}"


def _unknown_differences(expected: Expected, trace: Trace) -> Iterator[str]:
    actual: dict[str, set[str]] = {}
    for unknown in trace.unknowns:
        column = "(rows)" if unknown.column is None else unknown.column
        actual.setdefault(column, set()).add(unknown.reason.value)
    for column, reasons in expected.unknown.items():
        found = actual.get(column, set())
        if not found & set(reasons):
            yield f"unknown  {column} should be {'|'.join(reasons)}, is {sorted(found) or 'known'}"
    for column in actual.keys() - expected.unknown.keys():
        yield f"unknown  {column} is {sorted(actual[column])}, should be known"
    for name in {output.name for output in trace.outputs}:
        states = {output.state for output in trace.outputs if output.name == name}
        if (states == {State.KNOWN}) == (name in expected.unknown) and not _is_assumed(
            name, expected
        ):
            yield f"output   {name} has state {sorted(states)}"


def _is_assumed(name: str, expected: Expected) -> bool:
    return any(edge.assumed and edge.to in (name, None) for edge in expected.edges)


def _state_differences(expected: Expected, trace: Trace) -> Iterator[str]:
    if trace.open != expected.is_open:
        yield f"open is {trace.open}, expected {expected.is_open}"
    certain = not expected.unknown and not any(edge.assumed for edge in expected.edges)
    state = expected.state or ("known" if certain else None)
    if state and trace.state.value != state:
        yield f"state is {trace.state} ({trace.reason}: {trace.detail}), expected {state}"
    if expected.unknown and trace.state is State.KNOWN:
        yield "state is known although something is unknown"
    if expected.operation and trace.operation != expected.operation:
        yield f"operation is {trace.operation!r}, expected {expected.operation!r}"
    if expected.target and trace.target != expected.target:
        yield f"target is {trace.target!r}, expected {expected.target!r}"


def _text_differences(expected: Expected, trace: Trace) -> Iterator[str]:
    written = {output.name: output.expression for output in trace.outputs}
    for name, text in expected.expressions.items():
        if _folded(written.get(name)) != _folded(text):
            yield f"expression of {name} is {written.get(name)!r}, expected {text!r}"
    for line, names in expected.ops.items():
        (wanted,) = edges_of(line)
        for edge in trace.edges:
            found = [f"{op.name} {op.kind}" for op in edge.ops]
            if _matches(actual_edge(edge), wanted) and found != list(names):
                yield f"ops of {line} are {found}, expected {list(names)}"


def _folded(text: str | None) -> str:
    return re.sub(r"\s+", "", text or "").casefold()
