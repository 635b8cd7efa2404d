"""What the names of a query stand for, and which group keys a recoding could change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from sqlglot import exp


def names_in(node: exp.Expression | None) -> set[str]:
    """Lower-case names of all columns and identifiers below a node."""
    return (
        {item.name.lower() for item in node.find_all(exp.Identifier)} if node is not None else set()
    )


def definitions_of(tree: exp.Expression) -> dict[str, list[exp.Expression]]:
    """What each name may stand for: its aliased expressions, in every arm of a set operation."""
    definitions: dict[str, list[exp.Expression]] = defaultdict(list)
    for alias in tree.find_all(exp.Alias):
        definitions[alias.alias.lower()].append(alias.this)
    for operation in tree.find_all(exp.SetOperation):
        if not operation.args.get("by_name"):
            for name, item in zip(operation.left.named_selects, operation.right.selects):
                definitions[name.lower()].append(item.unalias())
    for alias in tree.find_all(exp.TableAlias):
        query = alias.parent.this if isinstance(alias.parent, (exp.CTE, exp.Subquery)) else None
        if isinstance(query, exp.Query):
            for arm in (query, *query.find_all(exp.SetOperation)):
                for name, item in zip(alias.args.get("columns") or (), arm.selects):
                    definitions[name.name.lower()].append(item.unalias())
    return definitions


def closed(names: Iterable[str], definitions: dict[str, list[exp.Expression]]) -> set[str]:
    """The names, and all names that they may stand for."""
    done: set[str] = set()
    work = list(names)
    while work:
        name = work.pop()
        if name not in done:
            done.add(name)
            work += [inner for item in definitions.get(name, ()) for inner in names_in(item)]
    return done


def unsteady_keys(tree: exp.Expression, definitions: dict[str, list[exp.Expression]]) -> set[str]:
    """Names in group, distinct and aggregates' order keys that a recoding could mix up."""
    mixes = tree.find(exp.SetOperation) is not None
    unsteady: set[str] = set()
    for key in _keys(tree):
        unsteady |= _unsteady(key, definitions, mixes, set())
    return unsteady


def _unsteady(
    key: exp.Expression, definitions: dict[str, list[exp.Expression]], mixes: bool, seen: set[str]
) -> set[str]:
    while isinstance(key, (exp.Paren, exp.Ordered, exp.Alias)):
        key = key.this
    if not isinstance(key, exp.Column) or mixes:
        return closed(names_in(key), definitions)
    name = key.name.lower()
    if name in seen:
        return set()
    inner = (
        _unsteady(item, definitions, mixes, seen | {name}) for item in definitions.get(name, ())
    )
    return set().union(*inner)


def _keys(tree: exp.Expression) -> Iterator[exp.Expression]:
    for select in tree.find_all(exp.Select):
        group = select.args.get("group")
        if select.args.get("distinct") is not None:
            yield from select.expressions
        if group is None:
            continue
        if group.args.get("all"):
            yield from (item for item in select.expressions if item.find(exp.AggFunc) is None)
        for key in _flat(group):
            if (
                isinstance(key, exp.Literal)
                and key.is_int
                and int(key.this) <= len(select.expressions)
            ):
                yield select.expressions[int(key.this) - 1]
            else:
                yield key
    for order in tree.find_all(exp.Order):
        if not isinstance(order.parent, (exp.Query, exp.Window)):
            yield from order.expressions
    for operation in tree.find_all(exp.Union):
        if operation.args.get("distinct"):
            for arm in operation.find_all(exp.Select):
                yield from arm.expressions


def _flat(node: exp.Expression) -> Iterator[exp.Expression]:
    parts = list(node.expressions)
    for clause in ("rollup", "cube", "grouping_sets"):
        parts += [part for part in node.args.get(clause) or () if isinstance(part, exp.Expression)]
    for part in parts:
        if isinstance(part, (exp.Tuple, exp.Rollup, exp.Cube, exp.GroupingSets)):
            yield from _flat(part)
        else:
            yield part
