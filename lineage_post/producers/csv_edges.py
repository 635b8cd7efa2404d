"""Edges in a table of one's own: the form of ``lineage-post export csv``, or just four columns."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from lineage_post.history.claims import Claims
from lineage_post.producers.gathering import Gathered
from lineage_post.producers.names import Names
from lineage_post.vocabulary import Certainty, EdgeType, Subtype

#: What must be there; ``to_column`` may be empty: the source column decides whole rows.
REQUIRED = ("from_node", "from_column", "to_node", "to_column")


def read_csv(
    rows: Iterable[Mapping[str, Any]], names: Names, *, producer: str, at: datetime
) -> Claims:
    """The claims of a table of edges: everything this producer has to say.

    ``from_node`` and ``to_node`` are unique_ids or full relation names. Without a subtype a value
    edge is a TRANSFORMATION and one to rows a FILTER, both assumed. Raises ValueError naming the
    row that is wrong.
    """
    found: dict[str, Gathered] = {}
    digest = hashlib.sha256()
    for number, row in enumerate(rows, 2):
        missing = [name for name in REQUIRED if name not in row]
        if missing:
            raise ValueError(f"row {number}: there is no column {missing[0]!r}")
        digest.update(json.dumps(dict(row), sort_keys=True, default=str).encode())
        _add(row, number, names, found, at)
    run_id = f"{producer}-{digest.hexdigest()[:32]}"
    claims = []
    for gathered in found.values():
        gathered.run_id = run_id
        claims.append(gathered.claim())
    return Claims(producer, tuple(claims), is_complete=True)


def _add(
    row: Mapping[str, Any], number: int, names: Names, found: dict[str, Gathered], at: datetime
) -> None:
    source, target = (_node(row[key], key, number, names) for key in ("from_node", "to_node"))
    if not _text(row["from_column"]):
        raise ValueError(f"row {number}: from_column is empty")
    column = _text(row["to_column"]) or None
    gathered = found.setdefault(target, Gathered(target, "", at))
    subtype, certainty = _subtype(row, column, number)
    gathered.add(
        (source, names.column(source, _text(row["from_column"]))),
        names.column(target, column) if column else None,
        subtype,
        field_path=_text(row.get("from_field")) or None,
        masking=_text(row.get("masking")).lower() in ("true", "1", "yes", "t"),
        certainty=certainty,
        expression=_text(row.get("expression")) or None,
    )


def _node(value: Any, key: str, number: int, names: Names) -> str:
    text = _text(value)
    if not text:
        raise ValueError(f"row {number}: {key} is empty")
    if names.is_of_project(text) or text.startswith("external."):
        return text
    found = names.node(text)
    if found is None:
        raise ValueError(f"row {number}: {text!r} is neither a unique_id nor a relation's name")
    return found


def _subtype(row: Mapping[str, Any], column: str | None, number: int) -> tuple[Subtype, Certainty]:
    word = _text(row.get("subtype")).upper()
    if not word:
        return (Subtype.TRANSFORMATION if column else Subtype.FILTER), Certainty.ASSUMED
    if word not in Subtype.__members__:
        raise ValueError(f"row {number}: the subtype {word!r} is not one of {', '.join(Subtype)}")
    if column is None and Subtype[word].type is EdgeType.DIRECT:
        raise ValueError(f"row {number}: {word} without a to_column")
    said = _text(row.get("certainty")).lower()
    return Subtype[word], Certainty.ASSUMED if said == "assumed" else Certainty.EXACT


def _text(value: Any) -> str:
    """A cell's text, without the quote that guards a spreadsheet against formulas."""
    text = "" if value is None else str(value)
    return text[1:] if text[:1] == "'" and text[1:2] in tuple("=+-@\t\r") else text
