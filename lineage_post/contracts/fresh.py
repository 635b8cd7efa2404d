"""``lineage_fresh``: what is recorded of a model is of the definition it has now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lineage_post.contracts.contract import Contract
from lineage_post.lineage import Lineage
from lineage_post.vocabulary import REASONS_THAT_KEEP_THE_LAST_ANSWER


@dataclass(frozen=True, slots=True)
class Recorded:
    """What stands for a node's lineage: ``problem`` if it is not of today's definition.

    ``at`` and ``now`` are in UTC; ``at`` is None where that is not known.
    """

    at: datetime | None
    now: datetime
    problem: str | None = None


def stale_because(contract: Contract, lineage: Lineage, recorded: Recorded | None) -> str | None:
    """Why the lineage of the node is not fresh, None where it is."""
    node = lineage.nodes[contract.unique_id]
    if node.reason in REASONS_THAT_KEEP_THE_LAST_ANSWER:
        return f"the model could not be traced ({node.reason})"
    if recorded is None:
        return "no lineage of it is recorded: run dbt build with the lineage_post.publish hook"
    if recorded.problem is not None:
        return recorded.problem
    if contract.max_age_hours is None:
        return None
    if recorded.at is None:
        return "it is not known when its lineage was recorded"
    hours = (recorded.now - recorded.at).total_seconds() / 3600
    if hours <= contract.max_age_hours:
        return None
    return (
        f"its lineage was recorded {hours:.1f} hours ago, at {recorded.at:%Y-%m-%d %H:%M} UTC,"
        f" and {contract.max_age_hours:g} are allowed"
    )
