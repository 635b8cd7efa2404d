"""The names that are in scope while one SELECT is walked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from lineage_post.trace.dialects import Rules, Visible
from lineage_post.trace.relation import AnyStep, Relation, Rows

if TYPE_CHECKING:
    from lineage_post.trace.ctes import Cte
    from lineage_post.trace.opens import Open

Env = Mapping[str, "Cte"]
_NONE: Mapping[str, Any] = MappingProxyType({})


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
        "_alias_positions", "_indexed", "_owned", "_owners", "alias_visible", "bindings",
        "by_key", "env", "gap", "is_partial", "merged", "opens", "operands", "outer", "owned",
        "provenances", "rows", "rows_of", "spellings", "steps", "unnamed", "windows",
    )  # fmt: skip

    def __init__(self, outer: Frame | None, env: Env) -> None:
        self.outer = outer
        self.env = env
        self.operands: list[Operand] = []
        self.by_key: dict[str, Operand] = {}
        self.merged: Mapping[str, Merged] = _NONE
        self.spellings: list[str] = []
        self.provenances: list[int] = []
        self.steps: list[AnyStep] = []
        #: What may have more outputs than those listed: ``*`` of an unlisted table.
        self.opens: list[Open] = []
        #: The positions that they stand between, as in Relation.
        self.gap: tuple[int, int] | None = None
        self._alias_positions: dict[str, int] = {}
        self._indexed = 0
        #: What ``owners`` found, until FROM brings more.
        self.owned: dict[str, Operand | None] | None = None
        self._owners: dict[str, Operand | None] | None = {}
        self._owned = 0
        self.alias_visible = Visible.NO
        self.windows: Mapping[str, Any] = _NONE
        #: Lambda variables and such, innermost last; key -> provenance.
        self.bindings: tuple[dict[str, int], ...] = ()
        self.rows = 0
        self.rows_of = Rows()
        #: How many outputs so far the engine had to name.
        self.unnamed = 0
        #: True while FROM is being read, when a LATERAL item or ON sees a part of it.
        self.is_partial = False

    def alias(self, key: str, rules: Rules) -> int | None:
        """The position of the first output so far of that name; indexed when first asked for."""
        positions = self._alias_positions
        spellings = self.spellings
        for i in range(self._indexed, len(spellings)):
            positions.setdefault(rules.key_of(spellings[i]), i)
        self._indexed = len(spellings)
        return positions.get(key)

    def owners(self) -> dict[str, Operand | None] | None:
        """The item of FROM that alone has a column of each key; None where several may have it.

        Nothing at all where a name may be found in another case than it is spelled in.
        """
        owners = self._owners
        if self.owned is not None or owners is None:
            return owners
        for operand in self.operands[self._owned :]:
            names = operand.relation.names
            exact = names.build() if names.exact is None else names.exact
            if names.folded is not None:
                self._owners = None
                return None
            repeated = owners.keys() & exact.keys()
            owners.update(dict.fromkeys(exact, operand))
            owners.update(dict.fromkeys(repeated))
        self._owned = len(self.operands)
        self.owned = owners
        return owners

    def add_output(self, spelling: str, provenance: int, step: AnyStep) -> None:
        """Appends an output column, which later items may refer to by its alias."""
        self.spellings.append(spelling)
        self.provenances.append(provenance)
        self.steps.append(step)

    def add_opens(self, opens: Iterable[Open], first: int, last: int) -> None:
        """Notes that more outputs than those listed may stand between two positions."""
        before = len(self.opens)
        self.opens.extend(opens)
        if len(self.opens) > before:
            old = self.gap or (first, last)
            self.gap = min(old[0], first), max(old[1], last)

    def add_operand(self, operand: Operand) -> None:
        """Appends an item of FROM; what decides its rows decides those of the SELECT."""
        self.bring(operand)
        self.decide_like(operand.relation)

    def bring(self, operand: Operand) -> None:
        """Brings an item into scope and nothing else."""
        self.owned = None
        self.operands.append(operand)
        self.by_key.setdefault(operand.key, operand)

    def hide_from(self, count: int) -> None:
        """Leaves only the first items in scope, as a semi join does."""
        del self.operands[count:]
        self.by_key = {}
        self.owned, self._owners, self._owned = None, {}, 0
        for operand in self.operands:
            self.by_key.setdefault(operand.key, operand)

    def merge(self, key: str, column: Merged) -> None:
        """Records a column that USING or NATURAL made of two."""
        self.merged = {**self.merged, key: column}

    def bind(self, names: Iterable[str]) -> None:
        """Brings the variables of a lambda into scope; they have no source of their own."""
        self.bindings = (*self.bindings, dict.fromkeys(names, 0))

    def unbind(self) -> None:
        """Takes the innermost variables out of scope."""
        self.bindings = self.bindings[:-1]

    def decide_like(self, relation: Relation) -> None:
        """Takes over what decides the rows of a relation."""
        if relation.rows_of is not None:
            self.rows |= relation.rows
            self.rows_of.sources.append(relation.rows_of)


class MatchFrame(Frame):
    """The names inside MATCH_RECOGNIZE, where FIRST and LAST pick a row of the match."""

    __slots__ = ()
