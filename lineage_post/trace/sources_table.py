"""The sources of one trace: each column, field or unknown with the dense id its bits stand at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from lineage_post.trace.errors import TooComplex
from lineage_post.trace.provenance import CAPACITY, KINDS, bits
from lineage_post.trace.result import ColumnRef
from lineage_post.vocabulary import Reason


@dataclass(frozen=True, slots=True)
class Source:
    """A column of a relation as it reaches something: masked or assumed on that way, or not."""

    ref: ColumnRef
    is_masked: bool = False
    is_assumed: bool = False


@dataclass(frozen=True, slots=True)
class Missing:
    """Something unresolved, which flows like a source so that every reader of it is told.

    ``is_listed`` False: what reads it is in doubt (partial), but nothing is left to list.
    """

    name: str
    reason: Reason
    detail: str
    is_listed: bool = True


AnySource = Union[Source, Missing]


class Sources:
    """Interns sources: the same column has the same bit throughout a trace."""

    __slots__ = ("_columns", "_variants", "table")

    def __init__(self) -> None:
        self.table: list[AnySource] = []
        self._columns: dict[tuple[str, str, str | None], int] = {}
        self._variants: dict[AnySource, int] = {}

    def bit(self, relation: str, column: str, field: str | None = None) -> int:
        """The IDENTITY bit of a column, or of a field below it."""
        key = (relation, column, field)
        i = self._columns.get(key)
        if i is None:
            i = self._columns[key] = self._append(Source(ColumnRef(relation, column, field)))
        return 1 << (i * KINDS)

    def unknown(self, name: str, reason: Reason, detail: str) -> int:
        """The bit of something unresolved."""
        return 1 << (self._variant(Missing(name, reason, detail)) * KINDS)

    def doubt(self, reason: Reason) -> int:
        """A bit that makes its reader partial."""
        return 1 << (self._variant(Missing("", reason, "", is_listed=False)) * KINDS)

    def masked(self, x: int) -> int:
        """The same influences behind a hashing or redacting function."""
        return self._changed(x, is_masked=True)

    def assumed(self, x: int) -> int:
        """The same influences, over-approximated."""
        return self._changed(x, is_assumed=True)

    @property
    def has_variants(self) -> bool:
        """Whether any column is masked or assumed somewhere."""
        return bool(self._variants)

    def window_of(self, ref: ColumnRef) -> int:
        """All bits of a column, in each of its variants."""
        window = 0
        base = self._columns.get((ref.relation, ref.column, ref.field))
        ids = [] if base is None else [base]
        for is_masked in (False, True):
            for is_assumed in (False, True):
                i = self._variants.get(Source(ref, is_masked, is_assumed))
                if i is not None:
                    ids.append(i)
        for i in ids:
            window |= ((1 << KINDS) - 1) << (i * KINDS)
        return window

    def _changed(self, x: int, *, is_masked: bool = False, is_assumed: bool = False) -> int:
        y = 0
        for i, kind in bits(x):
            source = self.table[i]
            if isinstance(source, Source):
                i = self._variant(
                    Source(
                        source.ref,
                        source.is_masked or is_masked,
                        source.is_assumed or is_assumed,
                    )
                )
            y |= 1 << (i * KINDS + kind)
        return y

    def _variant(self, source: AnySource) -> int:
        if isinstance(source, Source) and not source.is_masked and not source.is_assumed:
            return self._columns[(source.ref.relation, source.ref.column, source.ref.field)]
        i = self._variants.get(source)
        if i is None:
            i = self._variants[source] = self._append(source)
        return i

    def _append(self, source: AnySource) -> int:
        if len(self.table) >= CAPACITY:
            raise TooComplex(f"the statement reads more than {CAPACITY} columns")
        self.table.append(source)
        return len(self.table) - 1
