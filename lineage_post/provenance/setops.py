"""UNION, INTERSECT and EXCEPT.

UNION ALL appends annotations; UNION sums them by row; INTERSECT multiplies those of both sides;
EXCEPT keeps those of the left, since the right side's absence is a condition, not a witness.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from lineage_post.provenance import cells, grouping
from lineage_post.provenance.building import (
    ANNOTATION,
    aliased,
    column,
    derived,
    names_of,
    output,
    unwrapped,
)
from lineage_post.provenance.gates import GateKind

if TYPE_CHECKING:
    from lineage_post.provenance.rewriter import Rewriter

TAIL = ("order", "limit", "offset")


def annotate(rw: Rewriter, node: exp.SetOperation) -> exp.Expr:
    """A set operation, annotated."""
    names = _names(node)
    is_distinct = node.args.get("distinct") is not False
    if isinstance(node, exp.Union) and not is_distinct:
        return rw.tail(node, _append(rw, node, names), names)
    if rw.can_gate(node):
        types: list[exp.DataType | None] = [None] * len(names)
        if isinstance(node, exp.Union):
            sides: list[exp.Expr] = [_union_all(node)]
        elif isinstance(node, exp.Intersect):
            sides = [node.left, node.right]
        else:
            rw.note_absence(node.right, "the right side of EXCEPT")
            sides = [node.left]
        kind = GateKind.SET_OPERATION
        return grouping.over_outputs(rw, node, names, types, kind, [unwrapped(s) for s in sides])
    if isinstance(node, exp.Union):
        alias = rw.fresh("u")
        both = derived(_append(rw, node, names), alias)
        return rw.tail(node, grouping.sum_by_outputs(rw, both, alias, names), names)
    return rw.tail(node, _joined(rw, node, names), names)


def _names(node: exp.SetOperation) -> list[str]:
    left = list(node.left.named_selects)
    if not node.args.get("by_name"):
        return left
    return list(dict.fromkeys([*left, *node.right.named_selects]))


def _union_all(node: exp.SetOperation) -> exp.Expr:
    both = node.copy()
    both.set("distinct", False)
    for key in TAIL:
        both.set(key, None)
    return both


def _append(rw: Rewriter, node: exp.SetOperation, names: list[str]) -> exp.Expr:
    """UNION ALL of both sides annotated, columns by position."""
    sides = [_side(rw, side, names, node) for side in (node.left, node.right)]
    return exp.Union(this=sides[0], expression=sides[1], distinct=False)


def _side(rw: Rewriter, side: exp.Expr, names: list[str], node: exp.SetOperation) -> exp.Expr:
    annotated = rw.query(side)
    is_plain = not any(annotated.args.get(key) for key in (*TAIL, "with_"))
    if is_plain and not node.args.get("by_name"):
        return annotated
    alias = rw.fresh("w")
    own = names_of(side)
    if node.args.get("by_name"):
        known = {name.lower(): name for name in own}
        outputs = [_or_null(known.get(name.lower()), name, alias) for name in names]
        origin = [_cell(own, name, alias) for name in names] if rw.cells else []
        extra = rw.extras(column(ANNOTATION, alias), origin)
    else:
        outputs = [aliased(output(name, alias), name, quoted=True) for name in own]
        extra = [column(name, alias) for name in rw.extra_names(len(own))]
    return exp.select(*outputs, *extra).from_(derived(annotated, alias))


def _or_null(known: str | None, name: str, alias: str) -> exp.Expr:
    value = exp.null() if known is None else output(known, alias)
    return aliased(value, name, quoted=True)


def _cell(own: list[str], name: str, alias: str) -> exp.Expr:
    positions = [n for n, known in enumerate(own, 1) if known.lower() == name.lower()]
    return column(f"_cell{positions[0]}", alias) if positions else cells.unknown()


def _joined(rw: Rewriter, node: exp.SetOperation, names: list[str]) -> exp.Expr:
    """INTERSECT or EXCEPT inline: the original's rows, joined null-safely to summed annotations."""
    plain = node.copy()
    for key in TAIL:
        plain.set(key, None)
    original = rw.fresh("o")
    outputs = [output(name, original) for name in names]
    select = exp.select(
        *(aliased(o.copy(), name, quoted=True) for o, name in zip(outputs, names, strict=True))
    ).from_(derived(plain, original))
    annotations: list[exp.Expr] = []
    sides = [node.left, node.right] if isinstance(node, exp.Intersect) else [node.left]
    for side in sides:
        inner, alias = rw.fresh("g"), rw.fresh("l")
        own = list(side.named_selects)
        summed = grouping.sum_by_outputs(rw, derived(rw.query(side), inner), inner, own)
        on = exp.and_(
            *(
                exp.NullSafeEQ(this=o.copy(), expression=output(name, alias))
                for o, name in zip(outputs, own, strict=True)
            )
        )
        select = select.join(derived(summed, alias), on=on)
        annotations.append(column(ANNOTATION, alias))
    if isinstance(node, exp.Except):
        rw.note_absence(node.right, "the right side of EXCEPT")
    unknown = [cells.unknown() for _ in names] if rw.cells else []
    return rw.append(select, rw.algebra.times(annotations), unknown)
