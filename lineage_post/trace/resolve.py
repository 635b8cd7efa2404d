"""What a column reference means: one function for each way to write one.

Each returns a provenance and leaves the step of the column in ``tracer.step``; where it is nothing
but a column of an item of FROM, ``tracer.relation`` and ``tracer.position`` tell which.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp
from sqlglot.expressions import Identifier

from lineage_post.trace.ctes import Cte
from lineage_post.trace.dialects import Visible
from lineage_post.trace.frame import Frame, Operand
from lineage_post.trace.opens import Open, OpenTable
from lineage_post.trace.paths import beyond, field_of_name, numbered, read_fields, resolve_path
from lineage_post.trace.pseudo_columns import is_pseudo_column
from lineage_post.trace.relation import Relation, Step
from lineage_post.trace.schema_index import ABSENT, AMBIGUOUS
from lineage_post.trace.scope import (
    find_operand,
    open_operands,
    row_of,
    unresolved,
    variable,
)
from lineage_post.trace.time_windows import time_window
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import Reason

_BEFORE_COLUMNS = Visible.BEFORE_COLUMNS


def resolve(t: Tracer, node: Any, f: Frame) -> int:
    """The provenance of an ``exp.Column``."""
    t.relation = None
    a = node.args
    this = a["this"]
    table = a.get("table")
    if this.__class__ is Identifier:
        if table is None:
            return unqualified(t, this, f)
        if a.get("db") is None:
            return _qualified(t, table, this, f)
        parts = [a[part] for part in ("catalog", "db", "table") if a.get(part) is not None]
        x = resolve_path(t, [*parts, this], f)
    else:
        x = numbered(t, this, table, f)
    t.relation = None  # what was read on the way is no name of this column's
    return x


def unqualified(t: Tracer, identifier: Any, f: Frame) -> int:
    """The provenance of a bare name."""
    key = t.key(identifier)
    if t.rules.everywhere_alias_first and key in f.env and f.env[key].is_scalar:
        return _named_expression(t, f.env[key], f)
    owned = f.owned
    if owned is not None and not f.bindings and not f.merged:
        # nearly every name: a column that one item of FROM alone has
        operand = owned.get(key) if f.alias_visible is not _BEFORE_COLUMNS else None
        if operand is not None:
            relation = operand[1]
            i = relation.names.exact[key]  # type: ignore[index]
            if i >= 0:
                t.relation, t.position = relation, i
                t.step = relation.steps[i]
                return relation.provenances[i] or relation.at(i)
    found = _in_frame(t, identifier, key, f)
    if found is not None:
        return found
    if f.outer is None:
        return _not_listed(t, identifier, key, f)
    return _beyond(t, identifier, key, f)


def _in_frame(t: Tracer, identifier: Any, key: str, g: Frame) -> int | None:
    """What one SELECT has under a bare name, or None."""
    if g.bindings:
        for binding in reversed(g.bindings):
            if key in binding:
                t.step = None
                return binding[key]
    if g.alias_visible is _BEFORE_COLUMNS:
        alias = g.alias(key, t.rules)
        if alias is not None:
            t.step = g.steps[alias]
            return g.provenances[alias]
    if g.merged and key in g.merged:
        merged = g.merged[key]
        t.step = merged.step
        return merged.provenance
    owners = g.owners()
    if owners is None or key in owners:
        operand = None if owners is None else owners[key]
        relation, i = _searched(key, g) if operand is None else _position(key, operand)
        if i == AMBIGUOUS:
            return _ambiguous(t, identifier, key, g)
        if relation is not None:
            t.step = relation.steps[i]
            return relation.provenances[i] or relation.at(i)
    if g.alias_visible is Visible.AFTER_COLUMNS:
        alias = g.alias(key, t.rules)
        if alias is not None:
            return _alias(t, g, alias, key)
    return None


def _beyond(t: Tracer, identifier: Any, key: str, f: Frame) -> int:
    """A bare name that its own SELECT is not known to have: one of an outer SELECT.

    Where an inner one reads columns that are not known, it may be one of those, which would come
    first: both are assumed.
    """
    nearest = f if _is_open(f) else None
    g = f.outer
    while g is not None:
        found = _in_frame(t, identifier, key, g)
        if found is not None:
            return found if nearest is None else _either(t, identifier, key, nearest, found)
        if nearest is None and _is_open(g):
            nearest = g
        g = g.outer
    return _not_listed(t, identifier, key, f)


def _is_open(g: Frame) -> bool:
    return any(o.relation.open is not None for o in g.operands)


def _either(t: Tracer, identifier: Any, key: str, g: Frame, outer: int) -> int:
    """A name that the unlisted columns of ``g`` may have, else those of a SELECT around it."""
    t.step = None
    return _of_open(t, open_operands(g), g, key, t.spell(identifier)) | t.sources.assumed(outer)


def _position(key: str, operand: Operand) -> tuple[Relation, int]:
    relation = operand[1]
    return relation, relation.names.exact[key]  # type: ignore[index]


def _searched(key: str, g: Frame) -> tuple[Relation | None, int]:
    """The one item of FROM that has a column of that key, in whatever case, and its position."""
    found: Relation | None = None
    position = ABSENT
    for operand in g.operands:
        i = operand.relation.names.position(key)
        if i == AMBIGUOUS or (i >= 0 and found is not None):
            return None, AMBIGUOUS
        if i >= 0:
            found, position = operand.relation, i
    return found, position


def _named_expression(t: Tracer, cte: Cte, f: Frame) -> int:
    """ClickHouse's ``with a + b as s``: the expression stands wherever the name is used."""
    node = cte.node.args["this"]
    # A subquery reads nothing of the SELECT that uses its value.
    scope = Frame(None if isinstance(node, exp.Query) else f, cte.env)
    start = len(t.log)
    x = t.hooks.evaluate(t, node, scope)
    t.step = Step(node, scope, start, len(t.log), x)
    return x


