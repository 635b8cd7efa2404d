"""MATCH_RECOGNIZE: runs of rows that fit a pattern, and what is measured of each run.

::

    from stock match_recognize (
        partition by sym order by ts                 GROUP_BY and SORT of the rows
        measures last(up.price) as top,              the value of one row: TRANSFORMATION
                 count(up.price) as days             AGGREGATION
        pattern (up+)
        define up as up.price > prev(up.price)       FILTER of the rows
    ) as m

One row per match has the partition's columns and the measures, all rows per match every column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import exp

from lineage_post.trace.expressions import evaluate
from lineage_post.trace.frame import Frame, MatchFrame, Operand
from lineage_post.trace.printing import printed
from lineage_post.trace.provenance import FILTER, GROUP_BY, SORT, transformed
from lineage_post.trace.relation import AnyStep, Relation, Step
from lineage_post.trace.result import Op
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import OpKind

_WORD = re.compile(r'"(?:[^"]|"")+"|[^\W\d]\w*')
_LAST = Op("LAST", OpKind.SQL_FUNCTION)
_Column = tuple[str, int, AnyStep]


def matched_item(match: Any, from_: Any, joins: Sequence[Any]) -> Any:
    """The item of FROM a MATCH_RECOGNIZE stands behind: sqlglot hangs it on the SELECT."""
    items = [from_.args["this"], *(node.args["this"] for node in joins)]
    at = _position(match)
    before = [item for item in items if _position(item) < at]
    return before[-1] if before else items[0]


def _position(node: Any) -> int:
    metas = (identifier._meta or {} for identifier in node.find_all(exp.Identifier))
    return min((meta["start"] for meta in metas if "start" in meta), default=0)


def recognize(t: Tracer, node: Any, f: Frame) -> None:
    """Replaces the last item of FROM by what MATCH_RECOGNIZE makes of it."""
    operand = f.operands.pop()
    g = MatchFrame(f.outer, f.env)
    t.frames.append(g)
    g.add_operand(operand)
    for variable in _variables(t, node):
        g.by_key.setdefault(variable, operand)
    _decide(t, node, g)
    columns = list(_columns(t, node, operand.relation, g))
    is_open = _has_all_rows(node) and operand.relation.open is not None
    relation = Relation(
        t.rules,
        [name for name, _, _ in columns],
        [x for _, x, _ in columns],
        [step for _, _, step in columns],
        g.rows,
        g.rows_of,
        operand.relation.open if is_open else None,
    )
    key, parts, alias = operand.key, operand.parts, node.args.get("alias")
    if isinstance(alias, exp.TableAlias):
        relation = relation.renamed([t.spell(c) for c in alias.args.get("columns") or ()])
        key, parts = (t.key(alias.this), ()) if alias.this is not None else (key, parts)
    f.add_operand(Operand(key, relation, parts))
    f.hide_from(len(f.operands))
    if t.recorder is not None:
        t.recorder.source(f, node, key, relation, "match")


def _variables(t: Tracer, node: Any) -> Iterator[str]:
    """The names of the pattern; each is a row of the table."""
    for item in node.args.get("define") or ():
        yield t.key(item.args["alias"])
    pattern = node.args.get("pattern")
    for word in _WORD.findall(pattern.name if pattern is not None else ""):
        is_quoted = word.startswith('"')
        yield t.key(exp.to_identifier(word.strip('"'), quoted=is_quoted))


def _decide(t: Tracer, node: Any, g: Frame) -> None:
    """Which rows are together, in what order, and which of them fit."""
    order = node.args.get("order")
    keys = [
        *((key, GROUP_BY) for key in node.args.get("partition_by") or ()),
        *((key, SORT) for key in (order.args["expressions"] if order is not None else ())),
        *((item.args["this"], FILTER) for item in node.args.get("define") or ()),
    ]
    for key, kind in keys:
        start = len(t.log)
        t.decide(g, key, start, evaluate(t, key, g), kind)


def _has_all_rows(node: Any) -> bool:
    rows = node.args.get("rows")
    return rows is not None and str(rows.name).startswith("ALL")


def _columns(t: Tracer, node: Any, relation: Relation, g: Frame) -> Iterator[_Column]:
    order = node.args.get("order")
    first = list(node.args.get("partition_by") or ())
    if not _has_all_rows(node):
        yield from (_key_column(t, key, g) for key in first)
        yield from _measures(t, node, g)
        return
    everything = list(zip(relation.spellings, relation.all(), relation.steps))
    if t.rules.name == "snowflake":
        yield from everything
        yield from _measures(t, node, g)
        return
    first += [key.args["this"] for key in (order.args["expressions"] if order is not None else ())]
    leading = [_key_column(t, key, g) for key in first]
    names = {t.rules.key_of(name) for name, _, _ in leading}
    yield from leading
    yield from _measures(t, node, g)
    yield from (column for column in everything if t.rules.key_of(column[0]) not in names)


def _key_column(t: Tracer, key: Any, g: Frame) -> _Column:
    x = evaluate(t, key, g)
    is_column = isinstance(key, exp.Column) and isinstance(key.this, exp.Identifier)
    name = t.spell(key.this) if is_column else printed(key, t.rules.dialect)
    return name, x, t.step if is_column else None


def _measures(t: Tracer, node: Any, g: Frame) -> Iterator[_Column]:
    for measure in node.args.get("measures") or ():
        item = measure.args["this"]
        value = item.args["this"] if isinstance(item, exp.Alias) else item
        start = len(t.log)
        x = evaluate(t, value, g)
        if isinstance(value, exp.Column):  # without a function: of the last row
            x = transformed(x)
            t.log.append((_LAST, x))
        name = t.spell(item.args["alias"]) if isinstance(item, exp.Alias) else str(value.name)
        yield name, x, Step(value, g, start, len(t.log), x)
