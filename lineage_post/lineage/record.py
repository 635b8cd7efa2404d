"""The stored form of a node's lineage, its fingerprint, and its decoding on first use.

The canonical JSON is ``[unique_id, state, reason, columns, edges]`` without white space, in UTF-8.
A column is the list of its stored values ``[column_name, ordinal, data_type, state, reason,
expression]``; an edge is ``[from_node, from_column, from_field, to_node, to_column, type, subtype,
masking, certainty, expression, ops]`` with ops ``[{"name", "kind"}, ...]``. Both lists are sorted.
The fingerprint is the SHA-256 of that text; the stored form, packed, adds the columns' details.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar, overload

from lineage_post import fast_json
from lineage_post.errors import ArtifactError
from lineage_post.trace.result import Op
from lineage_post.values import ColumnLineage, Edge, NodeLineage
from lineage_post.vocabulary import Certainty, OpKind, Reason, State, Subtype

T = TypeVar("T", ColumnLineage, Edge)

_SUBTYPES = {s.value: s for s in Subtype}
_TYPES = {s.value: s.type.value for s in Subtype}
_STATES = {s.value: s for s in State}
_CERTAINTIES = {c.value: c for c in Certainty}
_REASONS: dict[str | None, Reason | None] = {None: None, **{r.value: r for r in Reason}}


class Packed:
    """The stored form of one node's columns and edges, decoded once, when first looked at."""

    __slots__ = ("_columns", "_data", "_edges")

    def __init__(self, data: bytes | memoryview) -> None:
        self._data: bytes | memoryview | None = data
        self._columns: tuple[ColumnLineage, ...] = ()
        self._edges: tuple[Edge, ...] = ()

    def columns(self) -> tuple[ColumnLineage, ...]:
        self._decode()
        return self._columns

    def edges(self) -> tuple[Edge, ...]:
        self._decode()
        return self._edges

    def _decode(self) -> None:
        if self._data is None:
            return
        try:
            _, _, _, columns, edges, details = fast_json.loads(zlib.decompress(self._data))
            self._columns = tuple(
                _column(row, details.get(str(i))) for i, row in enumerate(columns)
            )
            self._edges = tuple(_edge(row) for row in edges)
        except (ValueError, TypeError, KeyError, AttributeError, zlib.error) as error:
            raise ArtifactError(
                f"a stored lineage cannot be read: {error}",
                hint="Remove the folder target/lineage_post/cache and run again.",
            ) from error
        self._data = None


class Unpacked(Sequence[T]):
    """A tuple that is decoded on first use; equal to a tuple of the same items."""

    __slots__ = ("_read",)

    def __init__(self, read: Any) -> None:
        self._read = read

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        items: tuple[T, ...] = self._read()
        return items[index]

    def __iter__(self) -> Any:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Unpacked):
            other = other._read()
        return bool(self._read() == other)

    def __hash__(self) -> int:
        return hash(self._read())

    def __repr__(self) -> str:
        return repr(self._read())


def pack(
    unique_id: str,
    state: State,
    reason: Reason | None,
    columns: Sequence[ColumnLineage],
    edges: Iterable[Edge],
) -> tuple[str, bytes]:
    """The fingerprint of a node's lineage, and its stored form. ``columns`` are in order."""
    canonical = _canonical(unique_id, state, reason, columns, sorted(edges, key=_sort_key))
    details = {str(i): c.detail for i, c in enumerate(columns) if c.detail}
    stored = b"%b,%b]" % (canonical[:-1], fast_json.dumps(details))
    return _fingerprint(canonical), zlib.compress(stored, 1)


def packed_node(
    unique_id: str,
    columns: Iterable[ColumnLineage],
    edges: Iterable[Edge],
    *,
    state: State,
    reason: Reason | None = None,
    detail: str | None = None,
    operation: str,
    inputs: Iterable[str] = (),
) -> NodeLineage:
    """The lineage of a node whose columns and edges are at hand."""
    ordered = tuple(sorted(columns, key=_column_key))
    sorted_edges = tuple(sorted(edges, key=_sort_key))
    return NodeLineage(
        unique_id=unique_id,
        state=state,
        reason=reason,
        detail=detail,
        operation=operation,
        columns=ordered,
        edges=sorted_edges,
        fingerprint=_fingerprint(_canonical(unique_id, state, reason, ordered, sorted_edges)),
        inputs=tuple(sorted(set(inputs))),
        counts=count_states(ordered),
    )


def count_states(columns: Iterable[ColumnLineage]) -> tuple[int, int, int]:
    """How many columns are known, partial and unknown. An unexpanded star counts as one."""
    counts = dict.fromkeys(State, 0)
    for column in columns:
        if column.name is not None:
            counts[column.state] += 1
    return counts[State.KNOWN], counts[State.PARTIAL], counts[State.UNKNOWN]


def in_order(columns: Iterable[ColumnLineage]) -> tuple[ColumnLineage, ...]:
    """Columns by position, then what has none."""
    return tuple(sorted(columns, key=_column_key))


def column_row(column: ColumnLineage) -> list[Any]:
    """The stored values of a column, as the fingerprint takes them."""
    return [
        column.name,
        column.ordinal,
        column.data_type,
        column.state._value_,
        column.reason and column.reason._value_,
        column.expression,
    ]


def edge_row(edge: Edge) -> list[Any]:
    """The stored values of an edge, as the fingerprint takes them."""
    # ``_value_`` is the value without the property in front: this runs once for every edge.
    subtype: str = edge.subtype._value_
    return [
        edge.from_node,
        edge.from_column,
        edge.from_field,
        edge.to_node,
        edge.to_column,
        _TYPES[subtype],
        subtype,
        edge.masking,
        edge.certainty._value_,
        edge.expression,
        [{"name": op.name, "kind": op.kind._value_} for op in edge.ops],
    ]


def _sort_key(edge: Edge) -> tuple[Any, ...]:
    return (*edge.sort_key, edge.masking, edge.certainty._value_, edge.expression or "")


def _column_key(column: ColumnLineage) -> tuple[Any, ...]:
    return (
        column.ordinal is None,
        column.ordinal or 0,
        column.name or "",
        column.reason.value if column.reason else "",
    )


def _canonical(
    unique_id: str,
    state: State,
    reason: Reason | None,
    columns: Iterable[ColumnLineage],
    edges: Iterable[Edge],
) -> bytes:
    rows = [column_row(column) for column in columns]
    edge_rows = [edge_row(edge) for edge in edges]
    return fast_json.dumps([unique_id, state.value, reason and reason.value, rows, edge_rows])


def _fingerprint(canonical: bytes) -> str:
    return hashlib.sha256(canonical).hexdigest()


def _column(row: list[Any], detail: str | None) -> ColumnLineage:
    name, ordinal, data_type, state, reason, expression = row
    return ColumnLineage(
        ordinal, name, data_type, _STATES[state], _REASONS[reason], expression, detail
    )


def _edge(row: list[Any]) -> Edge:
    from_node, from_column, from_field, to_node, to_column = row[:5]
    _, subtype, masking, certainty, expression, ops = row[5:]
    return Edge(
        from_node,
        from_column,
        from_field,
        to_node,
        to_column,
        _SUBTYPES[subtype],
        masking,
        _CERTAINTIES[certainty],
        expression,
        tuple(_op(op["name"], op["kind"]) for op in ops),
    )


@lru_cache(maxsize=4096)
def _op(name: str, kind: str) -> Op:
    return Op(name, OpKind(kind))
