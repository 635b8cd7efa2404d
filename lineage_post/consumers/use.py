"""One place that stores a column's name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_WORD = re.compile(r"[^\W\d][\w$]*")
_QUOTED = re.compile(r"\"([^\"]+)\"|`([^`]+)`|\[([^\]]+)\]")


@dataclass(frozen=True, slots=True)
class Use:
    """``unique_id`` stores the name of ``column`` of ``node``, as its ``role``.

    ``keys`` lead to the place in YAML, from the resource on. ``through`` is the consumer between:
    a metric does not know the column of its measure. ``is_text`` marks a mere description, which a
    change of the column makes stale, and no more.
    """

    unique_id: str
    kind: str
    node: str
    column: str
    role: str
    keys: tuple[str, ...] = ()
    through: str | None = None
    is_text: bool = False


def words(value: object) -> Iterable[str]:
    """The names in a setting: a name, a list of them, a mapping's values, an SQL expression. A
    name in quotes, or one with a space in it, is given whole, and its words too."""
    if isinstance(value, str):
        found = _WORD.findall(value)
        if [value] != found:
            yield value.strip('"`[] ')
            yield from ("".join(parts) for parts in _QUOTED.findall(value))
        yield from found
    elif isinstance(value, dict):
        for item in value.values():
            yield from words(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from words(item)
