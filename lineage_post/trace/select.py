"""One SELECT: its outputs, and what decides its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from lineage_post.trace.builtin_names import is_aggregate as is_aggregate_name
from lineage_post.trace.dialects import Visible
from lineage_post.trace.expressions import evaluate
from lineage_post.trace.frame import Env, Frame, Operand
from lineage_post.trace.having import visible_in_having
from lineage_post.trace.inline_aliases import with_inline_aliases
from lineage_post.trace.joins import join
from lineage_post.trace.match_recognize import matched_item, recognize
from lineage_post.trace.opens import OpenUnknown, OpenWithout, one_of
from lineage_post.trace.outputs import add_output
from lineage_post.trace.provenance import FILTER, GROUP_BY, JOIN, SORT, is_aggregate
from lineage_post.trace.relation import Relation
from lineage_post.trace.scope import row_of_open, whole_row
from lineage_post.trace.shapes import Struct
from lineage_post.trace.sources import add_source
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import Reason

#: What GROUP BY ALL groups by: the items of the select list with their provenance.
Keys = Sequence[tuple[Any, int]]
#: Stages that see what the select list makes, no longer what FROM reads.
_AFTER_PROJECTION = frozenset({"aggregate", "distinct", "sort"})
_EMPTY = (
    "the select list is empty: the SQL was compiled before its parent was built; "
    "build the parent, then compile again"
)


def select(t: Tracer, node: Any, env: Env, outer: Frame | None) -> Relation:
    """The relation of a SELECT."""
    t.spend()
    a = node.args
    if t.rules.everywhere_alias_first:
        env = with_inline_aliases(t, a, env)
    f = Frame(outer, env)
    t.frames.append(f)
    # A subquery within an item of a select list has a list of its own.
    expands, t.expands = t.expands, False
    _read_from(t, a, f)
    windows = a.get("windows")
    if windows:
        f.windows = {t.key(window.args["this"]): window for window in windows}
    f.alias_visible = t.rules.select_list
    items = a["expressions"] if a.get("kind") != "VALUE" else _fields(t, a["expressions"], f)
    keys: Keys = ()
    if a.get("group") is not None and a["group"].args.get("all"):
        keys = _with_keys(t, items, f)
    else:
        for item in items:
            add_output(t, item, f)
    if not items:
        f.add_opens([OpenUnknown("an empty select list", Reason.PARSE_ERROR, _EMPTY)], 0, 0)
    _decide_rows(t, a, f, keys)
    _leave_out(t, a, f)
    relation = Relation(
        t.rules, f.spellings, f.provenances, f.steps, f.rows, f.rows_of, one_of(f.opens),
        gap=f.gap,
    )  # fmt: skip
    t.expands = expands
    if t.recorder is not None:
        t.recorder.result("project", relation)
    return relation


def _fields(t: Tracer, items: Any, f: Frame) -> Any:
    """BigQuery's ``select as value struct(a, b)`` gives a and b."""
    item = items[0].args["this"] if isinstance(items[0], exp.Alias) else items[0]
    if len(items) == 1 and isinstance(t.expression_shape(item, f), Struct):
        return [exp.Dot(this=item.copy(), expression=exp.Star())]
    return items


def _read_from(t: Tracer, a: Any, f: Frame) -> None:
    f.is_partial = True
    from_ = a.get("from_")
    if a.get("match") is not None and from_ is not None:
        _read_matched(t, a, f)
    else:
        if from_ is not None:
            add_source(t, from_.args["this"], f)
        for node in a.get("joins") or ():
            join(t, node, f)
    for lateral in a.get("laterals") or ():
        add_source(t, lateral, f)
    f.is_partial = False


def _read_matched(t: Tracer, a: Any, f: Frame) -> None:
    """FROM with a MATCH_RECOGNIZE behind one of its items."""
    joins = a.get("joins") or ()
    item = matched_item(a["match"], a["from_"], joins)
    add_source(t, a["from_"].args["this"], f)
    if item is a["from_"].args["this"]:
        recognize(t, a["match"], f)
    for node in joins:
        join(t, node, f)
        if item is node.args["this"]:
            recognize(t, a["match"], f)


def _with_keys(t: Tracer, items: Any, f: Frame) -> Keys:
    """Adds the outputs, and tells those that GROUP BY ALL groups by: what aggregates nothing."""
    keys: list[tuple[Any, int]] = []
    for item in items:
        first, unlisted = len(f.provenances), len(f.opens)
        add_output(t, item, f)
        if not _aggregates(item):
            keys += [(item, x) for x in f.provenances[first:]]
            keys += [(item, row_of_open(t, open_)) for open_ in f.opens[unlisted:]]
    return keys


def _aggregates(item: Any) -> bool:
    return any(
        isinstance(node, exp.AggFunc)
        or (isinstance(node, exp.Anonymous) and is_aggregate_name(str(node.name).lower()))
        for node in item.walk(prune=lambda node: isinstance(node, exp.Query))
    )


