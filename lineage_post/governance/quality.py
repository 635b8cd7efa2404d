"""Owners and quality scores along values: a column is no better than its worst direct source.

    raw.email   meta: {quality: 0.7}
    raw.id      meta: {quality: 0.9}
    dim.key     computed from both: 0.7

A score is a number, or a word of one of SCALES. What a node declares holds for its columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lineage_post.governance.classification import Column, declared_columns
from lineage_post.lineage import Lineage
from lineage_post.vocabulary import EdgeType

#: Words from worst to best; scores of different scales are never compared.
SCALES: tuple[tuple[str, ...], ...] = (
    ("low", "medium", "high"),
    ("bronze", "silver", "gold"),
    ("poor", "fair", "good", "excellent"),
)


@dataclass(frozen=True, slots=True)
class Quality:
    """The score of a column: what it declares, what it can be at best, and by which source.

    ``worst`` is the direct source that bounds it, None where its own score does. ``unscored`` are
    direct sources without one: they bound nothing, and say that the score is not the whole truth.
    """

    column: Column
    declared: float | str | None
    effective: float | str | None
    worst: Column | None
    unscored: tuple[Column, ...]
    is_comparable: bool = True

    @property
    def is_overstated(self) -> bool:
        """Whether the column declares more than its sources can give."""
        return self.declared is not None and self.worst is not None


@dataclass(frozen=True, slots=True)
class Ownership:
    """Who answers for a column: its own owner, else the one owner of all its direct sources."""

    column: Column
    declared: str | None
    inherited: str | None
    #: The owners of its direct sources, sorted; None among them where one has none.
    of_sources: tuple[str | None, ...]


class Governed:
    """Scores and owners of all columns, each walked to once: ``Governed(lineage).quality(c)``."""

    def __init__(self, lineage: Lineage) -> None:
        self.lineage = lineage
        self._quality: dict[Column, Quality] = {}
        self._owners: dict[Column, Ownership] = {}

    def quality(self, column: Column) -> Quality:
        """The score of a column; a cycle on the way adds nothing."""
        if column not in self._quality:
            for one in self._order(column):
                self._quality.setdefault(one, self._score(one))
        return self._quality[column]

    def ownership(self, column: Column) -> Ownership:
        """Who owns a column."""
        if column not in self._owners:
            for one in self._order(column):
                self._owners.setdefault(one, self._owned(one))
        return self._owners[column]

    def sources(self, column: Column) -> list[Column]:
        """The columns that a column's value is computed from directly, sorted."""
        edges = self.lineage.graph.edges_into(*column)
        found = {(e.from_node, e.from_column) for e in edges if e.type is EdgeType.DIRECT}
        return sorted(found - {column})

    def _order(self, column: Column) -> Iterator[Column]:
        """All columns upstream, sources first. Without recursion: chains may be long."""
        done: set[Column] = set()
        stack: list[tuple[Column, bool]] = [(column, False)]
        while stack:
            one, is_left = stack.pop()
            if is_left:
                yield one
            elif one not in done:
                done.add(one)
                stack.append((one, True))
                stack += [(source, False) for source in self.sources(one) if source not in done]

    def _score(self, column: Column) -> Quality:
        declared = self._declared("quality", column, _score)
        sources = self.sources(column)
        scored = [(s, self._quality[s].effective) for s in sources if s in self._quality]
        unscored = tuple(s for s in sources if s not in dict(scored) or dict(scored)[s] is None)
        bounds = [(score, source) for source, score in scored if score is not None]
        everything = [score for score, _ in bounds] + ([declared] if declared is not None else [])
        if len({_scale(score) for score in everything}) > 1:
            return Quality(column, declared, declared, None, unscored, is_comparable=False)
        worst = min(bounds, key=lambda b: (_rank(b[0]), b[1]), default=None)
        if worst is None or (declared is not None and _rank(declared) <= _rank(worst[0])):
            return Quality(column, declared, declared, None, unscored)
        return Quality(column, declared, worst[0], worst[1], unscored)

    def _owned(self, column: Column) -> Ownership:
        declared = self._declared("owner", column, _owner) or self._node_owner(column[0])
        owners = [self._owner_of(source) for source in self.sources(column)]
        every = tuple(sorted(set(owners), key=lambda o: (o is None, o or "")))
        only = every[0] if len(every) == 1 and declared is None else None
        return Ownership(column, declared, only, every)

    def _owner_of(self, column: Column) -> str | None:
        found = self._owners.get(column)
        return (found.declared or found.inherited) if found else self._node_owner(column[0])

    def _node_owner(self, unique_id: str) -> str | None:
        node = self.lineage.project.nodes.get(unique_id)
        return node.owner if node is not None else None

    def _declared(self, key: str, column: Column, read: Any) -> Any:
        own = self._meta.get(column, {})
        if read(own.get(key)) is not None:
            return read(own.get(key))
        node = self.lineage.project.nodes.get(column[0])
        return read(node.meta.get(key)) if node is not None else None

    @cached_property
    def _meta(self) -> dict[Column, Any]:
        return {
            (unique_id, name): declared.meta
            for unique_id in self.lineage.nodes
            for name, declared in declared_columns(self.lineage, unique_id)
            if declared.meta
        }


def _score(value: Any) -> float | str | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return value if value == value else None
    text = str(value).strip()
    try:
        return float(text)
    except ValueError:
        return text if any(text.casefold() in scale for scale in SCALES) else None


def _owner(value: Any) -> str | None:
    if isinstance(value, dict):
        value = value.get("name") or value.get("email")
    return value if isinstance(value, str) and value else None


def _scale(score: float | str) -> int:
    if not isinstance(score, str):
        return -1
    return next(i for i, scale in enumerate(SCALES) if score.casefold() in scale)


def _rank(score: float | str) -> float:
    if not isinstance(score, str):
        return score
    return SCALES[_scale(score)].index(score.casefold())
