"""Claimed lineage, from a case or from a trace, in the terms the judge compares."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lineage_post.trace.result import Trace
from lineage_post.vocabulary import DIRECT_SUBTYPES, EdgeType, Subtype
from tests.cases.comparing import actual_edge
from tests.cases.notation import ExpectedEdge, name_parts
from tests.cases.reading import Expected
from tests.oracle.changes import Unit
from tests.oracle.database import table_key


@dataclass(frozen=True, slots=True)
class Claim:
    """One edge: ``output`` is a position, or None for every row."""

    table: str
    column: str
    path: tuple[str, ...]
    output: int | None
    subtype: Subtype

    def covers(self, unit: Unit) -> bool:
        """Whether the claim speaks of the unit, of a part of it, or of what it is a part of."""
        if (self.table, self.column) != (unit.table.lower(), unit.column.lower()):
            return False
        path = tuple(name.lower() for name in unit.path)
        return all(one == other for one, other in zip(self.path, path))

    def __str__(self) -> str:
        source = ".".join((*self.table.split("\x1f"), self.column))
        target = "(rows)" if self.output is None else f"#{self.output + 1}"
        return f"{target} <- {'#'.join((source, *self.path))} {self.subtype}"


@dataclass(frozen=True)
class Claims:
    """All claims of one answer, by output and kind."""

    all: tuple[Claim, ...]
    _by_output: dict[int | None, list[Claim]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for claim in self.all:
            self._by_output[claim.output].append(claim)

    def value(self, output: int) -> list[Claim]:
        return [c for c in self._by_output[output] if c.subtype in DIRECT_SUBTYPES]

    def indirect(self, output: int | None) -> list[Claim]:
        """The output's own indirect claims; of None, those of every row."""
        return [c for c in self._by_output[output] if c.subtype.type is EdgeType.INDIRECT]

    def without(self, deleted: Iterable[Claim]) -> Claims:
        gone = set(deleted)
        return Claims(tuple(claim for claim in self.all if claim not in gone))


def claims_of_case(expected: Expected, tables: Iterable[str]) -> Claims:
    """The claims of a case's expected edges, alternatives included."""
    edges = (*expected.edges, *expected.accept)
    return Claims(tuple(claims_of_edges(edges, expected.outputs, tables)))


def claims_of_edges(
    edges: Iterable[ExpectedEdge], outputs: Iterable[str], tables: Iterable[str]
) -> Iterator[Claim]:
    """The claims of edges written in a case, whose outputs are these."""
    keys = list(tables)
    places = {name.lower(): at for at, name in enumerate(outputs)}
    for edge in edges:
        yield from _of_edge(edge, None if edge.to is None else places[edge.to.lower()], keys)


def claims_of_trace(trace: Trace, tables: Iterable[str]) -> Claims:
    """The claims of a trace's edges."""
    keys = list(tables)
    return Claims(
        tuple(
            claim
            for edge in trace.edges
            for claim in _of_edge(
                actual_edge(edge), None if edge.to_ordinal is None else edge.to_ordinal - 1, keys
            )
        )
    )


def _of_edge(edge: ExpectedEdge, output: int | None, tables: list[str]) -> Iterator[Claim]:
    wanted = tuple(part.lower() for part in name_parts(edge.relation))
    table = table_key(wanted)
    for key in tables:
        parts = tuple(key.lower().split("\x1f"))
        if parts[-len(wanted) :] == wanted or wanted[-len(parts) :] == parts:
            table = table_key(parts)
    path = tuple(part.lower() for part in name_parts(edge.field)) if edge.field else ()
    for subtype in sorted(edge.subtypes):
        yield Claim(table, edge.column.lower(), path, output, subtype)
