"""Observes a query until its claims are confirmed, or the trials are spent."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from lineage_post.trace import trace
from tests.oracle.claims import Claim, Claims, claims_of_trace
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
    explained: Collection[Claim] = (),
    dialect: str = "duckdb",
) -> Checked:
    """Misses and suspects after ``trials`` trials, and up to ``more`` of the suspects' columns.

    There are no more trials for suspects that are ``explained``.
    Raises QueryFailed when DuckDB does not run the query, UnsupportedType when data cannot be made.
    """
    with database_of(schema, dialect) as database:
        observer = Observer(sql, database, seed=seed)
        observer.expect(claims)
        seen = observer.observe(trials)
        verdict = judge(seen, claims)
        while more > 0 and any(suspect not in explained for suspect in verdict.suspects):
            only = verdict.suspect_units(seen.units)
            verdict = judge(observer.observe(min(_ROUND, more), only=only), claims)
            more -= _ROUND
        return Checked(claims, seen, verdict)


def screen(
    sql: str, schema: Mapping[str, Mapping[str, str]], claims: Claims, *, seed: int, trials: int
) -> Checked:
    """Misses only, which is quick: no claim is confirmed, so there are no suspects."""
    with database_of(schema, "duckdb") as database:
        observer = Observer(sql, database, seed=seed)
        seen = observer.screen(trials, partial(is_explained, observer.seen, claims))
        return Checked(claims, seen, Verdict(judge(seen, claims).misses, ()))


def claims_of_query(sql: str, schema: Mapping[str, Mapping[str, str]]) -> Claims:
    """What this project's own trace claims of a DuckDB query. Table names have one part."""
    return claims_of_trace(trace(sql, dialect="duckdb", schema=schema, expressions=False), schema)


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
