"""What columns inherit, as patches of their YAML and as a document."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from lineage_post.governance.classification import Column
from lineage_post.governance.descriptions import Inherited, origin_name
from lineage_post.governance.quality import Governed
from lineage_post.governance.tagging import column_to_dict
from lineage_post.governance.yaml_patch import Noted
from lineage_post.lineage import Lineage
from lineage_post.vocabulary import Word


class What(Word):
    """What may be inherited."""

    DESCRIPTION = "description"
    OWNER = "owner"
    QUALITY = "quality"


def inherit_patches(
    lineage: Lineage,
    descriptions: Iterable[Inherited],
    governed: Governed,
    wanted: Collection[What],
    picks: Callable[[Column], bool],
) -> dict[Column, dict[str, Any]]:
    """What each column is to declare; what it declares already stays as it is."""
    patches: dict[Column, dict[str, Any]] = {}
    if What.DESCRIPTION in wanted:
        for found in descriptions:
            if picks(found.column):
                comment = f"inherited from {origin_name(lineage, found.origin)}"
                patches.setdefault(found.column, {})["description"] = Noted(found.text, comment)
    for column in columns_of(lineage, picks) if {What.OWNER, What.QUALITY} & {*wanted} else ():
        meta = _meta(governed, column, wanted)
        if meta:
            patches.setdefault(column, {})["meta"] = meta
    return patches


def columns_of(lineage: Lineage, picks: Callable[[Column], bool]) -> list[Column]:
    """The columns of what the project builds, as far as they are picked."""
    built = ("model", "snapshot")
    return [
        (unique_id, name)
        for unique_id in sorted(lineage.nodes)
        if getattr(lineage.project.nodes.get(unique_id), "resource_type", None) in built
        for name in lineage.graph.columns(unique_id)
        if picks((unique_id, name))
    ]


def _meta(governed: Governed, column: Column, wanted: Collection[What]) -> dict[str, Any]:
    meta: dict[str, Any] = {}
    owner, quality = governed.ownership(column), governed.quality(column)
    if What.OWNER in wanted and owner.inherited is not None:
        meta["owner"] = owner.inherited
    is_open = quality.declared is None and quality.effective is not None and not quality.unscored
    if What.QUALITY in wanted and is_open:
        meta["quality"] = quality.effective
    return meta


def inherit_to_dict(
    lineage: Lineage,
    descriptions: Iterable[Inherited],
    governed: Governed,
    picks: Callable[[Column], bool],
) -> dict[str, Any]:
    """``descriptions`` with their paths, ``quality`` and ``owners`` of columns that have any."""
    columns = columns_of(lineage, picks)
    scores = [governed.quality(column) for column in columns]
    owners = [governed.ownership(column) for column in columns]
    return {
        "descriptions": [
            {
                **column_to_dict(found.column),
                "description": found.text,
                "origin": column_to_dict(found.origin),
                "path": [column_to_dict(step) for step in found.path],
            }
            for found in descriptions
            if picks(found.column)
        ],
        "quality": [
            {
                **column_to_dict(q.column),
                "declared": q.declared,
                "effective": q.effective,
                "worst_source": column_to_dict(q.worst) if q.worst else None,
                "overstated": q.is_overstated,
                "comparable": q.is_comparable,
                "unscored_sources": [column_to_dict(source) for source in q.unscored],
            }
            for q in scores
            if q.effective is not None or not q.is_comparable
        ],
        "owners": [
            {
                **column_to_dict(o.column),
                "declared": o.declared,
                "inherited": o.inherited,
                "owners_of_sources": list(o.of_sources),
            }
            for o in owners
            if o.declared or o.inherited or any(o.of_sources)
        ],
    }
