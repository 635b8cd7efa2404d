"""The names that are in scope while one SELECT is walked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from lineage_post.trace.dialects import Visible
from lineage_post.trace.relation import AnyStep, Relation, Rows, Step

if TYPE_CHECKING:
    from lineage_post.trace.ctes import Cte

Env = Mapping[str, "Cte"]


class Operand(NamedTuple):
    """One item of FROM: the key it is referred to by, its columns, and the name as written."""

    key: str
    relation: Relation
    parts: tuple[str, ...] = ()


class Merged(NamedTuple):
    """A column that USING or NATURAL made of two."""

    provenance: int
    step: AnyStep
    spelling: str
    operands: frozenset[int]


class Frame:
    """Everything a name in one SELECT can mean::

        select a + 1 as b, b * 2 as c      aliases: b, c (so far)
        from t join u using (k)            operands: t, u; merged: k
        window w as (order by a)           windows: w
        where exists (select ...)          the inner frame's outer is this frame
    """

    __slots__ = (
        "alias_visible", "aliases", "bindings", "env", "is_partial", "merged", "operands",
        "outer", "provenances", "rows", "rows_of", "spellings", "steps", "windows",
    )  # fmt: skip

    def __init__(self, outer: Optional["Frame"], env: Env) -> None:
        self.outer = outer
        self.env = env
        self.operands: list[Operand] = []
        self.merged: dict[str, Merged] = {}
        self.spellings: list[str] = []
        self.provenances: list[int] = []
        self.steps: list[AnyStep] = []
        self.aliases: dict[str, int] = {}
        self.alias_visible = Visible.NO
        self.windows: dict[str, Any] = {}
        #: Lambda variables and such, innermost last; key -> provenance.
        self.bindings: list[dict[str, int]] = []
        self.rows = 0
        self.rows_of = Rows()
        #: True while FROM is being read, when a LATERAL item or ON sees a part of it.
        self.is_partial = False

    def add_output(self, key: str, spelling: str, provenance: int, step: AnyStep) -> None:
        """Appends an output column, which later items may refer to by its alias."""
        self.aliases.setdefault(key, len(self.provenances))
        self.spellings.append(spelling)
        self.provenances.append(provenance)
        self.steps.append(step)

    def add_operand(self, operand: Operand) -> None:
        """Appends an item of FROM; what decides its rows decides those of the SELECT."""
        self.operands.append(operand)
        self.decide_like(operand.relation)

    def decide_like(self, relation: Relation) -> None:
        """Takes over what decides the rows of a relation."""
        self.rows |= relation.rows
        if relation.rows_of is not None:
            self.rows_of.sources.append(relation.rows_of)

    def decide(self, provenance: int, step: Step) -> None:
        """Records a predicate that decides rows; ``provenance`` has the kind it acts as."""
        self.rows |= provenance
        self.rows_of.own.append(step)
