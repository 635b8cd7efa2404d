"""Queries at random: no influence without an edge, and all outputs known."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, assume, given, settings

from lineage_post.trace import trace
from lineage_post.vocabulary import State
from tests.oracle.check import claims_of_query, screen
from tests.oracle.database import QueryFailed
from tests.oracle.generator import SCHEMA, queries


@settings(
    max_examples=200,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
@given(queries())
def test_no_influence_is_missed_in_generated_queries(query: str) -> None:
    try:
        result = screen(query, SCHEMA, claims_of_query(query, SCHEMA), seed=len(query), trials=3)
    except QueryFailed:
        assume(False)
    assert not result.verdict.misses, f"{query}\n\n{result.report()}"
    assert trace(query, dialect="duckdb", schema=SCHEMA).state is State.KNOWN, query
