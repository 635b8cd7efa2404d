"""Observes a query until its claims are confirmed, or the trials are spent."""

from __future__ import annotations

from collections.abc import Mapping

from tests.oracle.claims import Claims
from tests.oracle.judge import Verdict, judge
from tests.oracle.observe import Observer


def check(
    sql: str,
    schema: Mapping[str, Mapping[str, str]],
    claims: Claims,
    *,
    seed: int = 0,
    trials: int = 8,
    more: int = 0,
    dialect: str = "duckdb",
) -> Verdict:
    """The verdict after ``trials`` trials of all columns and up to ``more`` of the suspects' columns.

    Raises QueryFailed when DuckDB does not run the query, UnsupportedType when data cannot be made.
    """
    observer = Observer(sql, schema, seed=seed, dialect=dialect)
    observer.expect(claims)
    try:
        verdict = judge(observer.observe(trials), claims)
        while verdict.suspects and more > 0:
            only = verdict.suspect_units(observer.seen.units)
            verdict = judge(observer.observe(min(8, more), only=only), claims)
            more -= 8
        return verdict
    finally:
        observer.close()
