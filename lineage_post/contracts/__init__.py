"""Contracts on columns, as dbt tests declare them, and what breaks them."""

from lineage_post.contracts.contract import Contract, Kind, contract_of
from lineage_post.contracts.declared import ContractTest, declared_contracts
from lineage_post.contracts.evaluate import Evaluator
from lineage_post.contracts.finding import Finding, Proof

__all__ = [
    "Contract",
    "ContractTest",
    "Evaluator",
    "Finding",
    "Kind",
    "Proof",
    "contract_of",
    "declared_contracts",
]