def _decide_rows(t: Tracer, a: Any, f: Frame, keys: Keys) -> None:
    rules = t.rules
    if a.get("where") is not None or a.get("prewhere") is not None:
        f.alias_visible = rules.where
        for clause in ("prewhere", "where"):
            if a.get(clause) is not None:
                _where(t, a[clause].args["this"], f, has_comma=_has_comma(a))
                _record(t, "filter", f, a[clause].args["this"])
    if a.get("connect") is not None:
        _connect(t, a["connect"], f)
    if a.get("group") is not None:
        f.alias_visible = rules.group
        _group(t, a["group"], keys, f)
        _record(t, "aggregate", f, a["group"])
    elif t.recorder is not None and _is_aggregate(a["expressions"]):
        _record(t, "aggregate", f, None)
    if a.get("having") is not None:
        f.alias_visible = visible_in_having(t, a["having"], a.get("group"), f)
        _predicate(t, a["having"].args["this"], f, FILTER)
        _record(t, "filter", f, a["having"].args["this"])
    if a.get("qualify") is not None:
        f.alias_visible = Visible.AFTER_COLUMNS
        _predicate(t, a["qualify"].args["this"], f, FILTER)
        _record(t, "filter", f, a["qualify"].args["this"])
    if a.get("distinct") is not None:
        _distinct(t, a["distinct"], f)
        _record(t, "distinct", f, a["distinct"])
    for clause in ("order", "sort", "cluster"):
        if a.get(clause) is not None:
            order(t, a[clause].args["expressions"], f)
            _record(t, "sort", f, a[clause])
    for clause in ("limit", "offset"):  # ClickHouse's ``limit 2 offset 1 by a``
        for node in a[clause].args.get("expressions") or () if a.get(clause) is not None else ():
            _predicate(t, node, f, GROUP_BY)
    limited(t, a, f)


def _is_aggregate(items: Any) -> bool:
    """``select sum(a) from t``: one group of all rows."""
    return any(
        not isinstance(found.parent, exp.Window)
        for item in items
        for found in item.find_all(exp.AggFunc)
    )


def _record(t: Tracer, kind: str, f: Frame, node: Any) -> None:
    if t.recorder is None:
        return
    if kind in _AFTER_PROJECTION or isinstance(node.parent, (exp.Having, exp.Qualify)):
        t.recorder.outputs(kind, f, node, t.rules)
    else:
        t.recorder.stage(kind, f, node)


def _predicate(t: Tracer, node: Any, f: Frame, kind: int) -> None:
    start = len(t.log)
    t.decide(f, node, start, evaluate(t, node, f), kind)


def _has_comma(a: Any) -> bool:
    """Whether FROM has items that only WHERE connects."""
    return any(
        not j.args.get("on") and not j.args.get("using") and not j.args.get("method")
        for j in a.get("joins") or ()
    )


def _where(t: Tracer, node: Any, f: Frame, *, has_comma: bool) -> None:
    if not has_comma:
        _predicate(t, node, f, FILTER)
        return
    for conjunct in _conjuncts(node):
        _predicate(t, conjunct, f, JOIN if _is_join(t, conjunct, f) else FILTER)


def _conjuncts(node: Any) -> list[Any]:
    parts: list[Any] = []
    while isinstance(node, exp.And):
        parts.append(node.args["expression"])
        node = node.args["this"]
        while isinstance(node, exp.Paren) and isinstance(node.args["this"], exp.And):
            node = node.args["this"]
    parts.append(node)
    parts.reverse()
    return parts


def _is_join(t: Tracer, node: Any, f: Frame) -> bool:
    """``from a, b where a.k = b.k``: an equality between columns of two items of FROM."""
    if node.__class__ is not exp.EQ:
        return False
    left, right = node.args["this"], node.args["expression"]
    if left.__class__ is not exp.Column or right.__class__ is not exp.Column:
        return False
    a, b = _operand_of(t, left, f), _operand_of(t, right, f)
    return a is not None and b is not None and a is not b


def _operand_of(t: Tracer, column: Any, f: Frame) -> Operand | None:
    table = column.args.get("table")
    if table is not None:
        return f.by_key.get(t.key(table))
    key = t.key(column.args["this"])
    owners = f.owners()
    alone = None if owners is None else owners.get(key)
    if alone is not None:
        return alone
    for operand in f.operands:
        names = operand.relation.names
        if key in (names.build() if names.exact is None else names.exact):
            return operand
    return None


def _connect(t: Tracer, connect: Any, f: Frame) -> None:
    start, by = connect.args.get("start"), connect.args.get("connect")
    if start is not None:
        _predicate(t, start, f, FILTER)
    if by is not None:
        _predicate(t, by, f, JOIN)


def _group(t: Tracer, group: Any, keys: Keys, f: Frame) -> None:
    for item, x in keys:
        t.decide(f, item, len(t.log), x, GROUP_BY)
    for node in group.args.get("expressions") or ():
        for key in _keys_of_set(node):
            _key(t, key, f, GROUP_BY)
    for kind in ("rollup", "cube", "grouping_sets"):
        for node in group.args.get(kind) or ():
            if isinstance(node, exp.Expr):
                for key in _keys_of_set(node):
                    _key(t, key, f, GROUP_BY)


