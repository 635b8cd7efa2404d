"""Runs a query on random data, changes one source column at a time, and keeps what moved."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import sqlglot
from sqlglot import exp

from tests.oracle.changes import Unit, units_of
from tests.oracle.claims import Claims
from tests.oracle.database import Database, QueryFailed, Result, Rows
from tests.oracle.hints import Hints, hints_of
from tests.oracle.kinds import Kind, kind_of
from tests.oracle.loaded import Loaded
from tests.oracle.observation import Observation
from tests.oracle.screening import Explains, Screening
from tests.oracle.trial import Trial
from tests.oracle.using import using_as_on
from tests.oracle.values import Profile, draw
from tests.oracle.variants import Variant, bare_variants, free_variant

#: Rows of a table at most, by the number of tables: what is left of a join is a cross product.
_MOST_ROWS = {1: 6, 2: 6, 3: 5, 4: 4, 5: 3, 6: 3}
_ATTEMPTS = 8
_Schema = Mapping[str, Mapping[str, Kind]]


def schema_of(schema: Mapping[str, Mapping[str, str]], dialect: str = "duckdb") -> _Schema:
    """The kinds of all columns. Raises UnsupportedType."""
    return {
        table: {name: kind_of(text, dialect) for name, text in columns.items()}
        for table, columns in schema.items()
    }


class Observer:
    """Observes one query; may be asked again to look longer.

    Raises QueryFailed if the query does not run.
    """

    def __init__(self, sql: str, database: Database, *, seed: int = 0) -> None:
        self.sql = sql
        self.database = database
        self.random = random.Random(seed)
        self.seen = Observation()
        self.hints = Hints()
        self.free: Variant | None = None
        self.bare: list[Variant] = []
        self._sources = 1
        self._prepare()

    def _prepare(self) -> None:
        """Learns the outputs and builds the variants."""
        self.database.clear()
        self.seen.outputs = self.database.run(self.sql).names
        self.seen.units, self._rest = units_of(self.sql, self.database.schema)
        self._tables = sorted({unit.table for unit in (*self.seen.units, *self._rest)})
        is_recursive = re.search(r"\brecursive\b", self.sql, re.IGNORECASE)
        self.database.timeout = 0.1 if is_recursive else 2.0  # data with a cycle never end
        query = _parsed(self.sql)
        if query is None:
            return
        self.seen.has_order = isinstance(query, exp.Query) and bool(query.args.get("order"))
        self._sources = max(1, sum(1 for _ in query.find_all(exp.Table)))
        self.hints = hints_of(query, self.database.connection)
        if isinstance(query, exp.Query) and self._is_read_right(query):
            self._build_variants(query)

    def _is_read_right(self, query: exp.Expression) -> bool:
        """Whether the parsed query, written out again, gives what the text gives."""
        versions = self._load_base(self._data(Profile.drawn(self.random, eager=True)))
        try:
            as_text = self.database.run(self.sql, versions)
            return as_text.joint == self.database.run(query.sql("duckdb"), versions).joint
        except QueryFailed:
            return False

    def _build_variants(self, query: exp.Expression) -> None:
        for candidate in (using_as_on(query, self._columns_of), query):
            if candidate != query and not self._is_read_right(candidate):
                self.seen.counts["using not rewritten"] += 1
                continue
            free, kept, arrays = free_variant(candidate)
            if self._runs(free.sql("duckdb")):
                self.free = Variant(free.sql("duckdb"), frozenset(kept | arrays))
                self.bare = [bare for bare in bare_variants(free, kept) if self._runs(bare.sql)]
                self.seen.kept_free = self.free.kept
                self.seen.kept_bare = self.bare[0].kept if self.bare else frozenset()
                return
        self.seen.counts["not stripped"] += 1

    def _runs(self, sql: str) -> bool:
        try:
            return len(self.database.run(sql).names) == len(self.seen.outputs)
        except QueryFailed:
            return False

    def _columns_of(self, source: exp.Expression) -> Sequence[str] | None:
        """The columns a source of a FROM clause has, as the engine itself says."""
        probe = exp.select("*").from_(source.copy())
        above = source.parent
        while above is not None:
            clause = above.args.get("with_")
            if clause is not None:
                probe.set("with_", clause.copy())
                break
            above = above.parent
        try:
            return self.database.run(probe.sql("duckdb")).names
        except QueryFailed:
            return None

    def _data(self, profile: Profile) -> dict[str, Rows]:
        most = _MOST_ROWS.get(self._sources, 2)
        data: dict[str, Rows] = {}
        for table in self._tables:
            columns = self.database.schema[table]
            tastes = [
                (kind, self.hints.taste(name).for_trial(self.random))
                for name, kind in columns.items()
            ]
            data[table] = [
                tuple(draw(kind, taste, self.random, profile) for kind, taste in tastes)
                for _ in range(self.random.randint(1, most))
            ]
        return data

    def _load_base(self, data: Mapping[str, Rows]) -> dict[str, int]:
        self.database.make_room()
        version = self.database.next_version()
        for table, rows in data.items():
            self.database.load(table, {version: rows})
        return dict.fromkeys(data, version)

    def expect(self, claims: Claims) -> None:
        """Watch the claimed columns even where the text does not name them."""
        claimed = [unit for unit in self._rest if any(claim.covers(unit) for claim in claims.all)]
        self._rest = [unit for unit in self._rest if unit not in claimed]
        self.seen.units += claimed

    def observe(self, trials: int, *, only: Collection[Unit] | None = None) -> Observation:
        """Makes so many databases, and changes every column (or ``only`` some) alone in each."""
        for loaded in self._databases(trials):
            trial = Trial(loaded, self.hints, self.seen)
            units = [unit for unit in self.seen.units if only is None or unit in only]
            trial.look(units, Variant(self.sql, frozenset()), self.free, self._next_bare())
            if only is None:
                self._watch_rest(trial)
        return self.seen

    def screen(self, trials: int, explains: Explains) -> Observation:
        """Makes so many databases, and changes what no claim explains at once in each."""
        units = [*self.seen.units, *self._rest]
        for loaded in self._databases(trials):
            screening = Screening(loaded, self.hints, self.seen, explains)
            screening.look(units, Variant(self.sql, frozenset()), self.free, self._next_bare())
        return self.seen

    def _databases(self, trials: int) -> Iterator[Loaded]:
        for _ in range(trials):
            found = self._hitting_data()
            if found is None:
                self.seen.counts["no data"] += 1
                continue
            loaded, result = found
            self.seen.counts["hit" if result.rows else "empty"] += 1
            yield loaded

    def _next_bare(self) -> Variant | None:
        self.seen.counts["trials"] += 1
        return self.bare[self.seen.counts["trials"] % len(self.bare)] if self.bare else None

    def _watch_rest(self, trial: Trial) -> None:
        """Columns that the text does not name: looked at together until one of them matters."""
        for table in sorted({unit.table for unit in self._rest}):
            group = [unit for unit in self._rest if unit.table == table]
            if trial.moves_together(group, self.sql):
                self._rest = [unit for unit in self._rest if unit.table != table]
                self.seen.units += group

    def _hitting_data(self) -> tuple[Loaded, Result] | None:
        """Data on which the query gives rows, if that is found soon."""
        last = None
        for attempt in range(_ATTEMPTS):
            profile = Profile.drawn(self.random, eager=attempt > 2)
            data = self._data(profile)
            try:
                versions = self._load_base(data)
                result = self.database.run(self.sql, versions)
            except QueryFailed:
                continue
            last = Loaded(self.database, data, versions, profile, self.random), result
            if any(value is not None for row in result.rows for value in row):
                break
        return last


def _parsed(sql: str) -> exp.Expression | None:
    try:
        return sqlglot.parse_one(sql, dialect="duckdb")
    except sqlglot.errors.SqlglotError:
        return None
