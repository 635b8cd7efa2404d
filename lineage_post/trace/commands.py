"""Declared contracts of functions: each declared input reaches each declared output, no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Commands:
    """Contracts by function name, compared without case."""

    def __init__(self, contracts: Mapping[str, Any]) -> None:
        self.contracts = {name.lower(): contract for name, contract in contracts.items()}
