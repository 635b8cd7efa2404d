"""One database, its versions, and whether what moved holds still under shuffles.

An influence counts only when both results hold still while the rows of the tables are shuffled:
otherwise the order in which the engine met the rows would pass for an influence.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from tests.oracle.changes import Unit, changed_rows
from tests.oracle.database import Database, QueryFailed, Result, Rows
from tests.oracle.hints import Hints
from tests.oracle.observation import Observable, Observation, Witness, is_order, look
from tests.oracle.ties import with_random_ties
from tests.oracle.values import Profile

SHUFFLES = 4
SHUFFLES_FOR_ORDER = 8


class Loaded:
    """The data of one trial, loaded under ``versions``."""

    def __init__(
        self,
        database: Database,
        data: Mapping[str, Rows],
        versions: Mapping[str, int],
        profile: Profile,
        rng: random.Random,
    ) -> None:
        self.database = database
        self.data, self.versions = data, versions
        self.profile = profile
        self.random = rng
        self._orders: list[dict[str, list[int]]] = []
        self._first_shuffle = 0
        self._shuffled_bases: dict[tuple[str, int], Result | None] = {}

    def changed(self, rows: Rows, unit: Unit, mode: str, hints: Hints) -> Rows | None:
        """The rows with one unit changed, None if that changes nothing."""
        taste = hints.taste(unit.path[-1] if unit.path else unit.column)
        return changed_rows(rows, unit, mode, taste, self.random, self.profile)

    def run(self, sql: str, other: Mapping[str, int] | None = None) -> Result | None:
        """The query's result, with other versions of some tables; None if it fails."""
        try:
            return self.database.run(sql, {**self.versions, **(other or {})})
        except QueryFailed:
            return None

    def steady(self, wanted: set[Observable], witness: Witness) -> set[Observable]:
        """Those that neither shuffling the base nor shuffling the changed rows moves."""
        rounds = SHUFFLES_FOR_ORDER if any(map(is_order, wanted)) else SHUFFLES
        changed: dict[str, int] = {}
        for number in range(rounds if wanted else 0):
            base = self._shuffled_base(witness.sql, number)
            wanted = {o for o in wanted if base and look(o, base) == look(o, witness.before)}
            if not wanted:
                break
            changed = changed or {
                table: self._load_shuffles(table, rows) for table, rows in witness.changed.items()
            }
            versions = dict.fromkeys(self.data, self._first_shuffle + number)
            moved = {table: first + number for table, first in changed.items()}
            after = self.run(witness.sql, {**versions, **moved})
            wanted = {o for o in wanted if after and look(o, after) == look(o, witness.after)}
        return wanted

    def hangs_on_ties(self, wanted: Observable, witness: Witness) -> bool:
        """Whether it moves by itself where rows that tie come in any order."""
        sql = with_random_ties(witness.sql)
        if sql is None:
            return False
        changed = dict(self.versions)
        for table, rows in witness.changed.items():
            changed[table] = self.database.next_version()
            self.database.load(table, {changed[table]: rows})
        for versions in (self.versions, changed):
            results = [self.run(sql, versions) for _ in range(SHUFFLES_FOR_ORDER)]
            seen = [look(wanted, result) for result in results if result is not None]
            if any(one != seen[0] for one in seen):
                return True
        return False

    def _shuffled_base(self, sql: str, number: int) -> Result | None:
        if not self._orders:
            self._orders = [self._order() for _ in range(SHUFFLES_FOR_ORDER)]
            self._first_shuffle = self.database.next_version(SHUFFLES_FOR_ORDER)
            for table, rows in self.data.items():
                self.database.load(table, self._shuffles(table, rows, self._first_shuffle))
        if (sql, number) not in self._shuffled_bases:
            versions = dict.fromkeys(self.data, self._first_shuffle + number)
            self._shuffled_bases[sql, number] = self.run(sql, versions)
        return self._shuffled_bases[sql, number]

    def _order(self) -> dict[str, list[int]]:
        return {
            table: self.random.sample(range(len(rows)), len(rows))
            for table, rows in self.data.items()
        }

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


def relevant(variant: str, moved: set[Observable], seen: Observation) -> set[Observable]:
    """What counts of a difference in that variant."""
    if variant == "bare":
        return {o for o in moved if isinstance(o, int)} if "rows" not in moved else set()
    if variant == "free":
        return {o for o in moved if isinstance(o, int)}
    return moved if seen.has_order else {o for o in moved if not is_order(o)}
