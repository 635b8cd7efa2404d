"""``lineage_known``: no column of a model is unknown, and not too many are only assumed."""

from __future__ import annotations

from collections.abc import Sequence

from lineage_post.contracts.contract import Contract, Kind
from lineage_post.contracts.finding import Finding, Proof, column_text
from lineage_post.lineage import ColumnLineage, Lineage, NodeLineage
from lineage_post.vocabulary import Certainty, State


def lineage_known(contract: Contract, lineage: Lineage, columns: Sequence[str]) -> list[Finding]:
    """Each column that is not known, where they are more than ``max_unknown``; each that is only
    assumed, where they are more than ``max_assumed``."""
    node = lineage.nodes[contract.unique_id]
    unclear = [c for c in node.columns if c.state is not State.KNOWN and _is_meant(c, contract)]
    found = []
    if len(unclear) > contract.max_unknown:
        found = [_unknown(contract, lineage, c) for c in unclear]
    if node.state is State.UNKNOWN and not found:
        because = f"the lineage of the model is unknown ({node.reason})"
        found = [Finding(contract.kind, node.unique_id, None, "", because, Proof.UNPROVEN)]
    assumed = _assumed(node, columns if contract.column else None)
    if contract.max_assumed is not None and len(assumed) > contract.max_assumed:
        found += [_only_assumed(contract, lineage, column) for column in assumed]
    return found


def _is_meant(column: ColumnLineage, contract: Contract) -> bool:
    if contract.column is None or column.name == "*":
        return True
    return (column.name or "").casefold() == contract.column.casefold()


def _unknown(contract: Contract, lineage: Lineage, column: ColumnLineage) -> Finding:
    where = column_text(lineage, (contract.unique_id, column.name))
    detail = f": {' '.join(column.detail.split())}" if column.detail else ""
    because = f"what {where} comes from is {column.state} ({column.reason}){detail}"
    return Finding(
        Kind.LINEAGE_KNOWN, contract.unique_id, column.name, where, because, Proof.UNPROVEN
    )


def _assumed(node: NodeLineage, columns: Sequence[str] | None) -> list[str | None]:
    """Columns, and None for the rows, of which an edge is over-approximated."""
    targets = [e.to_column for e in node.edges if e.certainty is Certainty.ASSUMED]
    return [t for t in dict.fromkeys(targets) if columns is None or t in columns]


def _only_assumed(contract: Contract, lineage: Lineage, column: str | None) -> Finding:
    where = column_text(lineage, (contract.unique_id, column))
    origins = dict.fromkeys(
        column_text(lineage, (e.from_node, e.from_column))
        for e in lineage.nodes[contract.unique_id].edges
        if e.to_column == column and e.certainty is Certainty.ASSUMED
    )
    because = f"that {where} comes from {', '.join(list(origins)[:5])} is only assumed"
    path = f"{next(iter(origins), '')} -> {where} (assumed)"
    return Finding(contract.kind, contract.unique_id, column, path, because, Proof.UNPROVEN)
