"""One selector, taken apart: ``2+config.materialized:table+`` and its like.

https://docs.getdbt.com/reference/node-selection/syntax
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lineage_post.errors import SelectionError

_SELECTOR = re.compile(
    r"(?P<at>@)?"
    r"(?:(?P<up>\d*)(?P<plus_up>\+))?"
    r"(?:(?P<method>[a-z_]+)(?:\.(?P<key>[\w.-]+))?:)?"
    r"(?P<value>.*?)"
    r"(?:(?P<plus_down>\+)(?P<down>\d*))?",
    re.DOTALL,
)

# A column in quotes is one word, whatever is in it: stg."First Name"
_QUOTED = r'(?<=\.)"(?:[^"]|"")+"(?![^\s,+])'
_UNION = re.compile(rf"(?:{_QUOTED}|\S)+")
_PART = re.compile(rf"(?:{_QUOTED}|[^,])+")

_FILES = (".sql", ".py", ".csv", ".yml", ".yaml", ".sql.j2", ".sql.jinja2", ".sql.jinja")


@dataclass(frozen=True, slots=True)
class Selector:
    """``method`` is dbt's; ``up`` and ``down`` are how far to walk, 0 for not at all, None for all
    the way; ``with_family`` is dbt's ``@``: descendants, and all that those are built from."""

    text: str
    method: str
    key: str | None
    value: str
    up: int | None = 0
    down: int | None = 0
    with_family: bool = False


def parse_selector(text: str) -> Selector:
    """A selector. Raises SelectionError for text that is none."""
    match = _SELECTOR.fullmatch(text)
    if match is None or not match["value"]:
        raise SelectionError(
            f"{text!r} is not a selector", hint="Try +model, tag:x or model.column"
        )
    if match["at"] and match["plus_down"]:
        raise SelectionError(f"{text!r}: @ and a + behind the name cannot be combined")
    value = match["value"]
    return Selector(
        text=text,
        method=match["method"] or _default_method(value),
        key=match["key"],
        value=value,
        up=_distance(match["plus_up"], match["up"]),
        down=_distance(match["plus_down"], match["down"]),
        with_family=bool(match["at"]),
    )


def parse_selection(texts: tuple[str, ...]) -> list[list[Selector]]:
    """Unions of intersections: ``("a,b c", "d")`` is (a and b) or c or d."""
    return [
        [parse_selector(part) for part in _PART.findall(union)]
        for text in texts
        for union in _UNION.findall(text)
    ]


def _distance(plus: str | None, number: str | None) -> int | None:
    if not plus:
        return 0
    return int(number) if number else None


def _default_method(value: str) -> str:
    if "/" in value or "\\" in value:
        return "path"
    return "file" if value.lower().endswith(_FILES) else "fqn"
