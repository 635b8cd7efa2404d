"""Random values, values near given ones, and recodings that keep order and groups."""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from tests.oracle.kinds import Kind

_STEP = 2520  # divisible by 1 to 10, so that x % n stays for small n
_FAR_YEARS = 400  # the Gregorian calendar repeats, so weekdays and leap years stay
_TEXTS = ("a", "b", "c", "ab", "B", "", "aa1", "7", "12", "x y", "a,b")


@dataclass(frozen=True, slots=True)
class Profile:
    """How one trial's data are made: how often constants hit, how few keys, how many nulls."""

    hit: float
    keys: int
    null: float
    unique: float
    near: float

    @classmethod
    def drawn(cls, rng: random.Random, *, eager: bool = False) -> Profile:
        """A profile at random; an eager one hits filters and joins as often as it can."""
        return cls(
            hit=0.95 if eager else rng.choice((0.9, 0.9, 0.7, 0.4, 0.0)),
            keys=rng.choice((1, 2, 2, 3, 4)),
            null=0.0 if eager else rng.choice((0.0, 0.05, 0.15, 0.3)),
            unique=rng.choice((0.0, 0.0, 0.3, 0.8)),
            near=rng.choice((0.0, 0.2, 0.5)),
        )


@dataclass(frozen=True, slots=True)
class Taste:
    """What is known of a column's values.

    Constants it is compared with; keys take few values, sorted columns many, so that ties are rare.
    """

    constants: Sequence[Any] = ()
    is_key: bool = False
    is_sorted: bool = False
    json_keys: Sequence[str] = field(default=("a", "b"))

    def for_trial(self, rng: random.Random) -> Taste:
        """The taste of one trial: in some of them a sorted column has ties."""
        has_ties = self.is_sorted and rng.random() < 0.25
        return replace(self, is_key=True, is_sorted=False) if has_ties else self


def draw(kind: Kind, taste: Taste, rng: random.Random, profile: Profile) -> Any:
    """A value of the kind, or None."""
    if rng.random() < profile.null:
        return None
    if taste.constants and rng.random() < profile.hit:
        value = _coerced(rng.choice(taste.constants), kind, rng)
        if value is not None:
            return _near(value, kind, rng) if rng.random() < profile.near else value
    if kind.family == "list":
        size = rng.choice((0, 1, 2, 2, 3))
        return [draw(kind.members[0][1], taste, rng, profile) for _ in range(size)]
    if kind.family == "struct":
        return {name: draw(member, taste, rng, profile) for name, member in kind.members}
    if kind.family == "map":
        return _map(kind, taste, rng, profile)
    if kind.family == "json":
        return json.dumps(
            {key: _json(taste, rng, 1) for key in taste.json_keys if rng.random() < 0.95}
        )
    if taste.is_key and rng.random() < 0.93:
        return _key(kind, rng.randint(1, profile.keys))
    unique = max(profile.unique, 0.8) if taste.is_sorted else profile.unique
    return _scalar(kind, rng, unique)


def _key(kind: Kind, number: int) -> Any:
    match kind.family:
        case "integer" | "decimal" | "double":
            return number
        case "text":
            return f"k{number}"
        case "date":
            return dt.date(2000, 1, number)
        case "timestamp":
            return dt.datetime(2000, 1, 1, number)
        case "time":
            return dt.time(number)
        case _:
            return number % 2 == 0


