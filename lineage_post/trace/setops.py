"""UNION, INTERSECT and EXCEPT: by position, or by name where the SQL says so."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.arms import Stacked
from lineage_post.trace.frame import Env, Frame, Operand
from lineage_post.trace.opens import Open
from lineage_post.trace.provenance import FILTER, GROUP_BY
from lineage_post.trace.relation import Relation
from lineage_post.trace.scope import whole_row
from lineage_post.trace.select import limited, order
from lineage_post.trace.sources import unique_names, united
from lineage_post.trace.tracer import Tracer


def set_operation(t: Tracer, node: Any, env: Env, outer: Frame | None) -> Relation:
    """The relation of a set operation; left-deep chains of arms are walked in a loop."""
    chain, first = _chain(node)
    relation = t.query(t, first, env, outer)
    if t.rules.renames_duplicates:
        relation = relation.renamed(unique_names(relation.spellings))
    result = Stacked(relation)
    f = Frame(outer, env)
    f.decide_like(relation)
    for operation in reversed(chain):
        t.spend()
        arm = t.query(t, operation.args["expression"], env, outer)
        f.decide_like(arm)
        if isinstance(operation, exp.Union):
            _union(t, operation, result, arm, f)
        else:
            _membership(t, operation, result, arm, f)
    steps = list(map(united, result.arms, result.origins))
    relation = Relation(
        t.rules, result.names, result.provenances, steps, f.rows, f.rows_of, result.opened(),
        gap=result.gap,
    )  # fmt: skip
    if t.recorder is not None:
        t.recorder.result(node.key, relation)
    return relation


def _chain(node: Any) -> tuple[list[Any], Any]:
    chain = []
    current = node
    while isinstance(current, exp.SetOperation):
        if current is not node and current.args.get("with_") is not None:
            break
        chain.append(current)
        current = current.args["this"]
        while _is_plain_parentheses(current):
            current = current.args["this"]
    return chain, current


def _is_plain_parentheses(node: Any) -> bool:
    return (
        type(node) is exp.Subquery
        and isinstance(node.args["this"], exp.SetOperation)
        and not any(node.args.get(k) for k in ("alias", "order", "limit", "offset", "with_"))
    )


def _union(t: Tracer, operation: Any, result: Stacked, arm: Relation, f: Frame) -> None:
    if operation.args.get("by_name"):
        _by_name(t, result, arm)
    else:
        result.add(t, arm)
    if operation.args.get("distinct"):
        opens = [r.open for r in result.relations if r.open is not None]
        t.decide(f, operation, len(t.log), whole_row(t, result.provenances, opens), GROUP_BY)


def _by_name(t: Tracer, result: Stacked, arm: Relation) -> None:
    result.relations.append(arm)
    names = unique_names(arm.spellings) if t.rules.renames_duplicates else arm.spellings
    positions = {t.rules.key_of(name): i for i, name in enumerate(result.names)}
    if arm.open is not None:
        missing = positions.keys() - set(map(t.rules.key_of, names))
        for key in sorted(missing):
            n = positions[key]
            result.provenances[n] |= _perhaps(t, [arm.open], key, result.names[n])
    before = [r.open for r in result.relations[:-1] if r.open is not None]
    for n, (name, x, step) in enumerate(zip(names, arm.all(), arm.steps)):
        i = positions.get(t.rules.key_of(name))
        if i is None:
            result.names.append(name)
            result.provenances.append(x | _perhaps(t, before, t.rules.key_of(name), name))
            result.arms.append([step])
            result.origins.append([(arm, n)])
        else:
            result.stack(i, arm, n, x)
    result.open = result.open or arm.open
    result.gap, result.is_by_name = None, True


def _perhaps(t: Tracer, opens: list[Open], key: str, name: str) -> int:
    """The column of that name of arms that may or may not have one."""
    x = 0
    for open_ in opens:
        x |= open_.column(t, key, name)
    return t.sources.assumed(x)


def _membership(t: Tracer, operation: Any, result: Stacked, arm: Relation, f: Frame) -> None:
    """INTERSECT and EXCEPT: rows are compared as a whole, and only those of the left come out."""
    opens = [o for o in (result.open, arm.open) if o is not None]
    x = whole_row(t, (*result.provenances, *arm.all()), opens)
    t.decide(f, operation, len(t.log), x, FILTER)


def ordered(t: Tracer, node: Any, relation: Relation, env: Env, outer: Frame | None) -> Relation:
    """ORDER BY and LIMIT that hang on a set operation or on a query in parentheses."""
    a = node.args
    keys = a.get("order")
    if keys is None and a.get("limit") is None and a.get("offset") is None:
        return relation
    f = Frame(outer, env)
    f.add_operand(Operand("", relation))
    f.spellings = list(relation.spellings)
    f.provenances = list(relation.all())
    f.steps = list(relation.steps)
    f.opens = [relation.open] if relation.open is not None else []
    if keys is not None:
        order(t, keys.args["expressions"], f)
    limited(t, a, f)
    return Relation(
        t.rules, relation.spellings, relation.all(), relation.steps, f.rows, f.rows_of,
        relation.open, relation.shapes, relation.gap,
    )  # fmt: skip
