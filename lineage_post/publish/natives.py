"""Where the data of sources really are, and how fresh what is served of them is.

    {"relation": "shop.raw.orders", "source": "source.shop.raw.orders", "type": "external_location",
     "address": "s3://lake/orders/*.parquet",
     "served": {"mode": "replica", "ttl": "12 hour", "last_load": "2026-01-02T03:04:05+00:00",
                "next_load": "2026-01-02T15:04:05+00:00"}}

``mode`` is null where nobody says whether the place is read itself or copied in. ``ttl`` is how old
the data may be, as dbt source freshness has it, ``last_load`` the newest row that it saw.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from lineage_post.artifacts import Node
from lineage_post.history.claims import InputVersion
from lineage_post.lineage import Lineage

_HOURS = {"minute": 1 / 60, "hour": 1, "day": 24}


def natives_of(
    lineage: Lineage, nodes: Iterable[str], loads: Mapping[str, InputVersion] | None = None
) -> list[dict[str, Any]]:
    """The raw places below the nodes, sorted. ``loads`` are the answers of freshness_versions."""
    found = []
    for unique_id in sorted(set(nodes)):
        node = lineage.project.nodes.get(unique_id)
        if node is not None and node.native:
            found.append(_native(node, (loads or {}).get(unique_id)))
    return found


def _native(node: Node, load: InputVersion | None) -> dict[str, Any]:
    native = node.native
    freshness = native.get("freshness") or {}
    ttl = freshness.get("error_after") or freshness.get("warn_after")
    last = load.version if load is not None else None
    return {
        "relation": str(node.relation) if node.relation else None,
        "source": node.unique_id,
        "type": native.get("kind"),
        "address": native.get("location"),
        "served": {
            "mode": native.get("served"),
            "ttl": ttl,
            "last_load": last,
            "next_load": _after(last, ttl),
        },
    }


def _after(last: str | None, ttl: str | None) -> str | None:
    """When the next load is due: the last one and the time that it may be old."""
    count, _, period = (ttl or "").partition(" ")
    try:
        at = datetime.fromisoformat((last or "").replace("Z", "+00:00"))
        return (at + timedelta(hours=float(count) * _HOURS[period])).isoformat()
    except (ValueError, KeyError, OverflowError):
        return None
