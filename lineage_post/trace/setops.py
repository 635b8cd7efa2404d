"""UNION, INTERSECT and EXCEPT: by position, or by name where the SQL says so."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.frame import Env, Frame, Operand
from lineage_post.trace.opens import Open, OpenArms
from lineage_post.trace.provenance import FILTER, GROUP_BY
from lineage_post.trace.relation import AnyStep, Relation
from lineage_post.trace.scope import whole_row
from lineage_post.trace.select import limited, order
from lineage_post.trace.sources import unique_names, united
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import Reason


class _Result:
    """The outputs of the arms read so far."""

    def __init__(self, first: Relation) -> None:
        self.names = list(first.spellings)
        self.provenances = list(first.all())
        self.arms: list[list[AnyStep]] = [[step] for step in first.steps]
        self.relations = [first]
        self.open = first.open


def set_operation(t: Tracer, node: Any, env: Env, outer: Frame | None) -> Relation:
    """The relation of a set operation; left-deep chains of arms are walked in a loop."""
    chain, first = _chain(node)
    relation = t.query(t, first, env, outer)
    if t.rules.renames_duplicates:
        relation = relation.renamed(unique_names(relation.spellings))
    result = _Result(relation)
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
    open_ = OpenArms(result.relations) if result.open is not None else None
    steps = [united(arms) for arms in result.arms]
    relation = Relation(t.rules, result.names, result.provenances, steps, f.rows, f.rows_of, open_)
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


def _union(t: Tracer, operation: Any, result: _Result, arm: Relation, f: Frame) -> None:
    result.relations.append(arm)
    if operation.args.get("by_name"):
        _by_name(t, result, arm)
    elif result.open is not None:
        _by_known_name(t, result, arm)
    else:
        _by_position(t, result, arm)
    if operation.args.get("distinct"):
        opens = [r.open for r in result.relations if r.open is not None]
        t.decide(f, operation, len(t.log), whole_row(t, result.provenances, opens), GROUP_BY)


def _by_position(t: Tracer, result: _Result, arm: Relation) -> None:
    added = arm.all()
    for i in range(len(result.provenances)):
        if i < len(added):
            result.provenances[i] |= added[i]
            result.arms[i].append(arm.steps[i])
        elif arm.open is not None:
            detail = f"an arm selects * from {arm.open.label}, whose columns are not known"
            result.provenances[i] |= t.sources.unknown(
                result.names[i], Reason.STAR_UNEXPANDED, detail
            )


def _by_name(t: Tracer, result: _Result, arm: Relation) -> None:
    names = unique_names(arm.spellings) if t.rules.renames_duplicates else arm.spellings
    positions = {t.rules.key_of(name): i for i, name in enumerate(result.names)}
    if arm.open is not None:
        missing = positions.keys() - set(map(t.rules.key_of, names))
        for key in sorted(missing):
            n = positions[key]
            result.provenances[n] |= _perhaps(t, [arm.open], key, result.names[n])
    before = [r.open for r in result.relations[:-1] if r.open is not None]
    for name, x, step in zip(names, arm.all(), arm.steps):
        i = positions.get(t.rules.key_of(name))
        if i is None:
            result.names.append(name)
            result.provenances.append(x | _perhaps(t, before, t.rules.key_of(name), name))
            result.arms.append([step])
        else:
            result.provenances[i] |= x
            result.arms[i].append(step)
    result.open = result.open or arm.open


def _perhaps(t: Tracer, opens: list[Open], key: str, name: str) -> int:
    """The column of that name of arms that may or may not have one."""
    x = 0
    for open_ in opens:
        x |= open_.column(t, key, name)
    return t.sources.assumed(x)


def _by_known_name(t: Tracer, result: _Result, arm: Relation) -> None:
    """The first arm is a star over something unknown: positions say nothing, names may."""
    for i, name in enumerate(result.names):
        key = t.rules.key_of(name)
        j = arm.position(key)
        if j >= 0:
            result.provenances[i] |= t.sources.assumed(arm.at(j))
            result.arms[i].append(arm.steps[j])
        elif arm.open is not None:
            result.provenances[i] |= t.sources.assumed(arm.open.column(t, key, name))


def _membership(t: Tracer, operation: Any, result: _Result, arm: Relation, f: Frame) -> None:
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
        relation.open, relation.shapes,
    )  # fmt: skip
