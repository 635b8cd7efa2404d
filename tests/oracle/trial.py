"""Every column changed alone: what it moves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from tests.oracle.changes import Unit, mode_for
from tests.oracle.database import QueryFailed, Result, Rows, comparable
from tests.oracle.hints import Hints
from tests.oracle.loaded import Loaded, relevant
from tests.oracle.observation import Observable, Observation, Witness, differing
from tests.oracle.values import is_recodable
from tests.oracle.variants import Variant

_RECODED_IN_FULL = 0.25
_Changes = dict[Unit, tuple[int, Rows]]


class Trial:
    """Looks at one loaded database."""

    def __init__(self, loaded: Loaded, hints: Hints, seen: Observation) -> None:
        self.loaded, self.hints, self.seen = loaded, hints, seen

    def look(
        self, units: Sequence[Unit], full: Variant, free: Variant | None, bare: Variant | None
    ) -> None:
        """Changes every unit alone, in the query as written and in its variants."""
        random = self.loaded.random
        bases = {
            variant.sql: self.loaded.run(variant.sql) for variant in (full, free, bare) if variant
        }
        changed, recoded = self._load(units)
        for unit in units:
            in_full = recoded if random.random() < _RECODED_IN_FULL else changed
            self._compare("full", full, bases, unit, in_full, is_recoded=in_full is recoded)
            if free:
                self._compare("free", free, bases, unit, changed)
            if bare and is_recodable(unit.kind):
                self._compare("bare", bare, bases, unit, recoded)

    def moves_together(self, units: Sequence[Unit], sql: str) -> bool:
        """Whether changing all these columns of one table at once moves anything."""
        table = units[0].table
        rows = self.loaded.data[table]
        for unit in units:
            rows = self.loaded.changed(rows, unit, "all", self.hints) or rows
        version = self.loaded.database.next_version()
        try:
            self.loaded.database.load(table, {version: rows})
        except QueryFailed:
            return False
        base, after = self.loaded.run(sql), self.loaded.run(sql, {table: version})
        return base is not None and after is not None and after.joint != base.joint

    def _load(self, units: Sequence[Unit]) -> tuple[_Changes, _Changes]:
        """Two changes of every unit, any one and a recoding, where they change something."""
        loads: dict[str, dict[int, Rows]] = defaultdict(dict)
        both: tuple[_Changes, _Changes] = {}, {}
        for unit in units:
            for changes, mode in zip(both, (mode_for(self.loaded.random), "recode"), strict=True):
                rows = self.loaded.changed(self.loaded.data[unit.table], unit, mode, self.hints)
                if rows is not None:
                    version = self.loaded.database.next_version()
                    changes[unit] = version, rows
                    loads[unit.table][version] = rows
        for table, versions in loads.items():
            try:
                self.loaded.database.load(table, versions)
            except QueryFailed:
                self.seen.counts["change refused"] += 1
                for changes in both:
                    for unit in [unit for unit in changes if unit.table == table]:
                        del changes[unit]
        return both

    def _compare(
        self,
        name: str,
        variant: Variant,
        bases: dict[str, Result | None],
        unit: Unit,
        changes: _Changes,
        *,
        is_recoded: bool = False,
    ) -> None:
        base = bases[variant.sql]
        if base is None or unit not in changes:
            return
        version, rows = changes[unit]
        after = self.loaded.run(variant.sql, {unit.table: version})
        if after is None:
            self.seen.counts[f"{name} failed"] += 1
            return
        moved = relevant(name, differing(base, after), self.seen)
        if is_recoded:
            moved |= self._fresh(unit, rows, base, after)
        got = self.seen.seen[name][unit]
        new = {observable for observable in moved if observable not in got}
        if new:
            changed = {unit.table: rows}
            schema = self.loaded.database.schema
            witness = Witness(variant.sql, self.loaded.data, (unit,), changed, base, after, schema)
            got.update(dict.fromkeys(self.loaded.steady(new, witness), witness))

    def _fresh(self, unit: Unit, rows: Rows, base: Result, after: Result) -> set[Observable]:
        if unit.path or not unit.kind.is_scalar:
            return set()
        at = unit.position
        before = {comparable(row[at]) for row in self.loaded.data[unit.table]}
        fresh = {comparable(row[at]) for row in rows} - before - {None}
        return {
            ("fresh", position)
            for position, bag in enumerate(after.bags)
            if fresh & bag.keys() and not fresh & base.bags[position].keys()
        }