def _alias(t: Tracer, g: Frame, i: int, key: str) -> int:
    """A sibling alias; over an open source it is only assumed that no column has its name.

    In ``select id from t group by id`` the alias is that column, and nothing is assumed.
    """
    t.step = g.steps[i]
    x = g.provenances[i]
    opens = [o.relation.open for o in g.operands if o.relation.open is not None]
    seen = [o.seen[key] for o in opens if isinstance(o, OpenTable) and key in o.seen]
    if not opens or x in seen or _would_be_twice(t, opens, g):
        return x
    if len(seen) == 1 and len(opens) == 1:  # read elsewhere, so it is there
        t.step = None
        return seen[0]
    if x & t.sources.doubts:  # one is enough, however long the chain of names is
        return t.sources.assumed(x)
    labels = " or ".join(sorted({o.label for o in opens}))
    detail = f"{g.spellings[i]} is taken for the output of that name, not for a column of {labels}"
    doubt = t.sources.doubt(Reason.SCHEMA_MISSING, f"{detail}, whose columns are not known")
    return t.sources.assumed(x) | doubt


def _would_be_twice(t: Tracer, opens: Sequence[Open], g: Frame) -> bool:
    """``select *, f(a) as b, b + 1 as c``: a column b would be an output twice, which most engines
    refuse."""
    if t.rules.renames_duplicates:
        return False
    return all(any(o is listed for listed in g.opens) for o in opens)


def _ambiguous(t: Tracer, identifier: Any, key: str, g: Frame) -> int:
    t.step = None
    name = t.spell(identifier)
    places = [o.key for o in g.operands if o.relation.position(key) != -1]
    return t.sources.unknown(
        name, Reason.AMBIGUOUS, f"{name} is ambiguous between {' and '.join(places)}"
    )


