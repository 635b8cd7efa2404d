"""From bits to the outputs, edges and unknowns of a Trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Optional

from lineage_post.trace.ops import IDENTITY_OP, Applied, Operations
from lineage_post.trace.provenance import AGGREGATION, KINDS, SUBTYPES
from lineage_post.trace.relation import AnyStep, Relation, Rows, Step
from lineage_post.trace.result import ColumnRef, Op, Output, Trace, TraceEdge, Unknown
from lineage_post.trace.sources import unique_names
from lineage_post.trace.sources_table import Missing
from lineage_post.trace.text import Texts
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import Certainty, Reason, State

_VALUE_BITS = 0b111
_ANY_BIT = (1 << KINDS) - 1


class _Influence:
    """All ways in which one column reaches one target."""

    __slots__ = ("direct", "indirect", "ref", "window")

    def __init__(self, ref: ColumnRef) -> None:
        self.ref = ref
        #: (strongest kind, masked on every path, assumed on every path), or None.
        self.direct: Optional[tuple[int, bool, bool]] = None
        self.indirect: dict[int, tuple[bool, bool]] = {}
        #: The bits of this column, whatever its variant.
        self.window = 0


class Finisher:
    """Builds the Trace of one statement."""

    def __init__(self, t: Tracer, *, has_expressions: bool) -> None:
        self._tracer = t
        self._texts = Texts(t) if has_expressions else None
        self._operations = Operations(t)
        self.edges: list[TraceEdge] = []
        self.unknowns: dict[Unknown, None] = {}

    def output(self, ordinal: int, name: str, x: int, step: AnyStep) -> Output:
        """An output column; its edges and unknowns are noted."""
        influences, missing = self._grouped(x)
        applied = self._operations.of(step)
        for influence in influences:
            self._add_direct(influence, name, ordinal, step, applied)
            for kind, (is_masked, is_assumed) in influence.indirect.items():
                bit = influence.window & _only(kind, influence.window)
                self._add(
                    influence.ref, name, ordinal, kind, is_masked, is_assumed,
                    self._text(step, influence.window), _ops(applied, bit),
                )  # fmt: skip
        state, reason = self._state(name, missing, has_edges=bool(influences))
        expression = self._text(step, -1)
        return Output(ordinal, name, state, reason, expression)

    def _add_direct(
        self, influence: _Influence, name: str, ordinal: int, step: AnyStep, applied: list[Applied]
    ) -> None:
        if influence.direct is None:
            return
        kind, is_masked, is_assumed = influence.direct
        if kind == 0:
            text, ops = None, (IDENTITY_OP,)
        else:
            text = self._text(step, influence.window)
            ops = _ops(applied, influence.window & _values(influence.window))
        self._add(influence.ref, name, ordinal, kind, is_masked, is_assumed, text, ops)

    def _state(
        self, name: str, missing: list[Missing], *, has_edges: bool
    ) -> tuple[State, Optional[Reason]]:
        if not missing:
            return State.KNOWN, None
        is_partial = has_edges
        for m in missing:
            if m.is_listed:
                self.unknowns[Unknown(name, m.reason, m.detail)] = None
            else:
                is_partial = True
        return (State.PARTIAL if is_partial else State.UNKNOWN), missing[0].reason

    def repeated(self, output: Output) -> Output:
        """An output whose name an earlier one has: the engine refuses it."""
        detail = f"{output.name} is the name of more than one output"
        self.unknowns[Unknown(output.name, Reason.DUPLICATE_COLUMN, detail)] = None
        return replace(output, state=State.PARTIAL, reason=Reason.DUPLICATE_COLUMN)

    def _grouped(self, x: int) -> tuple[list[_Influence], list[Missing]]:
        influences: dict[ColumnRef, _Influence] = {}
        missing: list[Missing] = []
        table = self._tracer.sources.table
        while x:
            low = (x & -x).bit_length() - 1
            i = low // KINDS
            kinds = (x >> (i * KINDS)) & _ANY_BIT
            x ^= kinds << (i * KINDS)
            source = table[i]
            if isinstance(source, Missing):
                missing.append(source)
                continue
            influence = influences.get(source.ref)
            if influence is None:
                influence = influences[source.ref] = _Influence(source.ref)
            influence.window |= _ANY_BIT << (i * KINDS)
            _note(influence, kinds, source.is_masked, source.is_assumed)
        if self._tracer.sources.has_variants:
            for influence in influences.values():
                influence.window = self._tracer.sources.window_of(influence.ref)
        return list(influences.values()), missing

    def rows(self, relation: Relation) -> None:
        """The dataset-level edges and unknowns."""
        influences, missing = self._grouped(relation.rows)
        steps = _predicates(relation.rows_of)
        for influence in influences:
            for kind, (is_masked, is_assumed) in influence.indirect.items():
                bit = influence.window & _only(kind, influence.window)
                step = _deciding(steps, bit)
                ops = _ops(self._operations.of(step), influence.window)
                self._add(
                    influence.ref, None, None, kind, is_masked, is_assumed,
                    self._text(step, -1), ops,
                )  # fmt: skip
        for m in missing:
            if m.is_listed:
                self.unknowns[Unknown(None, m.reason, m.detail)] = None

    def _text(self, step: AnyStep, x: int) -> Optional[str]:
        return None if self._texts is None else self._texts.of(step, x)

    def _add(
        self, ref: ColumnRef, to: Optional[str], ordinal: Optional[int], kind: int,
        is_masked: bool, is_assumed: bool, text: Optional[str], ops: tuple[Op, ...],
    ) -> None:  # fmt: skip
        certainty = Certainty.ASSUMED if is_assumed else Certainty.EXACT
        self.edges.append(
            TraceEdge(ref, to, ordinal, SUBTYPES[kind], is_masked, certainty, text, ops)
        )


def _note(influence: _Influence, kinds: int, is_masked: bool, is_assumed: bool) -> None:
    value = kinds & _VALUE_BITS
    if value:
        kind = value.bit_length() - 1
        if influence.direct is not None:
            strongest, masked, assumed = influence.direct
            kind = max(kind, strongest)
            is_masked_too, is_assumed_too = is_masked and masked, is_assumed and assumed
            influence.direct = (kind, is_masked_too, is_assumed_too)
        else:
            influence.direct = (kind, is_masked, is_assumed)
    kinds >>= AGGREGATION + 1
    kind = AGGREGATION + 1
    while kinds:
        if kinds & 1:
            masked, assumed = influence.indirect.get(kind, (True, True))
            influence.indirect[kind] = (masked and is_masked, assumed and is_assumed)
        kinds >>= 1
        kind += 1


def _only(kind: int, window: int) -> int:
    """The bits of one kind within the windows of a column's variants."""
    return _spread(1 << kind, window)


