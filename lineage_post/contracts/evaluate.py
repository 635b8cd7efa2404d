"""From a contract to what breaks it. One core: dbt's tests, the command line and the view ask it.

What is not there to check is a finding: a contract never passes because nothing was known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from lineage_post.contracts import flows, known
from lineage_post.contracts.contract import Contract, Kind, contract_of
from lineage_post.contracts.finding import Finding, said, unchecked
from lineage_post.contracts.flows import Question
from lineage_post.contracts.fresh import Recorded, stale_because
from lineage_post.contracts.origins import origins_of
from lineage_post.contracts.reference import Names, matching_columns
from lineage_post.contracts.walks import has_open_star, unknown_reason
from lineage_post.errors import LineageError
from lineage_post.lineage import Lineage
from lineage_post.vocabulary import State

#: What is recorded of a node's lineage; None where nothing is.
RecordedOf = Callable[[str], "Recorded | None"]
_FLOWS: Mapping[Kind, Callable[[Question], list[Finding]]] = {
    Kind.DERIVES_FROM: flows.derives_from,
    Kind.DOES_NOT_DERIVE_FROM: flows.does_not_derive_from,
    Kind.MASKED_FROM: flows.masked_from,
    Kind.ONLY_DERIVES_FROM: flows.only_derives_from,
    Kind.IS_IDENTITY_OF: flows.is_identity_of,
    Kind.IS_AGGREGATED: flows.is_aggregated,
}


class Evaluator:
    """Holds contracts against one lineage: ``Evaluator(lineage).findings(kind, node, arguments)``.

    ``recorded`` answers for ``lineage_fresh``.
    """

    def __init__(self, lineage: Lineage, recorded: RecordedOf = lambda unique_id: None) -> None:
        self.lineage = lineage
        self.recorded = recorded

    def findings(
        self, kind: str, unique_id: str, arguments: Mapping[str, Any]
    ) -> tuple[Finding, ...]:
        """What breaks the contract that a test's arguments state; empty where it holds."""
        try:
            contract = contract_of(kind, unique_id, arguments)
            return tuple(self._findings(contract))
        except LineageError as error:
            return (unchecked(None, kind, unique_id, said(error)),)

    def _findings(self, contract: Contract) -> list[Finding]:
        node = self.lineage.nodes.get(contract.unique_id)
        if node is None:
            because = f"there is no lineage of {contract.unique_id or 'what it is on'}"
            return [unchecked(contract, contract.kind, contract.unique_id, because)]
        if contract.kind is Kind.LINEAGE_FRESH:
            stale = stale_because(contract, self.lineage, self.recorded(contract.unique_id))
            if stale is None:
                return []
            return [Finding(contract.kind, contract.unique_id, None, "", stale)]
        columns, problems = self._columns(contract)
        if contract.kind is Kind.LINEAGE_KNOWN:
            return problems or known.lineage_known(contract, self.lineage, columns)
        origins = origins_of(contract, self.lineage, self._names)
        problems += [
            unchecked(contract, contract.kind, contract.unique_id, text)
            for text in origins.problems
        ]
        found = list(problems)
        for column in columns if not problems else ():
            question = Question(contract, self.lineage, (contract.unique_id, column), origins)
            found += _FLOWS[contract.kind](question)
        return found

    def _columns(self, contract: Contract) -> tuple[list[str], list[Finding]]:
        """The columns a contract is on, and what is wrong with them."""
        node = self.lineage.nodes[contract.unique_id]
        names = [c.name for c in node.columns if c.is_column and c.name]
        said: str | None = None
        if contract.column is not None:
            names, said = self._one(contract, names)
        elif contract.kind is Kind.LINEAGE_KNOWN:
            return names, []
        elif node.state is State.UNKNOWN or has_open_star(self.lineage, contract.unique_id):
            if not contract.allow_unknown:
                reason = unknown_reason(self.lineage, (contract.unique_id, None)) or node.reason
                said = f"not all columns of the model are known ({reason or 'star_unexpanded'})"
        elif not names:
            said = "no column of the model is known"
        return names, [unchecked(contract, contract.kind, contract.unique_id, said)] if said else []

    def _one(self, contract: Contract, names: list[str]) -> tuple[list[str], str | None]:
        wanted = contract.column or ""
        found = matching_columns(names, wanted)
        if len(found) == 1:
            return found, None
        node = self.lineage.nodes[contract.unique_id]
        if node.state is State.UNKNOWN or has_open_star(self.lineage, contract.unique_id):
            return [wanted], None
        near = get_close_matches(wanted, names, n=3, cutoff=0.5)
        hint = f" Did you mean {', '.join(near)}?" if near else ""
        return [], f"the model has no column {wanted!r}.{hint}"

    @cached_property
    def _names(self) -> Names:
        return Names(self.lineage.project, self.lineage)
