"""Labels that flow: along values downstream, until a mask or a declassification stops them.

stg.email [pii] -> dim.email        pii
stg.email [pii] -> dim.email_hash   stopped: md5
dim.email [pii] -> fct.has_email    stopped where its meta has lineage: {declassify: [pii]}
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from lineage_post.governance.classification import (
    OWN_KEY,
    Classification,
    Column,
    Label,
    declared_columns,
)
from lineage_post.lineage import Edge, Lineage
from lineage_post.vocabulary import Certainty, EdgeType, Word


class StoppedBy(Word):
    """What ends a label's way."""

    MASKING = "masking"
    DECLASSIFIED = "declassified"


@dataclass(frozen=True, slots=True)
class Arrival:
    """A label that a column has from another one: ``path`` leads from ``origin`` to the column.

    ``certainty`` is ``assumed`` where every path crosses an over-approximated edge.
    """

    column: Column
    label: Label
    path: tuple[Column, ...]
    certainty: Certainty

    @property
    def origin(self) -> Column:
        return self.path[0]


@dataclass(frozen=True, slots=True)
class Stop:
    """A label that came up to a column and no further; ``path`` ends with that column.

    ``operation`` is the SQL that masks.
    """

    column: Column
    label: Label
    path: tuple[Column, ...]
    by: StoppedBy
    operation: str | None = None


@dataclass(frozen=True)
class Flow:
    """All labels and where they go: ``Flow(lineage, Classification(lineage)).inherited``."""

    lineage: Lineage
    classification: Classification

    @property
    def declared(self) -> Mapping[Column, tuple[Label, ...]]:
        return self.classification.labels

    @cached_property
    def declassified(self) -> Mapping[Column, frozenset[str] | None]:
        """The labels that each column declares to end there; None for all of them."""
        found: dict[Column, frozenset[str] | None] = {}
        for unique_id in self.lineage.nodes:
            for name, column in declared_columns(self.lineage, unique_id):
                settings = column.meta.get(OWN_KEY)
                value = settings.get("declassify") if isinstance(settings, Mapping) else None
                if value is True:
                    found[unique_id, name] = None
                elif value:
                    labels = [value] if isinstance(value, str) else value
                    found[unique_id, name] = frozenset(map(str, labels))
        return found

    @cached_property
    def inherited(self) -> dict[Column, tuple[Arrival, ...]]:
        """What each column has from others, nearest origin first; its own labels left out."""
        found: dict[Column, list[Arrival]] = {}
        for walk in self._walks:
            own = {label.text for label in self.declared.get(walk.origin, ())}
            for column, path in walk.paths.items():
                if column == walk.origin or walk.label.text not in own:
                    continue
                certainty = Certainty.EXACT if column in walk.exact else Certainty.ASSUMED
                found.setdefault(column, []).append(Arrival(column, walk.label, path, certainty))
        return {column: tuple(sorted(found[column], key=_nearest)) for column in sorted(found)}

    @cached_property
    def stops(self) -> tuple[Stop, ...]:
        """Where labels end, sorted; a column that has the label by another way is left out."""
        carried = {(a.column, a.label.text) for group in self.inherited.values() for a in group}
        carried |= {(c, label.text) for c, labels in self.declared.items() for label in labels}
        found: dict[tuple[Column, str, Column], Stop] = {}
        for walk in self._walks:
            for stop in walk.stops:
                if (stop.column, stop.label.text) not in carried:
                    found.setdefault((stop.column, stop.label.text, stop.path[0]), stop)
        return tuple(found[key] for key in sorted(found))

    def carriers(self, label: str | None = None) -> frozenset[Column]:
        """The columns that have a label (or any), their own or from others."""
        own = {c for c, labels in self.declared.items() if _has(labels, label)}
        came = {c for c, all_ in self.inherited.items() if _has((a.label for a in all_), label)}
        return frozenset(own | came)

    @cached_property
    def _walks(self) -> tuple[_Walk, ...]:
        return tuple(
            _walked(self, origin, label)
            for origin, labels in self.declared.items()
            for label in _one_of_each(labels)
        )

    def ends(self, column: Column, label: Label) -> bool:
        """Whether a column declares that the label ends there."""
        if column not in self.declassified:
            return False
        labels = self.declassified[column]
        return labels is None or label.text in labels or label.key in labels


@dataclass(frozen=True, slots=True)
class _Walk:
    """One label of one column: the columns it reaches by the shortest path, and where it ends."""

    origin: Column
    label: Label
    paths: Mapping[Column, tuple[Column, ...]]
    exact: frozenset[Column]
    stops: tuple[Stop, ...]


def _walked(flow: Flow, origin: Column, label: Label) -> _Walk:
    """Exact edges first: what they reach is sure, whatever shorter way is only assumed."""
    paths: dict[Column, tuple[Column, ...]] = {origin: (origin,)}
    stops: list[Stop] = []
    _spread(flow, label, paths, stops, assumed=False)
    exact = frozenset(paths)
    _spread(flow, label, paths, stops, assumed=True)
    return _Walk(origin, label, paths, exact, tuple(s for s in stops if s.column not in paths))


def _spread(
    flow: Flow,
    label: Label,
    paths: dict[Column, tuple[Column, ...]],
    stops: list[Stop],
    *,
    assumed: bool,
) -> None:
    queue = deque(sorted(paths, key=lambda c: len(paths[c])))
    while queue:
        column = queue.popleft()
        for target, edges in value_edges(flow.lineage, column):
            way = (*paths[column], target)
            bare = [e for e in edges if not e.masking]
            if target in paths:
                continue
            if not bare:
                operation = next((e.expression for e in edges if e.expression), None)
                stops.append(Stop(target, label, way, StoppedBy.MASKING, operation))
            elif flow.ends(target, label):
                stops.append(Stop(target, label, way, StoppedBy.DECLASSIFIED))
            elif assumed or any(e.certainty is Certainty.EXACT for e in bare):
                paths[target] = way
                queue.append(target)


def value_edges(lineage: Lineage, column: Column) -> Iterator[tuple[Column, list[Edge]]]:
    """The columns that a column's value goes to, sorted, each with the edges that carry it."""
    groups: dict[Column, list[Edge]] = {}
    for edge in lineage.graph.edges_out_of(*column):
        if edge.type is EdgeType.DIRECT and edge.to_column is not None:
            groups.setdefault((edge.to_node, edge.to_column), []).append(edge)
    for target in sorted(groups):
        yield target, groups[target]


def _one_of_each(labels: Iterable[Label]) -> list[Label]:
    """A tag and a meta key of one text are one label."""
    return list({label.text: label for label in reversed(list(labels))}.values())[::-1]


def _has(labels: Iterable[Label], text: str | None) -> bool:
    return any(text is None or label.text == text for label in labels)


def _nearest(arrival: Arrival) -> tuple[str, int, Column]:
    return arrival.label.text, len(arrival.path), arrival.origin
