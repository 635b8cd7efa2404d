"""Assignments of UPDATE, MERGE and ON CONFLICT, and the names an INSERT writes to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from lineage_post.trace.frame import Frame
from lineage_post.trace.opens import Open
from lineage_post.trace.provenance import transformed
from lineage_post.trace.relation import AnyStep, Relation
from lineage_post.trace.renaming import renamed
from lineage_post.trace.scope import find_operand
from lineage_post.trace.sources import cell_of, united
from lineage_post.trace.tracer import Tracer


class Assignments:
    """Columns in order of first assignment; several ways into one column are united."""

    def __init__(self, t: Tracer, first: Relation | None = None) -> None:
        self._tracer = t
        self._positions: dict[str, int] = {}
        self._names: list[str] = []
        self._provenances: list[int] = []
        self._steps: list[list[AnyStep]] = []
        #: What may be assigned beside the columns that are listed.
        self.open: Open | None = None
        if first is not None:
            self.open = first.open
            for name, x, step in zip(first.spellings, first.all(), first.steps):
                self.add(name, x, step)

    def add(self, name: str, x: int, step: AnyStep) -> None:
        """One assignment to a column."""
        key = self._tracer.rules.key_of(name)
        i = self._positions.get(key)
        if i is None:
            self._positions[key] = len(self._names)
            self._names.append(name)
            self._provenances.append(x)
            self._steps.append([step])
        else:
            self._provenances[i] |= x
            self._steps[i].append(step)

    def relation(self, f: Frame) -> Relation:
        """The assigned columns, with what decides the rows of ``f``."""
        steps = [united(arms) for arms in self._steps]
        return Relation(
            self._tracer.rules, self._names, self._provenances, steps, f.rows, f.rows_of, self.open
        )


def assign(t: Tracer, node: Any, f: Frame, result: Assignments) -> None:
    """``a = x``, or ``(a, b) = (select x, y from ...)``."""
    if not isinstance(node, (exp.EQ, exp.PropertyEQ)):
        return
    target, value = node.this, node.expression
    if isinstance(target, exp.Parameter):  # ``@x = b``, ``@x = a = b``
        assign(t, value, f, result)
        return
    if isinstance(target, (exp.Tuple, exp.Paren)):
        names = target.expressions if isinstance(target, exp.Tuple) else [target.this]
        _assign_row(t, names, value, f, result)
        return
    x, step = cell_of(t, value, f)
    root = _struct_of(t, target, f)
    if root is not None:  # one field of it; the step is not the whole value's
        x, step, target = transformed(x), None, root
    result.add(name_of(t, target), x, step)


def _struct_of(t: Tracer, target: Any, f: Frame) -> Any:
    """``set s.k = x``: s, where nothing that is written or read is called s."""
    if not isinstance(target, (exp.Column, exp.Dot)) or not t.rules.struct_dot:
        return None
    parts = target.parts
    if len(parts) < 2 or not all(isinstance(part, exp.Identifier) for part in parts):
        return None
    names = [t.key(part) for part in parts]
    for i in range(len(parts) - 1, 0, -1):
        if _is_item(names[:i], f):
            return parts[i] if i + 1 < len(parts) else None
    return parts[0]


def _is_item(names: list[str], f: Frame) -> bool:
    """Whether an item of FROM is called that, by its alias or by its name in full."""
    if len(names) == 1:
        return find_operand(names[0], f) is not None
    return any(list(o.parts[-len(names) :]) == names for o in f.operands)


def _assign_row(t: Tracer, names: Any, value: Any, f: Frame, result: Assignments) -> None:
    if isinstance(value, exp.Query):
        relation = renamed(
            t, t.query(t, value, f.env, f), [name_of(t, name) for name in names], is_whole=True
        )
        for name, x, step in zip(relation.spellings, relation.all(), relation.steps):
            result.add(name, transformed(x) | relation.rows, step)
        return
    for target, item in zip(names, value.expressions):
        x, step = cell_of(t, item, f)
        result.add(name_of(t, target), x, step)


def name_of(t: Tracer, target: Any) -> str:
    """The column an assignment writes; of ``s.field`` the root of the struct."""
    while isinstance(target, exp.Dot):
        target = target.this
    if isinstance(target, exp.Column):
        target = target.this
    return t.spell(target) if isinstance(target, exp.Identifier) else str(target.name)


def label_of(t: Tracer, table: Any) -> str:
    """The key of the relation a statement writes, or its name as written."""
    if isinstance(table, exp.Schema):
        table = table.this
    if not isinstance(table, exp.Table):
        return str(table.sql(dialect=t.rules.dialect)) if table is not None else ""
    parts = parts_of(t, table)
    entry = t.schema.find(parts)
    return entry.key if entry is not None else ".".join(parts)


def parts_of(t: Tracer, table: Any) -> tuple[str, ...]:
    """The name of a table as parts."""
    named = (table.args.get(p) for p in ("catalog", "db", "this"))
    return tuple(t.spell(i) for i in named if isinstance(i, exp.Identifier))


def _partition_last(t: Tracer, target: Any, columns: Sequence[str]) -> Sequence[str]:
    """``insert into t partition (d, e = 1)``: d comes last in the query, e not at all."""
    partition = target.args.get("partition")
    if partition is None:
        return columns
    dynamic = [e.name for e in partition.expressions if isinstance(e, exp.Column)]
    fixed = [e.this.name for e in partition.expressions if isinstance(e, exp.EQ)]
    keys = {t.rules.key_of(n): n for n in (*dynamic, *fixed)}
    others = [c for c in columns if t.rules.key_of(c) not in keys]
    last = [c for n in dynamic for c in columns if t.rules.key_of(c) == t.rules.key_of(n)]
    return [*others, *last]


def _all_but(t: Tracer, target: Any, star: Any) -> list[Any]:
    """ClickHouse's ``insert into t (* except (a))``: all columns that are known but a."""
    entry = t.schema.find(parts_of(t, target)) if isinstance(target, exp.Table) else None
    gone = {name_of(t, c) for c in star.args.get("except_") or ()}
    names = entry.columns if entry is not None and entry.is_complete else ()
    return [exp.to_identifier(n, quoted=True) for n in names if n not in gone]


def filling(t: Tracer, target: Any, listed: Sequence[Any], relation: Relation) -> Relation:
    """The relation under the names of the columns an INSERT fills: those it lists, else the
    target's, else the query's."""
    names = _names(t, target, listed)
    return relation if names is None else renamed(t, relation, names, is_whole=bool(listed))


def _names(t: Tracer, target: Any, listed: Sequence[Any]) -> Sequence[str] | None:
    left_out = next((c for c in listed if isinstance(c, exp.Star)), None)
    if left_out is not None:
        listed = _all_but(t, target, left_out)
    if listed:
        return [name_of(t, c.this if isinstance(c, exp.ColumnDef) else c) for c in listed]
    if isinstance(target, exp.Table):
        parts = parts_of(t, target)
        t.reads.add(parts)
        entry = t.schema.find(parts)
        if entry is not None and entry.is_complete:
            return _partition_last(t, target, entry.columns)
    return None
