"""The columns dbt itself adds to a snapshot; its compiled SQL has only the inner select (IN-05).

https://docs.getdbt.com/docs/build/snapshots#snapshot-meta-fields
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from lineage_post.artifacts import Node
from lineage_post.artifacts.access import mapping, texts
from lineage_post.trace.result import Op
from lineage_post.values import ColumnLineage, Edge
from lineage_post.vocabulary import EdgeType, OpKind, Reason, State, Subtype

#: For the columns of the inner select that an expression of the config reads.
Reads = Callable[[str], Sequence[str]]

_HASHED = (Op("MD5", OpKind.SQL_FUNCTION),)
_NAME = re.compile(r"\s*[\"`\[]?([^\"`\]().,\s]+)[\"`\]]?\s*")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The settings of a snapshot. ``check_cols`` ("*",) stands for all columns."""

    strategy: str
    unique_key: tuple[str, ...]
    updated_at: str | None
    check_cols: tuple[str, ...]
    valid_from: str = "dbt_valid_from"
    valid_to: str = "dbt_valid_to"
    scd_id: str = "dbt_scd_id"
    updated: str = "dbt_updated_at"
    is_deleted: str | None = None

    def values(self) -> tuple[Any, ...]:
        return astuple(self)

    def times(self) -> tuple[str, str, str]:
        """The columns that hold times, as dbt orders them."""
        return self.updated, self.valid_from, self.valid_to


def snapshot_of(node: Node) -> Snapshot | None:
    """The settings of a snapshot node, None of any other."""
    if node.resource_type != "snapshot":
        return None
    config = node.config
    renamed = {k: v for k, v in mapping(config.get("snapshot_meta_column_names")).items() if v}
    check_cols = config.get("check_cols")
    updated_at = config.get("updated_at")
    marks_deleted = config.get("hard_deletes") == "new_record"
    return Snapshot(
        strategy=str(config.get("strategy") or "timestamp"),
        unique_key=texts(config.get("unique_key")),
        updated_at=str(updated_at) if updated_at else None,
        check_cols=("*",) if check_cols == "all" else texts(check_cols),
        valid_from=renamed.get("dbt_valid_from", "dbt_valid_from"),
        valid_to=renamed.get("dbt_valid_to", "dbt_valid_to"),
        scd_id=renamed.get("dbt_scd_id", "dbt_scd_id"),
        updated=renamed.get("dbt_updated_at", "dbt_updated_at"),
        is_deleted=renamed.get("dbt_is_deleted", "dbt_is_deleted") if marks_deleted else None,
    )


def with_meta_columns(
    snapshot: Snapshot,
    columns: Sequence[ColumnLineage],
    edges: Sequence[Edge],
    reads: Reads,
) -> tuple[list[ColumnLineage], list[Edge]]:
    """The inner select's columns and edges, and those that dbt adds.

    ``reads`` gives the output columns that an expression of the config reads. A value column comes
    from ``updated_at``; with the check strategy the time of the run is the value, and the checked
    columns decide when there is one. The unique key joins the new rows to the stored ones.
    """
    inner = {c.name: c for c in columns if c.is_column and c.name}
    key = _read_by(snapshot.unique_key, reads, inner)
    values = _read_by([snapshot.updated_at] if snapshot.updated_at else [], reads, inner)
    checks: list[str] = []
    if snapshot.strategy == "check":
        all_columns = snapshot.check_cols == ("*",)
        checks = list(inner) if all_columns else _read_by(snapshot.check_cols, reads, inner)
    sources = _by_target(edges)
    meta = [
        (
            snapshot.scd_id,
            [*key, *values],
            _composed(snapshot.scd_id, [*key, *values], checks, sources, True),
        ),
        *((name, values, _composed(name, values, checks, sources)) for name in snapshot.times()),
    ]
    if snapshot.is_deleted:
        meta.append((snapshot.is_deleted, key, _composed(snapshot.is_deleted, [], key, sources)))
    added = [name for name, _, _ in meta]
    first = max((c.ordinal for c in columns if c.ordinal is not None), default=0) + 1
    kept = [c for c in columns if c.name not in added]
    new = [
        ColumnLineage(first + i, name, None, *_state_of([*read, *checks], inner))
        for i, (name, read, _) in enumerate(meta)
    ]
    joins = _dataset_joins(key, sources)
    return [*kept, *new], [*edges, *(edge for _, _, found in meta for edge in found), *joins]


def simple_name(expression: str) -> str | None:
    """The column an expression is, if it is no more than a name."""
    match = _NAME.fullmatch(expression)
    return match.group(1) if match else None


def _state_of(
    read: Iterable[str], inner: Mapping[str, ColumnLineage]
) -> tuple[State, Reason | None]:
    """A meta column is as well known as the columns it is made from."""
    for name in read:
        column = inner.get(name)
        if column is None:
            return State.PARTIAL, Reason.UNRESOLVED_COLUMN
        if column.state is not State.KNOWN:
            return State.PARTIAL, column.reason
    return State.KNOWN, None


def _read_by(
    expressions: Iterable[str], reads: Reads, inner: Mapping[str, ColumnLineage]
) -> list[str]:
    """The inner columns that expressions read; a name the select does not have stays as it is."""
    found: list[str] = []
    folded = {name.casefold(): name for name in inner}
    for expression in expressions:
        name = simple_name(expression)
        if name is not None:
            found.append(folded.get(name.casefold(), name))
        else:
            found.extend(reads(expression))
    return list(dict.fromkeys(found))


def _by_target(edges: Iterable[Edge]) -> dict[str, list[Edge]]:
    found: dict[str, list[Edge]] = {}
    for edge in edges:
        if edge.to_column is not None:
            found.setdefault(edge.to_column, []).append(edge)
    return found


def _composed(
    target: str,
    values: Sequence[str],
    conditions: Sequence[str],
    by_target: Mapping[str, Sequence[Edge]],
    hashed: bool = False,
) -> list[Edge]:
    """Edges of a meta column: what its inputs are computed from, one step further."""
    found: dict[tuple[Any, ...], Edge] = {}
    for name in values:
        for edge in by_target.get(name, ()):
            subtype = edge.subtype
            if subtype is Subtype.IDENTITY:
                subtype = Subtype.TRANSFORMATION
            _put(found, edge, target, subtype, hashed)
    for name in conditions:
        for edge in by_target.get(name, ()):
            _put(found, edge, target, Subtype.CONDITIONAL, False)
    return list(found.values())


def _put(
    found: dict[tuple[Any, ...], Edge], edge: Edge, target: str, subtype: Subtype, hashed: bool
) -> None:
    new = edge._replace(
        to_column=target,
        subtype=subtype,
        masking=edge.masking or hashed,
        expression=None,
        ops=(*_computing(edge.ops), *_HASHED) if hashed else _computing(edge.ops),
    )
    found.setdefault((new.from_node, new.from_column, new.from_field, subtype), new)


def _computing(ops: Iterable[Op]) -> tuple[Op, ...]:
    return tuple(op for op in ops if op.kind is not OpKind.IDENTITY)


def _dataset_joins(key: Iterable[str], by_target: Mapping[str, Sequence[Edge]]) -> list[Edge]:
    found: dict[tuple[Any, ...], Edge] = {}
    for name in key:
        for edge in by_target.get(name, ()):
            if edge.type is EdgeType.DIRECT:
                joined = edge._replace(
                    to_column=None, subtype=Subtype.JOIN, expression=None, ops=()
                )
                found.setdefault((edge.from_node, edge.from_column, edge.from_field), joined)
    return list(found.values())
