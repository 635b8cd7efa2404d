"""What a change of a column breaks, and what else depends on it."""

from lineage_post.impact.answer import Analysis
from lineage_post.impact.change import (
    BreaksOn,
    Change,
    ChangeKind,
    Dependent,
    Doubt,
    Doubts,
    How,
    Impact,
    Possible,
)
from lineage_post.impact.domain import Domain, Moved

__all__ = [
    "Analysis",
    "BreaksOn",
    "Change",
    "ChangeKind",
    "Dependent",
    "Domain",
    "Doubt",
    "Doubts",
    "How",
    "Impact",
    "Moved",
    "Possible",
]
