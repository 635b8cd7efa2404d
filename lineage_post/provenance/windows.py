"""Window functions in the outputs: a row's own annotation times that of the frame its value saw.

| function                          | witnesses beside the row itself                           |
|-----------------------------------|-----------------------------------------------------------|
| row_number, rank, dense_rank      | the partition up to the row, ties with it included        |
| ntile, percent_rank, cume_dist    | the whole partition                                       |
| lag, lead, first and last_value   | the one row the value came from                           |
| lag and lead by more, nth_value   | the rows on the way to it                                 |
| aggregates                        | the frame                                                 |

A partition, or one up to or from a position, is a gate; short frames are added up in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from lineage_post.provenance.algebra import Over, or_one
from lineage_post.provenance.building import (
    ANNOTATION,
    aliased,
    window_function,
    windows_and_aggregates,
)
from lineage_post.provenance.gates import GateKind, Keys

if TYPE_CHECKING:
    from lineage_post.provenance.rewriter import Rewriter

RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank)
SHARES = (exp.Ntile, exp.PercentRank, exp.CumeDist)
PICKS = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)
Input = Callable[[], exp.Select]


@dataclass(frozen=True, slots=True)
class Extent:
    """Which rows of the partition a window sees: ``kind`` None is a frame to add up in place."""

    kind: GateKind | None


def factors(rw: Rewriter, select: exp.Select, own: exp.Expr, rows: Input) -> list[exp.Expr]:
    """What the windows in the outputs of ``select`` contribute.

    ``own`` annotates one row of their input; ``rows()`` gives that input without outputs.
    """
    found: dict[str, exp.Expr] = {}
    for window in windows_and_aggregates(select.expressions)[0]:
        annotation = _annotation(rw, select, window, own, rows)
        if annotation is not None:
            found.setdefault(annotation.sql(), annotation)
    return list(found.values())


def _annotation(
    rw: Rewriter, select: exp.Select, window: exp.Window, own: exp.Expr, rows: Input
) -> exp.Expr | None:
    function = window_function(window)
    if isinstance(function, PICKS) and not _skips_nulls(window):
        if not rw.symbolic:
            return None
        step = _step(function)
        if step == 1:
            return or_one(rw.algebra, picked(window, own))
        if step is not None:
            return or_one(rw.algebra, rw.algebra.plus_over(own.copy(), _way(window, step)))
    if isinstance(function, RANKS):
        rw.note("ties: rows that tie in a window's order count as before each other")
    kind = _extent(window, function).kind
    if kind is not None and rw.can_gate(select):
        return _gated(rw, window, kind, own, rows)
    return or_one(rw.algebra, rw.algebra.plus_over(own.copy(), lambda a: _over(window, a, kind)))


def picked(window: exp.Window, value: exp.Expr) -> exp.Window:
    """``lag(x) over (...)`` with ``value`` for x: the same choice of row."""
    copied = window.copy()
    function = copied.this
    if isinstance(function, exp.RespectNulls):
        function = function.this
        copied.set("this", function)
    function.set("this", value.copy())
    function.set("default", None)
    return copied


def _step(function: exp.Expr) -> int | None:
    """How many rows away the value is taken from; 1 where that row alone shows it."""
    if isinstance(function, (exp.FirstValue, exp.LastValue)):
        return 1
    offset = function.args.get("offset")
    if isinstance(function, exp.NthValue):
        return None
    if offset is None:
        return 1
    return int(offset.name) if isinstance(offset, exp.Literal) and offset.is_int else None


def _way(window: exp.Window, step: int) -> Over:
    """The frame from the row that LAG or LEAD takes its value from to the row itself."""
    far = exp.Literal.number(step)
    bounds: dict[str, object] = {"kind": "ROWS", "start": "CURRENT ROW", "end": "CURRENT ROW"}
    if isinstance(window_function(window), exp.Lag):
        bounds |= {"start": far, "start_side": "PRECEDING"}
    else:
        bounds |= {"end": far, "end_side": "FOLLOWING"}

    def over(aggregate: exp.Expr) -> exp.Expr:
        copied = window.copy()
        copied.set("this", aggregate)
        copied.set("spec", exp.WindowSpec(**bounds))
        return copied

    return over


def _skips_nulls(window: exp.Window) -> bool:
    return window.find(exp.IgnoreNulls) is not None


def _extent(window: exp.Window, function: exp.Expr) -> Extent:
    if isinstance(function, (*SHARES, *PICKS)):
        return Extent(GateKind.PARTITION)
    if isinstance(function, RANKS):
        return Extent(GateKind.UP_TO if window.args.get("order") else GateKind.PARTITION)
    if not window.args.get("order"):
        return Extent(GateKind.PARTITION) if not window.args.get("spec") else Extent(None)
    spec = window.args.get("spec")
    if spec is None:
        return Extent(GateKind.UP_TO)
    start, end = _bound(spec, "start"), _bound(spec, "end") or "CURRENT ROW"
    known = {
        ("UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING"): GateKind.PARTITION,
        ("UNBOUNDED PRECEDING", "CURRENT ROW"): GateKind.UP_TO,
        ("CURRENT ROW", "UNBOUNDED FOLLOWING"): GateKind.FROM,
    }
    return Extent(known.get((start, end)))


def _bound(spec: exp.WindowSpec, which: str) -> str:
    value = spec.args.get(which)
    side = spec.args.get(f"{which}_side")
    if value is None:
        return ""
    words = value if isinstance(value, str) else value.sql()
    return f"{words} {side}" if side else words


def _gated(
    rw: Rewriter, window: exp.Window, kind: GateKind, own: exp.Expr, rows: Input
) -> exp.Expr:
    partition = window.args.get("partition_by") or []
    keys: Keys = [(key, key.type) for key in partition]
    named = [aliased(key.copy(), f"_k{n}") for n, key in enumerate(partition, 1)]
    if kind is not GateKind.PARTITION:
        position = exp.Window(
            this=exp.Rank(),
            partition_by=[key.copy() for key in partition],
            order=window.args["order"].copy(),
        )
        named.append(aliased(position.copy(), "_pos"))
        keys.append((position, exp.DataType.build("bigint")))
    side = rows().select(*named, aliased(own.copy(), ANNOTATION))
    name = rw.once(f"window {side.sql()}", lambda: rw.gate(kind, "w", keys, [side]))
    return rw.token(name, keys)


def _over(window: exp.Window, aggregate: exp.Expr, kind: GateKind | None) -> exp.Expr:
    copied = window.copy()
    copied.set("this", aggregate)
    function = window_function(window)
    if isinstance(function, (*RANKS, *SHARES, *PICKS)):
        copied.set("spec", None)
    if kind is GateKind.PARTITION:
        copied.set("order", None)
        copied.set("spec", None)
    return copied
