"""All columns that should not matter changed at once: a quick search for misses.

For each output the columns that no claim lets move it are changed together, and the output must
stand still. Only if it moves are the columns taken back one by one until few are left to blame.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.oracle.changes import Unit, mode_for
from tests.oracle.database import QueryFailed, Result, Rows
from tests.oracle.hints import Hints
from tests.oracle.loaded import Loaded, relevant
from tests.oracle.observation import Observable, Observation, Witness, differing
from tests.oracle.values import is_recodable
from tests.oracle.variants import Variant

#: Whether claims explain that a variant's observable moves with a unit.
Explains = Callable[[str, Unit, Observable], bool]


@dataclass(frozen=True, slots=True)
class _Test:
    """Units to be changed together in one variant, and what must stand still then."""

    name: str
    sql: str
    units: tuple[Unit, ...]
    targets: set[Observable]
    changes: Mapping[Unit, list[Any]]


class Screening:
    """Screens one loaded database."""

    def __init__(self, loaded: Loaded, hints: Hints, seen: Observation, explains: Explains) -> None:
        self.loaded, self.hints, self.seen, self.explains = loaded, hints, seen, explains
        self._bases: dict[str, Result | None] = {}

    def look(
        self, units: Sequence[Unit], full: Variant, free: Variant | None, bare: Variant | None
    ) -> None:
        """Changes what should not matter, in the query as written and in its variants."""
        recodable = [unit for unit in units if is_recodable(unit.kind)]
        tests = [
            _Test(name, variant.sql, idle, targets, self._changes(idle, name))
            for name, variant, its_units in (
                ("full", full, units), ("free", free, units), ("bare", bare, recodable)
            )
            if variant is not None
            for idle, targets in self._groups(name, its_units, variant).items()
        ]  # fmt: skip
        loaded = self._load(tests)
        for test, versions in zip(tests, loaded, strict=True):
            self._run(test, versions)

    def _groups(
        self, name: str, units: Sequence[Unit], variant: Variant
    ) -> dict[tuple[Unit, ...], set[Observable]]:
        """What must stand still, by the units that may be changed without moving it."""
        targets: list[Observable] = list(range(len(self.seen.outputs)))
        if name == "full":
            targets += ["rows", "joint"]
            targets += ["order"] if self.seen.has_order else []
        groups: dict[tuple[Unit, ...], set[Observable]] = defaultdict(set)
        for target in targets:
            idle = [unit for unit in units if not self.explains(name, unit, target)]
            for is_kept in (False, True):
                # a condition that stayed may change the rows, and then a recoding proves nothing
                part = tuple(u for u in idle if (u.column.lower() in variant.kept) == is_kept)
                if part:
                    groups[part].add(target)
        return groups

    def _changes(self, units: Iterable[Unit], name: str) -> dict[Unit, list[Any]]:
        """The changed column of each unit."""
        changes: dict[Unit, list[Any]] = {}
        for unit in units:
            rows = self.loaded.data[unit.table]
            mode = "recode" if name == "bare" else mode_for(self.loaded.random)
            after = self.loaded.changed(rows, unit, mode, self.hints) or rows
            changes[unit] = [row[unit.position] for row in after]
        return changes

    def _load(self, tests: Sequence[_Test]) -> list[dict[str, int] | None]:
        """Loads the changed tables of all tests; their versions, None where a value is refused."""
        loads: dict[str, dict[int, Rows]] = defaultdict(dict)
        versions: list[dict[str, int]] = []
        for test in tests:
            version = self.loaded.database.next_version()
            tables = self._tables(test.units, test.changes)
            versions.append(dict.fromkeys(tables, version))
            for table, rows in tables.items():
                loads[table][version] = rows
        refused: set[str] = set()
        for table, rows_by_version in loads.items():
            try:
                self.loaded.database.load(table, rows_by_version)
            except QueryFailed:
                refused.add(table)
        return [None if refused & item.keys() else item for item in versions]

    def _run(self, test: _Test, versions: dict[str, int] | None) -> None:
        witness = None if versions is None else self._witness(test, test.units, versions)
        if witness is None:
            self.seen.counts[f"{test.name} failed"] += 1
            return
        moved = self._moved(test.name, witness) & test.targets
        if witness.before.joint != witness.after.joint:
            moved.discard("order")  # other rows have another order
        for target in sorted(self.loaded.steady(moved, witness), key=str):
            blamed = self._blamed(test, target, witness)
            if self.loaded.hangs_on_ties(target, blamed):
                self.seen.counts["tie"] += 1
                continue
            self.seen.seen[test.name][blamed.units[0]].setdefault(target, blamed)

    def _witness(
        self, test: _Test, units: Sequence[Unit], versions: dict[str, int]
    ) -> Witness | None:
        """The results with the units changed, or None where the query fails."""
        before, after = self._base(test.sql), self.loaded.run(test.sql, versions)
        if before is None or after is None:
            return None
        tables = self._tables(units, test.changes)
        schema = self.loaded.database.schema
        return Witness(test.sql, self.loaded.data, tuple(units), tables, before, after, schema)

    def _base(self, sql: str) -> Result | None:
        if sql not in self._bases:
            self._bases[sql] = self.loaded.run(sql)
        return self._bases[sql]

    def _tables(self, units: Sequence[Unit], changes: Mapping[Unit, list[Any]]) -> dict[str, Rows]:
        tables: dict[str, list[list[Any]]] = {}
        for unit in units:
            before = self.loaded.data[unit.table]
            rows = tables.setdefault(unit.table, [list(row) for row in before])
            for row, value in zip(rows, changes[unit], strict=True):
                row[unit.position] = value
        return {table: [tuple(row) for row in rows] for table, rows in tables.items()}

    def _moved(self, name: str, witness: Witness) -> set[Observable]:
        return relevant(name, differing(witness.before, witness.after), self.seen)

    def _blamed(self, test: _Test, target: Observable, witness: Witness) -> Witness:
        """The witness with as few of the units as still move the target."""
        for unit in test.units:
            fewer = tuple(other for other in witness.units if other != unit)
            if not fewer:
                break
            smaller = dataclasses.replace(test, units=fewer)
            (versions,) = self._load([smaller])
            candidate = self._witness(smaller, fewer, versions) if versions else None
            moved = self._moved(test.name, candidate) & {target} if candidate else set()
            if candidate and self.loaded.steady(moved, candidate):
                witness = candidate
        return witness
