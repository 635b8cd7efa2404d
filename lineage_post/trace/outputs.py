"""One item of a select list: an output column, or as many as a star stands for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlglot import exp

from lineage_post.trace.builtin_names import is_aggregate
from lineage_post.trace.columns import Expansion, name_test
from lineage_post.trace.expressions import evaluate
from lineage_post.trace.frame import Frame, Operand
from lineage_post.trace.naming import dotted_name, output_name, stored_spelling
from lineage_post.trace.opens import OpenChanged, OpenNamed, OpenUnknown
from lineage_post.trace.paths import numbered_of_all
from lineage_post.trace.provenance import aggregated, transformed
from lineage_post.trace.relation import AnyStep, Step
from lineage_post.trace.resolve import resolve
from lineage_post.trace.result import Op
from lineage_post.trace.shapes import Array, Struct
from lineage_post.trace.star import Item, plain_relations, star_items
from lineage_post.trace.table_functions import generated_relation
from lineage_post.trace.tracer import Tracer
from lineage_post.trace.unnesting import array_of
from lineage_post.vocabulary import OpKind, Reason

_APPLY: Any = getattr(exp, "Apply", ())
_NAMES = (exp.Identifier, exp.Parameter, exp.Literal)


def add_output(t: Tracer, item: Any, f: Frame) -> None:
    """Appends what a select item gives to the outputs of the frame."""
    cls = item.__class__
    if cls is exp.Alias:
        a = item.args
        node, alias = a["this"], a["alias"]
        if node.__class__ is exp.Explode and _add_unnested_struct(t, node, f):
            return
        if node.__class__ is exp.Column and node.args["this"].__class__ in _NAMES:
            x = resolve(t, node, f)
            f.add_output(t.spell(alias), x, t.step)
        else:
            _add_computed(t, node, alias, f)
    elif cls is exp.Column:
        this = item.args["this"]
        if this.__class__ is exp.Identifier:
            x = resolve(t, item, f)
            step = t.step
            if not t.rules.keeps_stored_case:
                is_dotted = t.rules.dotted_names and item.args.get("table") is not None
                spelling = dotted_name(t, item, f) if is_dotted else t.spell(this)
            elif t.relation is not None:
                spelling = t.relation.names.spellings[t.position]
            else:
                spelling = stored_spelling(t, item, f)
            f.add_output(spelling, x, step)
        elif this.__class__ is exp.Star:
            parts = ("catalog", "db", "table")
            qualifier = [item.args[p] for p in parts if item.args.get(p) is not None]
            add_star(t, this, f, qualifier)
        else:
            _add_computed(t, item, None, f)
    elif cls is exp.Star:
        add_star(t, item, f, ())
    elif cls is exp.Dot and item.args["expression"].__class__ is exp.Star:
        _add_struct_star(t, item, f)
    elif cls is exp.Aliases:
        if not _add_generated(t, item.args["this"], f, item.args["expressions"]):
            _add_aliases(t, item, f)
    elif cls is exp.Anonymous and str(item.name).lower() == "untuple":
        detail = "the columns that untuple gives are not known"
        at = len(f.spellings)
        f.add_opens([OpenUnknown("untuple", Reason.UNSUPPORTED_SYNTAX, detail)], at, at)
    elif cls is exp.QueryTransform:
        _add_script_output(t, item, f)
    elif cls is exp.EQ and t.rules.family == "tsql" and _is_text(item.this):
        # ``'n' = c`` and ``N'n' = c`` are other spellings of ``c as n``.
        alias = exp.to_identifier(item.this.name, quoted=True)
        add_output(t, exp.Alias(this=item.args["expression"], alias=alias), f)
    elif t.rules.name == "duckdb" and _add_of_duckdb(t, item, f):
        return
    elif cls is _APPLY:
        _add_applied(t, item, f)
    elif t.rules.family == "spark" and _add_generated(t, item, f, ()):
        return
    else:
        _add_computed(t, item, None, f)


def _is_text(node: Any) -> bool:
    return isinstance(node, exp.National) or bool(node.is_string)


def add_star(t: Tracer, star: Any, f: Frame, qualifier: Sequence[Any]) -> None:
    """Appends the columns a star stands for; a plain one takes whole relations over."""
    relations = plain_relations(t, star, f, qualifier)
    first = len(f.spellings)
    if relations is None:
        items, found = star_items(t, star, f, qualifier)
        for item in items:
            f.add_output(*item[:3])
        f.add_opens(found, first, len(f.spellings))
        return
    for relation in relations:
        t.spend(len(relation.spellings))
        first = len(f.spellings)
        f.spellings.extend(relation.spellings)
        f.provenances.extend(relation.all())
        f.steps.extend(relation.steps)
        if relation.open is not None:
            gap = relation.gap or (0, len(relation.spellings))
            f.add_opens([relation.open], first + gap[0], first + gap[1])


def _add_computed(t: Tracer, node: Any, alias: Any, f: Frame) -> None:
    start = len(t.log)
    t.expands = True
    x = evaluate(t, node, f)
    t.expands = False
    if t.expanding is not None:
        _add_expanded(t, node, alias, f)
        return
    step: AnyStep = Step(node, f, start, len(t.log), x, alias)
    emitted = node.args.get("emits")
    if isinstance(emitted, exp.Schema):  # Exasol's ``f(a) emits (b int, c int)``
        for column in emitted.expressions:
            f.add_output(t.spell(column.this), x, step)
        return
    if node.__class__ is exp.Parameter and x:
        step = t.step
    spelling = output_name(t, node, f) if alias is None else t.spell(alias)
    f.add_output(spelling, x, step)


def _add_expanded(t: Tracer, node: Any, alias: Any, f: Frame) -> None:
    """An expression with COLUMNS(...): once for each column."""
    expansion: Expansion = t.expanding
    first = len(f.spellings)
    is_bare = isinstance(node, exp.Columns)
    for n, item in enumerate(expansion.items):
        expansion.current = n
        start = len(t.log)
        t.expands = True
        x = evaluate(t, node, f)
        step = Step(node, f, start, len(t.log), x)
        spelling = (
            item.spelling if alias is None else expansion.named(t.spell(alias), item.spelling)
        )
        f.add_output(spelling, x, item.step if is_bare else step)
    t.expanding, t.expands = None, False
    opens = expansion.opens
    if not is_bare or alias is not None:
        change = partial(_of_unlisted, t, node, f, alias)
        opens = [o if isinstance(o, OpenUnknown) else OpenChanged(o, change) for o in opens]
    f.add_opens(opens, first, len(f.spellings))


def _of_unlisted(t: Tracer, node: Any, f: Frame, alias: Any, x: int) -> int:
    """What an expression with COLUMNS(...) makes of a column that is not listed."""
    if alias is not None:
        detail = "an alias renames columns that are not known"
        return t.sources.unknown(t.spell(alias), Reason.STAR_UNEXPANDED, detail)
    before = t.expanding, t.expands, f.alias_visible
    t.expanding, t.expands = Expansion([Item("", x, None)], [], None), True
    f.alias_visible = t.rules.select_list
    y = evaluate(t, node, f)
    t.expanding, t.expands, f.alias_visible = before
    return y


def _add_struct_star(t: Tracer, item: Any, f: Frame) -> None:
    """``f(x).*``: the fields of a struct value."""
    node = item.args["this"]
    evaluate(t, node, f)
    shape = t.expression_shape(node, f)
    if isinstance(shape, Struct):
        holder = Frame(f, f.env)
        holder.bring(Operand("", shape.fields))
        items, found = star_items(t, item.args["expression"], holder)
        first = len(f.spellings)
        for column in items:
            f.add_output(*column[:3])
        f.add_opens(found, first, len(f.spellings))
        return
    label = t.label(node)
    detail = f"the fields of {label} are not known"
    at = len(f.spellings)
    f.add_opens([OpenUnknown(label, Reason.STAR_UNEXPANDED, detail)], at, at)


def _add_generated(t: Tracer, node: Any, f: Frame, aliases: Sequence[Any]) -> bool:
    """``posexplode(a)``, ``inline(a) as (x, y)``, ``stack(...)``: as many columns as they have."""
    start = len(t.log)
    relation = generated_relation(t, node, f, list(map(t.spell, aliases)))
    if relation is None:
        return False
    first = len(f.spellings)
    for name, x, step in zip(relation.spellings, relation.all(), relation.steps):
        if x and step is None:
            t.log.append((node, x))
            step = Step(node, f, start, len(t.log), x)
        f.add_output(name, x, step)
    if relation.open is not None:
        f.add_opens([relation.open], first, len(f.spellings))
    return True


def _add_of_duckdb(t: Tracer, item: Any, f: Frame) -> bool:
    """``* like 'a%'``, ``unnest(struct)``, ``#1``: what is more than an expression there."""
    if isinstance(item, exp.PositionalColumn):
        name, x = numbered_of_all(t, item, f)
        f.add_output(name, x, t.step)
        return True
    if isinstance(item, exp.Explode):
        return _add_unnested_struct(t, item, f)
    test = name_test(item)
    if test is None:
        return False
    pattern = item.args["this"] if isinstance(item, exp.Not) else item
    star = pattern.args["this"]
    qualifier = [star.args["table"]] if isinstance(star, exp.Column) else ()
    items, found = star_items(t, exp.Star(), f, qualifier)
    first = len(f.spellings)
    for column in items:
        if test(column.spelling):
            f.add_output(*column[:3])
    f.add_opens([OpenNamed(o, test) for o in found], first, len(f.spellings))
    return True


