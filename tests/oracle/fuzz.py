"""``python -m tests.oracle.fuzz --seconds N --state FILE``: judges traces as long as one likes.

The state holds what was done and found, and a later run goes on from there. ``--tpcds`` and
``--tpch`` run those queries instead of generated ones. Misses are looked for by changing at
once all columns that should not matter; ``--more N`` changes each column alone, so that claims
never seen are counted too, with their likely causes. Ends with 1 if an influence was missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lineage_post.trace import trace
from lineage_post.vocabulary import State
from tests.oracle.batches import batch
from tests.oracle.check import Checked, check, claims_of_query, screen
from tests.oracle.database import QueryFailed
from tests.oracle.generator import SCHEMA
from tests.oracle.suspicion import cause
from tests.oracle.tpc import Benchmark, tables_of, tpcds, tpch

BATCH = 40


@dataclass
class Progress:
    """What a fuzzing state file holds."""

    next_batch: int = 0
    done: list[str] = field(default_factory=list)
    judged: int = 0
    refused: int = 0
    unknown: list[str] = field(default_factory=list)
    claims: dict[str, int] = field(default_factory=dict)
    suspects: dict[str, int] = field(default_factory=dict)
    misses: list[dict[str, str]] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Progress:
        return cls(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else cls()

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    def add(self, name: str, sql: str, result: Checked) -> None:
        """Counts the verdict on one query."""
        self.judged += 1
        claims = Counter(self.claims)
        claims.update(claim.subtype.value for claim in result.claims.all)
        suspects = Counter(self.suspects)
        suspects.update(f"{s.subtype}: {cause(s, result)}" for s in result.verdict.suspects)
        self.claims, self.suspects = dict(claims), dict(suspects)
        for miss in result.verdict.misses:
            text = f"{name}: {miss}"
            print(text, file=sys.stderr)
            self.misses.append({"query": sql, "miss": text, "script": miss.witness.script()})


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    path, deadline = Path(options.state), time.monotonic() + options.seconds
    progress = Progress.read(path)
    benchmark = tpcds() if options.tpcds else tpch() if options.tpch else None
    work = (
        _benchmark_queries(benchmark, progress)
        if benchmark
        else _generated(progress, options.first)
    )
    for name, sql, schema in work:
        _judge(name, sql, schema, progress, trials=options.trials, more=options.more)
        progress.write(path)
        if time.monotonic() > deadline or progress.judged >= options.queries:
            break
    print(
        json.dumps({**asdict(progress), "misses": len(progress.misses), "done": len(progress.done)})
    )
    return 1 if progress.misses else 0


def _judge(
    name: str,
    sql: str,
    schema: dict[str, dict[str, str]],
    progress: Progress,
    *,
    trials: int,
    more: int,
) -> None:
    try:
        claims = claims_of_query(sql, schema)
        if more:
            result = check(sql, schema, claims, seed=len(sql), trials=trials, more=more)
        else:
            result = screen(sql, schema, claims, seed=len(sql), trials=trials)
    except QueryFailed:
        progress.refused += 1
        return
    answer = trace(sql, dialect="duckdb", schema=schema)
    if answer.state is not State.KNOWN:
        progress.unknown.append(f"{answer.detail}: {sql}")
    progress.add(name, sql, result)


def _generated(
    progress: Progress, first: int
) -> Iterator[tuple[str, str, dict[str, dict[str, str]]]]:
    schema = {table: dict(columns) for table, columns in SCHEMA.items()}
    while True:
        number = first + progress.next_batch
        done = set(progress.done)
        for at, sql in enumerate(batch(number, BATCH)):
            if f"{number}.{at}" not in done:
                progress.done.append(f"{number}.{at}")
                yield f"{number}.{at}", sql, schema
        progress.next_batch += 1
        progress.done = []


def _benchmark_queries(
    benchmark: Benchmark, progress: Progress
) -> Iterator[tuple[str, str, dict[str, dict[str, str]]]]:
    for number, query in enumerate(benchmark.queries, start=1):
        if str(number) not in progress.done:
            progress.done.append(str(number))
            sql = query.rstrip().rstrip(";")
            yield f"{benchmark.name} {number}", sql, tables_of(benchmark, sql)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="stop after so long")
    parser.add_argument(
        "--queries", type=int, default=10**9, help="stop after so many judged queries"
    )
    parser.add_argument("--state", default="fuzz.json", help="where the progress is kept")
    parser.add_argument("--first", type=int, default=0, help="number of the first batch")
    parser.add_argument("--trials", type=int, default=4, help="databases for each query")
    parser.add_argument("--more", type=int, default=0, help="look for claims never seen")
    parser.add_argument("--tpcds", action="store_true", help="judge the 99 queries of TPC-DS")
    parser.add_argument("--tpch", action="store_true", help="judge the 22 queries of TPC-H")
    return parser


if __name__ == "__main__":
    sys.exit(main())
