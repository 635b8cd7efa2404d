"""Observes a query until its claims are confirmed, or the trials are spent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from lineage_post.trace import trace
from tests.oracle.claims import Claims, claims_of_trace
from tests.oracle.database import Database
from tests.oracle.judge import Verdict, is_explained, judge
from tests.oracle.observation import Observation
from tests.oracle.observe import Observer, schema_of

_ROUND = 8


@dataclass(frozen=True, slots=True)
class Checked:
    """A query's claims, what was observed, and the verdict."""

    claims: Claims
    seen: Observation
    verdict: Verdict

    def report(self) -> str:
        """The misses with the data that show them."""
        return "\n\n".join(
            f"missed {miss}\n{miss.witness.script()}" for miss in self.verdict.misses
        )


def check(
    sql: str,
    schema: Mapping[str, Mapping[str, str]],
    claims: Claims,
    *,
    seed: int = 0,
    trials: int = 8,
    more: int = 0,
    dialect: str = "duckdb",
    trusting: bool = False,
) -> Checked:
    """The verdict after ``trials`` trials of all columns and up to ``more`` of the suspects'.

    With ``trusting`` what the claims explain is not shuffled: quicker, and enough to find misses.
    Raises QueryFailed when DuckDB does not run the query, UnsupportedType when data cannot be made.
    """
    with database_of(schema, dialect) as database:
        observer = Observer(sql, database, seed=seed)
        if trusting:
            observer.explains = partial(is_explained, observer.seen, claims)
        observer.expect(claims)
        seen = observer.observe(trials)
        verdict = judge(seen, claims)
        while verdict.suspects and more > 0:
            only = verdict.suspect_units(seen.units)
            verdict = judge(observer.observe(min(_ROUND, more), only=only), claims)
            more -= _ROUND
        return Checked(claims, seen, verdict)


def check_trace(
    sql: str,
    schema: Mapping[str, Mapping[str, str]],
    *,
    seed: int = 0,
    trials: int = 4,
    more: int = 0,
) -> Checked:
    """The verdict on this project's own trace of a DuckDB query. Table names have one part."""
    answer = trace(sql, dialect="duckdb", schema=schema, expressions=False)
    claims = claims_of_trace(answer, schema)
    return check(sql, schema, claims, seed=seed, trials=trials, more=more, trusting=True)


_last: list[tuple[object, Database]] = []


@contextmanager
def database_of(schema: Mapping[str, Mapping[str, str]], dialect: str) -> Iterator[Database]:
    """A database of the schema; the last one is used again for the same schema."""
    kinds = schema_of(schema, dialect)
    if not _last or _last[0][0] != kinds or _last[0][1].is_broken:
        for _, old in _last:
            old.close()
        _last[:] = [(kinds, Database(kinds))]
    yield _last[0][1]
