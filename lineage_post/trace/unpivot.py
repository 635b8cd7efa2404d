"""UNPIVOT: columns become rows, each of a name and one or more values."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlglot import exp

from lineage_post.trace.columns import columns_items
from lineage_post.trace.expressions import evaluate
from lineage_post.trace.frame import Frame
from lineage_post.trace.provenance import FILTER
from lineage_post.trace.relation import AnyStep, Relation
from lineage_post.trace.scope import row_of_open
from lineage_post.trace.sources import united
from lineage_post.trace.tracer import Tracer


class _Cell(NamedTuple):
    """One unpivoted column; ``key`` is None for an expression."""

    key: str | None
    provenance: int
    step: AnyStep


def unpivot(t: Tracer, node: Any, relation: Relation, g: Frame) -> Relation:
    """The relation after UNPIVOT: what it does not list, the name column, the values."""
    name, values, rows = _parts(t, node, g)
    listed = {relation.position(c.key) for row in rows for c in row if c.key is not None}
    if not node.args.get("include_nulls"):
        for row in rows:
            for cell in row:
                t.decide(g, None, len(t.log), cell.provenance, FILTER)
    kept = [i for i in range(len(relation.spellings)) if i not in listed]
    names = [relation.spellings[i] for i in kept]
    provenances = [relation.at(i) for i in kept]
    steps: list[AnyStep] = [relation.steps[i] for i in kept]
    columns = [_value(rows, n) for n in range(len(values))]
    added = [(name, 0, None), *((v, *columns[n]) for n, v in enumerate(values))]
    if node.args.get("value_columns_first") or t.rules.name == "bigquery":
        added = [*added[1:], added[0]]
    for spelling, x, step in added:
        names.append(spelling)
        provenances.append(x)
        steps.append(step)
    return Relation(t.rules, names, provenances, steps, g.rows, g.rows_of, relation.open)


def _value(rows: list[list[_Cell]], n: int) -> tuple[int, AnyStep]:
    """The n-th value column: a union of the n-th column of each row."""
    cells = [row[n] for row in rows if n < len(row)]
    x = 0
    for cell in cells:
        x |= cell.provenance
    return x, united([cell.step for cell in cells]) if cells else None


def _parts(t: Tracer, node: Any, g: Frame) -> tuple[str, list[str], list[list[_Cell]]]:
    into = node.args.get("into")
    if into is not None or not node.args.get("fields"):
        name = "name" if into is None else _spelled(t, into.args["this"])
        values = ["value"] if into is None else [_spelled(t, v) for v in into.expressions]
        return name, values, _rows(t, node.expressions, len(values), g)
    field = node.args["fields"][0]
    values = [
        _spelled(t, v)
        for item in node.expressions
        for v in (item.expressions if isinstance(item, exp.Tuple) else [item])
    ]
    return _spelled(t, field.args["this"]), values, _rows(t, field.expressions, len(values), g)


def _spelled(t: Tracer, node: Any) -> str:
    while isinstance(node, exp.Paren):
        node = node.args["this"]
    if isinstance(node, exp.Column):
        node = node.args["this"]
    return t.spell(node) if isinstance(node, exp.Identifier) else str(node.name)


def _rows(t: Tracer, items: Any, width: int, g: Frame) -> list[list[_Cell]]:
    rows: list[list[_Cell]] = []
    for item in items:
        if isinstance(item, (exp.Alias, exp.PivotAlias)):
            item = item.args["this"]
        if isinstance(item, exp.Paren):
            item = item.args["this"]
        if isinstance(item, exp.Tuple) and width > 1:
            rows.append([_cell(t, e, g) for e in item.expressions])
        elif isinstance(item, exp.Tuple):
            rows.extend([_cell(t, e, g)] for e in item.expressions)
        elif isinstance(item, (exp.Columns, exp.Star)):
            selector = item if isinstance(item, exp.Columns) else exp.Columns(this=item)
            found, opens = columns_items(t, selector, g)
            rows += [[_Cell(t.rules.key_of(c.spelling), c.provenance, c.step)] for c in found]
            rows += [[_Cell(None, row_of_open(t, open_), None)] for open_ in opens]
        else:
            rows.append([_cell(t, item, g)])
    return rows


def _cell(t: Tracer, node: Any, g: Frame) -> _Cell:
    if isinstance(node, exp.Identifier):
        node = exp.Column(this=node)
    t.step = None
    x = evaluate(t, node, g)
    key = t.key(node.this) if isinstance(node, exp.Column) else None
    return _Cell(key, x, t.step if key is not None else None)
