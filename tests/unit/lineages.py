"""Lineage of small manifests, and how tests speak of its edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lineage_post.artifacts import catalog_from_dict, project_from_manifest_dict
from lineage_post.cache import Cache
from lineage_post.lineage import Lineage, NodeLineage, trace_project
from lineage_post.options import Options

from .manifests import make_catalog, make_manifest


def lineage_of(
    *nodes: Mapping[str, Any],
    catalog: Mapping[str, Mapping[str, str]] | None = None,
    cache: Cache | None = None,
    options: Options | None = None,
    **manifest: Any,
) -> Lineage:
    """The lineage of a manifest of these nodes."""
    return trace_project(
        project_from_manifest_dict(make_manifest(*nodes, **manifest)),
        catalog=catalog_from_dict(make_catalog(catalog or {})),
        options=options or Options(processes=1),
        cache=cache,
    )


def edges_of(lineage: NodeLineage) -> set[str]:
    """Edges as ``orders.id -> order_id IDENTITY``; the target of a dataset-level edge is ``*``."""
    return {
        f"{e.from_node.rsplit('.', 1)[-1]}.{e.from_column} -> {e.to_column or '*'} {e.subtype}"
        for e in lineage.edges
    }


def states_of(lineage: NodeLineage) -> dict[str | None, str]:
    """Column name -> state, with the reason of what is not known."""
    return {c.name: f"{c.state}({c.reason})" if c.reason else str(c.state) for c in lineage.columns}
