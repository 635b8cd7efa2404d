"""What must hold of a rewritten query: judged by running the original on changed tables.

Sufficient: on the witnesses alone the query gives the row. Necessary: without them it does not.
Exact: for a monotone query the polynomial foretells which rows survive any deletion. Copied: a
claimed cell holds the value.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import duckdb

from lineage_post.provenance.connection import DuckDb
from lineage_post.provenance.expansion import Expander, Expansion, TermSum
from lineage_post.provenance.polynomial import Polynomial, Token, parse
from lineage_post.provenance.prepare import prepare
from lineage_post.provenance.prepared import Prepared
from lineage_post.provenance.relations import tables
from lineage_post.provenance.rewriter import Rewriter, Rewritten
from lineage_post.provenance.semiring import BOOLEAN, evaluate
from tests.provenance.engines import Row, schema_of

UNLIMITED = 10**9


def normal(value: Any) -> Any:
    """A value in which floating point noise and the width of decimals do not show."""
    if isinstance(value, (float, Decimal)):
        number = float(value)
        return "nan" if number != number else float(f"{number:.9g}")
    return value


def bag(rows: Iterable[Row]) -> Counter[str]:
    return Counter(repr([normal(value) for value in row]) for row in rows)


@dataclass
class Examined:
    """A query, rewritten and run, and the tools to test its answer."""

    connection: duckdb.DuckDBPyConnection
    sql: str
    gating: bool = True
    cells: bool = False
    terms: bool = False
    prepared: Prepared = field(init=False)
    rewritten: Rewritten = field(init=False)
    original: list[Row] = field(init=False)
    rows: list[Row] = field(init=False)

    def __post_init__(self) -> None:
        self.prepared = prepare(self.sql, "duckdb", tables(schema_of(self.connection)))
        rewriter = Rewriter(self.prepared, gating=self.gating, cells=self.cells, terms=self.terms)
        self.rewritten = rewriter.rewrite()
        self.original = self.connection.execute(self.sql).fetchall()
        self.rows = DuckDb(self.connection).rows(self.rewritten.query)

    @property
    def width(self) -> int:
        return len(self.rewritten.names)

    @property
    def tables(self) -> dict[str, str]:
        """Tables by the label their rows have in tokens; those that can bring witnesses."""
        bases = self.prepared.bases.values()
        witnessing = self.rewritten.witnessing
        return {b.label: b.relation.name for b in bases if b.label in witnessing}

    def same_bag(self) -> bool:
        return bag(self.original) == bag(row[: self.width] for row in self.rows)

    def expander(self) -> Expander:
        run = DuckDb(self.connection).rows
        return Expander(self.rewritten.gates, run, "duckdb", limit=UNLIMITED)

    def witnesses(self, row: Row) -> set[Token]:
        polynomial = parse(row[self.width])
        expansion = self.expander().expand([polynomial])
        assert not expansion.lost, expansion.lost
        return expansion.leaves(polynomial)

    def is_sufficient(self, row: Row, witnesses: Collection[Token]) -> bool:
        kept = self._by_table(witnesses)
        with_only = bag(self._run_on({t: f"in {_listed(ids)}" for t, ids in kept.items()}))
        return with_only[_one(row[: self.width])] >= 1

    def is_necessary(self, row: Row, witnesses: Collection[Token]) -> bool:
        gone = self._by_table(witnesses)
        without = bag(self._run_on({t: f"not in {_listed(ids)}" for t, ids in gone.items()}))
        before = bag(self.original)
        return without[_one(row[: self.width])] < before[_one(row[: self.width])]

    def deletion_trials(self, trials: int, seed: int) -> Iterator[bool]:
        """Whether the polynomials foretell the rows that survive, for random deletions."""
        chance = random.Random(seed)
        polynomials = [(row[: self.width], parse(row[self.width])) for row in self.rows]
        expansion = self.expander().expand(p for _, p in polynomials)
        sizes = {t: self._count(t) for t in self.tables.values()}
        for _ in range(trials):
            gone = {
                table: {n for n in range(size) if chance.random() < 0.3}
                for table, size in sizes.items()
            }
            foretold = bag(row for row, p in polynomials if self._survives(p, expansion, gone))
            tests = {t: f"not in {_listed(ids)}" for t, ids in gone.items()}
            yield foretold == bag(self._run_on(tests))

    def _survives(
        self, polynomial: Polynomial, expansion: Expansion, gone: dict[str, set[int]]
    ) -> bool:
        def is_there(token: Token) -> bool:
            return int(token.key[0] or 0) not in gone[self.tables[token.name]]

        return evaluate(polynomial, BOOLEAN, is_there, expansion.gates)

    def terms_agree(self, row: Row) -> bool:
        """Whether the aggregates of a row are what its terms add up to."""
        expander = self.expander()
        expander.expand([parse(row[self.width])])
        for position in range(self.width):
            found = expander.terms_of(row[self.width + 1 + position])
            if found is not None and not is_same(_added_up(found), row[position]):
                return False
        return True

    def claims(self, rows: Iterable[Row]) -> Iterator[tuple[Any, Any]]:
        """(value, value of a source cell it is claimed to be copied from) for every claim."""
        expander = self.expander()
        known: dict[tuple[str, str], list[Any]] = {}
        for row in rows:
            for position in range(self.width):
                for cell in expander.cells_of(row[self.width + 1 + position]):
                    where = (self.tables[cell.row.name], cell.column)
                    if where not in known:
                        sql = f'select "{where[1]}" from {where[0]} order by rowid'
                        known[where] = [r[0] for r in self.connection.execute(sql).fetchall()]
                    yield row[position], known[where][int(cell.row.key[0] or 0)]

    def _by_table(self, witnesses: Collection[Token]) -> dict[str, set[int]]:
        found: dict[str, set[int]] = {table: set() for table in self.tables.values()}
        for token in witnesses:
            found[self.tables[token.name]].add(int(token.key[0] or 0))
        return found

    def _count(self, table: str) -> int:
        row = self.connection.execute(f"select count(*) from main.{table}").fetchone()
        assert row is not None
        return int(row[0])

    def _run_on(self, tests: dict[str, str]) -> list[Row]:
        """The original on tables of which only the rows that pass a test on rowid are there."""
        run = self.connection.execute
        run("drop schema if exists less cascade; create schema less")
        for table in self.prepared.bases.values():
            name = table.relation.name
            test = f" where rowid {tests[name]}" if name in tests else ""
            run(f"create view less.{name} as select * from main.{name}{test}")
        run("set schema = 'less'")
        try:
            return run(self.sql).fetchall()
        finally:
            run("set schema = 'main'")


def _added_up(found: TermSum) -> Any:
    given = [value for value, _ in found.terms]
    if found.distinct:
        given = sorted(set(given))
    if found.function == "count":
        return len(given)
    values = [float(value) for value in given]
    if not values:
        return None
    if found.function == "avg":
        return sum(values) / len(values)
    return {"sum": sum, "min": min, "max": max}[found.function](values)  # type: ignore[operator]


def _one(row: Row) -> str:
    return repr([normal(value) for value in row])


def _listed(ids: Collection[int]) -> str:
    return f"(select unnest({sorted(ids) or [-1]}::bigint[]))"


def is_same(value: Any, source: Any) -> bool:
    return normal(value) == normal(source) or str(value) == str(source)
