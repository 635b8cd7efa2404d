"""From bits to the outputs, edges and unknowns of a Trace."""

from __future__ import annotations

from collections.abc import Sequence

from lineage_post.trace.influences import influences, whole
from lineage_post.trace.ops import IDENTITY_OP, Applied, Operations
from lineage_post.trace.provenance import AGGREGATION, IDENTITY, KINDS, SUBTYPES, unaggregated
from lineage_post.trace.relation import AnyStep, Arms, Relation, Rows, Step
from lineage_post.trace.result import Op, Output, Trace, TraceEdge, Unknown
from lineage_post.trace.sources import unique_names
from lineage_post.trace.sources_table import Missing
from lineage_post.trace.text import Texts
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import Certainty, Reason, State

EXACT, ASSUMED = Certainty.EXACT, Certainty.ASSUMED
_KNOWN = State.KNOWN
#: The constructor of a NamedTuple without its Python frame: a trace makes hundreds.
_new = tuple.__new__
_IDENTITY_OPS: tuple[Op, ...] = (IDENTITY_OP,)
_NO_OPS: tuple[Op, ...] = ()


class Finisher:
    """Builds the edges, outputs and unknowns of one statement."""

    def __init__(self, t: Tracer, *, has_expressions: bool) -> None:
        self._sources = t.sources
        self._texts = Texts(t) if has_expressions else None
        self._operations = Operations(t)
        self.edges: list[TraceEdge] = []
        self.unknowns: dict[Unknown, None] = {}
        #: What the edges of all rows are assumed for.
        self.doubts: list[Missing] = []

    def output(self, ordinal: int, name: str, x: int, step: AnyStep) -> Output:
        """An output column; its edges and unknowns are noted."""
        if step is None and not x & (x - 1) and not x & self._sources.others:
            return self._bare(ordinal, name, x)
        ways, missing = influences(self._sources, x)
        text = None
        behind: tuple[str, ...] = ()
        applied: Sequence[Applied] = ()
        is_of_arms = False
        if step is not None:
            applied = self._operations.of(step)
            if self._texts is not None:
                text = self._texts.of(step)
                if self._operations.has_links(step):
                    behind = self._texts.behind(step)
                is_of_arms = step.__class__ is Arms
        for ref, kind, is_masked, is_assumed, window in ways:
            shown, ops = text, _IDENTITY_OPS
            if kind == IDENTITY:
                shown = None
            else:
                ops = _ops(applied, window)
                if kind == AGGREGATION and unaggregated(x & window):
                    ops = (*ops, IDENTITY_OP)
                if is_of_arms and self._texts is not None:
                    shown = self._texts.of(step, window)
            certainty = ASSUMED if is_assumed else EXACT
            row = (ref, name, ordinal, SUBTYPES[kind], is_masked, certainty, shown, ops)
            self.edges.append(_new(TraceEdge, row))
        if not missing:
            return Output(ordinal, name, State.KNOWN, None, text, steps=behind)
        state, reason = self._state(name, missing, has_edges=bool(ways))
        return Output(ordinal, name, state, reason, text, None, missing[0].detail, behind)

    def _bare(self, ordinal: int, name: str, x: int) -> Output:
        """A bare reference, as most outputs of models are: one edge, or none for a constant."""
        if x:
            i, kind = divmod(x.bit_length() - 1, KINDS)
            ops = _IDENTITY_OPS if kind == IDENTITY else _NO_OPS
            row = (self._sources.table[i], name, ordinal, SUBTYPES[kind], False, EXACT, None, ops)
            self.edges.append(_new(TraceEdge, row))
        return _new(Output, (ordinal, name, _KNOWN, None, None, None, None, ()))

    def rows(self, relation: Relation) -> None:
        """The dataset-level edges and unknowns."""
        ways, missing = influences(self._sources, relation.rows)
        deciding = _deciding(_predicates(relation.rows_of)) if ways else {}
        operations, texts = self._operations, self._texts
        for ref, kind, is_masked, is_assumed, window in ways:
            text, ops = None, _NO_OPS
            step = deciding.get(window) or _first_of(deciding, window)
            if step is not None:
                text = None if texts is None else texts.of(step)
                if step.end > step.start:
                    ops = _ops(operations.of(step), whole(window))
            certainty = ASSUMED if is_assumed else EXACT
            row = (ref, None, None, SUBTYPES[kind], is_masked, certainty, text, ops)
            self.edges.append(_new(TraceEdge, row))
        for m in missing:
            if m.is_listed:
                self.unknowns[Unknown(None, m.reason, m.detail)] = None
            else:
                self.doubts.append(m)

    def repeated(self, output: Output) -> Output:
        """An output whose name an earlier one has: the engine refuses it."""
        detail = f"{output.name} is the name of more than one output"
        self.unknowns[Unknown(output.name, Reason.DUPLICATE_COLUMN, detail)] = None
        return output._replace(state=State.PARTIAL, reason=Reason.DUPLICATE_COLUMN)

    def _state(
        self, name: str, missing: list[Missing], *, has_edges: bool
    ) -> tuple[State, Reason | None]:
        is_partial = has_edges
        for m in missing:
            if m.is_listed:
                self.unknowns[Unknown(name, m.reason, m.detail)] = None
            else:
                is_partial = True
        return (State.PARTIAL if is_partial else State.UNKNOWN), missing[0].reason


