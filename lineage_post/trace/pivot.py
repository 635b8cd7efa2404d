"""PIVOT and UNPIVOT."""

from __future__ import annotations

from typing import Any

from lineage_post.trace.errors import Unsupported
from lineage_post.trace.frame import Frame
from lineage_post.trace.relation import Relation
from lineage_post.trace.tracer import Tracer


def pivot(t: Tracer, node: Any, relation: Relation, f: Frame) -> Relation:
    """The relation after a PIVOT or UNPIVOT."""
    raise Unsupported("pivot")
