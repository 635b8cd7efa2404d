"""Why a claim may never have been seen, as far as the observation tells."""

from __future__ import annotations

from tests.oracle.check import Checked
from tests.oracle.claims import Claim


def cause(claim: Claim, result: Checked) -> str:
    """A short cause: what to look at before the claim is taken for wrong."""
    seen = result.seen
    if not seen.counts["hit"]:
        return "the query gave no row in any trial"
    units = [unit for unit in seen.units if claim.covers(unit)]
    if not units:
        return "its column is not read as a column of a table"
    moved = {observable for unit in units for observable in seen.seen["full"].get(unit, {})}
    if claim.output is not None and claim.output in moved:
        return "moves the output, but another kind of claim explains it too"
    if moved:
        return "moves something else only"
    if seen.counts["empty"] > seen.counts["hit"]:
        return "rows in few trials"
    return "moves nothing in these trials"
