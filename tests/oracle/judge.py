"""Compares what was observed with what is claimed: certain misses, and claims never seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lineage_post.vocabulary import DIRECT_SUBTYPES, Subtype
from tests.oracle.changes import Unit
from tests.oracle.claims import Claim, Claims
from tests.oracle.observation import Observable, Observation, Witness, is_order
from tests.oracle.values import is_recodable

#: What a query without its row-deciding clauses can still do to every output.
_LEFT_IN_FREE = frozenset({Subtype.GROUP_BY, Subtype.WINDOW, Subtype.CONDITIONAL})


_KINDS = {"bare": "value", "free": "value, branch, window or group", "full": "influence"}


@dataclass(frozen=True, slots=True)
class Miss:
    """An influence that no claim explains. ``output`` is a position, None for rows or order."""

    kind: str
    unit: Unit
    output: int | None
    witness: Witness

    def __str__(self) -> str:
        target = "(rows)" if self.output is None else f"#{self.output + 1}"
        return f"{self.kind}: {self.unit} -> {target}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Misses are certain; suspects were only never seen."""

    misses: tuple[Miss, ...]
    suspects: tuple[Claim, ...]

    def suspect_units(self, units: Iterable[Unit]) -> list[Unit]:
        return [unit for unit in units if any(claim.covers(unit) for claim in self.suspects)]


def judge(seen: Observation, claims: Claims) -> Verdict:
    """The verdict on claims about an observed query."""
    misses = {(miss.unit, miss.output): miss for miss in reversed(list(_misses(seen, claims)))}
    suspects = [claim for claim in claims.all if not _is_confirmed(seen, claims, claim)]
    return Verdict(tuple(misses.values()), tuple(_without_twins(suspects, claims, seen)))


def is_explained(
    seen: Observation, claims: Claims, variant: str, unit: Unit, moved: Observable
) -> bool:
    """Whether the claims allow that a variant's observable moves with the unit."""
    rows = claims.indirect(None)
    if isinstance(moved, tuple):
        if moved[0] == "fresh":
            return True
        return _covered([*claims.value(moved[1]), *claims.indirect(moved[1]), *rows], unit)
    if isinstance(moved, str):
        return _covered(claims.all if moved == "joint" else rows, unit)
    allowed = claims.value(moved)
    if variant == "full":
        allowed = [*allowed, *claims.indirect(moved), *rows]
    elif variant == "free":
        is_kept = _is_kept(unit, seen.kept_free)
        left = [claim for claim in rows if is_kept or claim.subtype in _LEFT_IN_FREE]
        allowed = [*allowed, *claims.indirect(moved), *left]
    elif _is_kept(unit, seen.kept_bare):
        allowed = [*allowed, *claims.indirect(moved), *rows]
    return _covered(allowed, unit)


def _covered(claims: Iterable[Claim], unit: Unit) -> bool:
    return any(claim.covers(unit) for claim in claims)


def _is_kept(unit: Unit, kept: frozenset[str]) -> bool:
    return unit.column.lower() in kept or "*" in kept


def _misses(seen: Observation, claims: Claims) -> Iterator[Miss]:
    for variant, kind in _KINDS.items():
        for unit, observed in seen.seen[variant].items():
            for moved, witness in observed.items():
                if moved == "order" and "joint" in observed:
                    continue  # other rows have another order
                if not is_explained(seen, claims, variant, unit, moved):
                    output = moved if isinstance(moved, int) else None
                    yield Miss("order" if is_order(moved) else kind, unit, output, witness)


def _is_confirmed(seen: Observation, claims: Claims, claim: Claim) -> bool:
    units = [unit for unit in seen.units if claim.covers(unit)]
    if claim.path:
        units = [unit for unit in units if unit.path]
    if claim.output is None:
        return any(_rows_moved(seen, claims, unit) for unit in units)
    if claim.subtype in DIRECT_SUBTYPES:
        return any(_value_seen(seen, claims, unit, claim.output) for unit in units)
    others = [other for other in claims.all if other.output not in (None, claim.output)]
    for unit in units:
        full = seen.seen["full"].get(unit, {})
        if claim.output in full or ("joint" in full and not _covered(others, unit)):
            return True
    return False


def _value_seen(seen: Observation, claims: Claims, unit: Unit, output: int) -> bool:
    full, free, bare = (seen.seen[name].get(unit, {}) for name in ("full", "free", "bare"))
    if output in bare or ("fresh", output) in full:
        return True
    rows = claims.indirect(None)
    own = claims.indirect(output)
    in_free = [*own, *(c for c in rows if c.subtype in _LEFT_IN_FREE)]
    if output in free and not _covered(in_free, unit):
        return True
    only_value = not _covered([*own, *rows], unit)
    # a flipped boolean or a changed document is no recoding, so that branch and value stay one
    inseparable = not is_recodable(unit.kind) or _is_kept(unit, seen.kept_bare)
    return output in full and (only_value or inseparable) or (output in free and inseparable)


def _rows_moved(seen: Observation, claims: Claims, unit: Unit) -> bool:
    for observable in seen.seen["full"].get(unit, {}):
        if observable == "rows" or observable == "order":
            return True
        output = observable if isinstance(observable, int) else None
        if isinstance(observable, tuple) and observable[0] == "order":
            output = int(observable[1])
        if output is not None:
            own = [*claims.value(output), *claims.indirect(output)]
            if not _covered(own, unit):
                return True
    return False


def _without_twins(suspects: Iterable[Claim], claims: Claims, seen: Observation) -> Iterator[Claim]:
    """Row claims of a column that feeds every output look like its values: no suspects."""
    outputs = range(len(seen.outputs))
    for claim in suspects:
        own = (
            [c for c in claims.value(o) if (c.table, c.column) == (claim.table, claim.column)]
            for o in outputs
        )
        if claim.output is None and outputs and all(own):
            continue
        yield claim
