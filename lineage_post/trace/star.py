"""``*``, ``t.*``, ``s.*`` over a struct, and what they leave out, replace and rename."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple

from sqlglot import exp

from lineage_post.trace.expressions import evaluate, handles
from lineage_post.trace.frame import Frame, Operand
from lineage_post.trace.name_patterns import like
from lineage_post.trace.opens import (
    Open,
    OpenElement,
    OpenNamed,
    OpenUnknown,
    OpenWithout,
    one_of,
)
from lineage_post.trace.provenance import transformed
from lineage_post.trace.relation import AnyStep, Relation, Step
from lineage_post.trace.schema_index import ABSENT, Names
from lineage_post.trace.scope import find_column, find_operand, row_of, whole_row
from lineage_post.trace.shapes import Array, Struct
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import Reason


class Item(NamedTuple):
    """One column a star stands for."""

    spelling: str
    provenance: int
    step: AnyStep
    #: The key of the item of FROM that it is of; none for a column that USING made of two.
    owner: str | None = None


def plain_relations(
    t: Tracer, star: Any, f: Frame, qualifier: Sequence[Any]
) -> list[Relation] | None:
    """The relations a star takes over as they are, or None where it is not that plain."""
    if f.merged or _is_modified(star):
        return None
    operand = _operand_of(t, qualifier, f) if qualifier else None
    if qualifier and operand is None:
        return None
    relations = [o.relation for o in (f.operands if operand is None else [operand])]
    return None if any(isinstance(r.open, OpenElement) for r in relations) else relations


def _is_modified(star: Any) -> bool:
    a = star.args
    return any(a.get(name) for name in ("except_", "replace", "rename", "ilike"))


def star_items(
    t: Tracer, star: Any, f: Frame, qualifier: Sequence[Any] = ()
) -> tuple[list[Item], list[Open]]:
    """What a star expands to, and what of it cannot be expanded."""
    items, opens = _all_items(t, f, qualifier)
    return _modified(t, star, f, items, opens)


def _all_items(t: Tracer, f: Frame, qualifier: Sequence[Any]) -> tuple[list[Item], list[Open]]:
    if not qualifier:
        return unqualified_items(t, f)
    operand = _operand_of(t, qualifier, f)
    if operand is not None:
        return _items_of(operand.relation, operand.key)
    return _struct_items(t, qualifier, f)


def _operand_of(t: Tracer, qualifier: Sequence[Any], f: Frame) -> Operand | None:
    if len(qualifier) == 1:
        return find_operand(t.key(qualifier[0]), f)
    name = tuple(map(t.key, qualifier))
    for operand in f.operands:
        if operand.parts and operand.parts[-len(name) :] == name[-len(operand.parts) :]:
            return operand
    return None


def _items_of(
    relation: Relation, owner: str | None = None, *, has_offset: bool = False
) -> tuple[list[Item], list[Open]]:
    items = list(map(Item, relation.spellings, relation.all(), relation.steps, repeat(owner)))
    if isinstance(relation.open, OpenElement):  # it may be a row: its fields then, not itself
        items = items[1:] if has_offset else []
    return items, [relation.open] if relation.open is not None else []


def unqualified_items(t: Tracer, f: Frame) -> tuple[list[Item], list[Open]]:
    """What FROM gives: every column once that USING or NATURAL made of two, and all others."""
    items: list[Item] = []
    opens: list[Open] = []
    for operand in f.operands:
        if operand.relation.open is not None:
            opens.append(operand.relation.open)
    if not f.merged:
        for operand in f.operands:
            items.extend(_items_of(operand.relation, operand.key, has_offset=True)[0])
        return items, opens
    emitted: set[str] = set()
    if not t.rules.merged_in_place:
        for key, merged in f.merged.items():
            items.append(Item(merged.spelling, merged.provenance, merged.step))
            emitted.add(key)
    for n, operand in enumerate(f.operands):
        for item in _items_of(operand.relation, operand.key, has_offset=True)[0]:
            key = t.rules.key_of(item.spelling)
            column = f.merged.get(key)
            if column is None or n not in column.operands:
                items.append(item)
            elif key not in emitted:
                emitted.add(key)
                items.append(Item(column.spelling, column.provenance, column.step))
    return items, opens


def _struct_items(t: Tracer, qualifier: Sequence[Any], f: Frame) -> tuple[list[Item], list[Open]]:
    """``s.*`` where s is a struct column."""
    label = ".".join(part.name for part in qualifier)
    shape = None
    hit = find_column(t, t.key(qualifier[0]), f)
    rest = qualifier[1:]
    if hit is None and len(qualifier) > 1:
        operand = find_operand(t.key(qualifier[0]), f)
        i = -1 if operand is None else operand.relation.position(t.key(qualifier[1]))
        if operand is not None and i >= 0:
            hit, rest = (operand.relation, i), qualifier[2:]
    if hit is not None:
        shape = t.shape(*hit)
        for part in rest:
            shape = _field_shape(t, shape, part)
    if isinstance(shape, Struct):
        return _items_of(shape.fields)
    if hit is not None:
        relation, i = hit
        return [], [OpenElement(label, relation.at(i))]
    detail = f"there is no {label} in scope"
    return [], [OpenUnknown(label, Reason.STAR_UNEXPANDED, detail)]


def _field_shape(t: Tracer, shape: Any, part: Any) -> Any:
    if isinstance(shape, Array):
        shape = shape.element
    if not isinstance(shape, Struct):
        return None
    i = shape.fields.position(t.key(part))
    return t.shape(shape.fields, i) if i >= 0 else None


def _modified(
    t: Tracer, star: Any, f: Frame, items: list[Item], opens: list[Open]
) -> tuple[list[Item], list[Open]]:
    """EXCEPT, REPLACE, RENAME and ILIKE."""
    if not _is_modified(star):
        return items, opens
    a = star.args
    meant = _Meant(t, items)
    gone = {n for e in a.get("except_") or () for n in meant.by(e)}
    replaced: dict[int, Any] = {}
    for e in a.get("replace") or ():
        if isinstance(e, exp.Alias):
            # Of several columns of that name the first is replaced, and the others go.
            first, *others = meant.by(e.args["alias"]) or [-len(replaced) - 1]
            replaced[first] = e
            gone.update(others)
    renamed = {
        n: t.spell(e.args["alias"])
        for e in a.get("rename") or ()
        if isinstance(e, exp.Alias)
        for n in meant.by(e.this)
    }
    pattern = a.get("ilike")
    matches = like(pattern.name, ignore_case=True) if pattern is not None else None
    result: list[Item] = []
    for n, item in enumerate(items):
        if n in gone or (matches is not None and not matches(item.spelling)):
            continue
        if n in replaced:
            item = _replacement(t, replaced[n], f, item.spelling)
        result.append(item._replace(spelling=renamed.get(n, item.spelling)))
    if opens:  # one of the columns that are not known is replaced, or has another name
        unmet = [e for n, e in replaced.items() if n < 0]
        result += [_replacement(t, e, f, t.spell(e.args["alias"])) for e in unmet]
        result += _renamed(t, a.get("rename") or (), meant, opens)
    if matches is not None:
        opens = [OpenNamed(o, matches) for o in opens]
    hidden = frozenset(meant.keys)
    return result, [OpenWithout(o, hidden) for o in opens] if hidden else opens


class _Meant:
    """The positions of the columns that a modifier of a star names, by ``a`` or by ``t.a``."""

    def __init__(self, t: Tracer, items: Sequence[Item]) -> None:
        self._tracer = t
        self._items = items
        self._spellings = [item.spelling for item in items]
        self._names = Names(self._spellings, t.rules)
        #: Every name that was asked for.
        self.keys: set[str] = set()

    def by(self, node: Any) -> list[int]:
        key = self._tracer.key(_name_of(node))
        self.keys.add(key)
        position = self._names.position(key)
        if position == ABSENT:
            return []
        found = [position] if position >= 0 else self._repeated(key)
        table = node.args.get("table") if isinstance(node, exp.Column) else None
        if table is None:
            return found
        owners = (self._tracer.key(table), None)
        return [n for n in found if self._items[n].owner in owners]

    def _repeated(self, key: str) -> list[int]:
        keys = self._tracer.rules.keys_of(self._spellings)
        exact = [n for n, other in enumerate(keys) if other == key]
        return exact or [n for n, s in enumerate(self._spellings) if s.lower() == key.lower()]


def _renamed(t: Tracer, renames: Any, meant: _Meant, opens: list[Open]) -> Iterator[Item]:
    """``* rename (a as b)`` where no a is listed: it is one of the columns that are not known."""
    open_ = one_of(opens)
    for e in renames:
        if open_ is not None and isinstance(e, exp.Alias) and not meant.by(e.this):
            name = _name_of(e.this)
            x = open_.column(t, t.key(name), t.spell(name))
            yield Item(t.spell(e.args["alias"]), x, None)


def _replacement(t: Tracer, node: Any, f: Frame, spelling: str) -> Item:
    start = len(t.log)
    x = evaluate(t, node.args["this"], f)
    step = Step(node.args["this"], f, start, len(t.log), x, node.args["alias"])
    return Item(spelling, x, step)


def _name_of(node: Any) -> Any:
    return node.args["this"] if isinstance(node, exp.Column) else node


@handles("Star")
def row(t: Tracer, node: Any, f: Frame) -> int:
    """``hash(*)``, ``struct(t.* except (a))``: all it stands for. ``count(*)`` never comes here.

    ``node`` is the star or, where it has a qualifier, the column it stands in.
    """
    if node.__class__ is exp.Star and not _is_modified(node):
        x = 0
        for operand in f.operands:
            x |= row_of(t, operand.relation)
        return x
    items, opens = items_of_argument(t, node, f)
    return transformed(whole_row(t, [item.provenance for item in items], opens))


def items_of_argument(t: Tracer, node: Any, f: Frame) -> tuple[list[Item], list[Open]]:
    """What ``*`` or ``t.*`` as an argument expands to."""
    if node.__class__ is exp.Star:
        return star_items(t, node, f)
    qualifier = [node.args[p] for p in ("catalog", "db", "table") if node.args.get(p) is not None]
    return star_items(t, node.args["this"], f, qualifier)


def is_star(node: Any) -> bool:
    """Whether it is ``*`` or ``t.*``."""
    return isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    )
