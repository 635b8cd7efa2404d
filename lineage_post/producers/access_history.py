"""Snowflake's ACCESS_HISTORY as claims: which columns a query wrote from which.

https://docs.snowflake.com/en/sql-reference/account-usage/access_history. The objects of a row are
JSON, as text or parsed. A table outside the project that one query writes and a later one reads is
a step on the way: what is read from it comes from what was written into it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from lineage_post.history.claims import Claim, Claims
from lineage_post.producers.gathering import Gathered
from lineage_post.producers.names import Names
from lineage_post.vocabulary import Certainty, Producer, Subtype

_Column = tuple[str, str]


@dataclass(slots=True)
class _Written:
    """What the last query wrote into a node: of each column its sources, and the tables read with
    the columns that were read of them, for whatever purpose."""

    sources: dict[str, dict[_Column, None]] = field(default_factory=dict)
    inputs: dict[str, dict[str, None]] = field(default_factory=dict)

    def read(self, inputs: Mapping[str, Mapping[str, None]]) -> None:
        for node, columns in inputs.items():
            self.inputs.setdefault(node, {}).update(columns)


def read_access_history(rows: Iterable[Mapping[str, Any]], names: Names) -> Claims:
    """The claims in the rows of an exported ACCESS_HISTORY, a claim for each query and table.

    Whether a value was copied or computed it does not tell: an edge is a TRANSFORMATION, assumed.
    Raises ValueError naming the query whose row is wrong.
    """
    queries = [_Query(row, names) for row in rows]
    queries.sort(key=lambda q: (q.at, q.query_id))
    steps: dict[str, _Written] = {}
    standing: dict[str, _Written] = {}
    claims: list[Claim] = []
    for query in queries:
        for node, written in query.written():
            chained = _chained(written, steps)
            kept = standing if names.is_of_project(node) else steps
            if node in kept and not query.replaces:
                chained = _both(kept[node], chained)
            kept[node] = chained
            if kept is standing:
                claims.append(_claim(query, node, chained))
    reached = {node for c in claims for node in (e.from_node for e in c.edges)}
    names.unmapped -= steps.keys() - reached
    return Claims(Producer.ACCESS_HISTORY.value, tuple(claims), is_complete=False)


class _Query:
    """One row: a query, when it started, and what it read and wrote."""

    def __init__(self, row: Mapping[str, Any], names: Names) -> None:
        cells = {str(key).lower(): value for key, value in row.items()}
        self.query_id = str(cells.get("query_id") or "")
        if not self.query_id:
            raise ValueError("a row has no QUERY_ID")
        try:
            self.at = _time(cells.get("query_start_time"))
            self.modified = _objects(cells.get("objects_modified"))
            # Directly read is what the query names; the base objects lie beneath its views.
            self.read = _objects(
                cells.get("direct_objects_accessed") or cells.get("base_objects_accessed")
            )
        except (ValueError, TypeError) as error:
            raise ValueError(f"query {self.query_id}: {error}") from error
        self.names = names
        text = cells.get("query_text")
        self.text = str(text) if text else None
        self.operation = _operation(cells.get("query_type"), self.text)

    @property
    def replaces(self) -> bool:
        """Whether what the table held before is gone. An insert, and a query of which nobody
        tells what it did, leaves what was there."""
        return (self.operation or "").startswith("create")

    def written(self) -> Iterator[tuple[str, _Written]]:
        """Each table that the query wrote, with the sources of its columns."""
        for target in self.modified:
            node = self._node(target)
            if node is None:
                continue
            found = _Written()
            for source, columns in self._tables_read(node):
                found.read({source: columns})
            for column in target.get("columns") or ():
                name = self.names.column(node, str(column["columnName"]))
                found.sources[name] = dict.fromkeys(self._sources(column))
            yield node, found

    def _tables_read(self, target: str) -> Iterator[tuple[str, dict[str, None]]]:
        for item in self.read:
            node = self._node(item)
            if node is not None and node != target:
                named = (c.get("columnName") for c in item.get("columns") or ())
                yield node, {self.names.column(node, str(name)): None for name in named if name}

    def _sources(self, column: Mapping[str, Any]) -> Iterator[_Column]:
        # The direct source is the view that was named; the base ones lie beneath it.
        for source in column.get("directSources") or column.get("baseSources") or ():
            node = self._node(source)
            if node is not None and source.get("columnName"):
                yield node, self.names.column(node, str(source["columnName"]))

    def _node(self, item: Mapping[str, Any]) -> str | None:
        if str(item.get("objectDomain") or "Table").lower() in ("stage", "function", "procedure"):
            return None
        name = item.get("objectName")
        return self.names.node(str(name)) if name else None


def _chained(written: _Written, steps: Mapping[str, _Written]) -> _Written:
    """The same with each step on the way replaced by what was written into it.

    A step holds what was chained before it, so that one look is enough.
    """
    found = _Written()
    for name, sources in written.sources.items():
        own: dict[_Column, None] = {}
        for node, column in sources:
            step = steps.get(node)
            own.update(step.sources.get(column, {}) if step else {(node, column): None})
        found.sources[name] = own
    for node, columns in written.inputs.items():
        step = steps.get(node)
        found.read(step.inputs if step else {node: columns})
    return found


def _both(first: _Written, second: _Written) -> _Written:
    """What two queries wrote into one table that keeps both."""
    names = {**first.sources, **second.sources}
    found = _Written({n: {**first.sources.get(n, {}), **second.sources.get(n, {})} for n in names})
    found.read(first.inputs)
    found.read(second.inputs)
    return found


def _operation(query_type: Any, text: str | None) -> str | None:
    """What a query did, by QUERY_TYPE of the QUERY_HISTORY where it was joined, else its text."""
    words = str(query_type or "").upper().split("_") if query_type else []
    if not words and text:
        words = [w.strip("(;") for w in text.upper().split(None, 6)[:6]]
    if words[:1] == ["CREATE"]:
        return "create_view" if "VIEW" in words else "create_table_as"
    first = words[0].lower() if words else None
    return first if first in ("insert", "merge", "update", "delete") else None


def _claim(query: _Query, node: str, written: _Written) -> Claim:
    gathered = Gathered(node, query.query_id, query.at, query.operation, query.text)
    gathered.inputs.update(written.inputs)
    for name, sources in written.sources.items():
        gathered.add_column(name)
        for source in sources:
            gathered.add(source, name, Subtype.TRANSFORMATION, certainty=Certainty.ASSUMED)
    return gathered.claim()


def _objects(value: Any) -> list[Mapping[str, Any]]:
    found = json.loads(value) if isinstance(value, str) and value.strip() else value
    if found in (None, ""):
        return []
    if not isinstance(found, list) or not all(isinstance(item, Mapping) for item in found):
        raise ValueError("its objects are not a list")
    return found


def _time(value: Any) -> datetime:
    if isinstance(value, datetime):
        found = value
    elif value:
        found = datetime.fromisoformat(str(value).strip().replace("Z", "+00:00").replace(" +", "+"))
    else:
        raise ValueError("there is no QUERY_START_TIME")
    return found.astimezone(timezone.utc).replace(tzinfo=None) if found.tzinfo else found
