"""A load as the macros see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineage_post.bridge.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class StatementBatch:
    """The parts of one insert statement, ready to be put together, and its parameter."""

    relation: str
    columns: str
    source: str
    parameter: str | None = None


@dataclass(slots=True)
class Load:
    """Statements to run, and how that went.

    ``batches`` are to be inserted in order. ``error`` is set when something went wrong, ``fails``
    when it must fail the run.
    """

    batches: list[StatementBatch] = field(default_factory=list)
    summary: str | None = None
    error: str | None = None
    fails: bool = False
    strict: bool = False
    warehouse: Warehouse | None = None
