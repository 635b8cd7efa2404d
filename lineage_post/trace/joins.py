"""JOIN: what it brings into scope, and the columns USING and NATURAL merge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from lineage_post.trace.expressions import evaluate
from lineage_post.trace.frame import Frame, Merged, Operand
from lineage_post.trace.opens import Open
from lineage_post.trace.provenance import FILTER, JOIN, transformed
from lineage_post.trace.relation import AnyStep
from lineage_post.trace.sources import add_source
from lineage_post.trace.tracer import Tracer
from lineage_post.trace.unnesting import array_join
from lineage_post.vocabulary import Reason


def join(t: Tracer, node: Any, f: Frame) -> None:
    """Appends the right side of a join to the frame and records its condition."""
    a = node.args
    side, kind = (a.get("side") or "").upper(), (a.get("kind") or "").upper()
    if kind == "ARRAY":
        array_join(t, node, f)
        return
    left = len(f.operands)
    merged_before = f.merged
    add_source(t, a["this"], f)
    is_filter = kind in ("SEMI", "ANTI") or side in ("SEMI", "ANTI")
    as_kind = FILTER if is_filter else JOIN
    names = [u.args["this"] if isinstance(u, exp.Column) else u for u in a.get("using") or ()]
    if (a.get("method") or "").upper() == "NATURAL":
        names = _shared_names(t, f, left)
        _doubt_sides(t, f, left)
    for name in names:
        _merge(t, node, name, f, left, side, as_kind)
    for condition in (a.get("on"), a.get("match_condition")):
        if condition is not None:
            start = len(t.log)
            x = evaluate(t, condition, f)
            t.decide(f, condition, start, x, as_kind)
    if t.recorder is not None:
        t.recorder.stage("join", f, node)
    if is_filter:
        f.hide_from(left)
        f.merged = merged_before


def _shared_names(t: Tracer, f: Frame, left: int) -> list[Any]:
    """The columns NATURAL compares: those both sides have."""
    opens = [o.relation.open.label for o in f.operands if o.relation.open is not None]
    if opens:
        detail = f"natural join over {' and '.join(sorted(opens))}, whose columns are not known"
        x = t.sources.unknown("*", Reason.STAR_UNEXPANDED, detail)
        t.decide(f, None, len(t.log), x, JOIN)
    key_of = t.rules.key_of
    right = {key_of(n) for o in f.operands[left:] for n in o.relation.spellings}
    names = dict.fromkeys(n for o in f.operands[:left] for n in o.relation.spellings)
    return [exp.to_identifier(n, quoted=True) for n in names if key_of(n) in right]


def _doubt_sides(t: Tracer, f: Frame, left: int) -> None:
    """A column that one side of NATURAL lists may be in what the other does not list, too."""
    sides = (range(left), range(left, len(f.operands)))
    for here, there in (sides, sides[::-1]):
        opens = [o for n in there if (o := f.operands[n].relation.open) is not None]
        for n in here if opens else ():
            relation = f.operands[n].relation
            for i, spelling in enumerate(relation.spellings):
                key = t.rules.key_of(spelling)
                if key not in f.merged:
                    x = t.sources.assumed(relation.at(i)) | _doubt(t, spelling, opens)
                    f.merge(key, Merged(x, relation.steps[i], spelling, frozenset({n})))


def _doubt(t: Tracer, spelling: str, opens: Sequence[Open]) -> int:
    labels = " and ".join(sorted({o.label for o in opens}))
    detail = f"{spelling} may be a column of {labels}, too, and NATURAL makes one of both"
    return t.sources.doubt(Reason.SCHEMA_MISSING, detail)


def _merge(t: Tracer, node: Any, name: Any, f: Frame, left: int, side: str, as_kind: int) -> None:
    key = t.rules.key_of(t.spell(name))
    old = f.merged.get(key)
    held: frozenset[int] = frozenset()
    x, left_step, spelling = 0, None, t.spell(name)
    if old is not None:
        x, left_step, spelling, held = old
    else:
        x, left_step, spelling, held = side_of_using(t, key, spelling, f, 0, left)
    y, right_step, right_spelling, right_held = side_of_using(
        t, key, spelling, f, left, len(f.operands)
    )
    t.decide(f, node, len(t.log), x | y, as_kind)
    provenance, step = x, left_step
    if side == "FULL":
        provenance, step = transformed(x | y), left_step or right_step
    elif side == "RIGHT":
        provenance, step, spelling = y, right_step, right_spelling
    f.merge(key, Merged(provenance, step, spelling, held | right_held))


def side_of_using(
    t: Tracer, key: str, spelling: str, f: Frame, first: int, end: int
) -> tuple[int, AnyStep, str, frozenset[int]]:
    """The column one side of USING compares, and the operands that hold it."""
    opens: list[tuple[int, Operand]] = []
    for n in range(first, end):
        operand = f.operands[n]
        i = operand.relation.position(key)
        if i >= 0:
            relation = operand.relation
            return relation.at(i), relation.steps[i], relation.spellings[i], frozenset({n})
        if operand.relation.open is not None:
            opens.append((n, operand))
    if not opens:
        x = t.sources.unknown(
            spelling, Reason.UNRESOLVED_COLUMN, f"no column {spelling} to join using"
        )
        return x, None, spelling, frozenset()
    if len(opens) > 1:
        labels = sorted({o.relation.open.label for _, o in opens if o.relation.open is not None})
        x = t.sources.unknown(
            spelling, Reason.AMBIGUOUS, f"{spelling} is ambiguous between {' and '.join(labels)}"
        )
        return x, None, spelling, frozenset()
    n, operand = opens[0]
    assert operand.relation.open is not None
    return operand.relation.open.column(t, key, spelling), None, spelling, frozenset({n})
