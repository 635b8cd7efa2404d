"""What is called known and exact without a schema has every edge that it has with one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import pytest

from lineage_post.trace import trace_script
from lineage_post.trace.result import Trace
from lineage_post.vocabulary import Certainty, State
from tests.cases.reading import Case, all_cases
from tests.oracle.batches import batch
from tests.oracle.generator import SCHEMA

#: Cases that mean something else without a schema.
OTHERWISE = {
    "command-over-a-named-relation": "the command closes over the columns of the schema",
    "bigquery-array-of-the-outer-row": "t.items is a table of the dataset t",
    "array-joined-by-on": "t.s.orders is a table of the schema s",
    "clickhouse-nested-columns": "n.v may be the v of a nested column or of its row",
}
Ways = dict[str | None, set[tuple[str, str]]]


COMPARABLE = [case for case in all_cases() if case.schema and case.id not in OTHERWISE]


@pytest.mark.parametrize("case", COMPARABLE, ids=lambda case: f"{case.id}-{case.dialect}")
def test_nothing_is_lost_in_silence_where_columns_are_not_listed(case: Case) -> None:
    with_schema = trace_script(case.sql, dialect=case.dialect, schema=case.schema, **case.arguments)
    without = trace_script(case.sql, dialect=case.dialect, schema={}, **case.arguments)
    for listed, unlisted in zip(with_schema, without, strict=False):
        if listed.state is not State.UNKNOWN:
            lost = _lost(_ways(listed), unlisted)
            assert not lost, f"{case.sql}\nlost, and called known: {lost}"


@pytest.mark.parametrize("table", [None, *SCHEMA])
def test_nothing_is_lost_of_generated_queries_that_read_an_unlisted_table(
    table: str | None,
) -> None:
    fewer = {} if table is None else {n: cs for n, cs in SCHEMA.items() if n != table}
    for sql in batch(900, 30):
        listed = trace_script(sql, dialect="duckdb", schema=SCHEMA)[0]
        lost = _lost(_ways(listed), trace_script(sql, dialect="duckdb", schema=fewer)[0])
        assert not lost, f"{sql}\nlost, and called known: {lost}"


def test_an_alias_of_a_constant_that_may_be_a_column_is_told() -> None:
    found = trace_script("select 'x' as k, k || 'y' as c from t", dialect="snowflake", schema={})[0]
    assert (found.outputs[1].state, found.outputs[1].reason) == (State.PARTIAL, "schema_missing")
    assert "not for a column of T" in str(found.outputs[1].detail)


def _lost(ways: Ways, unlisted: Trace) -> Ways:
    """What ``ways`` has and a trace lacks, of all that it is sure of."""
    found, sure = _ways(unlisted), _sure(unlisted)
    return {to: ways[to] - found[to] for to in ways if to in sure and ways[to] - found[to]}


def _ways(trace: Trace) -> Ways:
    ways: Ways = defaultdict(set)
    for edge in trace.edges:
        table = edge.source.relation.replace('"', "").split(".")[-1].lower()
        ways[edge.to and edge.to.lower()].add((table, edge.source.column.lower()))
    return ways


def _sure(trace: Trace) -> set[str | None]:
    """The outputs, and None for the rows, of which nothing is assumed and nothing unknown."""
    outputs: Mapping[str, State] = {o.name.lower(): o.state for o in trace.outputs}
    sure: set[str | None] = {name for name, state in outputs.items() if state is State.KNOWN}
    if trace.state is State.KNOWN and not trace.unknowns:
        sure.add(None)
    assumed = {e.to and e.to.lower() for e in trace.edges if e.certainty is Certainty.ASSUMED}
    return sure - assumed
