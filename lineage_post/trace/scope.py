"""What is in scope under a name: an item of FROM, a known column, a bound variable."""

from __future__ import annotations

from collections.abc import Iterable

from lineage_post.trace.dialects import Visible
from lineage_post.trace.frame import Frame, Operand
from lineage_post.trace.opens import (
    Open,
    OpenChanged,
    OpenDerived,
    OpenElement,
    OpenNamed,
    OpenWithout,
)
from lineage_post.trace.provenance import transformed
from lineage_post.trace.relation import Relation
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import Reason

Hit = tuple[Relation, int]


def unresolved(t: Tracer, name: str, detail: str) -> int:
    """The unknown that stands for a name nothing in scope has."""
    t.step = None
    return t.sources.unknown(name, Reason.UNRESOLVED_COLUMN, detail)


def variable(t: Tracer, name: str) -> int:
    """The value of a variable: a constant, unless it was filled from a table."""
    t.step = None
    if name.lower() not in t.filled:
        return 0
    return t.sources.unknown(name, Reason.EXTERNAL, f"{name} is a variable that a query filled")


def row_of(t: Tracer, relation: Relation) -> int:
    """A whole row as a value."""
    return transformed(whole_row(t, relation.all(), [relation.open] if relation.open else ()))


def whole_row(t: Tracer, provenances: Iterable[int], opens: Iterable[Open]) -> int:
    """All columns at once, and what is not known of those that are not listed."""
    x = 0
    for y in provenances:
        x |= y
    for open_ in opens:
        x |= row_of_open(t, open_)
    return x


def row_of_open(t: Tracer, open_: Open) -> int:
    """What of a whole row is not known: nothing, where all of it is of one value."""
    while isinstance(open_, (OpenWithout, OpenNamed)):
        open_ = open_.open
    if isinstance(open_, OpenChanged):
        return open_.change(row_of_open(t, open_.open))
    if isinstance(open_, (OpenElement, OpenDerived)):
        return transformed(open_.provenance)
    detail = f"a whole row of {open_.label}, whose columns are not known"
    return t.sources.unknown("*", Reason.STAR_UNEXPANDED, detail)


def open_operands(f: Frame) -> list[Operand]:
    """The items of FROM whose columns are not all known; elements of an array come last."""
    opens = [o for o in f.operands if o.relation.open is not None]
    return [o for o in opens if not isinstance(o.relation.open, OpenElement)] or opens


def find_operand(key: str, f: Frame | None) -> Operand | None:
    """The item of FROM that ``key`` refers to, innermost frame first."""
    while f is not None:
        operand = f.by_key.get(key)
        if operand is not None:
            return operand
        f = f.outer
    return None


def find_column(t: Tracer, key: str, f: Frame | None) -> Hit | None:
    """The one known column of that name, innermost frame first."""
    while f is not None:
        if key in f.merged:
            one = f.merged[key]
            return Relation(t.rules, (one.spelling,), [one.provenance], [one.step]), 0
        for operand in f.operands:
            i = operand.relation.position(key)
            if i >= 0:
                return operand.relation, i
        alias = f.alias(key, t.rules) if f.alias_visible is not Visible.NO else None
        if alias is not None:
            return Relation(t.rules, f.spellings, f.provenances, f.steps), alias
        f = f.outer
    return None


def binding_of(key: str, f: Frame | None) -> int | None:
    while f is not None:
        for binding in reversed(f.bindings):
            if key in binding:
                return binding[key]
        f = f.outer
    return None
