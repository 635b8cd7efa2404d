"""``*``, ``t.*``, ``s.*`` over a struct, and COLUMNS(...)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import repeat
from typing import Any, NamedTuple

from sqlglot import exp

from lineage_post.trace.expressions import evaluate, handles
from lineage_post.trace.frame import Frame, Operand
from lineage_post.trace.opens import Open, OpenElement, OpenUnknown, OpenWithout, one_of
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


class Expansion:
    """The columns of a COLUMNS(...) and the one that is being evaluated."""

    __slots__ = ("current", "items", "opens", "pattern")

    def __init__(
        self, items: list[Item], opens: list[Open], pattern: re.Pattern[str] | None
    ) -> None:
        self.items = items
        self.opens = opens
        self.pattern = pattern
        self.current = 0

    def named(self, alias: str, spelling: str) -> str:
        r"""The name that an alias gives a column: ``\1`` in it is a group of the pattern."""
        found = self.pattern.search(spelling) if self.pattern is not None else None
        groups = (spelling,) if found is None else (found.group(), *found.groups(""))
        return _GROUP.sub(lambda m: groups[int(m[1])] if int(m[1]) < len(groups) else "", alias)


#: A group of the pattern of COLUMNS, in the alias of what it gives.
_GROUP = re.compile(r"\\(\d)")


def plain_relations(
    t: Tracer, star: Any, f: Frame, qualifier: Sequence[Any]
) -> list[Relation] | None:
    """The relations a star takes over as they are, or None where it is not that plain."""
    if f.merged or _is_modified(star):
        return None
    if not qualifier:
        return [operand.relation for operand in f.operands]
    operand = _operand_of(t, qualifier, f)
    return None if operand is None else [operand.relation]


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


def _items_of(relation: Relation, owner: str | None = None) -> tuple[list[Item], list[Open]]:
    items = list(map(Item, relation.spellings, relation.all(), relation.steps, repeat(owner)))
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
            items.extend(_items_of(operand.relation, operand.key)[0])
        return items, opens
    emitted: set[str] = set()
    if not t.rules.merged_in_place:
        for key, merged in f.merged.items():
            items.append(Item(merged.spelling, merged.provenance, merged.step))
            emitted.add(key)
    for n, operand in enumerate(f.operands):
        for item in _items_of(operand.relation, operand.key)[0]:
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


def shape_items(shape: Any) -> list[Item] | None:
    """The fields of a struct value as columns."""
    return _items_of(shape.fields)[0] if isinstance(shape, Struct) else None


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
    matches = _like(pattern.name, ignore_case=True) if pattern is not None else None
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


def _like(pattern: str, *, ignore_case: bool) -> Callable[[str], bool]:
    escaped = re.escape(pattern).replace("%", ".*").replace("_", ".")
    compiled = re.compile(escaped, re.IGNORECASE | re.DOTALL if ignore_case else re.DOTALL)
    return lambda name: compiled.fullmatch(name) is not None


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


@handles("Columns")
def columns(t: Tracer, node: Any, f: Frame) -> int:
    """DuckDB ``columns('a|b')``, ``columns(* exclude (c))``, ``columns(x -> x like 'a%')``.

    In a select list its columns come one by one; all at once in WHERE, and as ``*columns(...)``.
    """
    if not t.expands or node.args.get("unpack"):
        items, opens = columns_items(t, node, f)
        return whole_row(t, [_united(t, items)], opens)
    if t.expanding is None:
        selector = node.args["this"]
        pattern = _regex(selector.name) if isinstance(selector, exp.Literal) else None
        t.expanding = Expansion(*columns_items(t, node, f), pattern)
    expansion = t.expanding
    if not expansion.items:
        return 0
    return _united(t, [expansion.items[expansion.current]])


def _united(t: Tracer, items: Sequence[Item]) -> int:
    x = 0
    for item in items:
        if item.step is not None:
            t.log.append((item.step, item.provenance))
        x |= item.provenance
    return x


def columns_items(t: Tracer, node: Any, f: Frame) -> tuple[list[Item], list[Open]]:
    """The columns a COLUMNS(...) matches, and what may have more that are not listed."""
    selector = node.args["this"]
    if is_star(selector):
        return items_of_argument(t, selector, f)
    items, opens = star_items(t, exp.Star(), f)
    if isinstance(selector, (exp.Array, exp.Tuple)):
        return _by_names(t, [e.name for e in selector.expressions], items, one_of(opens)), []
    keep: Callable[[str], Any] | None = None
    if isinstance(selector, exp.Literal):
        compiled = _regex(selector.name)
        keep = None if compiled is None else compiled.search
    elif isinstance(selector, exp.Lambda):
        keep = _lambda_test(selector.this)
    return [item for item in items if keep is None or keep(item.spelling)], opens


def _by_names(
    t: Tracer, names: Sequence[str], items: Sequence[Item], open_: Open | None
) -> list[Item]:
    """The columns of some names, in the order of FROM; then those that are not listed there."""
    wanted = {name.lower(): name for name in names}
    found = [item for item in items if wanted.pop(item.spelling.lower(), None) is not None]
    if open_ is not None:
        found += [Item(n, open_.column(t, t.rules.key_of(n), n), None) for n in wanted.values()]
    return found


def _regex(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern)
    except re.error:
        return None


def name_test(item: Any) -> Callable[[str], bool] | None:
    """``* not like 'a%'`` as a test of a name, or None where no star is compared."""
    pattern = item.args.get("this") if isinstance(item, exp.Not) else item
    if not isinstance(pattern, (exp.Like, exp.ILike, exp.Glob, exp.SimilarTo)):
        return None
    test = _lambda_test(pattern) if is_star(pattern.args["this"]) else None
    if test is None or not (pattern is not item or pattern.args.get("negate")):
        return test
    return lambda name: not test(name)


def is_star(node: Any) -> bool:
    """Whether it is ``*`` or ``t.*``."""
    return isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    )


def _lambda_test(body: Any) -> Callable[[str], bool] | None:
    """``x -> x like 'a%'`` as a test of a name, or None where it is not that simple."""
    if isinstance(body, exp.Not):
        inner = _lambda_test(body.this)
        return None if inner is None else lambda name: not inner(name)
    literal = body.args.get("expression")
    if not isinstance(literal, exp.Literal):
        return None
    if isinstance(body, (exp.Like, exp.ILike)):
        return _like(literal.name, ignore_case=isinstance(body, exp.ILike))
    if isinstance(body, exp.EQ):
        return lambda name: name == literal.name
    if isinstance(body, exp.NEQ):
        return lambda name: name != literal.name
    if isinstance(body, exp.Glob):
        return lambda name: fnmatchcase(name, literal.name)
    if isinstance(body, (exp.SimilarTo, exp.RegexpLike)):
        is_whole = isinstance(body, exp.SimilarTo)
        compiled = _regex(f"^(?:{literal.name})$" if is_whole else literal.name)
        return None if compiled is None else lambda name: compiled.search(name) is not None
    return None
