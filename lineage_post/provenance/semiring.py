"""Readings of a polynomial: counting, survival, cost, clearance, why sets, or a user's own.

Source: Green, Karvounarakis and Tannen, PODS 2007; the why semiring is Buneman, Khanna and Tan's,
ICDT 2001.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from lineage_post.errors import LineageError
from lineage_post.provenance.polynomial import Constant, Polynomial, Sum, Token

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Semiring(Generic[T]):
    """Two operations and their neutral values; ``zero`` absorbs under ``times``."""

    zero: T
    one: T
    plus: Callable[[T, T], T]
    times: Callable[[T, T], T]


#: How many derivations the row has.
COUNTING: Semiring[int] = Semiring(0, 1, lambda a, b: a + b, lambda a, b: a * b)
#: Is the row still there when rows are deleted? A deleted source row is False.
BOOLEAN: Semiring[bool] = Semiring(False, True, lambda a, b: a or b, lambda a, b: a and b)
#: The cheapest derivation, when each source row costs something.
TROPICAL: Semiring[float] = Semiring(float("inf"), 0.0, min, lambda a, b: a + b)
#: The lowest clearance that sees the row: 0 is public, higher is more secret.
SECURITY: Semiring[float] = Semiring(float("inf"), 0.0, min, max)

WhySets = frozenset[frozenset[Token]]
#: Sets of source rows, each of which is enough for the row.
WHY: Semiring[WhySets] = Semiring(
    frozenset(),
    frozenset({frozenset()}),
    lambda a, b: a | b,
    lambda a, b: frozenset(x | y for x in a for y in b),
)

NAMED: Mapping[str, Semiring[int] | Semiring[bool] | Semiring[float] | Semiring[WhySets]] = {
    "counting": COUNTING,
    "boolean": BOOLEAN,
    "tropical": TROPICAL,
    "security": SECURITY,
    "why": WHY,
}


def evaluate(
    polynomial: Polynomial,
    semiring: Semiring[T],
    value: Callable[[Token], T],
    gates: Mapping[Token, Polynomial] | None = None,
) -> T:
    """``polynomial`` read in ``semiring``, each source row being worth ``value(token)``.

    Each gate is read once, however often it is used. Raises LineageError on a gate that ``gates``
    does not expand.
    """
    known: dict[Token, T] = {}

    def read(node: Polynomial) -> T:
        if isinstance(node, Token):
            return of_gate(node) if node.is_gate else value(node)
        if isinstance(node, Constant):
            return semiring.one if node.value else semiring.zero
        operation = semiring.plus if isinstance(node, Sum) else semiring.times
        parts = node.terms if isinstance(node, Sum) else node.factors
        result = read(parts[0])
        for part in parts[1:]:
            result = operation(result, read(part))
        return result

    def of_gate(gate: Token) -> T:
        if gate not in known:
            if gates is None or gate not in gates:
                raise LineageError(f"the gate {gate} is not expanded")
            known[gate] = read(gates[gate])
        return known[gate]

    return read(polynomial)


def minimal(sets: WhySets) -> WhySets:
    """The sets of ``sets`` that hold no other: the minimal witnesses."""
    return frozenset(s for s in sets if not any(other < s for other in sets))