def _keys_of_set(node: Any) -> list[Any]:
    """The keys inside GROUPING SETS ((a, b), rollup (c))."""
    if isinstance(node, (exp.Tuple, exp.Rollup, exp.Cube, exp.GroupingSets)):
        return [key for inner in node.expressions for key in _keys_of_set(inner)]
    if isinstance(node, exp.Paren):
        return _keys_of_set(node.this)
    return [node]


def _key(t: Tracer, node: Any, f: Frame, kind: int) -> None:
    """A key of GROUP BY, DISTINCT ON or ORDER BY: an ordinal, or an expression."""
    if isinstance(node, exp.Tuple):
        for inner in node.expressions:
            _key(t, inner, f, kind)
        return
    i = _ordinal(node, f)
    if kind == GROUP_BY and f.alias_visible is Visible.BEFORE_COLUMNS and _is_computed(t, node, f):
        f.alias_visible = Visible.AFTER_COLUMNS
        _predicate(t, node, f, kind)
        f.alias_visible = Visible.BEFORE_COLUMNS
    elif i is None:
        _predicate(t, node, f, kind)
    else:
        t.decide(f, node, len(t.log), f.provenances[i], kind)


def _is_computed(t: Tracer, node: Any, f: Frame) -> bool:
    """Whether a bare name is that of an output that aggregates, which no group can be made of."""
    if node.__class__ is not exp.Column or node.args.get("table") is not None:
        return False
    i = f.alias(t.key(node.args["this"]), t.rules)
    return i is not None and is_aggregate(f.provenances[i])


def _ordinal(node: Any, f: Frame) -> int | None:
    if node.__class__ is exp.Literal and node.is_int:
        i = int(node.name) - 1
        if 0 <= i < len(f.provenances):
            return i
    return None


def _distinct(t: Tracer, distinct: Any, f: Frame) -> None:
    on = distinct.args.get("on")
    if on is None:
        t.decide(f, distinct, len(t.log), whole_row(t, f.provenances, f.opens), GROUP_BY)
        return
    for node in on.expressions if isinstance(on, exp.Tuple) else [on]:
        _show_aliases(t, node, f)
        _key(t, node.this if isinstance(node, exp.Paren) else node, f, GROUP_BY)


def _show_aliases(t: Tracer, node: Any, f: Frame) -> None:
    """A bare name is an output first; a name inside of an expression by the dialect's rule."""
    while isinstance(node, exp.Paren):
        node = node.args["this"]
    is_name = node.__class__ is exp.Column and node.args.get("table") is None
    f.alias_visible = Visible.BEFORE_COLUMNS if is_name else t.rules.order_expression


def order(t: Tracer, keys: Any, f: Frame) -> None:
    """ORDER BY: a bare name is an output first, and an expression by the dialect's rule."""
    for key in keys:
        node = key.args["this"] if isinstance(key, exp.Ordered) else key
        if _is_all(t, node, f):
            t.decide(f, None, len(t.log), whole_row(t, f.provenances, f.opens), SORT)
            continue
        _show_aliases(t, node, f)
        _key(t, node, f, SORT)


def limited(t: Tracer, a: Any, f: Frame) -> None:
    """LIMIT, OFFSET, FETCH and TOP by a subquery: what it reads decides which rows come out."""
    for clause in ("limit", "offset"):
        node = a.get(clause)
        if node is None:
            continue
        count = node.args.get("expression") or node.args.get("count")
        if isinstance(count, exp.Expr) and count.find(exp.Query) is not None:
            _predicate(t, count, f, FILTER)


def _is_all(t: Tracer, node: Any, f: Frame) -> bool:
    """DuckDB's ORDER BY ALL."""
    if node.__class__ is exp.Var:
        return str(node.name).upper() == "ALL"
    if node.__class__ is not exp.Column or node.args.get("table") is not None:
        return False
    name = node.args["this"]
    return (
        str(name.name).upper() == "ALL"
        and not name.args.get("quoted")
        and "all" not in {s.lower() for s in f.spellings}
    )


def _leave_out(t: Tracer, a: Any, f: Frame) -> None:
    """Redshift's ``select * exclude (a) from t`` hangs on the SELECT."""
    excluded = a.get("exclude")
    if not excluded:
        return
    keys = {t.key(e.this if isinstance(e, exp.Column) else e) for e in excluded}
    f.opens = [OpenWithout(open_, frozenset(keys)) for open_ in f.opens]
    f.gap = None  # where what is left stands, nobody asks
    kept = [i for i, s in enumerate(f.spellings) if t.rules.key_of(s) not in keys]
    f.spellings = [f.spellings[i] for i in kept]
    f.provenances = [f.provenances[i] for i in kept]
    f.steps = [f.steps[i] for i in kept]