def _add_unnested_struct(t: Tracer, node: Any, f: Frame) -> bool:
    """``unnest(s)`` of a struct, and of a list of them if it is recursive: the fields."""
    if t.rules.name != "duckdb":
        return False
    array = node.args["this"]
    shape = t.expression_shape(array, f)
    is_recursive = any(
        isinstance(e, (exp.PropertyEQ, exp.Kwarg))
        and (e.this.name.lower(), e.expression.name) != ("max_depth", "1")
        for e in node.expressions
    )
    if isinstance(shape, Array) and is_recursive:
        array_of(t, array, f)
        shape = t.hooks.element_shape(t, shape)
    if not isinstance(shape, Struct):
        return False
    fields = shape.fields
    for name, x, step in zip(fields.spellings, fields.all(), fields.steps):
        f.add_output(name, x, step)
    return True


def _add_applied(t: Tracer, item: Any, f: Frame) -> None:
    """ClickHouse's ``* apply(sum)``: a function over each column of a star."""
    functions = []
    while isinstance(item, _APPLY):
        functions.append(item.args["expression"])
        item = item.args["this"]
    holder = Frame(f.outer, f.env)
    holder.operands, holder.by_key, holder.merged = f.operands, f.by_key, f.merged
    add_output(t, item, holder)
    columns = list(zip(holder.spellings, holder.provenances, holder.steps))
    for name, x, below in columns:
        start = len(t.log)
        if below is not None:
            t.log.append((below, x))
        for function in reversed(functions):
            called = str(function.name or "lambda")
            x = aggregated(x) if is_aggregate(called.lower()) else transformed(x)
            x |= evaluate(t, function, f) if isinstance(function, exp.Lambda) else 0
            t.log.append((Op(called.upper(), OpKind.SQL_FUNCTION), x))
            name = f"{called}({name})"
        f.add_output(name, x, Step(item, f, start, len(t.log), x))
    detail = "the names that APPLY gives are not known"
    at = len(f.spellings)
    opens = [OpenUnknown(o.label, Reason.STAR_UNEXPANDED, detail) for o in holder.opens]
    f.add_opens(opens, at - len(columns), at)


def _add_script_output(t: Tracer, node: Any, f: Frame) -> None:
    """``transform(a, b) using 'script' as (x, y)``: each of them may be of all that goes in."""
    start = len(t.log)
    x = 0
    for value in node.expressions:
        x |= transformed(evaluate(t, value, f))
    schema = node.args.get("schema")
    columns = schema.expressions if schema is not None else ()
    names = [t.spell(c.this if isinstance(c, exp.ColumnDef) else c) for c in columns]
    for name in names or ["key", "value"]:
        f.add_output(name, t.sources.assumed(x), Step(node, f, start, len(t.log), x))


def _add_aliases(t: Tracer, item: Any, f: Frame) -> None:
    """``posexplode(a) as (p, c)``."""
    start = len(t.log)
    node = item.args["this"]
    x = evaluate(t, node, f)
    for n, alias in enumerate(item.args["expressions"]):
        is_ordinal = n == 0 and isinstance(node, exp.Posexplode)
        step = None if is_ordinal else Step(node, f, start, len(t.log), x, alias)
        f.add_output(t.spell(alias), 0 if is_ordinal else x, step)
