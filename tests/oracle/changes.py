"""The columns that can be changed alone, and the ways to change one."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.oracle.database import Rows
from tests.oracle.kinds import FieldPath, Kind, changed_at, field_paths, kind_at
from tests.oracle.values import Profile, Taste, draw, recoded

_MODES = ("cell", "all", "null", "same", "permute", "nulls")
_WEIGHTS = (30, 30, 10, 10, 5, 5)


def mode_for(rng: random.Random) -> str:
    """A way to change a column, the likely ones most often."""
    return rng.choices(_MODES, _WEIGHTS)[0]


@dataclass(frozen=True, slots=True)
class Unit:
    """A column of a table, or a struct field below it."""

    table: str
    column: str
    position: int
    path: FieldPath
    column_kind: Kind

    @property
    def kind(self) -> Kind:
        return kind_at(self.column_kind, self.path)

    def __str__(self) -> str:
        name = ".".join((*self.table.split("\x1f"), self.column))
        return f"{name}#{'.'.join(self.path)}" if self.path else name


def units_of(sql: str, schema: Mapping[str, Mapping[str, Kind]]) -> tuple[list[Unit], list[Unit]]:
    """The units of the tables that the text names: those it names too, and those it does not."""
    low = sql.lower()
    words = set(re.findall(r"\w+", low)) | set(re.findall(r'"([^"]+)"', low))
    named: list[Unit] = []
    others: list[Unit] = []
    for table, columns in schema.items():
        name = table.split("\x1f")[-1].lower()
        if name not in words and name not in low:
            continue
        for position, (column, kind) in enumerate(columns.items()):
            wanted = named if column.lower() in words else others
            wanted += [Unit(table, column, position, path, kind) for path in field_paths(kind)]
    return named, others


def changed_rows(
    rows: Rows, unit: Unit, mode: str, taste: Taste, rng: random.Random, profile: Profile
) -> Rows | None:
    """The rows with one unit changed, or None if that changes nothing."""
    at = unit.position
    column = _change(rows, unit, mode, taste, rng, profile)
    if column == [row[at] for row in rows]:
        return None
    return [(*row[:at], value, *row[at + 1 :]) for row, value in zip(rows, column, strict=True)]


def _change(
    rows: Rows, unit: Unit, mode: str, taste: Taste, rng: random.Random, profile: Profile
) -> list[Any]:
    column = [row[unit.position] for row in rows]
    kind = unit.kind

    def apply(change: Callable[[Any], Any], only: int | None = None) -> list[Any]:
        return [
            changed_at(value, unit.column_kind, unit.path, change) if only in (None, at) else value
            for at, value in enumerate(column)
        ]

    def drawn(_: Any) -> Any:
        return draw(kind, taste, rng, profile)

    match mode:
        case "cell":
            return apply(drawn, only=rng.randrange(len(column)))
        case "null":
            return apply(
                lambda value: None if value is not None else drawn(value),
                rng.randrange(len(column)),
            )
        case "nulls":
            return apply(lambda value: None)
        case "same":
            same = drawn(None)
            return apply(lambda value: same)
        case "permute" if not unit.path:
            return rng.sample(column, len(column))
        case "recode":
            digits = kind.family == "text" and all(str(value or 0).isdigit() for value in column)
            return apply(lambda value: recoded(value, kind, as_digits=digits))
        case _:
            return apply(drawn)
