"""``insert all`` and ``insert first``: one query that fills several tables.

::

    insert first
        when amount > 100 then into big (id, amount) values (id, amount)
        else into small into other (id) values (id)
    select id, amount from orders

Each INTO is a statement of its own for whoever asks: its columns, and the conditions that let a
row through as FILTER of its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlglot import exp

from lineage_post.trace.frame import Env, Frame, Operand
from lineage_post.trace.provenance import FILTER
from lineage_post.trace.relation import AnyStep, Relation
from lineage_post.trace.sources import cell_of
from lineage_post.trace.tracer import Tracer
from lineage_post.trace.writing import filling


@dataclass(frozen=True, slots=True)
class Into:
    """One INTO: the table and its values, the conditions it depends on, and the query."""

    insert: Any
    conditions: tuple[Any, ...]
    source: Any
    key: str = "insert"
    args: dict[str, Any] = field(default_factory=dict)

    @property
    def target(self) -> Any:
        """The table, or the table with a list of columns."""
        return self.insert.args["this"]


def single_statements(node: Any) -> Iterator[Any]:
    """A statement as it is, or one for each INTO of a multi-table insert."""
    if not isinstance(node, exp.MultitableInserts):
        yield node
        return
    if not isinstance(node.args["source"], exp.Query):
        yield from map(partial(_reading, node.args["source"]), node.expressions)
        return
    earlier: list[Any] = []
    current: tuple[Any, ...] = ()
    is_first = str(node.args.get("kind")).upper() == "FIRST"
    for part in node.expressions:
        condition = part.args.get("expression")
        if condition is not None:
            current = (*earlier, condition) if is_first else (condition,)
            earlier.append(condition)
        elif part.args.get("else_"):
            current = tuple(earlier)
        yield Into(part.args["this"], current, node.args["source"])


def _reading(source: Any, insert: Any) -> Any:
    """Hive's ``from t insert into a select x insert into b select y``: each SELECT reads t."""
    insert = insert.copy()
    query = insert.args.get("expression")
    if isinstance(query, exp.Select) and query.args.get("from_") is None:
        query.set("from_", exp.From(this=source.copy()))
    return insert


def filled(t: Tracer, into: Into, env: Env) -> Relation:
    """The columns that one INTO fills."""
    relation = t.query(t, into.source, env, None)
    f = Frame(None, env)
    t.frames.append(f)
    f.add_operand(Operand("", relation))
    for node in into.conditions:
        start = len(t.log)
        t.decide(f, node, start, t.hooks.evaluate(t, node, f), FILTER)
    values = _values(t, into, f)
    if values is not None:
        relation = values
    names = _listed(into.target)
    written = Relation(
        t.rules, relation.spellings, relation.all(), relation.steps, f.rows, f.rows_of,
        relation.open,
    )  # fmt: skip
    return filling(t, table_of(into.target), names, written)


def table_of(target: Any) -> Any:
    """The table an INTO names."""
    return target.args["this"] if isinstance(target, exp.Schema) else target


def _listed(target: Any) -> list[Any]:
    return target.expressions if isinstance(target, exp.Schema) else []


def _values(t: Tracer, into: Into, f: Frame) -> Relation | None:
    """``values (id, amount)`` over the columns of the query."""
    values = into.insert.args.get("expression")
    if not isinstance(values, exp.Values):
        return None
    row = values.expressions[0]
    cells: list[tuple[int, AnyStep]] = [
        cell_of(t, cell, f) for cell in (row.expressions if isinstance(row, exp.Tuple) else [row])
    ]
    names = [f"column{i}" for i in range(1, len(cells) + 1)]
    return Relation(t.rules, names, [x for x, _ in cells], [step for _, step in cells])
