"""Runs a query on random data, changes one source column at a time, and keeps what moved.

An influence counts only when both results hold still while the rows of the tables are shuffled:
otherwise the order in which the engine met the rows would pass for an influence.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot import exp

from tests.oracle.changes import MODES, Unit, changed_rows, units_of
from tests.oracle.claims import Claims
from tests.oracle.database import Database, QueryFailed, Result, Rows, comparable
from tests.oracle.hints import Hints, hints_of
from tests.oracle.kinds import Kind, kind_of, literal
from tests.oracle.using import using_as_on
from tests.oracle.values import Profile, draw, is_recodable
from tests.oracle.variants import Variant, bare_variants, free_variant

#: What can move: an output's values by position, "rows" (their number), "joint" (how values sit
#: together in rows), "order", ("order", position), ("fresh", position): a new value came out as it went in.
Observable = int | str | tuple[str, int]
SHUFFLES = 4
SHUFFLES_FOR_ORDER = 8


@dataclass(frozen=True, slots=True)
class Witness:
    """Two databases that differ in one column only, and the two results."""

    sql: str
    data: Mapping[str, Rows]
    unit: Unit
    changed: Rows
    before: Result
    after: Result

    def script(self, schema: Mapping[str, Mapping[str, Kind]]) -> str:
        """SQL that shows the influence in any DuckDB shell."""
        lines = []
        for table, rows in self.data.items():
            lines += _table_script(table, rows, schema[table])
        lines += [f"{self.sql};", f"-- gives {self.before.rows[:8]}", f"-- with {self.unit} changed:"]
        lines += _table_script(self.unit.table, self.changed, schema[self.unit.table])
        return "\n".join([*lines, f"{self.sql};", f"-- gives {self.after.rows[:8]}"])


def _table_script(table: str, rows: Rows, columns: Mapping[str, Kind]) -> list[str]:
    name = table.replace("\x1f", ".")
    listed = ", ".join(f'"{column}" {kind.sql}' for column, kind in columns.items())
    kinds = list(columns.values())
    values = (", ".join(literal(value, kind) for value, kind in zip(row, kinds)) for row in rows)
    return [
        f"create or replace table {name} ({listed});",
        *(f"insert into {name} values ({row});" for row in values),
    ]


@dataclass
class Observation:
    """What was seen so far; ``seen[variant][unit][observable]`` is the first witness."""

    outputs: tuple[str, ...] = ()
    units: list[Unit] = field(default_factory=list)
    seen: dict[str, dict[Unit, dict[Observable, Witness]]] = field(
        default_factory=lambda: {name: defaultdict(dict) for name in ("full", "free", "bare")}
    )
    kept_free: frozenset[str] = frozenset()
    kept_bare: frozenset[str] = frozenset()
    has_order: bool = False
    counts: Counter[str] = field(default_factory=Counter)


class Observer:
    """Observes one query; ``observe`` may be called again to look longer."""

    def __init__(
        self, sql: str, schema: Mapping[str, Mapping[str, str]], *, seed: int = 0, dialect: str = "duckdb"
    ) -> None:
        self.sql = sql
        self.schema = {
            table: {name: kind_of(text, dialect) for name, text in columns.items()}
            for table, columns in schema.items()
        }
        self.database = Database(self.schema)
        self.random = random.Random(seed)
        self.seen = Observation()
        self._hints = Hints()
        self._free: Variant | None = None
        self._bare: list[Variant] = []
        self._sources = 1
        self._prepare()

    def close(self) -> None:
        self.database.close()

    def _prepare(self) -> None:
        """Learns the outputs and builds the variants. Raises QueryFailed if the query does not run."""
        self.seen.outputs = self.database.run(self.sql).names
        query = _parsed(self.sql)
        if re.search(r"\brecursive\b", self.sql, re.IGNORECASE):
            self.database.timeout = 0.1  # data with a cycle never end
        units, self._rest = units_of(self.sql, self.schema)
        self.seen.units = units
        if query is None:
            return
        self.seen.has_order = isinstance(query, exp.Query) and bool(query.args.get("order"))
        self._sources = max(1, sum(1 for _ in query.find_all(exp.Table)))
        self._hints = hints_of(query, self.database.connection)
        if isinstance(query, exp.Query) and self._is_read_right(query):
            self._build_variants(query)

    def _is_read_right(self, query: exp.Expression) -> bool:
        """Whether the parsed query, written out again, gives what the text gives."""
        data = self._data(Profile.drawn(self.random, eager=True), 3)
        try:
            self._load_base(data)
            as_text = self.database.run(self.sql)
            return as_text.joint == self.database.run(query.sql("duckdb")).joint
        except QueryFailed:
            return False

    def _build_variants(self, query: exp.Expression) -> None:
        for candidate in (using_as_on(query, self._columns_of), query):
            if candidate is not query and not self._is_read_right(candidate):
                self.seen.counts["using not rewritten"] += 1
                continue
            free, kept = free_variant(candidate)
            try:
                names = self.database.run(free.sql("duckdb")).names
            except QueryFailed:
                continue
            if len(names) == len(self.seen.outputs):
                self._free = Variant(free.sql("duckdb"), frozenset(kept))
                self._bare = [bare for bare in bare_variants(free, kept) if self._runs(bare.sql)]
                self.seen.kept_free = self._free.kept
                self.seen.kept_bare = self._bare[0].kept if self._bare else frozenset()
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

    def _data(self, profile: Profile, most: int) -> dict[str, Rows]:
        rng = self.random
        data: dict[str, Rows] = {}
        for table, columns in self.schema.items():
            tastes = [(kind, self._hints.taste(name)) for name, kind in columns.items()]
            data[table] = [
                tuple(draw(kind, taste, rng, profile) for kind, taste in tastes)
                for _ in range(rng.randint(1, max(1, most)))
            ]
        return data

    def _load_base(self, data: Mapping[str, Rows]) -> None:
        self.database.clear()
        for table, rows in data.items():
            self.database.load(table, {0: rows})

    def expect(self, claims: Claims) -> None:
        """Watch the claimed columns even where the text does not name them."""
        claimed = [unit for unit in self._rest if any(claim.covers(unit) for claim in claims.all)]
        self._rest = [unit for unit in self._rest if unit not in claimed]
        self.seen.units += claimed

    def observe(self, trials: int, *, only: Collection[Unit] | None = None) -> Observation:
        """Makes so many databases, and changes every column (or ``only`` some) in each."""
        units = [unit for unit in self.seen.units if only is None or unit in only]
        for _ in range(trials):
            self._full_trial(units, watch_rest=only is None)
            if self._free:
                self._stripped_trial(units)
        return self.seen

    def _full_trial(self, units: Sequence[Unit], *, watch_rest: bool) -> None:
        found = self._hitting_data(6 if self._sources <= 7 else 3)
        if found is None:
            self.seen.counts["no data"] += 1
            return
        data, profile, base = found
        self.seen.counts["hit" if base.rows else "empty"] += 1
        trial = _Trial(self, "full", self.sql, data, profile, base)
        modes = self.random.choices(*MODES["full"], k=len(units))
        trial.look(list(zip(units, modes)))
        if watch_rest and self._rest:
            self._watch_rest(trial)

    def _watch_rest(self, trial: _Trial) -> None:
        """Columns that the text does not name: looked at together until one of them matters."""
        tables = {unit.table for unit in self._rest}
        for table in sorted(tables):
            group = [unit for unit in self._rest if unit.table == table]
            if trial.moves_together(group):
                self._rest = [unit for unit in self._rest if unit.table != table]
                self.seen.units += group

    def _hitting_data(self, most: int) -> tuple[dict[str, Rows], Profile, Result] | None:
        """Data on which the query gives rows, if that is found soon."""
        last = None
        for attempt in range(16):
            profile = Profile.drawn(self.random, eager=attempt > 2)
            data = self._data(profile, most)
            try:
                self._load_base(data)
                last = data, profile, self.database.run(self.sql)
            except QueryFailed:
                continue
            if any(value is not None for row in last[2].rows for value in row):
                break
        return last

    def _stripped_trial(self, units: Sequence[Unit]) -> None:
        assert self._free is not None
        most = {1: 4, 2: 4, 3: 4, 4: 3, 5: 3, 6: 2}.get(self._sources, 1)
        most += self._sources > 6 and self.random.random() < 3 / self._sources
        profile = Profile.drawn(self.random)
        data = self._data(profile, most)
        bare = self._bare[self.seen.counts["stripped"] % len(self._bare)] if self._bare else None
        self.seen.counts["stripped"] += 1
        for name, variant in (("free", self._free), ("bare", bare)):
            if variant is None:
                continue
            try:
                self._load_base(data)
                base = self.database.run(variant.sql)
            except QueryFailed:
                self.seen.counts[f"{name} failed"] += 1
                continue
            wanted = [u for u in units if name == "free" or is_recodable(u.kind)]
            modes = self.random.choices(*MODES[name], k=len(wanted))
            _Trial(self, name, variant.sql, data, profile, base).look(list(zip(wanted, modes)))


class _Trial:
    """One variant on one database, whose base version is loaded."""

    def __init__(
        self, observer: Observer, variant: str, sql: str, data: dict[str, Rows], profile: Profile, base: Result
    ) -> None:
        self.observer, self.variant, self.sql = observer, variant, sql
        self.data, self.profile, self.base = data, profile, base
        self._next = 1
        self._orders: list[dict[str, list[int]]] = []
        self._shuffled_base: list[Result | None] = []
        self._first_shuffle = 0

    def look(self, changes: Sequence[tuple[Unit, str]]) -> None:
        """Applies every change alone and records what moved."""
        ready: list[tuple[Unit, str, Rows, int]] = []
        loads: dict[str, dict[int, Rows]] = defaultdict(dict)
        for unit, mode in changes:
            taste = self.observer._hints.taste(unit.path[-1] if unit.path else unit.column)
            rows = changed_rows(
                self.data[unit.table], unit, mode, taste, self.observer.random, self.profile
            )
            if rows is not None:
                ready.append((unit, mode, rows, self._next))
                loads[unit.table][self._next] = rows
                self._next += 1
        for table, versions in loads.items():
            try:
                self.observer.database.load(table, versions)
            except QueryFailed:
                self.observer.seen.counts["change refused"] += 1
                ready = [item for item in ready if item[0].table != table]
        for unit, mode, rows, version in ready:
            self._record(unit, mode, rows, version)

    def moves_together(self, units: Sequence[Unit]) -> bool:
        """Whether changing all these columns of one table at once moves anything."""
        rows: Rows | None = self.data[units[0].table]
        for unit in units:
            taste = self.observer._hints.taste(unit.column)
            changed = changed_rows(rows, unit, "all", taste, self.observer.random, self.profile)
            rows = rows if changed is None else changed
        version = self._next
        self._next += 1
        try:
            self.observer.database.load(units[0].table, {version: rows})
            after = self.observer.database.run(self.sql, {units[0].table: version})
        except QueryFailed:
            return False
        return after.joint != self.base.joint

    def _record(self, unit: Unit, mode: str, rows: Rows, version: int) -> None:
        try:
            after = self.observer.database.run(self.sql, {unit.table: version})
        except QueryFailed:
            self.observer.seen.counts["changed run failed"] += 1
            return
        got = self.observer.seen.seen[self.variant][unit]
        moved = self._moved(after)
        if self.variant == "full" and mode == "recode":
            moved |= self._fresh(unit, rows, after)
        new = {observable for observable in moved if observable not in got}
        if new:
            witness = Witness(self.sql, self.data, unit, rows, self.base, after)
            for observable in self._steady(new, unit, rows, after):
                got[observable] = witness

    def _moved(self, after: Result) -> set[Observable]:
        moved = differing(self.base, after)
        if self.variant == "bare":
            return {o for o in moved if isinstance(o, int)} if "rows" not in moved else set()
        if self.variant == "free":
            return {o for o in moved if isinstance(o, int) or o == "rows"}
        if self.observer.seen.has_order:
            return moved
        return {o for o in moved if o != "order" and not isinstance(o, tuple)}

    def _fresh(self, unit: Unit, rows: Rows, after: Result) -> set[Observable]:
        if unit.path or not unit.kind.is_scalar:
            return set()
        at = list(self.observer.schema[unit.table]).index(unit.column)
        before = {comparable(row[at]) for row in self.data[unit.table]}
        fresh = {comparable(row[at]) for row in rows} - before - {None}
        return {
            ("fresh", position)
            for position, bag in enumerate(after.bags)
            if fresh & bag.keys() and not fresh & self.base.bags[position].keys()
        }

    def _steady(
        self, wanted: set[Observable], unit: Unit, rows: Rows, after: Result
    ) -> set[Observable]:
        """Those that neither shuffling the base nor shuffling the changed rows moves."""
        ordered = any(o == "order" or (isinstance(o, tuple) and o[0] == "order") for o in wanted)
        first = None
        for number in range(SHUFFLES_FOR_ORDER if ordered else SHUFFLES):
            base = self._base_shuffle(number)
            wanted = {o for o in wanted if base is not None and _same(o, base, self.base)}
            if not wanted:
                break
            first = self._changed_shuffles(unit, rows) if first is None else first
            version = self._shuffle_version(number)
            changed = self._run({**dict.fromkeys(self.data, version), unit.table: first + number})
            wanted = {o for o in wanted if changed is not None and _same(o, changed, after)}
        return wanted

    def _base_shuffle(self, number: int) -> Result | None:
        while len(self._shuffled_base) <= number:
            version = self._shuffle_version(len(self._shuffled_base))
            self._shuffled_base.append(self._run({table: version for table in self.data}))
        return self._shuffled_base[number]

    def _shuffle_version(self, number: int) -> int:
        """The version under which all tables hold the base in the order of that shuffle."""
        if not self._orders:
            self._first_shuffle = self._next
            self._next += SHUFFLES_FOR_ORDER
            self._orders = [self._order() for _ in range(SHUFFLES_FOR_ORDER)]
            for table, rows in self.data.items():
                self.observer.database.load(table, self._shuffled(table, rows, self._first_shuffle))
        return self._first_shuffle + number

    def _order(self) -> dict[str, list[int]]:
        return {
            table: self.observer.random.sample(range(len(rows)), len(rows))
            for table, rows in self.data.items()
        }

    def _shuffled(self, table: str, rows: Rows, first: int) -> dict[int, Rows]:
        return {
            first + number: [rows[at] for at in order[table]] for number, order in enumerate(self._orders)
        }

    def _changed_shuffles(self, unit: Unit, rows: Rows) -> int:
        """Loads the changed rows in every shuffle's order; the first of their versions."""
        first = self._next
        self._next += SHUFFLES_FOR_ORDER
        self.observer.database.load(unit.table, self._shuffled(unit.table, rows, first))
        return first

    def _run(self, versions: Mapping[str, int]) -> Result | None:
        try:
            return self.observer.database.run(self.sql, versions)
        except QueryFailed:
            return None


def differing(before: Result, after: Result) -> set[Observable]:
    """Everything in which two results of one query differ."""
    if before.rows == after.rows:
        return set()
    moved: set[Observable] = {"order"}
    if len(before.rows) != len(after.rows):
        moved.add("rows")
    if before.joint != after.joint:
        moved.add("joint")
        pairs = enumerate(zip(before.bags, after.bags))
        moved |= {position for position, (one, other) in pairs if one != other}
    if "rows" not in moved:
        columns = enumerate(zip(before.columns, after.columns))
        moved |= {("order", at) for at, (one, other) in columns if at not in moved and one != other}
    return moved


def _same(observable: Observable, one: Result, other: Result) -> bool:
    return bool(_look(observable, one) == _look(observable, other))


def _look(observable: Observable, result: Result) -> Any:
    match observable:
        case "rows":
            return len(result.rows)
        case "joint":
            return result.joint
        case "order":
            return result.rows
        case ("order", int(position)):
            return result.columns[position]
        case (_, int(position)) | int(position):
            return result.bags[position]
    raise AssertionError(observable)


def _parsed(sql: str) -> exp.Expression | None:
    try:
        return sqlglot.parse_one(sql, dialect="duckdb")
    except sqlglot.errors.SqlglotError:
        return None
