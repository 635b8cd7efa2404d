"""The answer to why a row is there: its witnesses, its polynomial, its cells, and what to mind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lineage_post.provenance.literals import plain
from lineage_post.provenance.polynomial import Polynomial
from lineage_post.vocabulary import Word


class Label(Word):
    """What re-running the model's SQL on what it reads now makes of a stored row."""

    REPRODUCED = "reproduced"
    CHANGED = "changed since load"
    GONE = "gone"
    #: The row was computed now, not read from a stored table.
    COMPUTED = "computed now"
    #: The model is not rewritten; see ``refusal``.
    REFUSED = "refused"


@dataclass(slots=True)
class Witness:
    """A row of an upstream relation. ``multiplicity`` is how many rows there have this key.

    ``values`` are the columns the query reads; ``why`` is the answer for this row itself, where
    the walk went on.
    """

    relation: str
    token: str
    key: Mapping[str, Any]
    values: Mapping[str, Any]
    multiplicity: int
    why: Explained | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "relation": self.relation,
            "token": self.token,
            "key": _plain_values(self.key),
            "values": _plain_values(self.values),
            "multiplicity": self.multiplicity,
            "why": self.why.to_dict() if self.why else None,
        }


@dataclass(frozen=True, slots=True)
class CellClaim:
    """An output whose value was copied: from these columns of these rows."""

    column: str
    sources: tuple[tuple[str, str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        keys = ("relation", "token", "column")
        return {
            "column": self.column,
            "sources": [dict(zip(keys, source, strict=True)) for source in self.sources],
        }


@dataclass(frozen=True, slots=True)
class TermClaim:
    """An aggregate output as a sum of values times polynomials."""

    column: str
    function: str
    distinct: bool
    terms: tuple[tuple[Any, Polynomial], ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "function": self.function,
            "distinct": self.distinct,
            "terms": [{"value": plain(v), "polynomial": str(p)} for v, p in self.terms],
        }


@dataclass(slots=True)
class Explained:
    """One row of a model. ``derivations`` is None where it was not counted.

    ``counts`` are witness rows by relation; ``truncated`` says that there are more than are shown.
    """

    model: str
    row: Mapping[str, Any]
    label: Label
    multiplicity: int = 1
    changed: tuple[str, ...] = ()
    derivations: float | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    witnesses: list[Witness] = field(default_factory=list)
    truncated: bool = False
    polynomial: Polynomial | None = None
    gates: Mapping[str, Polynomial] = field(default_factory=dict)
    terms: tuple[TermClaim, ...] = ()
    cells: tuple[CellClaim, ...] = ()
    notes: tuple[str, ...] = ()
    refusal: str | None = None
    sql: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {
            "model": self.model,
            "row": _plain_values(self.row),
            "label": self.label.value,
            "multiplicity": self.multiplicity,
            "changed": list(self.changed),
            "derivations": self.derivations,
            "counts": dict(self.counts),
            "truncated": self.truncated,
            "witnesses": [witness.to_dict() for witness in self.witnesses],
            "polynomial": None if self.polynomial is None else str(self.polynomial),
            "gates": {token: str(p) for token, p in self.gates.items()},
            "terms": [claim.to_dict() for claim in self.terms],
            "cells": [claim.to_dict() for claim in self.cells],
            "notes": list(self.notes),
            "refusal": self.refusal,
            "sql": self.sql,
        }


def _plain_values(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: plain(value) for name, value in values.items()}
