"""What breaks a contract, in words that name the path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lineage_post.contracts.contract import Contract, Kind
from lineage_post.errors import LineageError
from lineage_post.graph import Column
from lineage_post.impact.walk import display_name
from lineage_post.lineage import Edge, Lineage
from lineage_post.vocabulary import Certainty, Subtype, Word

#: Steps of a path that are shown; of a longer one the middle is left out.
MOST_STEPS = 12


class Proof(Word):
    """Whether the contract is broken, cannot be proven to hold, or could not be checked at all."""

    BROKEN = "broken"
    UNPROVEN = "unproven"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of a failed test: ``path`` leads to the column that the contract is on."""

    contract: Kind | str
    unique_id: str
    column: str | None
    path: str
    because: str
    proof: Proof = Proof.BROKEN
    steps: tuple[Column, ...] = ()

    def row(self) -> dict[str, str]:
        """The columns of a failing row, as the generic tests select them."""
        return {
            "contract": str(self.contract),
            "unique_id": self.unique_id,
            "column_name": self.column or "",
            "path": self.path,
            "because": self.because,
        }


def unchecked(contract: Contract | None, kind: str, unique_id: str, because: str) -> Finding:
    """A contract that could not be checked, which is a failure like any other."""
    column = contract.column if contract else None
    return Finding(kind, unique_id, column, "", because, Proof.UNCHECKED)


def said(error: LineageError) -> str:
    """An error and its hint on one line."""
    parts = (error.message, error.hint or "")
    return ". ".join(" ".join(part.split()).rstrip(".") for part in parts if part)


def column_text(lineage: Lineage, column: Column) -> str:
    """``fct_orders.revenue``, or ``rows of fct_orders``."""
    node, name = column
    shown = display_name(lineage, node)
    return f"rows of {shown}" if name is None else f"{shown}.{name}"


def path_text(lineage: Lineage, columns: Sequence[Column], arcs: Sequence[tuple[Edge, ...]]) -> str:
    """``raw.email -> stg.email -> dim.hash (transformation, masked)``."""
    parts = [column_text(lineage, columns[0])] if columns else []
    for column, edges in zip(columns[1:], arcs, strict=True):
        how = _how(edges)
        parts.append(column_text(lineage, column) + (f" ({how})" if how else ""))
    if len(parts) > MOST_STEPS:
        half = MOST_STEPS // 2
        left_out = len(parts) - 2 * half
        parts = [*parts[:half], f"... {left_out} more ...", *parts[-half:]]
    return " -> ".join(parts)


def _how(edges: Iterable[Edge]) -> str:
    listed = list(edges)
    found = {edge.subtype for edge in listed} - {Subtype.IDENTITY}
    said = [s.value.lower().replace("_", " ") for s in Subtype if s in found]
    if listed and all(edge.masking for edge in listed):
        said.append("masked")
    if listed and all(edge.certainty is Certainty.ASSUMED for edge in listed):
        said.append("assumed")
    return ", ".join(said)
