"""One item of a select list: an output column, or as many as a star stands for."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.expressions import evaluate
from lineage_post.trace.frame import Frame
from lineage_post.trace.naming import output_name
from lineage_post.trace.opens import Open, OpenUnknown
from lineage_post.trace.relation import Step
from lineage_post.trace.resolve import resolve
from lineage_post.trace.shapes import Struct
from lineage_post.trace.star import Expansion, Item, star_items
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import Reason


def add_output(t: Tracer, item: Any, f: Frame, opens: list[Open]) -> None:
    """Appends what a select item gives to the outputs of the frame."""
    cls = item.__class__
    if cls is exp.Alias:
        alias = item.args["alias"]
        _add_named(t, item.args["this"], alias, f, opens)
    elif cls is exp.Column:
        if item.args["this"].__class__ is exp.Star:
            qualifier = [
                item.args[p] for p in ("catalog", "db", "table") if item.args.get(p) is not None
            ]
            _add_items(t, f, opens, star_items(t, item.args["this"], f, qualifier))
        else:
            x = resolve(t, item, f)
            f.add_output(*_name_of_column(t, item), x, t.step)
    elif cls is exp.Star:
        _add_items(t, f, opens, star_items(t, item, f))
    elif cls is exp.Dot and item.args["expression"].__class__ is exp.Star:
        _add_struct_star(t, item, f, opens)
    elif cls is exp.Aliases:
        _add_aliases(t, item, f)
    else:
        _add_named(t, item, None, f, opens)


def _name_of_column(t: Tracer, column: Any) -> tuple[str, str]:
    identifier = column.args["this"]
    return t.key(identifier), t.spell(identifier)


def _add_items(
    t: Tracer, f: Frame, opens: list[Open], found: tuple[list[Item], list[Open]]
) -> None:
    key_of = t.rules.key_of
    for item in found[0]:
        f.add_output(key_of(item.spelling), item.spelling, item.provenance, item.step)
    opens.extend(found[1])


def _add_named(t: Tracer, node: Any, alias: Any, f: Frame, opens: list[Open]) -> None:
    start = len(t.log)
    if node.__class__ is exp.Column and node.args["this"].__class__ is not exp.Star:
        x = resolve(t, node, f)
        step = t.step
    else:
        x = evaluate(t, node, f)
        step = Step(node, f, start, len(t.log), x, alias)
        if t.expanding is not None:
            _add_expanded(t, node, alias, f)
            return
    if alias is None:
        spelling = output_name(t, node, len(f.spellings))
        f.add_output(t.rules.key_of(spelling), spelling, x, step)
    else:
        f.add_output(t.key(alias), t.spell(alias), x, step)


def _add_expanded(t: Tracer, node: Any, alias: Any, f: Frame) -> None:
    """An expression with COLUMNS(...): once for each column."""
    expansion: Expansion = t.expanding
    for n, item in enumerate(expansion.items):
        expansion.current = n
        start = len(t.log)
        x = evaluate(t, node, f)
        step = Step(node, f, start, len(t.log), x)
        spelling = item.spelling if alias is None else t.spell(alias)
        is_bare = isinstance(node, exp.Columns)
        f.add_output(t.rules.key_of(spelling), spelling, x, item.step if is_bare else step)
    t.expanding = None


def _add_struct_star(t: Tracer, item: Any, f: Frame, opens: list[Open]) -> None:
    """``f(x).*``: the fields of a struct value."""
    node = item.args["this"]
    x = evaluate(t, node, f)
    del x
    shape = t.expression_shape(node, f)
    if isinstance(shape, Struct):
        holder = Frame(f, f.env)
        from lineage_post.trace.frame import Operand

        holder.operands.append(Operand("", shape.fields))
        _add_items(t, f, opens, star_items(t, item.args["expression"], holder))
        return
    label = str(node.sql(dialect=t.rules.dialect))[:80]
    detail = f"the fields of {label} are not known"
    opens.append(OpenUnknown(label, Reason.STAR_UNEXPANDED, detail))


def _add_aliases(t: Tracer, item: Any, f: Frame) -> None:
    """``posexplode(a) as (p, c)``."""
    start = len(t.log)
    node = item.args["this"]
    x = evaluate(t, node, f)
    for n, alias in enumerate(item.args["expressions"]):
        is_ordinal = n == 0 and isinstance(node, exp.Posexplode)
        step = None if is_ordinal else Step(node, f, start, len(t.log), x, alias)
        f.add_output(t.key(alias), t.spell(alias), 0 if is_ordinal else x, step)
