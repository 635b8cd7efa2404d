"""GROUP BY, HAVING, grouping sets and DISTINCT: the sum over the rows of a group.

Gated, the query keeps its groups as they are and each gets a token of its key; inline, an
aggregate over the annotations is computed beside the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlglot import exp

from lineage_post.provenance import cells, conditions, sources, windows
from lineage_post.provenance.algebra import or_one
from lineage_post.provenance.building import (
    ANNOTATION,
    aliased,
    column,
    derived,
    is_aggregate,
    names_of,
    output,
    subqueries,
    when,
    windows_and_aggregates,
)
from lineage_post.provenance.gates import GateKind, Keys, Term

if TYPE_CHECKING:
    from lineage_post.provenance.rewriter import Rewriter

#: Aggregates to which a NULL argument adds nothing.
SKIP_NULLS = (exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Stddev, exp.StddevSamp, exp.Variance)
TERM_FUNCTIONS: Mapping[type[exp.Expr], str] = {
    exp.Sum: "sum",
    exp.Count: "count",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}


def is_grouped(select: exp.Select) -> bool:
    if select.args.get("group") or select.args.get("having"):
        return True
    return bool(windows_and_aggregates(_after_grouping(select))[1])


def _after_grouping(select: exp.Select) -> list[exp.Expr]:
    clauses = [select.args.get(key) for key in ("having", "qualify", "order")]
    return [*select.expressions, *(clause for clause in clauses if clause is not None)]


def group_keys(select: exp.Select) -> tuple[list[exp.Expr], bool]:
    """The expressions grouped by, each once, and whether there are grouping sets."""
    group = select.args.get("group")
    if group is None:
        return [], False
    keys: dict[str, exp.Expr] = {}
    has_sets = False

    def collect(node: exp.Expr) -> None:
        nonlocal has_sets
        if isinstance(node, (exp.Rollup, exp.Cube, exp.GroupingSets)):
            has_sets = True
            for child in node.expressions:
                collect(child)
        elif isinstance(node, exp.Tuple):
            for child in node.expressions:
                collect(child)
        elif isinstance(node, exp.Paren):
            collect(node.this)
        else:
            keys.setdefault(node.sql(), node)

    for key in ("expressions", "rollup", "cube", "grouping_sets"):
        for node in group.args.get(key) or []:
            collect(node)
    return list(keys.values()), has_sets


def grouped(rw: Rewriter, select: exp.Select) -> exp.Expr:
    """A SELECT with groups, annotated."""
    keys, has_sets = group_keys(select)
    row_level, group_level = _subquery_factors(rw, select, keys)
    gate: exp.Expr | None = None
    if rw.can_gate(select):
        out = select.copy()
        annotation = gate = _gated(rw, select, keys, has_sets, row_level)
    else:
        rows = sources.rows(rw, select)
        out = rows.skeleton
        for key in ("expressions", "group", "having", "qualify", "order", "limit", "offset"):
            value = select.args.get(key)
            if value is not None:
                copied = [v.copy() for v in value] if isinstance(value, list) else value.copy()
                out.set(key, copied)
        annotation = rw.algebra.plus(
            _that_counts(rw, select, keys, rw.algebra.times(rows.factors + row_level))
        )
        if not keys:
            annotation = or_one(rw.algebra, annotation)
    if group_level:
        annotation = rw.algebra.times([annotation, *group_level])
    inside = windows.factors(rw, select, annotation, lambda: _regrouped(select))
    if inside:
        annotation = rw.algebra.times([annotation, *inside])
    summed = {n for n, item in enumerate(select.expressions, 1) if _term(item.unalias())}
    pointed = summed if rw.terms else set()
    origin = cells.of_groups(rw, select, keys, gate, has_sets, pointed) if rw.cells else []
    return rw.append(out, annotation, origin)


def _regrouped(select: exp.Select) -> exp.Select:
    """The groups of ``select`` again, without outputs: what its windows run over."""
    again = select.copy()
    for key in ("expressions", "qualify", "order", "limit", "offset", "distinct"):
        again.set(key, None)
    return again


def _subquery_factors(
    rw: Rewriter, select: exp.Select, keys: list[exp.Expr]
) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """Annotations of subqueries in outputs and HAVING: those a row brings, those a group does."""
    row_level: list[exp.Expr] = []
    group_level: list[exp.Expr] = []
    by_row = {key.sql() for key in keys}
    for item in select.expressions:
        core = item.unalias()
        for subquery in subqueries(core):
            inside = core.sql() in by_row or _in_aggregate(subquery, item)
            found = conditions.subquery_factor(rw, subquery)
            (row_level if inside else group_level).extend(found)
    having = select.args.get("having")
    if having is not None:
        group_level += conditions.factors(rw, having.this)
    return row_level, group_level


def _in_aggregate(node: exp.Expr, top: exp.Expr) -> bool:
    around: exp.Expr | None = node.parent
    while around is not None and around is not top.parent:
        if is_aggregate(around) and not isinstance(around.parent, exp.Window):
            return True
        around = around.parent
    return False


def _gated(
    rw: Rewriter,
    select: exp.Select,
    keys: list[exp.Expr],
    has_sets: bool,
    row_level: list[exp.Expr],
) -> exp.Expr:
    rows = sources.rows(rw, select)
    side = rows.skeleton
    named = [aliased(key.copy(), f"_k{n}") for n, key in enumerate(keys, 1)]
    side.select(*named, aliased(rw.algebra.times(rows.factors + row_level), ANNOTATION), copy=False)
    if not keys:
        condition = _reaches_an_aggregate(select)
        if condition is not None:
            side.where(condition, copy=False)
    terms = _add_terms(side, select) if rw.terms else []
    if rw.cells:
        cells.add_to_group_side(rw, side, select, keys)
    typed: Keys = [(key, key.type) for key in keys]
    kind = GateKind.GROUP
    if has_sets:
        kind = GateKind.GROUPING_SETS
        bit = exp.DataType.build("int")
        typed = [p for key in keys for p in ((_grouping(key), bit), (key, key.type))]
    outputs = len(select.expressions)
    name = rw.gate(kind, "g", typed, [side], terms=terms, outputs=outputs)
    return rw.token(name, typed)


def _grouping(key: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="grouping", expressions=[key.copy()])


def _that_counts(
    rw: Rewriter, select: exp.Select, keys: list[exp.Expr], annotation: exp.Expr
) -> exp.Expr:
    """Without keys the row is there anyway: a row that no aggregate sees is no witness."""
    condition = None if keys else _reaches_an_aggregate(select)
    return annotation if condition is None else when(condition, annotation, exp.null())


def _reaches_an_aggregate(select: exp.Select) -> exp.Expr | None:
    """The condition that an aggregate sees a row; None where every row is seen."""
    tests: list[exp.Expr] = []
    for aggregate in windows_and_aggregates(_after_grouping(select))[1]:
        argument = aggregate.this
        counted = isinstance(aggregate, exp.Count) and not isinstance(argument, exp.Star)
        if not counted and not isinstance(aggregate, SKIP_NULLS):
            return None
        if argument is None or aggregate.args.get("expressions"):
            return None
        expressions = argument.expressions if isinstance(argument, exp.Distinct) else [argument]
        tests += [exp.Not(this=exp.Is(this=e.copy(), expression=exp.null())) for e in expressions]
    if not tests or any(subqueries(test) for test in tests):
        return None
    return exp.or_(*tests)


def _add_terms(side: exp.Select, select: exp.Select) -> list[Term]:
    """Add what each row brings to the aggregate outputs: the left sides of value * polynomial."""
    terms: list[Term] = []
    for position, item in enumerate(select.expressions, 1):
        found = _term(item.unalias())
        if found is not None:
            function, distinct, value = found
            side.select(aliased(value, f"_v{position}"), copy=False)
            terms.append(Term(position, function, distinct))
    return terms


def _term(node: exp.Expr) -> tuple[str, bool, exp.Expr] | None:
    condition = None
    if isinstance(node, exp.Filter):
        node, condition = node.this, node.expression.this
    function = TERM_FUNCTIONS.get(type(node))
    if function is None or node.args.get("expressions"):
        return None
    value, distinct = node.this, False
    if isinstance(value, exp.Distinct):
        if len(value.expressions) != 1:
            return None
        value, distinct = value.expressions[0], True
    if isinstance(value, exp.Star) or value is None:
        value = exp.Literal.number(1)
    if isinstance(value, exp.Literal) and not condition:
        return function, distinct, value.copy()
    value = value.copy()
    return function, distinct, value if condition is None else when(condition, value, exp.null())


def distinct(rw: Rewriter, select: exp.Select) -> exp.Expr:
    """SELECT DISTINCT: the sum over the rows that give the same outputs."""
    plain = select.copy()
    for key in ("distinct", "order", "limit", "offset"):
        plain.set(key, None)
    names = select.named_selects
    types = [item.unalias().type for item in select.expressions]
    if rw.can_gate(select):
        return over_outputs(rw, select, names, types, GateKind.DISTINCT, [plain])
    alias = rw.fresh("x")
    inner = derived(rw.query(plain), alias)
    summed = sum_by_outputs(rw, inner, alias, names)
    return rw.tail(select, summed, names)


def sum_by_outputs(rw: Rewriter, source: exp.Expr, alias: str, names: list[str]) -> exp.Select:
    """``select <outputs>, plus(_p) from source group by <outputs>``."""
    outputs = [output(name, alias) for name in names]
    named = [aliased(o.copy(), name, quoted=True) for o, name in zip(outputs, names, strict=True)]
    annotation = rw.algebra.plus(column(ANNOTATION, alias))
    unknown = [cells.unknown() for _ in names] if rw.cells else []
    select = exp.select(*named, *rw.extras(annotation, unknown)).from_(source)
    return select.group_by(*outputs)


def over_outputs(
    rw: Rewriter,
    query: exp.Expr,
    names: list[str],
    types: list[exp.DataType | None],
    kind: GateKind,
    sides: list[exp.Expr],
) -> exp.Expr:
    """``query`` as it is, each row with the token of its outputs; ``sides`` are yet to annotate."""
    keyed = [keyed_side(rw, side, len(names)) for side in sides]
    alias = rw.fresh("x")
    keys: Keys = [(output(name, alias), t) for name, t in zip(names, types, strict=True)]
    annotation = rw.token(rw.gate(kind, "d", keys, keyed, outputs=len(names)), keys)
    outputs = [aliased(output(name, alias), name, quoted=True) for name in names]
    origin = [cells.pointer(rw, annotation, n) for n in range(1, len(names) + 1)]
    select = exp.select(*outputs, *rw.extras(annotation, origin if rw.cells else []))
    return select.from_(derived(query.copy(), alias))


def keyed_side(rw: Rewriter, query: exp.Expr, outputs: int) -> exp.Expr:
    """``query`` annotated, its outputs as the keys of a side query."""
    alias = rw.fresh("y")
    names = names_of(query)[:outputs]
    keys = [aliased(output(name, alias), f"_k{n}") for n, name in enumerate(names, 1)]
    extra = [column(name, alias) for name in rw.extra_names(outputs)]
    return exp.select(*keys, *extra).from_(derived(rw.query(query), alias))
