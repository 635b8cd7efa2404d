"""What differs between two states of a project, and what that does."""

from __future__ import annotations

from lineage_post.consumers.yaml_places import Read
from lineage_post.diff.change import LEVELS, Diff, DiffKind, Level, NodeChange
from lineage_post.diff.compare import Comparison
from lineage_post.diff.effects import Effects
from lineage_post.diff.sides import Side
from lineage_post.impact import Analysis
from lineage_post.lineage import Lineage

__all__ = ["LEVELS", "Diff", "DiffKind", "Level", "NodeChange", "diff_of"]


def diff_of(
    before: Lineage,
    after: Lineage,
    *,
    read: Read = lambda package, path: None,
    typed: frozenset[str] | None = None,
) -> Diff:
    """The differences between two lineages of a project, with their effects.

    ``typed`` are the nodes whose types may be compared: those of which both sides learned them from
    a catalog, or neither did. None means all.
    """
    sides = (Side(before), Side(after))
    found = Comparison(*sides, typed).differences()
    # What is still used stands in the files of today.
    return Effects(Analysis(before, read), Analysis(after, read), sides).diff(found)
