"""A query ready for rewriting, and what the names in it stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from lineage_post.provenance.relations import BaseTable


@dataclass(slots=True)
class Base:
    """A relation as one query reads it: ``table`` as written, ``label`` its name in tokens."""

    relation: BaseTable
    table: exp.Table
    label: str
    #: Columns the query reads, in the relation's order where that is known.
    read: tuple[str, ...] = ()
    types: Mapping[str, exp.DataType] = field(default_factory=dict)
    #: The relation's own spelling of the columns that ``types`` has folded.
    names: Mapping[str, str] = field(default_factory=dict)

    def spelled(self, column: str) -> str:
        """A column as the relation spells it."""
        return self.names.get(column, column)


@dataclass(slots=True)
class Cte:
    """A named query; ``columns`` are the names after it, as in ``with x(a, b) as``."""

    name: str
    query: exp.Expr
    columns: tuple[str, ...] = ()
    recursive: bool = False


@dataclass(slots=True)
class Prepared:
    """A qualified query without WITH, and what its names stand for."""

    body: exp.Expr
    #: The output names as the query gives them, by position.
    names: tuple[str, ...]
    ctes: dict[str, Cte]
    bases: dict[str, Base]
    dialect: str
    notes: dict[str, None]