def _ops(applied: Sequence[Applied], window: int) -> tuple[Op, ...]:
    if not applied:
        return ()
    if len(applied) == 1:
        return (applied[0][0],) if applied[0][1] & window else ()
    return tuple(dict.fromkeys([op for op, x in applied if x & window]))


def _predicates(rows: Rows | None) -> list[Step]:
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


def _deciding(steps: list[Step]) -> dict[int, Step]:
    """The first predicate that decides by each bit; a bit with its predicate, in that order."""
    found: dict[int, Step] = {}
    others = -1
    for step in steps:
        x = step.provenance & others
        others ^= x
        while x:
            bit = x & -x
            found[bit] = step
            x ^= bit
    return found


def _first_of(deciding: dict[int, Step], window: int) -> Step | None:
    """The first predicate by any of several bits."""
    return next((step for bit, step in deciding.items() if bit & window), None)


def outcome(
    outputs: list[Output], unknowns: list[Unknown], *, is_open: bool, has_edges: bool
) -> State:
    """The state of a trace by that of its parts."""
    is_clean = not unknowns and not is_open and all(o.state is State.KNOWN for o in outputs)
    if is_clean:
        return State.KNOWN
    has_known = any(o.state is not State.UNKNOWN for o in outputs)
    return State.PARTIAL if has_known or has_edges else State.UNKNOWN


def finished(
    t: Tracer, relation: Relation, *, operation: str, target: str | None, has_expressions: bool
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
    unknowns += [Unknown(None, Reason.UNSUPPORTED_SYNTAX, detail) for detail in t.untold]
    if relation.open is not None:
        reason = getattr(relation.open, "reason", Reason.STAR_UNEXPANDED)
        detail = getattr(
            relation.open, "detail", f"* of {relation.open.label}, whose columns are not known"
        )
        unknowns.append(Unknown("*", reason, detail))
    state = outcome(
        outputs, unknowns, is_open=relation.open is not None, has_edges=bool(finisher.edges)
    )
    reason, detail = _first_reason(outputs, unknowns), _first_detail(outputs, unknowns)
    if state is State.KNOWN and finisher.doubts:
        state, (_, reason, detail, _) = State.PARTIAL, finisher.doubts[0]
    return Trace(
        state=state,
        operation=operation,
        reason=reason,
        detail=detail,
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
    keys = t.rules.keys_of(names)
    if len(set(keys)) == len(keys):
        return names, frozenset()
    if t.rules.renames_duplicates:
        return unique_names(names), frozenset()
    first = {key: i for i, key in reversed(list(enumerate(keys)))}
    return names, frozenset(i for i, key in enumerate(keys) if first[key] != i)


def _first_reason(outputs: list[Output], unknowns: list[Unknown]) -> Reason | None:
    if unknowns:
        return unknowns[0].reason
    return next((o.reason for o in outputs if o.reason is not None), None)


def _first_detail(outputs: list[Output], unknowns: list[Unknown]) -> str | None:
    if unknowns:
        return unknowns[0].detail
    return next((o.detail for o in outputs if o.detail is not None), None)