def _not_listed(t: Tracer, identifier: Any, key: str, f: Frame) -> int:
    """A bare name that no known column has: a row, a pseudo column, a column of an open source."""
    t.step = None
    of_time = time_window(t, identifier, key, f)
    if of_time is not None:
        return of_time
    if t.rules.row_alias:
        operand = find_operand(key, f)
        if operand is not None:
            x = row_of(t, operand.relation)
            t.step = Step(exp.Column(this=identifier), f, len(t.log), len(t.log), x)
            return x
    spelling = t.spell(identifier)
    if key in t.variables:
        return variable(t, spelling)
    if is_pseudo_column(t, identifier, spelling):
        return 0
    if spelling.lower().startswith("metadata$") and f.operands:
        open_ = f.operands[0].relation.open
        return 0 if open_ is None else open_.column(t, key, spelling)
    g: Frame | None = f
    while g is not None:
        opens = open_operands(g)
        if opens:
            return _of_open(t, opens, g, key, spelling)
        g = g.outer
    return unresolved(t, spelling, f"no relation in scope has a column {spelling}")


def _of_open(t: Tracer, opens: Sequence[Operand], g: Frame, key: str, spelling: str) -> int:
    if len({id(o.relation.open) for o in opens}) > 1 or len(opens) > 1:
        labels = " and ".join(sorted({o.relation.open.label for o in opens if o.relation.open}))
        return t.sources.unknown(
            spelling, Reason.AMBIGUOUS, f"{spelling} is ambiguous between {labels}"
        )
    open_ = opens[0].relation.open
    assert open_ is not None
    x = open_.column(t, key, spelling)
    if len(g.operands) == 1 and not g.is_partial and not _may_be_outer(t, g.outer, key):
        return x
    doubt = t.sources.doubt(
        Reason.SCHEMA_MISSING,
        f"{spelling} is taken for a column of {open_.label}, whose columns are not known",
    )
    return t.sources.assumed(x) | doubt


def _may_be_outer(t: Tracer, g: Frame | None, key: str) -> bool:
    """Whether a SELECT around it may have a column of that name."""
    while g is not None:
        if _is_open(g) or any(o.relation.position(key) != ABSENT for o in g.operands):
            return True
        g = g.outer
    return False


def _qualified(t: Tracer, table: Any, identifier: Any, f: Frame) -> int:
    key = t.key(identifier)
    table_key = t.key(table)
    operand = f.by_key.get(table_key) or find_operand(table_key, f.outer)
    if operand is not None:
        relation = operand[1]
        i = relation.names.position(key)
        if i >= 0:
            t.relation, t.position = relation, i
            t.step = relation.steps[i]
            return relation.provenances[i] or relation.at(i)
        x = _not_plain(t, operand, i, table, identifier, f)
    else:
        x = field_of_name(t, table, [identifier], f)
    t.relation = None
    return x


def _not_plain(t: Tracer, operand: Operand, i: int, table: Any, identifier: Any, f: Frame) -> int:
    """``a.b`` where the relation ``a`` has not one column ``b``; ``i`` says whether it has none."""
    relation, key, table_key = operand.relation, t.key(identifier), t.key(table)
    if i == AMBIGUOUS:
        return _among_same_names(t, table_key, identifier, key, f)
    j = relation.position(table_key)
    if j >= 0:
        return read_fields(t, relation, j, [identifier])
    others = [o for o in f.operands if o.key == table_key and o.relation.position(key) >= 0]
    if others:
        i = others[0].relation.position(key)
        t.step = others[0].relation.steps[i]
        return others[0].relation.at(i)
    return beyond(t, operand, table, identifier, f)


def _among_same_names(t: Tracer, table_key: str, identifier: Any, key: str, f: Frame) -> int:
    t.step = None
    name = t.spell(identifier)
    return t.sources.unknown(name, Reason.AMBIGUOUS, f"{table_key} has {name} more than once")
