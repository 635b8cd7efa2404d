"""One contract: what a column or a model promises of its lineage, read from a test's arguments.

- lineage_post.does_not_derive_from:
    arguments: {column_tags: [pii], include_indirect: true}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from lineage_post.artifacts.names import unquoted
from lineage_post.errors import OptionError
from lineage_post.vocabulary import Word


class Kind(Word):
    """The contracts that there are; each is the name of a generic test."""

    DERIVES_FROM = "derives_from"
    DOES_NOT_DERIVE_FROM = "does_not_derive_from"
    MASKED_FROM = "masked_from"
    ONLY_DERIVES_FROM = "only_derives_from"
    IS_IDENTITY_OF = "is_identity_of"
    IS_AGGREGATED = "is_aggregated"
    LINEAGE_KNOWN = "lineage_known"
    LINEAGE_FRESH = "lineage_fresh"


class Require(Word):
    """Of several origins: all of them, or at least one."""

    ALL = "all"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Contract:
    """``unique_id`` is the node it is on, ``column`` the column, None for all of them.

    ``columns`` are references such as ``stg_customers.email``. Numbers are None where there is no
    limit; ``max_age_hours`` is in hours.
    """

    kind: Kind
    unique_id: str
    column: str | None = None
    columns: tuple[str, ...] = ()
    column_tags: tuple[str, ...] = ()
    column_meta: tuple[str, ...] = ()
    require: Require = Require.ALL
    include_indirect: bool = False
    allow_unknown: bool = False
    max_unknown: int = 0
    max_assumed: int | None = None
    max_age_hours: float | None = None


_ORIGINS = ("columns", "column_tags", "column_meta")
ARGUMENTS: dict[Kind, tuple[str, ...]] = {
    Kind.DERIVES_FROM: (*_ORIGINS, "require", "allow_unknown"),
    Kind.DOES_NOT_DERIVE_FROM: (*_ORIGINS, "include_indirect", "allow_unknown"),
    Kind.MASKED_FROM: (*_ORIGINS, "include_indirect", "allow_unknown"),
    Kind.ONLY_DERIVES_FROM: (*_ORIGINS, "allow_unknown"),
    Kind.IS_IDENTITY_OF: ("columns", "allow_unknown"),
    Kind.IS_AGGREGATED: (*_ORIGINS, "allow_unknown"),
    Kind.LINEAGE_KNOWN: ("max_unknown", "max_assumed"),
    Kind.LINEAGE_FRESH: ("max_age_hours",),
}
#: Contracts that say nothing without an origin.
NEEDS_ORIGIN = frozenset(ARGUMENTS) - {
    Kind.IS_AGGREGATED,
    Kind.LINEAGE_KNOWN,
    Kind.LINEAGE_FRESH,
}
#: What dbt itself hands to every generic test.
_OF_DBT = ("model", "column_name", "arguments")


def contract_of(kind: str, unique_id: str, arguments: Mapping[str, Any]) -> Contract:
    """The contract of a test's arguments. Raises OptionError for what is not understood."""
    if kind not in list(Kind):
        near = get_close_matches(kind, [k.value for k in Kind], n=2)
        raise OptionError(f"there is no contract {kind!r}", hint=_meant(near))
    named = Kind(kind)
    given = {k: v for k, v in _flat(arguments).items() if k not in _OF_DBT and v is not None}
    for name in given:
        if name not in ARGUMENTS[named]:
            near = get_close_matches(name, ARGUMENTS[named], n=2)
            hint = _meant(near) or f"It has {', '.join(ARGUMENTS[named])}."
            raise OptionError(f"{kind} has no argument {name!r}", hint=hint)
    values: dict[str, Any] = {name: _READERS[name](name, value) for name, value in given.items()}
    if named in NEEDS_ORIGIN and not any(values.get(name) for name in _ORIGINS):
        raise OptionError(
            f"{kind} names no column", hint=f"Give {' or '.join(_origins_of(named))}, as a list."
        )
    return Contract(named, unique_id, column_of(arguments), **values)


def column_of(arguments: Mapping[str, Any]) -> str | None:
    """The column a test is on, without the quotes that ``quote: true`` puts around it."""
    name = arguments.get("column_name") or _flat(arguments).get("column_name")
    return unquoted(str(name)) if name else None


def _flat(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """dbt 1.10 hands ``arguments:`` over as it stands unless a flag says otherwise."""
    nested = arguments.get("arguments")
    return {**arguments, **nested} if isinstance(nested, Mapping) else dict(arguments)


def _origins_of(kind: Kind) -> list[str]:
    return [name for name in _ORIGINS if name in ARGUMENTS[kind]]


def _texts(name: str, value: Any) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, (list, tuple)) or not all(isinstance(v, str) for v in listed):
        raise OptionError(f"{name} is {value!r}", hint="It must be a text or a list of texts.")
    return tuple(text.strip() for text in listed if text.strip())


def _truth(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise OptionError(f"{name} is {value!r}", hint="It must be true or false.")


def _count(name: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise OptionError(f"{name} is {value!r}", hint="It must be a whole number.")


def _hours(name: str, value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
        return float(value)
    raise OptionError(f"{name} is {value!r}", hint="It must be a number of hours.")


def _require(name: str, value: Any) -> Require:
    if value in list(Require):
        return Require(value)
    raise OptionError(f"{name} is {value!r}", hint="It must be all or any.")


_READERS = {
    "columns": _texts,
    "column_tags": _texts,
    "column_meta": _texts,
    "require": _require,
    "include_indirect": _truth,
    "allow_unknown": _truth,
    "max_unknown": _count,
    "max_assumed": _count,
    "max_age_hours": _hours,
}


def _meant(near: list[str]) -> str | None:
    return f"Did you mean {' or '.join(near)}?" if near else None
