"""Traces every node of a project, parents first, and binds the answers to nodes."""

from lineage_post.lineage.values import ColumnLineage, Edge, NodeLineage, Note

__all__ = ["ColumnLineage", "Edge", "NodeLineage", "Note"]
