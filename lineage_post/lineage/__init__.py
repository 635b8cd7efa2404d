"""Traces every node of a project, parents first, and binds the answers to nodes."""

from lineage_post.lineage.load import load
from lineage_post.lineage.project import Counts, Coverage, Lineage
from lineage_post.lineage.run import ENGINE, trace_project
from lineage_post.values import ColumnLineage, Edge, NodeLineage, Note

__all__ = [
    "ENGINE",
    "ColumnLineage",
    "Counts",
    "Coverage",
    "Edge",
    "Lineage",
    "NodeLineage",
    "Note",
    "load",
    "trace_project",
]
