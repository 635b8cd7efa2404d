"""The graph of all columns: upstream, downstream, reach and cycles."""

from lineage_post.graph.columns import ColumnGraph, HasNodes, Step
from lineage_post.graph.cycles import Column, Cycle, CycleKind

__all__ = ["Column", "ColumnGraph", "Cycle", "CycleKind", "HasNodes", "Step"]
