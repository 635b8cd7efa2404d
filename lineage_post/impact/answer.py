"""Answers for one project, which share what they find out about its readers."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lineage_post.consumers import Places, Uses, files_of
from lineage_post.consumers.yaml_places import Read
from lineage_post.errors import SelectionError
from lineage_post.graph import Column
from lineage_post.impact.change import Change, ChangeKind, Doubts, Impact
from lineage_post.impact.domain import Domain, domain_of
from lineage_post.impact.kept import KeptVerdicts
from lineage_post.impact.possible import possible_of
from lineage_post.impact.retype import doubts_of
from lineage_post.impact.simulate import Retracer
from lineage_post.impact.walk import Walk
from lineage_post.lineage import Lineage
from lineage_post.trace.dialects import Case, dialect_of, rules_of

if TYPE_CHECKING:
    from lineage_post.impact.outer_joins import OuterJoins


class Analysis:
    """``Analysis(lineage, read).impact(change)``; ``read`` gives the text of a file by its
    package and path, or None: lines are then counted in the SQL that the manifest has. Without
    ``read`` it is the project's own files, where they are at hand. ``kept`` is the folder in which
    what is found out about readers is kept for later runs; ``save`` writes it."""

    def __init__(
        self, lineage: Lineage, read: Read | None = None, kept: Path | None = None
    ) -> None:
        self.lineage = lineage
        self.kept = KeptVerdicts(kept)
        self.places = Places(lineage.project, read or files_of(lineage))

    @cached_property
    def uses(self) -> Uses:
        return Uses(self.lineage)

    @cached_property
    def retracer(self) -> Retracer:
        return Retracer(self.lineage, self.kept)

    @cached_property
    def joins(self) -> OuterJoins:
        from lineage_post.impact.outer_joins import OuterJoins

        return OuterJoins(self.lineage)

    def save(self) -> None:
        self.kept.save()

    def walk(self, column: Column) -> Walk:
        """All that depends on a column, without the places."""
        return Walk(self.lineage, self.uses, self.retracer, column)

    def impact(self, change: Change) -> Impact:
        """The dependents of a column, and what a change of it breaks.

        Raises SelectionError for a new name that the node has already.
        """
        if change.kind is ChangeKind.RENAME:
            self._check_name(change)
        walk = self.walk((change.node, change.column))
        passes = tuple(column for column in walk.named if column != walk.start)
        dependents = tuple(walk.dependents(self.places))
        mentions = tuple(walk.dependents(self.places, texts=True))
        doubts = Doubts()
        if change.kind is ChangeKind.RETYPE and change.to:
            doubts = doubts_of(self.lineage, walk.start, change.to, dependents)
        return Impact(change, dependents, possible_of(walk), passes, mentions, doubts)

    def domain(self, node: str, column: str | None) -> Domain:
        """What a new value in a column can move, or another set of rows (``column`` None)."""
        return domain_of(self.lineage, node, column, self.retracer, self.joins)

    @property
    def _ignores_case(self) -> bool:
        named = self.lineage.options.dialect or dialect_of(self.lineage.project.adapter_type)
        return rules_of(named).case is Case.IGNORED

    def _check_name(self, change: Change) -> None:
        if change.to is None:
            return
        if change.to == change.column:
            raise SelectionError(
                f"{change.to!r} is the name that the column of {change.node} has",
                hint="A rename needs another name.",
            )
        if change.to.casefold() == change.column.casefold() and self._ignores_case:
            raise SelectionError(
                f"{change.to!r} is the name that the column of {change.node} has but for case",
                hint="This dialect ignores case in names, so nothing breaks.",
            )
        present = {name.casefold(): name for name in self.lineage.graph.columns(change.node)}
        taken = present.get(change.to.casefold())
        if taken is not None and taken != change.column:
            raise SelectionError(
                f"{change.node} has a column {taken!r} already",
                hint="A rename needs a name that is free.",
            )
