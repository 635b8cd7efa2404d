"""MERGE: one set of outputs from all of its branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from lineage_post.trace.expressions import evaluate
from lineage_post.trace.frame import Env, Frame
from lineage_post.trace.joins import side_of_using
from lineage_post.trace.naming import expression_name
from lineage_post.trace.opens import OpenWithout
from lineage_post.trace.provenance import FILTER, JOIN
from lineage_post.trace.relation import Relation
from lineage_post.trace.renaming import renamed
from lineage_post.trace.sources import add_source, cell_of
from lineage_post.trace.tracer import Tracer
from lineage_post.trace.writing import Assignments, assign, name_of


def merged(t: Tracer, node: Any, env: Env) -> Relation:
    """The columns a MERGE assigns, in order of first assignment."""
    f = Frame(None, env)
    add_source(t, node.args["this"], f)
    add_source(t, node.args["using"], f)
    on = node.args.get("on")
    if isinstance(on, exp.Expr):
        start = len(t.log)
        t.decide(f, on, start, evaluate(t, on, f), JOIN)
    for key in node.args.get("using_cond") or ():
        for n in range(len(f.operands)):
            x = side_of_using(t, t.key(key), t.spell(key), f, n, n + 1)[0]
            t.decide(f, key, len(t.log), x, JOIN)
    result = Assignments(t)
    whens = node.args.get("whens")
    for when in whens.expressions if whens is not None else ():
        _branch(t, when, f, result)
    return result.relation(f)


def _branch(t: Tracer, when: Any, f: Frame, result: Assignments) -> None:
    a = when.args
    scope = _scope(f, a)
    if a.get("condition") is not None:
        start = len(t.log)
        t.decide(f, a["condition"], start, evaluate(t, a["condition"], scope), FILTER)
    then = a.get("then")
    if isinstance(then, exp.Update):
        items = then.args.get("expressions")  # of ``update *`` no list
        for item in items if isinstance(items, list) else ():
            assign(t, item, scope, result)
        _filter(t, then, scope, f)
        if not isinstance(items, list) or not any(isinstance(e, exp.EQ) for e in items):
            _whole_row(t, f, result, items[0] if isinstance(items, list) and items else None)
    elif isinstance(then, exp.Insert):
        _filter(t, then, scope, f)
        _insert(t, then, scope, f, result)


def _filter(t: Tracer, then: Any, scope: Frame, f: Frame) -> None:
    """Oracle's ``then update set ... where c``, ``then insert ... where c``."""
    if then.args.get("where") is not None:
        start = len(t.log)
        where = then.args["where"].this
        t.decide(f, where, start, evaluate(t, where, scope), FILTER)


def _scope(f: Frame, a: Any) -> Frame:
    """Without a match there is a row of one side only."""
    if a.get("matched"):
        return f
    scope = Frame(None, f.env)
    for operand in f.operands[:1] if a.get("source") else f.operands[1:]:
        scope.bring(operand)
    return scope


def _insert(t: Tracer, then: Any, scope: Frame, f: Frame, result: Assignments) -> None:
    columns: Any = then.this
    values: Any = then.expression
    if not values and _is_call_of_values(columns):
        columns, values = None, columns.expressions[0]
    if isinstance(columns, exp.Var):  # BigQuery's insert row
        _row_by_position(t, f, result)
        return
    if not isinstance(values, (exp.Tuple, exp.Anonymous)):
        _whole_row(t, f, result, columns)
        return
    names: Sequence[str]
    if isinstance(columns, exp.Tuple):
        names = [name_of(t, c) for c in columns.expressions]
    else:
        names = _target_names(t, f, [expression_name(t, value) for value in values.expressions])
    for name, value in zip(names, values.expressions):
        x, step = cell_of(t, value, scope)
        result.add(name, x, step)


def _is_call_of_values(node: Any) -> bool:
    """``insert values (a, b)`` without a list: some dialects of sqlglot read a function there."""
    inner = node.expressions[0] if isinstance(node, exp.Tuple) and node.expressions else None
    return isinstance(inner, exp.Anonymous) and str(inner.name).lower() == "values"


def _target_names(t: Tracer, f: Frame, names: Sequence[str]) -> Sequence[str]:
    """The columns that values without a list go into: by position, where the target is known."""
    target = f.operands[0].relation
    if target.open is None:
        return target.spellings
    t.untold.append(
        f"the columns of {target.open.label}, which a whole row is inserted into, are not known"
    )
    return names


def _row_by_position(t: Tracer, f: Frame, result: Assignments) -> None:
    """The columns of the source go into those of the target in order."""
    relation = f.operands[1].relation
    names = _target_names(t, f, relation.spellings)
    if f.operands[0].relation.open is None:
        relation = renamed(t, relation, names)
    else:
        result.open = result.open or relation.open
    for name, x, step in zip(relation.spellings, relation.all(), relation.steps):
        result.add(name, x, step)


def _whole_row(t: Tracer, f: Frame, result: Assignments, star: Any) -> None:
    """``update set *``, ``insert * except (a)``: every column of the source by name; on DuckDB in
    order."""
    if t.rules.name == "duckdb":
        _row_by_position(t, f, result)
        return
    target, source = f.operands[0].relation, f.operands[1].relation
    excepted = star.args.get("except_") or () if isinstance(star, exp.Star) else ()
    gone = frozenset(t.rules.key_of(name_of(t, column)) for column in excepted)
    if source.open is not None and target.open is None:  # each column of the target is in it
        for name in target.spellings:
            key = t.rules.key_of(name)
            if key in gone:
                continue
            i = source.position(key)
            x = source.at(i) if i >= 0 else source.open.column(t, key, name)
            result.add(name, x, source.steps[i] if i >= 0 else None)
        return
    if source.open is not None:
        result.open = result.open or OpenWithout(source.open, gone)
    for name, x, step in zip(source.spellings, source.all(), source.steps):
        if t.rules.key_of(name) not in gone:
            result.add(name, x, step)


__all__ = ["merged"]