def _values(window: int) -> int:
    return _spread(_VALUE_BITS, window)


def _spread(pattern: int, window: int) -> int:
    x = 0
    while window:
        i = ((window & -window).bit_length() - 1) // KINDS
        x |= pattern << (i * KINDS)
        window &= ~(_ANY_BIT << (i * KINDS))
    return x


def _ops(applied: list[Applied], bits: int) -> tuple[Op, ...]:
    if not applied:
        return ()
    if len(applied) == 1:
        return (applied[0][0],) if applied[0][1] & bits else ()
    return tuple(dict.fromkeys(op for op, x in applied if x & bits))


def _predicates(rows: Optional[Rows]) -> list[Step]:
    """Every predicate that decides rows, own ones first."""
    found: list[Step] = []
    seen: set[int] = set()
    waiting = [rows] if rows is not None else []
    while waiting:
        current = waiting.pop()
        if id(current) not in seen:
            seen.add(id(current))
            found.extend(current.own)
            waiting.extend(current.sources)
    return found


def _deciding(steps: list[Step], bit: int) -> Optional[Step]:
    for step in steps:
        if step.provenance & bit:
            return step
    return None


def outcome(outputs: list[Output], unknowns: list[Unknown], *, is_open: bool, has_edges: bool) -> State:
    """The state of a trace by that of its parts."""
    is_clean = not unknowns and not is_open and all(o.state is State.KNOWN for o in outputs)
    if is_clean:
        return State.KNOWN
    has_known = any(o.state is not State.UNKNOWN for o in outputs)
    return State.PARTIAL if has_known or has_edges else State.UNKNOWN


def finished(
    t: Tracer, relation: Relation, *, operation: str, target: Optional[str], has_expressions: bool
) -> Trace:
    """The Trace of a statement whose outputs are those of ``relation``."""
    finisher = Finisher(t, has_expressions=has_expressions)
    names, repeated = _final_names(t, relation)
    outputs = []
    for i, x in enumerate(relation.all()):
        output = finisher.output(i + 1, names[i], x, relation.steps[i])
        outputs.append(finisher.repeated(output) if i in repeated else output)
    finisher.rows(relation)
    unknowns = list(finisher.unknowns)
    if relation.open is not None:
        reason = getattr(relation.open, "reason", Reason.STAR_UNEXPANDED)
        detail = getattr(
            relation.open, "detail", f"* of {relation.open.label}, whose columns are not known"
        )
        unknowns.append(Unknown("*", reason, detail))
    state = outcome(
        outputs, unknowns, is_open=relation.open is not None, has_edges=bool(finisher.edges)
    )
    reason_of_all = _first_reason(outputs, unknowns)
    return Trace(
        state=state,
        operation=operation,
        reason=reason_of_all,
        detail=unknowns[0].detail if unknowns else None,
        open=relation.open is not None,
        target=target,
        outputs=tuple(outputs),
        edges=tuple(finisher.edges),
        unknowns=tuple(unknowns),
        reads=tuple(sorted(t.reads)),
        warnings=tuple(dict.fromkeys(t.warnings)),
    )


def _final_names(t: Tracer, relation: Relation) -> tuple[Sequence[str], frozenset[int]]:
    """The names the engine stores, and the positions of those it would refuse as repeated."""
    names = relation.spellings
    keys = [t.rules.key_of(name) for name in names]
    if len(set(keys)) == len(keys):
        return names, frozenset()
    if t.rules.renames_duplicates:
        return unique_names(names), frozenset()
    return names, frozenset(i for i, key in enumerate(keys) if key in keys[:i])


def _first_reason(outputs: list[Output], unknowns: list[Unknown]) -> Optional[Reason]:
    if unknowns:
        return unknowns[0].reason
    return next((o.reason for o in outputs if o.reason is not None), None)
