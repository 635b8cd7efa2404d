"""WHERE, ON and HAVING: the witnesses that subqueries in a condition bring.

exists (select 1 from b where b.k = a.k)  -> coalesce((select plus(b._p) from b where ...), one)
x or exists (...)                         -> (case when x then one else zero end
                                              + case when exists then <its rows> else zero end)
not exists (...)                          -> nothing, and a note
exists (select 1 from b)                  -> a gate: the same for every row
x in (select y from b)                    -> a gate per value of x
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from lineage_post.provenance.algebra import or_one
from lineage_post.provenance.building import (
    ANNOTATION,
    aliased,
    column,
    derived,
    names_of,
    output,
    scalar,
    subqueries,
    unwrapped,
    when,
    windows_and_aggregates,
)
from lineage_post.provenance.gates import GateKind, Keys
from lineage_post.provenance.identity import INTEGER_TYPES, TEXT_TYPES

if TYPE_CHECKING:
    from lineage_post.provenance.rewriter import Rewriter


def factors(rw: Rewriter, condition: exp.Expr) -> list[exp.Expr]:
    """What the subqueries in a condition that holds contribute, to be multiplied."""
    found: list[exp.Expr] = []
    for conjunct in _conjuncts(condition):
        found += _of_conjunct(rw, conjunct)
    return found


def _conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    node = condition.unnest()
    if isinstance(node, exp.Not):
        inner = node.this.unnest()
        if isinstance(inner, exp.Or):
            return _conjuncts(exp.and_(exp.not_(inner.left), exp.not_(inner.right)))
        if isinstance(inner, exp.Not):
            return _conjuncts(inner.this)
    if isinstance(node, exp.And):
        return [found for side in node.flatten() for found in _conjuncts(side)]
    return [node]


def _disjuncts(condition: exp.Expr) -> list[exp.Expr]:
    node = condition.unnest()
    if isinstance(node, exp.Not):
        inner = node.this.unnest()
        if isinstance(inner, exp.And):
            return [found for side in inner.flatten() for found in _disjuncts(exp.not_(side))]
    if isinstance(node, exp.Or):
        return [found for side in node.flatten() for found in _disjuncts(side)]
    return [node]


def _of_conjunct(rw: Rewriter, condition: exp.Expr) -> list[exp.Expr]:
    if not subqueries(condition):
        return []
    branches = _disjuncts(condition)
    if len(branches) > 1:
        return [rw.algebra.either([_of_branch(rw, branch) for branch in branches])]
    found: list[exp.Expr] = []
    compared = _quantified(condition)
    if compared is not None:
        return [_matching(rw, *compared)]
    for subquery in subqueries(condition):
        found += subquery_factor(rw, subquery, condition)
    return found


def _of_branch(rw: Rewriter, branch: exp.Expr) -> exp.Expr:
    """One side of an OR: what it brings where it holds, zero where it does not."""
    inside = factors(rw, branch)
    then = rw.algebra.times(inside) if inside else rw.algebra.one()
    return when(branch, then, rw.algebra.zero())


def subquery_factor(
    rw: Rewriter, subquery: exp.Expr, within: exp.Expr | None = None
) -> list[exp.Expr]:
    """The witnesses of one EXISTS, IN or scalar subquery; none where it is negated."""
    if isinstance(subquery, (exp.Exists, exp.In)) and _is_negated(subquery):
        rw.note_absence(subquery, "NOT EXISTS" if isinstance(subquery, exp.Exists) else "NOT IN")
        return []
    if isinstance(subquery, exp.In):
        return [_member(rw, subquery)]
    query = unwrapped(subquery.this if isinstance(subquery, exp.Exists) else subquery)
    if isinstance(subquery, exp.Exists) and isinstance(query, exp.Select):
        query = query.copy()
        query.set("limit", None)
        query.set("order", None)
    if rw.can_gate(query):
        key = f"subquery {query.sql()}"
        name = rw.once(key, lambda: rw.gate(GateKind.SUBQUERY, "s", [], [_side(rw, query)]))
        return [rw.token(name, [])]
    return [or_one(rw.algebra, inline(rw, query))]


def _is_negated(node: exp.Expr) -> bool:
    parent = node.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    return isinstance(parent, exp.Not)


def _quantified(
    condition: exp.Expr,
) -> tuple[exp.Expr, list[tuple[type[exp.Expr], exp.Expr]]] | None:
    """``x > any (query)`` as (query, [(operator, x)])."""
    if isinstance(condition, (exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE)):
        right = condition.expression
        if isinstance(right, exp.Any) and isinstance(unwrapped(right.this), exp.Query):
            return unwrapped(right.this), [(type(condition), condition.this)]
    return None


def _member(rw: Rewriter, node: exp.In) -> exp.Expr:
    """``x in (query)``: the rows of the query that equal x."""
    query = unwrapped(node.args["query"])
    left = node.this.unnest()
    values = list(left.expressions) if isinstance(left, exp.Tuple) else [left]
    if rw.can_gate(query) and _same_types(values, query):
        keys: Keys = [(value, value.type) for value in values]
        name = rw.once(
            f"member {query.sql()}",
            lambda: rw.gate(GateKind.MEMBER, "n", keys, [_keyed_side(rw, query)]),
        )
        return rw.token(name, keys)
    return _matching(rw, query, [(exp.EQ, value) for value in values])


def _same_types(values: list[exp.Expr], query: exp.Expr) -> bool:
    """May text stand for equality? Only where both sides are whole numbers, or text, or dates."""
    if not isinstance(query, exp.Select) or len(values) != len(query.expressions):
        return False
    for value, item in zip(values, query.expressions, strict=True):
        left, right = value.type, item.unalias().type
        if left is None or right is None:
            return False
        families = (INTEGER_TYPES, TEXT_TYPES, (exp.DataType.Type.DATE,))
        if not any(left.is_type(*f) and right.is_type(*f) for f in families):
            return False
    return True


def _matching(
    rw: Rewriter, query: exp.Expr, tests: list[tuple[type[exp.Expr], exp.Expr]]
) -> exp.Expr:
    return or_one(rw.algebra, inline(rw, query, tests))


def inline(
    rw: Rewriter,
    query: exp.Expr,
    tests: list[tuple[type[exp.Expr], exp.Expr]] | None = None,
) -> exp.Expr:
    """``(select plus(_p) from query)``; ``tests`` compare outer values with its outputs."""
    from lineage_post.provenance import sources

    tests = tests or []
    if isinstance(query, exp.Select) and _is_flat(query, grouped_too=not tests):
        rows = sources.rows(rw, query)
        select = rows.skeleton.select(rw.algebra.plus(rw.algebra.times(rows.factors)))
        for (operator, value), item in zip(tests, query.expressions, strict=False):
            test = operator(this=value.copy(), expression=item.unalias().copy())
            select = select.where(test)
        return scalar(select)
    alias = rw.fresh("s")
    annotated = derived(rw.query(query), alias)
    select = exp.select(rw.algebra.plus(column(ANNOTATION, alias))).from_(annotated)
    for (operator, value), name in zip(tests, names_of(query), strict=False):
        select = select.where(operator(this=value.copy(), expression=output(name, alias)))
    return scalar(select)


def _is_flat(query: exp.Select, *, grouped_too: bool) -> bool:
    """Does a row of the query stand for one row of its FROM (or one group for all of them)?"""
    if query.args.get("from_") is None:
        return False
    clauses = ("group", "having", "qualify", "limit", "offset", "distinct")
    if any(query.args.get(key) for key in clauses):
        return False
    windows, aggregates = windows_and_aggregates(query.expressions)
    if windows or (aggregates and not grouped_too):
        return False
    return not any(subqueries(item) for item in query.expressions)


def _side(rw: Rewriter, query: exp.Expr) -> exp.Expr:
    """The rows of a subquery, annotated, as a side query without keys."""
    from lineage_post.provenance import sources

    if isinstance(query, exp.Select) and _is_flat(query, grouped_too=True):
        rows = sources.rows(rw, query)
        return rows.skeleton.select(aliased(rw.algebra.times(rows.factors), ANNOTATION))
    alias = rw.fresh("s")
    return exp.select(column(ANNOTATION, alias)).from_(derived(rw.query(query), alias))


def _keyed_side(rw: Rewriter, query: exp.Expr) -> exp.Expr:
    """The rows of a subquery, annotated, with its outputs as keys."""
    alias = rw.fresh("s")
    names = names_of(query)
    keys = [aliased(output(name, alias), f"_k{n}") for n, name in enumerate(names, 1)]
    return exp.select(*keys, column(ANNOTATION, alias)).from_(derived(rw.query(query), alias))
