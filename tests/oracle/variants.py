"""Three readings of a query that tell influences apart.

full  the query as it is written
free  without what decides rows: where, having, qualify, limit, order, join conditions, semi joins;
      what still moves an output is its value, its branch, its window or its group
bare  free, with one branch of every CASE taken for good and windows emptied; under a recoding that
      keeps groups and order, what still moves an output is its value

``kept`` names columns that stand in conditions which could not be taken out; ``*`` stands for all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

BARE_CHOICES = 3
_PREDICATES = (exp.Exists, exp.In, exp.Any, exp.All)
_ROW_SOURCES = (exp.From, exp.Join, exp.CTE, exp.Table, exp.Lateral, exp.Pivot)
_ROW_CLAUSES = ("where", "having", "qualify", "limit", "offset")


@dataclass(frozen=True, slots=True)
class Variant:
    """A rewritten query and the lower-case names of columns it may still be conditioned on."""

    sql: str
    kept: frozenset[str]


def free_variant(query: exp.Expression) -> tuple[exp.Expression, set[str]]:
    """The query without row-deciding clauses, and the names in conditions that had to stay."""
    tree = query.copy()
    kept: set[str] = set()
    fixed = _recursive_arms(tree, kept)
    for select in list(tree.find_all(exp.Select)):
        if id(select) not in fixed and not _is_scalar(select):
            _strip_rows(select)
    for select in list(tree.find_all(exp.Select)):
        if id(select) not in fixed and _is_attached(select, tree) and _is_scalar(select):
            _strip_scalar(select, kept)
    _keep_sources(tree, kept)
    tree = _strip_set_operations(tree)
    return tree, _closed(kept, _definitions(tree))


def bare_variants(free: exp.Expression, kept: set[str]) -> list[Variant]:
    """Variants in which CASE takes its first, second, ... branch and windows are empty."""
    definitions = _definitions(free)
    conditions = kept | _unsteady_keys(free, definitions)
    variants = {}
    for choice in range(BARE_CHOICES):
        tree = free.copy()
        _empty_windows(tree)
        _take_branches(tree, choice)
        variants.setdefault(tree.sql("duckdb"), Variant(tree.sql("duckdb"), frozenset(conditions)))
    return list(variants.values())


def names_in(node: exp.Expression | None) -> set[str]:
    """Lower-case names of all columns and identifiers below a node."""
    return (
        {item.name.lower() for item in node.find_all(exp.Identifier)} if node is not None else set()
    )


def _recursive_arms(tree: exp.Expression, kept: set[str]) -> set[int]:
    """The selects that end a recursion: their conditions must stay."""
    fixed: set[int] = set()
    for clause in tree.find_all(exp.With):
        for cte in clause.expressions if clause.recursive else ():
            if isinstance(cte.this, exp.SetOperation):
                fixed |= {id(select) for select in cte.this.expression.find_all(exp.Select)}
                kept |= names_in(cte.this.expression)
    return fixed


def _is_attached(node: exp.Expression, tree: exp.Expression) -> bool:
    while node.parent is not None:
        node = node.parent
    return node is tree


def _is_scalar(select: exp.Expression) -> bool:
    """Whether the select stands in an expression, not in FROM, WITH or on top."""
    parent = select.parent
    while isinstance(parent, (exp.Subquery, exp.SetOperation, exp.Paren)):
        parent = parent.parent
    return parent is not None and not isinstance(parent, _ROW_SOURCES)


def _strip_rows(select: exp.Select) -> None:
    distinct = select.args.get("distinct")
    for clause in (
        _ROW_CLAUSES if distinct is None or not distinct.args.get("on") else _ROW_CLAUSES[:3]
    ):
        select.set(clause, None)
    if distinct is None or not distinct.args.get("on"):
        select.set("order", None)
    for join in list(select.args.get("joins") or ()):
        if join.kind in ("SEMI", "ANTI"):
            join.pop()
        elif join.args.get("on") is not None:
            join.set("on", exp.true())
            join.set("method", None)


def _strip_scalar(select: exp.Select, kept: set[str]) -> None:
    """Conditions leave a scalar subquery only if it gives one row without them."""
    holder = select.parent.parent if isinstance(select.parent, exp.Subquery) else select.parent
    is_predicate = isinstance(holder, _PREDICATES) or isinstance(select.parent, _PREDICATES)
    item = select.expressions[0] if len(select.expressions) == 1 else None
    is_one_row = (
        item is not None
        and not select.args.get("group")
        and item.find(exp.AggFunc) is not None
        and item.find(exp.Window) is None
    )
    if is_one_row and not is_predicate:
        _strip_rows(select)
    else:
        kept |= names_in(select)
        if isinstance(holder, exp.In):
            kept |= names_in(holder.this)


def _keep_sources(tree: exp.Expression, kept: set[str]) -> None:
    for node in tree.find_all(exp.Unnest, exp.Explode, exp.Pivot, exp.Lateral, exp.TableFromRows):
        if isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery):
            continue
        kept |= names_in(node)
        if isinstance(node, exp.Pivot) and node.find(exp.Star, exp.Columns):
            kept.add("*")
    for node in tree.find_all(exp.Anonymous, exp.Tuple):
        if isinstance(node.parent, (exp.Table, exp.From)):
            kept |= names_in(node)
    for join in tree.find_all(exp.Join):
        kept |= {key.name.lower() for key in join.args.get("using") or ()}
        if join.method in ("NATURAL", "ASOF", "POSITIONAL"):
            kept |= names_in(join)
            kept.add("*")
        elif join.args.get("on") is not None:
            kept |= names_in(join.args["on"])
    for select in tree.find_all(exp.Select):
        distinct = select.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            kept |= names_in(distinct) | names_in(select.args.get("order"))


def _strip_set_operations(tree: exp.Expression) -> exp.Expression:
    for operation in list(tree.find_all(exp.SetOperation)):
        for clause in ("order", "limit", "offset"):
            operation.set(clause, None)
        if isinstance(operation, exp.Union):
            continue
        left = operation.this
        if operation.args.get("with_") is not None:
            left.set("with_", operation.args["with_"])
        if operation is tree:
            tree = left
            tree.parent = None
        else:
            operation.replace(left)
    return tree


def _definitions(tree: exp.Expression) -> dict[str, list[exp.Expression]]:
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


def _closed(names: Iterable[str], definitions: dict[str, list[exp.Expression]]) -> set[str]:
    done: set[str] = set()
    work = list(names)
    while work:
        name = work.pop()
        if name not in done:
            done.add(name)
            work += [inner for item in definitions.get(name, ()) for inner in names_in(item)]
    return done


def _unsteady_keys(tree: exp.Expression, definitions: dict[str, list[exp.Expression]]) -> set[str]:
    """Names in group and distinct keys whose groups a recoding could change."""
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
        return _closed(names_in(key), definitions)
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


def _empty_windows(tree: exp.Expression) -> None:
    for window in list(tree.find_all(exp.Window)):
        window.replace(exp.Window(this=window.this, over="OVER"))
    for select in tree.find_all(exp.Select):
        select.set("windows", None)


def _take_branches(tree: exp.Expression, choice: int) -> None:
    """Replaces every conditional by one of its branches, innermost first."""
    for node in reversed(
        list(tree.find_all(exp.Case, exp.If, exp.Nullif, exp.Filter, exp.ArgMax, exp.ArgMin))
    ):
        if node is tree or isinstance(node.parent, exp.Case) and isinstance(node, exp.If):
            continue
        node.replace(_branch(node, choice).copy())


def _branch(node: exp.Expression, choice: int) -> exp.Expression:
    if isinstance(node, exp.Case):
        branches = [branch.args["true"] for branch in node.args["ifs"]]
        branches.append(node.args.get("default") or exp.null())
        return exp.paren(branches[choice % len(branches)])
    if isinstance(node, exp.If):
        branches = [node.args["true"], node.args.get("false") or exp.null()]
        return exp.paren(branches[choice % 2])
    if isinstance(node, (exp.ArgMax, exp.ArgMin)):
        return exp.Max(this=node.this)
    return node.this
