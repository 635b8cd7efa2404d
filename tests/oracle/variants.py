"""Three readings of a query that tell influences apart.

full  the query as it is written
free  without what decides rows: where, having, qualify, limit, order, join conditions, semi joins;
      what still moves an output is its value, its branch, its window or its group
bare  free, with one branch of every CASE taken for good and windows emptied; under a recoding that
      keeps groups and order, what still moves an output is its value

``kept`` names columns that stand in conditions which could not be taken out; ``*`` stands for all.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from tests.oracle.keys import closed, definitions_of, names_in, unsteady_keys

BARE_CHOICES = 3
_PREDICATES = (exp.Exists, exp.In, exp.Any, exp.All)
_ROW_SOURCES = (exp.From, exp.Join, exp.CTE, exp.Table, exp.Lateral, exp.Pivot)
_ROW_CLAUSES = ("where", "having", "qualify", "limit", "offset")


@dataclass(frozen=True, slots=True)
class Variant:
    """A rewritten query and the lower-case names of columns it may still be conditioned on."""

    sql: str
    kept: frozenset[str]


def free_variant(query: exp.Expression) -> tuple[exp.Expression, set[str], set[str]]:
    """The query without row-deciding clauses, and the names in conditions that had to stay.

    The last are the names of arrays that are unnested: they decide rows, but by their length only.
    """
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
    arrays: set[str] = set()
    for node in tree.find_all(exp.Unnest, exp.Explode):
        arrays |= names_in(node)
    tree = _strip_set_operations(tree)
    definitions = definitions_of(tree)
    return tree, closed(kept, definitions), closed(arrays, definitions)


def bare_variants(free: exp.Expression, kept: set[str]) -> list[Variant]:
    """Variants in which CASE takes its first, second, ... branch and windows are empty."""
    definitions = definitions_of(free)
    conditions = kept | unsteady_keys(free, definitions)
    variants = {}
    for choice in range(BARE_CHOICES):
        tree = free.copy()
        _empty_windows(tree)
        _take_branches(tree, choice)
        variants.setdefault(tree.sql("duckdb"), Variant(tree.sql("duckdb"), frozenset(conditions)))
    return list(variants.values())


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
    for node in tree.find_all(exp.Pivot, exp.Lateral, exp.TableFromRows):
        if isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery):
            continue
        kept |= names_in(node)
        if isinstance(node, exp.Pivot) and node.find(exp.Star, exp.Columns):
            kept.add("*")
    for node in tree.find_all(exp.Table):
        if not isinstance(node.this, exp.Identifier):  # a table function
            kept |= names_in(node.this)
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
