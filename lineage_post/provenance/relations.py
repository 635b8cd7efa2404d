"""What a query's relation names stand for: stored tables with columns and a key, or views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class BaseTable:
    """A relation whose rows are leaves.

    ``name`` is what answers call it (a unique_id, or the dotted name); ``columns`` are name -> data
    type or None in order, empty if unknown; ``key`` are columns declared to identify a row;
    ``stored`` says that the engine keeps it as a table, so that its rows have a rowid or ctid.
    """

    name: str
    columns: Mapping[str, str | None] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    stored: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A relation that is read as its SQL: a view, an ephemeral model, a model recomputed now."""

    name: str
    sql: str


class Relations(Protocol):
    """What a query's names stand for."""

    def find(self, parts: tuple[str, ...]) -> BaseTable | View | None:
        """The relation that ``parts`` (database, schema, identifier, or fewer) name, or None."""

    def find_call(self, sql: str) -> BaseTable | None:
        """The relation that a table function such as ``read_csv('x.csv')`` gives, or None."""


@dataclass(frozen=True, slots=True)
class NamedRelations:
    """Relations by the parts of their names: the full name first, then any unique suffix."""

    by_parts: Mapping[tuple[str, ...], BaseTable | View]

    def find(self, parts: tuple[str, ...]) -> BaseTable | View | None:
        if parts in self.by_parts:
            return self.by_parts[parts]
        folded = tuple(part.lower() for part in parts)
        hits = {
            id(relation): relation
            for known, relation in self.by_parts.items()
            if _agree(folded, tuple(part.lower() for part in known))
        }
        return next(iter(hits.values())) if len(hits) == 1 else None

    def find_call(self, sql: str) -> BaseTable | None:
        return None


def _agree(asked: tuple[str, ...], known: tuple[str, ...]) -> bool:
    shorter = min(len(asked), len(known))
    return asked[-shorter:] == known[-shorter:]


def tables(
    schema: Mapping[str, Mapping[str, str | None]],
    keys: Mapping[str, Iterable[str]] | None = None,
    *,
    stored: bool = True,
) -> NamedRelations:
    """Relations from ``{dotted name: {column: type}}`` and ``{dotted name: key columns}``."""
    keys = keys or {}
    return NamedRelations(
        {
            tuple(name.split(".")): BaseTable(name, columns, tuple(keys.get(name, ())), stored)
            for name, columns in schema.items()
        }
    )
