"""The sources of one trace: each column, field or unknown with the dense id its bits stand at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lineage_post.trace.errors import TooComplex
from lineage_post.trace.provenance import CAPACITY, KINDS, bits
from lineage_post.trace.result import ColumnRef
from lineage_post.vocabulary import Reason


class Variant(NamedTuple):
    """A column as it reaches something behind a mask, or by assumption."""

    ref: ColumnRef
    is_masked: bool
    is_assumed: bool


class Missing(NamedTuple):
    """Something unresolved, which flows like a source so that every reader of it is told.

    ``is_listed`` False: what reads it is in doubt (partial), but nothing is left to list.
    """

    name: str
    reason: Reason
    detail: str
    is_listed: bool = True


_ANY = (1 << KINDS) - 1
#: The constructor of a NamedTuple without its Python frame, for those made by the hundred.
_new = tuple.__new__

AnySource = ColumnRef | Variant | Missing


class Sources:
    """Interns sources: the same column has the same bit throughout a trace.

    Columns of a table are added by the table itself, once.
    """

    __slots__ = ("_ids", "_windows", "doubts", "others", "table")

    def __init__(self) -> None:
        self.table: list[AnySource] = []
        self._ids: dict[AnySource, int] = {}
        #: All bits of what is no plain column.
        self.others = 0
        #: Of them those that only say that something is in doubt.
        self.doubts = 0
        #: All bits of a column that has variants: its own and theirs.
        self._windows: dict[ColumnRef, int] = {}

    def add(self, relation: str, column: str) -> int:
        """The IDENTITY bit of a column that is used for the first time."""
        table = self.table
        i = len(table)
        if i >= CAPACITY:
            raise TooComplex(f"the statement reads more than {CAPACITY} columns")
        table.append(_new(ColumnRef, (relation, column, None)))
        return 1 << i * KINDS

    def add_all(self, relation: str, columns: Sequence[str]) -> list[int]:
        """The same for every column of a relation, none of which was used yet."""
        first, end = len(self.table), len(self.table) + len(columns)
        if end > CAPACITY:
            raise TooComplex(f"the statement reads more than {CAPACITY} columns")
        self.table += [_new(ColumnRef, (relation, column, None)) for column in columns]
        return [1 << i * KINDS for i in range(first, end)]

    def field(self, relation: str, column: str, field: str) -> int:
        """The IDENTITY bit of a field below a column."""
        ref = ColumnRef(relation, column, field)
        i = self._ids.get(ref)
        return 1 << ((self._append(ref) if i is None else i) * KINDS)

    def unknown(self, name: str, reason: Reason, detail: str) -> int:
        """The bit of something unresolved."""
        return 1 << (self._other(Missing(name, reason, detail)) * KINDS)

    def doubt(self, reason: Reason, detail: str) -> int:
        """A bit that makes its reader partial."""
        x = 1 << (self._other(Missing("", reason, detail, is_listed=False)) * KINDS)
        self.doubts |= x * _ANY
        return x

    def masked(self, x: int) -> int:
        """The same influences behind a hashing or redacting function."""
        return self._changed(x, is_masked=True)

    def assumed(self, x: int) -> int:
        """The same influences, over-approximated."""
        return self._changed(x, is_assumed=True)

    def window_of(self, ref: ColumnRef, i: int) -> int:
        """All bits of a column, one of whose ids is ``i``, in each of its variants."""
        return self._windows.get(ref) or _ANY << i * KINDS

    def _changed(self, x: int, *, is_masked: bool = False, is_assumed: bool = False) -> int:
        y = 0
        for i, kind in bits(x):
            source = self.table[i]
            if isinstance(source, ColumnRef):
                i = self._variant(Variant(source, is_masked, is_assumed), i)
            elif isinstance(source, Variant):
                changed = Variant(
                    source.ref, source.is_masked or is_masked, source.is_assumed or is_assumed
                )
                i = self._variant(changed, i)
            y |= 1 << (i * KINDS + kind)
        return y

    def _variant(self, variant: Variant, of: int) -> int:
        """The id of a variant of the source ``of``."""
        i = self._other(variant)
        ref = variant[0]
        self._windows[ref] = self.window_of(ref, of) | _ANY << i * KINDS
        return i

    def _other(self, source: AnySource) -> int:
        i = self._ids.get(source)
        if i is None:
            i = self._append(source)
            self.others |= _ANY << i * KINDS
        return i

    def _append(self, source: AnySource) -> int:
        i = len(self.table)
        if i >= CAPACITY:
            raise TooComplex(f"the statement reads more than {CAPACITY} columns")
        self.table.append(source)
        self._ids[source] = i
        return i
