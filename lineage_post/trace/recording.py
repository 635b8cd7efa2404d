"""Notes what each stage of a statement leaves, for those who ask to see the steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from lineage_post.trace.dialects import Rules
from lineage_post.trace.relation import Relation

if TYPE_CHECKING:
    from lineage_post.trace.frame import Frame


class Noted(NamedTuple):
    """A stage as it was met: the columns are (FROM item or None, relation), read at the end."""

    scope: str
    kind: str
    node: Any
    columns: tuple[tuple[str | None, Relation], ...]
    rows: int


class Recorder:
    """The stages of a statement in the order they are evaluated."""

    def __init__(self) -> None:
        self.noted: list[Noted] = []
        self._scopes = ["final"]
        self._is_quiet = 0

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Names the query whose stages follow: a CTE, a derived table."""
        self._scopes.append(name)
        yield
        self._scopes.pop()

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Leaves stages out that repeat, as the rounds of a recursion do."""
        self._is_quiet += 1
        yield
        self._is_quiet -= 1

    def source(self, f: Frame, node: Any, key: str, relation: Relation, kind: str) -> None:
        """An item of FROM came into scope."""
        self._note(kind, node, ((key, relation),), f.rows)

    def stage(self, kind: str, f: Frame, node: Any) -> None:
        """A clause was applied to what is in scope."""
        columns = tuple((operand.key, operand.relation) for operand in f.operands)
        self._note(kind, node, columns, f.rows)

    def outputs(self, kind: str, f: Frame, node: Any, rules: Rules) -> None:
        """A clause was applied to what the select list makes."""
        provenances, steps = list(f.provenances), list(f.steps)
        relation = Relation(rules, list(f.spellings), provenances, steps)
        self._note(kind, node, ((None, relation),), f.rows)

    def result(self, kind: str, relation: Relation, node: Any = None) -> None:
        """Output columns came out."""
        self._note(kind, node, ((None, relation),), relation.rows)

    def _note(
        self, kind: str, node: Any, columns: tuple[tuple[str | None, Relation], ...], rows: int
    ) -> None:
        if not self._is_quiet:
            self.noted.append(Noted(self._scopes[-1], kind, node, columns, rows))