def _scalar(kind: Kind, rng: random.Random, unique: float) -> Any:
    match kind.family:
        case "integer":
            high = 100 if kind.digits <= 2 else 3000
            if rng.random() < unique:
                return rng.randint(0, high)
            return rng.choice((0, 1, 1, 2, 3, 5, 0 if kind.sql.startswith("U") else -1, 7))
        case "decimal":
            top = 10 ** max(1, min(kind.digits, 4)) - 1
            wide = rng.randint(-(top // 10), top)
            number = wide if rng.random() < max(unique, 0.3) else rng.choice((0, 1, 2, 3, 5))
            number = number if kind.digits else 0
            cents = (
                Decimal(rng.randint(0, 99)) / 100 if rng.random() < 0.5 and kind.digits > 1 else 0
            )
            return (Decimal(number) + cents).quantize(Decimal(1).scaleb(-kind.scale))
        case "double":
            if rng.random() < max(unique, 0.2):
                return round(rng.uniform(-50, 500), 3)
            return rng.choice((0.0, 1.0, 2.0, 3.0, 5.0, 0.5, -2.0))
        case "text":
            if rng.random() < unique:
                return "".join(rng.choice("abcdefgh") for _ in range(5))
            return rng.choice(_TEXTS)
        case "date":
            year = rng.choice((1995, 2000, 2001, 2020))
            return dt.date(year, 1, 1) + dt.timedelta(
                days=rng.randint(0, 700 if rng.random() < max(unique, 0.5) else 5)
            )
        case "timestamp":
            start = dt.datetime(rng.choice((2000, 2001, 2020)), 1, 1)
            return start + dt.timedelta(
                minutes=rng.randint(0, 100_000 if rng.random() < max(unique, 0.5) else 50)
            )
        case "time":
            return dt.time(rng.randint(0, 23), rng.choice((0, 15, 30)))
        case _:
            return rng.random() < 0.5


def _map(kind: Kind, taste: Taste, rng: random.Random, profile: Profile) -> list[tuple[Any, Any]]:
    (_, key_kind), (_, value_kind) = kind.members
    keys: list[Any] = []
    for _ in range(rng.choice((0, 1, 2))):
        key = _scalar(key_kind, rng, profile.unique)
        if key_kind.family == "text" and rng.random() < 0.7:
            key = rng.choice(taste.json_keys)
        if key not in keys:
            keys.append(key)
    return [(key, draw(value_kind, taste, rng, profile)) for key in keys]


def _json(taste: Taste, rng: random.Random, depth: int) -> Any:
    shape = rng.random()
    if depth < 3 and shape < 0.55:
        return {key: _json(taste, rng, depth + 1) for key in taste.json_keys if rng.random() < 0.9}
    if depth < 3 and shape < 0.7:
        return [_json(taste, rng, depth + 1) for _ in range(rng.randint(0, 2))]
    return rng.choice((1, 2, 3, 10, "x", "y", "k1", True, None))


def _coerced(value: Any, kind: Kind, rng: random.Random) -> Any:
    try:
        match kind.family:
            case "integer":
                return None if isinstance(value, (bool, dt.date)) else int(Decimal(str(value)))
            case "decimal":
                number = Decimal(str(value)).quantize(Decimal(1).scaleb(-kind.scale))
                return number if abs(number) < Decimal(10) ** kind.digits else None
            case "double":
                return float(value)
            case "text":
                return value if isinstance(value, str) else str(value)
            case "boolean":
                return bool(value)
            case "date" | "timestamp":
                return _moment(value, kind, rng)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return None


def _moment(value: Any, kind: Kind, rng: random.Random) -> Any:
    if isinstance(value, int) and 1900 < value < 2200:  # the query extracts the year
        value = dt.datetime(value, rng.randint(1, 12), rng.randint(1, 28))
    if isinstance(value, str):
        value = dt.datetime.fromisoformat(value)
    if not isinstance(value, dt.date):
        return None
    if kind.family == "date":
        return value.date() if isinstance(value, dt.datetime) else value
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=None)
    return dt.datetime.combine(value, dt.time())


def _near(value: Any, kind: Kind, rng: random.Random) -> Any:
    match kind.family:
        case "integer" | "double":
            return value + rng.choice((-1, 1, 2))
        case "decimal":
            moved = value + rng.choice((-1, 1))
            return moved if abs(moved) < Decimal(10) ** kind.digits else value
        case "date":
            return value + dt.timedelta(days=rng.choice((-1, 1, 5, 31)))
        case "timestamp":
            return value + dt.timedelta(minutes=rng.choice((-1, 1, 1500)))
        case "text":
            return value + rng.choice(("x", ""))
        case _:
            return value


def is_recodable(kind: Kind) -> bool:
    """Whether ``recoded`` keeps order, groups and distinctness for this kind."""
    if kind.family in ("list", "struct"):
        return all(is_recodable(member) for _, member in kind.members)
    return kind.family not in ("boolean", "json", "map")


def recoded(value: Any, kind: Kind, *, as_digits: bool = False) -> Any:
    """Another value by a map that is injective and keeps the order (a boolean is only flipped)."""
    if value is None:
        return None
    match kind.family:
        case "integer":
            return value + (60 if kind.digits <= 2 else _STEP * (4 if kind.digits <= 4 else 1000))
        case "decimal":
            room = Decimal(10) ** kind.digits
            steps = (_STEP * 1000, _STEP * 10, _STEP, 420, 60, 6)
            return value + next((step for step in steps if step * 2 < room), 1)
        case "double":
            return value + _STEP * 10
        case "text":
            return ("7" if as_digits else "zz") + value
        case "boolean":
            return not value
        case "date" | "timestamp":
            return value.replace(year=value.year + _FAR_YEARS)
        case "time":
            return value.replace(minute=value.minute + 1)
        case "list":
            return [recoded(item, kind.members[0][1]) for item in value]
        case "struct":
            members = dict(kind.members)
            return {name: recoded(item, members[name]) for name, item in value.items()}
        case "map":
            return [(key, recoded(item, kind.members[1][1])) for key, item in value]
        case _:
            return json.dumps(_recoded_json(json.loads(value)))


def _recoded_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _recoded_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_recoded_json(item) for item in value]
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + _STEP
    return "zz" + value if isinstance(value, str) else value
