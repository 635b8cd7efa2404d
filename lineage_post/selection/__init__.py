"""dbt's node selection syntax, and ``+model.column+`` beside it."""

from lineage_post.selection.select import Selection, select
from lineage_post.selection.targets import Target, target_of, without_quotes

__all__ = ["Selection", "Target", "select", "target_of", "without_quotes"]
