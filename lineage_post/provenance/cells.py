"""Where-provenance: for every output, the source cells its value was copied from.

A second annotation per output, ``_cell1``..., holds ``orders[42].6:amount`` for a copied value, a
pointer ``@g1[7].2`` to an output of a gate, or NULL for what is computed. Copies are: a column, a
cast that keeps the value, coalesce, CASE, nullif, min, max, arg_max, lag, lead, first_value,
last_value, nth_value and a scalar subquery; a key that is rolled up is none.
Source: Buneman, Khanna and Tan, ICDT 2001; Mueller, Dietrich and Grust, PVLDB 2018.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from lineage_post.provenance import sources, windows
from lineage_post.provenance.building import (
    aliased,
    column,
    concat,
    derived,
    names_of,
    number,
    scalar,
    text,
    unwrapped,
    windows_and_aggregates,
)
from lineage_post.provenance.identity import FLOAT_TYPES, INTEGER_TYPES, TEXT_TYPES
from lineage_post.provenance.scopes import Frame, frame_of

if TYPE_CHECKING:
    from lineage_post.provenance.rewriter import Rewriter

DECIMAL = (exp.DataType.Type.DECIMAL,)


def unknown() -> exp.Expr:
    """SQL for: computed, or a constant."""
    return exp.cast(exp.null(), exp.DataType.Type.TEXT)


def pointer(rw: Rewriter, token: exp.Expr, output: int) -> exp.Expr:
    """SQL for: whatever output ``output`` of that gate was copied from."""
    return concat([token.copy(), text(f".{output}")])


def of_outputs(rw: Rewriter, select: exp.Select) -> list[exp.Expr]:
    """The cells of the outputs of an ungrouped SELECT."""
    frame = frame_of(select)
    return [copied(rw, item.unalias(), frame) or unknown() for item in select.expressions]


def copied(rw: Rewriter, node: exp.Expr, frame: Frame) -> exp.Expr | None:
    """SQL for the cells of ``node``, None where its value is computed."""
    node = node.unnest()
    if isinstance(node, exp.Column):
        return _of_column(rw, node, frame)
    if isinstance(node, exp.Cast):
        return copied(rw, node.this, frame) if _keeps_value(node) else None
    if isinstance(node, exp.Coalesce):
        arguments = [node.this, *node.expressions]
        return _chosen(rw, [(_is_not_null(a), a) for a in arguments], frame)
    if isinstance(node, exp.Nullif):
        return _chosen(rw, [(_is_not_null(node), node.this)], frame)
    if isinstance(node, exp.Case):
        return _of_case(rw, node, frame)
    if isinstance(node, exp.Window):
        return _of_window(rw, node, frame)
    if isinstance(node, exp.Subquery) and isinstance(unwrapped(node), exp.Query):
        alias = rw.fresh("z")
        inner = derived(rw.query(unwrapped(node)), alias)
        return scalar(exp.select(column("_cell1", alias)).from_(inner))
    return None


def _is_not_null(node: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=node.copy(), expression=exp.null()))


def _chosen(
    rw: Rewriter, choices: list[tuple[exp.Expr, exp.Expr]], frame: Frame
) -> exp.Expr | None:
    case = exp.Case()
    any_copied = False
    for condition, value in choices:
        cell = copied(rw, value, frame)
        any_copied = any_copied or cell is not None
        case = case.when(condition.copy(), cell or unknown())
    return case if any_copied else None


def _of_case(rw: Rewriter, node: exp.Case, frame: Frame) -> exp.Expr | None:
    choices: list[tuple[exp.Expr, exp.Expr]] = []
    for branch in node.args["ifs"]:
        condition = branch.this
        if node.this is not None:
            condition = exp.EQ(this=node.this.copy(), expression=condition.copy())
        choices.append((condition, branch.args["true"]))
    default = node.args.get("default")
    if default is not None:
        choices.append((exp.true(), default))
    return _chosen(rw, choices, frame)


def _of_window(rw: Rewriter, node: exp.Window, frame: Frame) -> exp.Expr | None:
    if not isinstance(node.this, windows.PICKS):
        return None
    cell = copied(rw, node.this.this, frame)
    return None if cell is None else windows.picked(node, cell)


def _keeps_value(node: exp.Cast) -> bool:
    source, target = node.this.type, node.to
    if source is None or source.is_type(exp.DataType.Type.UNKNOWN):
        return False
    if source.is_type(*INTEGER_TYPES):
        return bool(target.is_type(*INTEGER_TYPES, *FLOAT_TYPES, *TEXT_TYPES))
    if source.is_type(*TEXT_TYPES):
        return bool(target.is_type(*TEXT_TYPES)) and not target.expressions
    return bool(source == target)


def _of_column(rw: Rewriter, node: exp.Column, frame: Frame) -> exp.Expr | None:
    source = frame.get(node.table.lower())
    if isinstance(source, exp.Table) and source.name in rw.prepared.bases:
        names = _renamed(source)
        if names:
            return None
        token = sources.leaf_annotation(rw, source)
        return concat([token, text(f".{len(node.name)}:{node.name}")])
    position = _position(rw, node, source)
    return None if position is None else column(f"_cell{position}", node.args["table"])


def _position(rw: Rewriter, node: exp.Column, source: exp.Expr | None) -> int | None:
    query: exp.Expr | None = None
    names: list[str] = []
    if isinstance(source, exp.Table) and source.name in rw.prepared.ctes:
        cte = rw.prepared.ctes[source.name]
        query, names = cte.query, list(cte.columns)
    elif isinstance(source, exp.Subquery) and isinstance(source.this, exp.Query):
        query = source.this
    elif isinstance(source, exp.Lateral) and isinstance(source.this, exp.Subquery):
        query = source.this.this
    if query is None or source is None:
        return None
    outputs = [name.lower() for name in names or names_of(query)]
    renamed = _renamed(source)
    outputs[: len(renamed)] = renamed
    wanted = node.name.lower()
    return outputs.index(wanted) + 1 if wanted in outputs else None


def _renamed(source: exp.Expr) -> list[str]:
    alias = source.args.get("alias")
    columns = alias.args.get("columns") if alias is not None else None
    return [c.name.lower() for c in columns or []]


# -- groups


def of_groups(
    rw: Rewriter,
    select: exp.Select,
    keys: list[exp.Expr],
    gate: exp.Expr | None,
    has_sets: bool,
    summed: set[int],
) -> list[exp.Expr]:
    """The cells of the outputs of a grouped SELECT: pointers into its gate.

    ``summed`` are outputs that are aggregates, to be pointed at for the terms they add up.
    """
    found: list[exp.Expr] = []
    for position, item in enumerate(select.expressions, 1):
        node = item.unalias()
        used = _keys_in(node, keys)
        is_computed = used is None and (has_sets or not _is_pick(node))
        if gate is None or (is_computed and position not in summed):
            found.append(unknown())
            continue
        cell = pointer(rw, gate, position)
        if has_sets and used:
            kept = exp.and_(*(_is_kept(key) for key in used))
            cell = exp.Case().when(kept, cell)
        found.append(cell)
    return found


def _is_kept(key: exp.Expr) -> exp.Expr:
    grouping = exp.Anonymous(this="grouping", expressions=[key.copy()])
    return exp.EQ(this=grouping, expression=number(0))


def _keys_in(node: exp.Expr, keys: list[exp.Expr]) -> list[exp.Expr] | None:
    """The group keys ``node`` is made of; None where it is made of anything else."""
    if any(windows_and_aggregates([node])) or node.find(exp.Query):
        return None
    known = {key.sql(): key for key in keys}
    used: dict[str, exp.Expr] = {}

    def scan(part: exp.Expr) -> bool:
        if part.sql() in known:
            used[part.sql()] = known[part.sql()]
            return True
        if isinstance(part, exp.Column):
            return False
        return all(scan(child) for child in part.iter_expressions())

    return list(used.values()) if scan(node) and used else None


def _is_pick(node: exp.Expr) -> bool:
    core = node.unnest()
    if isinstance(core, exp.Cast):
        return _keeps_value(core) and _is_pick(core.this)
    if isinstance(core, (exp.Max, exp.Min)):
        return not core.expressions
    return isinstance(core, (exp.ArgMax, exp.ArgMin)) and not core.args.get("count")


def add_to_group_side(
    rw: Rewriter, side: exp.Select, select: exp.Select, keys: list[exp.Expr]
) -> None:
    """Add ``_cell1``... to the side query of a group: what a row of it brings to each output."""
    frame = frame_of(select)
    for position, item in enumerate(select.expressions, 1):
        node = item.unalias()
        if _is_pick(node):
            cell = _of_pick(rw, node, keys, frame)
        else:
            cell = copied(rw, node, frame) if _keys_in(node, keys) else None
        side.select(aliased(cell or unknown(), f"_cell{position}"), copy=False)


def _of_pick(rw: Rewriter, node: exp.Expr, keys: list[exp.Expr], frame: Frame) -> exp.Expr | None:
    """``case when v = max(v) over (partition by <keys>) then <cell of v> end``."""
    core = node.unnest()
    while isinstance(core, exp.Cast):
        core = core.this.unnest()
    value, by = core.this, core.this
    if isinstance(value, exp.Distinct):
        value = by = value.expressions[0]
    if isinstance(core, (exp.ArgMax, exp.ArgMin)):
        by = exp.Case().when(_is_not_null(value), core.expression.copy())
    cell = copied(rw, value, frame)
    if cell is None:
        return None
    best = exp.Max if isinstance(core, (exp.Max, exp.ArgMax)) else exp.Min
    top = exp.Window(this=best(this=by.copy()), partition_by=[key.copy() for key in keys])
    is_top: exp.Expr = exp.EQ(this=by.copy(), expression=top)
    if by is not value:
        # Of rows that tie, the engine picks one: no claim.
        parts = [*(key.copy() for key in keys), by.copy()]
        alone = exp.Window(this=exp.Count(this=value.copy()), partition_by=parts)
        is_top = exp.and_(is_top, exp.EQ(this=alone, expression=number(1)))
    return exp.Case().when(is_top, cell)
