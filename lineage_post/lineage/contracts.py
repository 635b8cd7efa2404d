"""Lineage by declaration: ``meta: lineage: {inputs, outputs}`` on a node whose code is not SQL.

    inputs: {stg_orders: [order_id, amount], stg_customers: "*"}    or [stg_orders.order_id, ...]
    outputs: [score, rank]                                          or {score: double}

Every declared input reaches every declared output, and no more (the closure of a taint).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lineage_post.artifacts import Node
from lineage_post.schema import declared_outputs
from lineage_post.trace.result import Op
from lineage_post.values import Edge
from lineage_post.vocabulary import OpKind, Subtype


@dataclass(frozen=True, slots=True)
class Contract:
    """Declared inputs (node, column) and outputs (name, type), and what is wrong with them."""

    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str | None], ...]
    warnings: tuple[str, ...] = ()


def contract_of(
    node: Node, parents: Sequence[Node], columns_of: Callable[[str], Iterable[str]]
) -> Contract | None:
    """The contract of a node, None where it declares none.

    ``columns_of`` gives the columns of a parent: for ``"*"``, and to tell one that is not there.
    """
    declared = node.meta.get("lineage")
    if not isinstance(declared, Mapping) or "outputs" not in declared:
        return None
    warnings: list[str] = []
    inputs: list[tuple[str, str]] = []
    for name, columns in _listed_inputs(declared.get("inputs")):
        parent = _named(name, parents)
        if parent is None:
            warnings.append(f"the contract reads {name!r}, which the model does not depend on")
            continue
        known = list(columns_of(parent.unique_id))
        inputs.extend((parent.unique_id, c) for c in _columns(name, columns, known, warnings))
    covered = {unique_id for unique_id, _ in inputs}
    warnings.extend(
        f"no declared input covers {parent.unique_id}"
        for parent in parents
        if parent.unique_id not in covered
    )
    outputs = tuple(declared_outputs(node))
    return Contract(tuple(dict.fromkeys(inputs)), outputs, tuple(warnings))


def contract_edges(node: Node, contract: Contract) -> list[Edge]:
    """An edge from each declared input to each declared output, carrying the command."""
    ops = (Op(node.name, OpKind.COMMAND),)
    return [
        Edge(parent, column, None, node.unique_id, output, Subtype.TRANSFORMATION, ops=ops)
        for parent, column in contract.inputs
        for output, _ in contract.outputs
    ]


def _listed_inputs(inputs: Any) -> list[tuple[str, Any]]:
    if isinstance(inputs, Mapping):
        return [(str(name), columns) for name, columns in inputs.items()]
    listed: dict[str, list[str]] = {}
    for item in inputs if isinstance(inputs, (list, tuple)) else ():
        relation, _, column = str(item).rpartition(".")
        listed.setdefault(relation, []).append(column)
    return list(listed.items())


def _named(name: str, parents: Sequence[Node]) -> Node | None:
    """The parent a contract means: by unique_id, relation, or the name that ref or source takes."""
    for parent in parents:
        names = {parent.unique_id, parent.name, parent.label_or_name, str(parent.relation)}
        if parent.resource_type == "source":
            names.add(f"{parent.details.get('source_name')}.{parent.name}")
        if parent.relation is not None:
            names.add(".".join(parent.relation.parts[-2:]))
        if name in names:
            return parent
    return None


def _columns(name: str, columns: Any, known: Sequence[str], warnings: list[str]) -> list[str]:
    wanted = [columns] if isinstance(columns, str) else list(columns or ())
    if wanted == ["*"]:
        if not known:
            warnings.append(f"the contract reads all of {name!r}, whose columns are not known")
        return list(known)
    spelled = {column.casefold(): column for column in known}
    for column in wanted:
        if known and str(column).casefold() not in spelled:
            warnings.append(f"the contract reads {name}.{column}, which is not there")
    return [spelled.get(str(column).casefold(), str(column)) for column in wanted]
