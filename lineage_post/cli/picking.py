"""The columns that a command's selectors pick."""

from __future__ import annotations

from lineage_post.cli import console
from lineage_post.cli.loading import Loaded
from lineage_post.governance.tagging import Picks
from lineage_post.selection import select


def picks_of(loaded: Loaded, selectors: tuple[str, ...]) -> Picks:
    """Whether a column is picked; without selectors every one that is published is."""
    lineage = loaded.lineage
    if not selectors:
        return lambda column: lineage.is_published(column[0])
    selection = select(lineage, selectors)
    for warning in selection.warnings:
        console.warn(warning)
    return lambda column: column in selection and lineage.is_published(column[0])
