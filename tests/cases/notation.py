"""The compact notation of the case files: edges, names and column lists.

An edge line reads ``targets <- sources SUBTYPES flags``::

    revenue <- orders.amount AGGREGATION
    (rows) <- orders.id, customers.id JOIN
    a, b <- t.ts SORT
    sku <- bags.items#sku TRANSFORMATION assumed
    k <- t."Name.First" IDENTITY masking

``(rows)`` is a dataset-level edge. ``A+B`` stands for two edges, ``A|B`` for one that may be
either. Names with dots, spaces, commas or quotes are written in double quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lineage_post.vocabulary import Subtype

ROWS = "(rows)"
_PIECE = re.compile(r'"((?:[^"]|"")*)"|([^".#]+)')
_SOURCES_AND_KINDS = re.compile(
    r"^(?P<sources>.+?)\s+(?P<kinds>[A-Z_+|]+)(?P<flags>(?:\s+[a-z]+)*)$"
)
_FLAGS = {"masking", "assumed"}


@dataclass(frozen=True, slots=True)
class ExpectedEdge:
    """One edge a case asks for; any of ``subtypes`` is right. ``to`` is None for (rows)."""

    to: str | None
    relation: str
    column: str
    field: str | None
    subtypes: frozenset[Subtype] = field(default_factory=frozenset)
    masking: bool = False
    assumed: bool = False

    def __str__(self) -> str:
        path = f"#{self.field}" if self.field else ""
        kinds = "|".join(sorted(self.subtypes))
        flags = " masking" * self.masking + " assumed" * self.assumed
        target = ROWS if self.to is None else self.to
        return f"{target} <- {self.relation}.{self.column}{path} {kinds}{flags}"


def split_outside(text: str, separator: str = ",") -> list[str]:
    """``text`` cut at separators that stand outside of quotes and brackets, stripped."""
    parts, depth, quoted, start = [], 0, False, 0
    for position, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif not quoted and char in "([{<":
            depth += 1
        elif not quoted and char in ")]}>":
            depth -= 1
        elif char == separator and not quoted and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def name_parts(text: str) -> tuple[str, ...]:
    """``raw."Order Id"`` -> ('raw', 'Order Id')."""
    return tuple(
        quoted.replace('""', '"') if quoted or not bare else bare
        for quoted, bare in _PIECE.findall(text)
    )


def unquoted(text: str) -> str:
    """A single name without its quotes."""
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def edges_of(block: str) -> tuple[ExpectedEdge, ...]:
    """The edges of a block of lines. Raises ValueError for a line that is no edge."""
    return tuple(
        edge for line in block.splitlines() if line.strip() for edge in _edges_of_line(line)
    )


def columns_of(text: str) -> dict[str, str | None]:
    """``id int, items struct<a int>`` -> {'id': 'int', 'items': 'struct<a int>'}."""
    columns: dict[str, str | None] = {}
    for part in split_outside(text):
        match = re.match(r'^("(?:[^"]|"")*"|\S+)(?:\s+(.+))?$', part, re.DOTALL)
        if match is None:
            raise ValueError(f"not a column: {part!r}")
        columns[unquoted(match.group(1))] = match.group(2)
    return columns


def _edges_of_line(line: str) -> Iterator[ExpectedEdge]:
    targets, arrow, rest = line.partition(" <- ")
    match = _SOURCES_AND_KINDS.match(rest.strip())
    if not arrow or match is None:
        raise ValueError(f"not an edge: {line!r}")
    flags = set(match["flags"].split())
    if not flags <= _FLAGS:
        raise ValueError(f"unknown flag in {line!r}")
    for target in split_outside(targets):
        for source in split_outside(match["sources"]):
            for kinds in match["kinds"].split("+"):
                yield _edge(target, source, kinds, flags)


def _edge(target: str, source: str, kinds: str, flags: set[str]) -> ExpectedEdge:
    name, _, path = source.partition("#")
    *relation, column = name_parts(name)
    return ExpectedEdge(
        to=None if target == ROWS else unquoted(target),
        relation=".".join(relation),
        column=column,
        field=path or None,
        subtypes=frozenset(Subtype(kind) for kind in kinds.split("|")),
        masking="masking" in flags,
        assumed="assumed" in flags,
    )
