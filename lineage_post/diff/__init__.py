"""What differs between two states of a project, and what that does."""

from __future__ import annotations

from collections.abc import Callable

from lineage_post.consumers.yaml_places import Read
from lineage_post.diff.change import LEVELS, Diff, DiffKind, Found, Level, NodeChange
from lineage_post.diff.compare import Comparison
from lineage_post.diff.effects import Effects
from lineage_post.diff.sides import Side
from lineage_post.graph import Column
from lineage_post.impact import Analysis
from lineage_post.lineage import Lineage

__all__ = ["LEVELS", "Diff", "DiffKind", "Level", "NodeChange", "diff_of"]


def diff_of(
    before: Lineage,
    after: Lineage,
    *,
    read: Read = lambda package, path: None,
    typed: frozenset[str] | None = None,
    picks: Callable[[Column], bool] = lambda column: True,
) -> Diff:
    """The differences between two lineages of a project, with their effects.

    ``typed`` are the nodes whose types may be compared: those of which both sides learned them from
    a catalog, or neither did. None means all.
    ``picks`` says of which nodes (column None) and columns changes are wanted.
    """
    sides = (Side(before), Side(after))
    found = [f for f in Comparison(*sides, typed).differences() if _is_wanted(f, picks)]
    # What is still used stands in the files of today.
    return Effects(Analysis(before, read), Analysis(after, read), sides).diff(found)


def _is_wanted(found: Found, picks: Callable[[Column], bool]) -> bool:
    names = {found.column}
    if found.kind is DiffKind.COLUMN_RENAMED:
        names.add(found.after)
    return any(picks((found.unique_id, name)) for name in names)
