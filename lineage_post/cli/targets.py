"""Moved to lineage_post.selection.targets."""

from lineage_post.selection.targets import Target, target_of

__all__ = ["Target", "target_of"]
