"""One database and its changes: what moves, and whether that holds still under shuffles.

An influence counts only when both results hold still while the rows of the tables are shuffled:
otherwise the order in which the engine met the rows would pass for an influence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tests.oracle.changes import Unit, changed_rows, mode_for
from tests.oracle.database import QueryFailed, Result, Rows, comparable
from tests.oracle.observation import Observable, Witness, differing, is_order, look
from tests.oracle.values import Profile, is_recodable
from tests.oracle.variants import Variant

if TYPE_CHECKING:
    from tests.oracle.observe import Observer

SHUFFLES = 4
SHUFFLES_FOR_ORDER = 8
_RECODED_IN_FULL = 0.25
_Changes = dict[Unit, tuple[int, Rows]]


class Trial:
    """The data of one trial, loaded under ``versions``."""

    def __init__(
        self,
        observer: Observer,
        data: Mapping[str, Rows],
        profile: Profile,
        versions: dict[str, int],
    ) -> None:
        self.observer = observer
        self.database = observer.database
        self.random = observer.random
        self.data, self.profile, self.versions = data, profile, versions
        self._orders: list[dict[str, list[int]]] = []
        self._first_shuffle = 0
        self._shuffled_bases: dict[tuple[str, int], Result | None] = {}

    def look(self, units: Sequence[Unit], base: Result) -> None:
        """Changes every unit alone, in the query as written and in its variants."""
        free, bare = self.observer.free, self._next_bare()
        free_base = self._base("free", free)
        bare_base = self._base("bare", bare)
        changed, recoded = self._load(units)
        for unit in units:
            in_full = recoded if self.random.random() < _RECODED_IN_FULL else changed
            if unit in in_full:
                sql, is_recoded = self.observer.sql, in_full is recoded
                self._compare("full", sql, base, unit, in_full[unit], is_recoded=is_recoded)
            if free and free_base and unit in changed:
                self._compare("free", free.sql, free_base, unit, changed[unit])
            if bare and bare_base and unit in recoded and is_recodable(unit.kind):
                self._compare("bare", bare.sql, bare_base, unit, recoded[unit])

    def _next_bare(self) -> Variant | None:
        bares = self.observer.bare
        self.observer.seen.counts["trials"] += 1
        return bares[self.observer.seen.counts["trials"] % len(bares)] if bares else None

    def _base(self, name: str, variant: Variant | None) -> Result | None:
        base = self._run(variant.sql, self.versions) if variant else None
        if base is None:
            self.observer.seen.counts[f"{name} failed"] += 1
        return base

    def moves_together(self, units: Sequence[Unit], base: Result) -> bool:
        """Whether changing all these columns of one table at once moves anything."""
        table = units[0].table
        rows = self.data[table]
        for unit in units:
            rows = self._changed(rows, unit, "all") or rows
        version = self.database.next_version()
        try:
            self.database.load(table, {version: rows})
            after = self.database.run(self.observer.sql, {**self.versions, table: version})
        except QueryFailed:
            return False
        return after.joint != base.joint

    def _changed(self, rows: Rows, unit: Unit, mode: str) -> Rows | None:
        taste = self.observer.hints.taste(unit.path[-1] if unit.path else unit.column)
        return changed_rows(rows, unit, mode, taste, self.random, self.profile)

    def _load(self, units: Sequence[Unit]) -> tuple[_Changes, _Changes]:
        """Two changes of every unit, any one and a recoding, where they change something."""
        loads: dict[str, dict[int, Rows]] = defaultdict(dict)
        both: tuple[_Changes, _Changes] = {}, {}
        for changes, modes in zip(
            both, ([mode_for(self.random) for _ in units], ["recode"] * len(units))
        ):
            for unit, mode in zip(units, modes):
                rows = self._changed(self.data[unit.table], unit, mode)
                if rows is not None:
                    version = self.database.next_version()
                    changes[unit] = version, rows
                    loads[unit.table][version] = rows
        for table, versions in loads.items():
            try:
                self.database.load(table, versions)
            except QueryFailed:
                self.observer.seen.counts["change refused"] += 1
                for changes in both:
                    for unit in [unit for unit in changes if unit.table == table]:
                        del changes[unit]
        return both

    def _compare(
        self,
        variant: str,
        sql: str,
        base: Result,
        unit: Unit,
        change: tuple[int, Rows],
        *,
        is_recoded: bool = False,
    ) -> None:
        version, rows = change
        after = self._run(sql, {**self.versions, unit.table: version})
        if after is None:
            self.observer.seen.counts["changed run failed"] += 1
            return
        got = self.observer.seen.seen[variant][unit]
        moved = self._relevant(variant, differing(base, after))
        if is_recoded:
            moved |= self._fresh(unit, rows, base, after)
        new = {observable for observable in moved if observable not in got}
        if not new:
            return
        witness = Witness(sql, self.data, unit, rows, base, after, self.database.schema)
        doubtful = {o for o in new if not self.observer.explains(variant, unit, o)}
        for observable in (new - doubtful) | self._steady(sql, doubtful, witness):
            got[observable] = witness

    def _relevant(self, variant: str, moved: set[Observable]) -> set[Observable]:
        if variant == "bare":
            return {o for o in moved if isinstance(o, int)} if "rows" not in moved else set()
        if variant == "free":
            return {o for o in moved if isinstance(o, int)}
        return moved if self.observer.seen.has_order else {o for o in moved if not is_order(o)}

    def _fresh(self, unit: Unit, rows: Rows, base: Result, after: Result) -> set[Observable]:
        if unit.path or not unit.kind.is_scalar:
            return set()
        at = unit.position
        before = {comparable(row[at]) for row in self.data[unit.table]}
        fresh = {comparable(row[at]) for row in rows} - before - {None}
        return {
            ("fresh", position)
            for position, bag in enumerate(after.bags)
            if fresh & bag.keys() and not fresh & base.bags[position].keys()
        }

    def _steady(self, sql: str, wanted: set[Observable], witness: Witness) -> set[Observable]:
        """Those that neither shuffling the base nor shuffling the changed rows moves."""
        rounds = SHUFFLES_FOR_ORDER if any(map(is_order, wanted)) else SHUFFLES
        table, changed = witness.unit.table, 0
        for number in range(rounds if wanted else 0):
            base = self._shuffled_base(sql, number)
            wanted = {o for o in wanted if base and look(o, base) == look(o, witness.before)}
            if not wanted:
                break
            changed = changed or self._load_shuffles(table, witness.changed)
            versions = dict.fromkeys(self.data, self._first_shuffle + number)
            after = self._run(sql, {**versions, table: changed + number})
            wanted = {o for o in wanted if after and look(o, after) == look(o, witness.after)}
        return wanted

    def _shuffled_base(self, sql: str, number: int) -> Result | None:
        if not self._orders:
            self._orders = [
                {
                    t: self.random.sample(range(len(rows)), len(rows))
                    for t, rows in self.data.items()
                }
                for _ in range(SHUFFLES_FOR_ORDER)
            ]
            self._first_shuffle = self.database.next_version(SHUFFLES_FOR_ORDER)
            for table, rows in self.data.items():
                self.database.load(table, self._shuffles(table, rows, self._first_shuffle))
        if (sql, number) not in self._shuffled_bases:
            versions = dict.fromkeys(self.data, self._first_shuffle + number)
            self._shuffled_bases[sql, number] = self._run(sql, versions)
        return self._shuffled_bases[sql, number]

    def _load_shuffles(self, table: str, rows: Rows) -> int:
        """Loads the rows in every shuffle's order; the first of their versions."""
        first = self.database.next_version(SHUFFLES_FOR_ORDER)
        self.database.load(table, self._shuffles(table, rows, first))
        return first

    def _shuffles(self, table: str, rows: Rows, first: int) -> dict[int, Rows]:
        return {
            first + number: [rows[at] for at in order[table]]
            for number, order in enumerate(self._orders)
        }

    def _run(self, sql: str, versions: Mapping[str, int]) -> Result | None:
        try:
            return self.database.run(sql, versions)
        except QueryFailed:
            return None
