"""OpenLineage run and job events as claims: the column lineage facet 1-0-0 to 1-2-0.

https://openlineage.io/docs/spec/facets/dataset-facets/column_lineage_facet
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from lineage_post.history.claims import Claim, Claims
from lineage_post.producers.gathering import Gathered
from lineage_post.producers.names import Names
from lineage_post.trace.result import Op
from lineage_post.vocabulary import Certainty, EdgeType, OpKind, Producer, Status, Subtype

#: Namespaces whose names are paths, not database.schema.table.
_PATHS = re.compile(r"^(s3a?|gs|abfss?|wasbs?|hdfs|file|dbfs|adl|oss|cosn|https?)(:|$)", re.I)
#: Where lineage_post's own exporter puts nodes that are no relation: their name is the unique_id.
_DBT = "dbt"
_FAILED = frozenset({"FAIL", "ABORT"})
_COUNT = re.compile(r"\bcount\w*\s*\(", re.I)
_HASHED = re.compile(r"md5|sha|hash|mask|encrypt", re.I)


@dataclass(slots=True)
class _RunSeen:
    """All events of one run, or of one job where it has no run."""

    run_id: str
    at: datetime
    is_failed: bool = False
    query: str | None = None
    inputs: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    outputs: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)


def read_openlineage(events: Iterable[Mapping[str, Any]], names: Names) -> Claims:
    """The claims in events, of every dataset that some run or job wrote.

    A run that failed claims a failed refresh and no edge. Raises ValueError for an event without
    what the specification requires.
    """
    runs: dict[str, _RunSeen] = {}
    for event in events:
        _take(event, runs)
    claims = [claim for run in runs.values() for claim in _claims(run, names)]
    return Claims(Producer.OPENLINEAGE.value, tuple(claims), is_complete=False)


def _take(event: Mapping[str, Any], runs: dict[str, _RunSeen]) -> None:
    job, at = event.get("job"), event.get("eventTime")
    if not isinstance(job, Mapping) or not isinstance(at, str):
        raise ValueError("an event without job and eventTime is none of OpenLineage's run events")
    run_id = str((event.get("run") or {}).get("runId") or f"{job.get('namespace')}:{job['name']}")
    when = _time(at)
    seen = runs.setdefault(run_id, _RunSeen(run_id, when))
    seen.at = max(seen.at, when)
    seen.is_failed = seen.is_failed or event.get("eventType") in _FAILED
    sql = ((job.get("facets") or {}).get("sql") or {}).get("query")
    seen.query = sql if isinstance(sql, str) else seen.query
    for dataset in event.get("inputs") or ():
        seen.inputs[_key(dataset)] = dataset.get("facets") or {}
    for dataset in event.get("outputs") or ():
        # The last event to have a facet counts: a START has no column lineage, a COMPLETE has.
        seen.outputs.setdefault(_key(dataset), {}).update(dataset.get("facets") or {})


def _key(dataset: Mapping[str, Any]) -> tuple[str, str]:
    return str(dataset.get("namespace") or ""), str(dataset["name"])


def _time(text: str) -> datetime:
    found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return found.astimezone(timezone.utc).replace(tzinfo=None) if found.tzinfo else found


def _claims(run: _RunSeen, names: Names) -> Iterator[Claim]:
    reader = _Reader(names, run)
    for key, facets in run.outputs.items():
        node = reader.node(key, facets)
        if run.is_failed:
            yield Claim(node, run.run_id, run.at, query=run.query, status=Status.ERROR)
        else:
            yield reader.gathered(node, facets).claim()


class _Reader:
    """Reads the outputs of one run."""

    def __init__(self, names: Names, run: _RunSeen) -> None:
        self.names = names
        self.run = run

    def node(self, key: tuple[str, str], facets: Mapping[str, Any]) -> str:
        """The node of a dataset, by its own name or by one it is also known as."""
        symlinks = (facets.get("symlinks") or {}).get("identifiers") or ()
        keys = [key, *((str(s.get("namespace") or ""), str(s["name"])) for s in symlinks)]
        found = [self._named(*k) for k in keys]
        return next((n for n in found if self.names.is_of_project(n)), found[0])

    def _named(self, namespace: str, name: str) -> str:
        if namespace == _DBT and self.names.is_of_project(name):
            return name
        if _PATHS.match(namespace):
            return self.names.node_of((f"{namespace.rstrip('/')}/{name.lstrip('/')}",))
        return self.names.node(name) or self.names.node_of((name,))

    def gathered(self, node: str, facets: Mapping[str, Any]) -> Gathered:
        found = Gathered(node, self.run.run_id, self.run.at, query=self.run.query)
        for key, own in self.run.inputs.items():
            source = self.node(key, own)
            if source != node:
                found.inputs.setdefault(source, {})
        for column in (facets.get("schema") or {}).get("fields") or ():
            found.add_column(self._column(node, str(column["name"])), column.get("type"))
        lineage = facets.get("columnLineage") or {}
        for name, content in (lineage.get("fields") or {}).items():
            self._add_field(found, self._column(node, str(name)), content)
        for item in lineage.get("dataset") or ():
            self._add_inputs(found, None, item, {})
        return found

    def _add_field(self, found: Gathered, column: str, content: Mapping[str, Any]) -> None:
        found.add_column(column)
        for item in content.get("inputFields") or ():
            self._add_inputs(found, column, item, content)

    def _add_inputs(
        self,
        found: Gathered,
        column: str | None,
        item: Mapping[str, Any],
        content: Mapping[str, Any],
    ) -> None:
        key = _key(item)
        source = self.node(key, self.run.inputs.get(key) or {})
        name, path = self._path(source, str(item["field"]))
        for one in item.get("transformations") or [_of_the_first_version(content)]:
            subtype, certainty = _subtype(one, column)
            text = str(one.get("description") or "")
            found.add(
                (source, name),
                column,
                subtype,
                field_path=path,
                masking=_is_masked(one, subtype, text),
                certainty=certainty,
                expression=text,
                ops=_ops(one),
            )

    def _column(self, node: str, name: str) -> str:
        return self.names.column(node, name)

    def _path(self, node: str, name: str) -> tuple[str, str | None]:
        """A column, and the path below it where the name has one and the whole is no column."""
        known = self.names.spellings.get(node, {})
        root, dot, path = name.partition(".")
        if dot and name.casefold() not in known and root.casefold() in known:
            return known[root.casefold()], path
        return self._column(node, name), None


def _of_the_first_version(content: Mapping[str, Any]) -> dict[str, Any]:
    """What 1-0-0 says of a whole field: ``IDENTITY`` or ``MASKED``."""
    kind = content.get("transformationType")
    return {
        "type": EdgeType.DIRECT.value,
        "subtype": Subtype.IDENTITY.value if kind == "IDENTITY" else None,
        "description": content.get("transformationDescription"),
        "masking": kind == "MASKED",
    }


def _subtype(one: Mapping[str, Any], column: str | None) -> tuple[Subtype, Certainty]:
    """The subtype; the weakest claim where none of ours is said, and then it is assumed."""
    kind, word = str(one.get("type") or "").upper(), str(one.get("subtype") or "").upper()
    is_indirect = kind == EdgeType.INDIRECT.value or column is None
    said = Certainty.ASSUMED if one.get("certainty") == "assumed" else Certainty.EXACT
    if word in Subtype.__members__ and (Subtype[word].type is EdgeType.INDIRECT) == is_indirect:
        return Subtype[word], said
    return (Subtype.FILTER if is_indirect else Subtype.TRANSFORMATION), Certainty.ASSUMED


def _ops(one: Mapping[str, Any]) -> tuple[Op, ...]:
    """The steps that lineage_post's own exporter says; another producer has no word for them."""
    listed = one.get("ops")
    kinds = {kind.value for kind in OpKind}
    return tuple(
        Op(str(op.get("name") or ""), OpKind(op["kind"]))
        for op in (listed if isinstance(listed, list) else ())
        if isinstance(op, Mapping) and op.get("kind") in kinds
    )


def _is_masked(one: Mapping[str, Any], subtype: Subtype, text: str) -> bool:
    """OpenLineage lets a COUNT mask; here it does not, unless what it counts is masked too."""
    is_count = subtype is Subtype.AGGREGATION and _COUNT.search(text) and not _HASHED.search(text)
    return bool(one.get("masking")) and not is_count
