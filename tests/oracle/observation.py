"""What was observed: which outputs and rows moved, and the data that show it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.changes import Unit
from tests.oracle.database import Result, Rows
from tests.oracle.kinds import Kind, literal

#: What can move: an output's values by position, "rows" (their number), "joint" (how values sit
#: together in rows), "order", ("order", position), ("fresh", position): a new value came
#: out as it went in.
Observable = int | str | tuple[str, int]


@dataclass(frozen=True, slots=True)
class Witness:
    """Two databases that differ in one column only (or in few), and the two results."""

    sql: str
    data: Mapping[str, Rows]
    units: tuple[Unit, ...]
    changed: Mapping[str, Rows]
    before: Result
    after: Result
    schema: Mapping[str, Mapping[str, Kind]]

    def script(self) -> str:
        """SQL that shows the influence in any DuckDB shell."""
        lines = []
        for table, rows in self.data.items():
            lines += _table_script(table, rows, self.schema[table])
        names = ", ".join(map(str, self.units))
        lines += [f"{self.sql};", f"-- gives {self.before.rows[:8]}", f"-- {names} changed:"]
        for table, rows in self.changed.items():
            lines += _table_script(table, rows, self.schema[table])
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


def is_order(observable: Observable) -> bool:
    """Whether it is about the order in which rows come."""
    return observable == "order" or (isinstance(observable, tuple) and observable[0] == "order")


def look(observable: Observable, result: Result) -> Any:
    """The part of a result that the observable names."""
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
