"""dbt's node selection syntax, and ``+model.column+`` beside it."""

from lineage_post.selection.select import Selection, select

__all__ = ["Selection", "select"]
