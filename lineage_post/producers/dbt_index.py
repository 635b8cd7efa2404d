"""Column lineage that dbt 2 itself has written, as claims of the producer ``dbt_index``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

from lineage_post.history.claims import Claims
from lineage_post.producers.gathering import Gathered
from lineage_post.producers.names import Names
from lineage_post.vocabulary import Certainty, Producer, Subtype

#: dbt's three words. A ``scan`` does not say by which clause, so its subtype is assumed.
_KINDS = {
    "copy": (Subtype.IDENTITY, Certainty.EXACT),
    "mod": (Subtype.TRANSFORMATION, Certainty.EXACT),
    "scan": (Subtype.FILTER, Certainty.ASSUMED),
}
#: The names of the two layouts; see publish.dbt_index.
_NAMES = (
    ("from_node_unique_id", "from_column_name", "to_node_unique_id", "to_column_name",
     "lineage_kind"),
    ("parent_node_unique_id", "parent_column_name", "child_node_unique_id", "child_column_name",
     "evolution"),
)  # fmt: skip


def read_dbt_index(
    rows: Iterable[Mapping[str, Any]], names: Names, *, ours: Iterable[str] = ()
) -> Claims:
    """The claims in the rows of ``dbt.column_lineage``, which list all that dbt knows.

    ``ours`` are the nodes whose edges this tool wrote into the file: dbt does not say those.
    Raises ValueError for a file of neither layout.
    """
    left_out = frozenset(ours)
    found: dict[str, Gathered] = {}
    digest = hashlib.sha256()
    for row in rows:
        keys = next((keys for keys in _NAMES if keys[0] in row), None)
        if keys is None:
            raise ValueError("neither layout of dbt's column lineage")
        from_node, from_column, to_node, to_column, kind = (row.get(key) for key in keys)
        if to_node in left_out:
            continue
        digest.update(json.dumps([from_node, from_column, to_node, to_column, kind]).encode())
        subtype, certainty = _KINDS.get(str(kind), _KINDS["scan"])
        gathered = found.setdefault(str(to_node), Gathered(str(to_node), "", _time(row)))
        gathered.observed_at = max(gathered.observed_at, _time(row))
        gathered.add(
            (str(from_node), names.column(str(from_node), str(from_column))),
            names.column(str(to_node), str(to_column)),
            subtype,
            certainty=certainty,
        )
    claims = []
    for gathered in found.values():
        gathered.run_id = f"dbt_index-{digest.hexdigest()[:32]}"
        claims.append(gathered.claim())
    return Claims(Producer.DBT_INDEX.value, tuple(claims), is_complete=True)


def _time(row: Mapping[str, Any]) -> datetime:
    at = row.get("ingested_at")
    if not isinstance(at, datetime):
        return datetime(1970, 1, 1)
    return at.astimezone(timezone.utc).replace(tzinfo=None) if at.tzinfo else at
