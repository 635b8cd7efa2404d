"""The SQL text of an expression: a slice of the statement, or generated where none can be told."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.printing import printed
from lineage_post.trace.relation import AnyStep, Arms, Step
from lineage_post.trace.tracer import Tracer

#: So many steps behind an expression are told; a longer chain is cut.
_MOST_STEPS = 100


class Texts:
    """The text of each step, found once."""

    def __init__(self, t: Tracer) -> None:
        self._tracer = t
        self._tokens = t.tokens
        self._known: dict[int, str] = {}
        self._below: dict[int, tuple[Step, ...]] = {}

    def of(self, step: AnyStep, x: int = -1) -> str | None:
        """The text of a step; of the arm of a set operation that ``x`` comes through."""
        if step.__class__ is Arms:
            return self._of_arms(step, x)  # type: ignore[arg-type]
        if step is None or step.node is None:  # type: ignore[union-attr]
            return None
        text = self._known.get(id(step))
        if text is None:
            text = self._known[id(step)] = self._text(step)  # type: ignore[arg-type]
        return text

    def behind(self, step: AnyStep) -> tuple[str, ...]:
        """The texts of the computing steps behind the first one, nearest first.

        select a + 1 as b from t        with that as c:
        select b * 2 as d from c        d is b * 2, and behind it stands a + 1
        """
        below = self._steps_below(step)
        if not below and step.__class__ is Step:
            return ()
        first = self.of(step)
        found: dict[str | None, None] = {}
        seen: set[int] = set()
        waiting: list[AnyStep] = [step]
        for current in waiting:
            for s in self._steps_below(current):
                if id(s) not in seen and len(seen) < _MOST_STEPS:
                    seen.add(id(s))
                    waiting.append(s)
                    if not _is_within(s, current):
                        found[self.of(s)] = None
        return tuple(text for text in found if text is not None and text != first)

    def _steps_below(self, step: AnyStep) -> tuple[Step, ...]:
        """The steps that a step refers to, without the arms that only hold them together."""
        if step is None:
            return ()
        known = self._below.get(id(step))
        if known is None:
            if step.__class__ is Arms:
                waiting = list(step.steps)  # type: ignore[union-attr]
            else:
                log = self._tracer.log
                waiting = [log[n][0] for n in range(step.start, step.end)]  # type: ignore[union-attr]
            known = self._below[id(step)] = tuple(_plain_steps(waiting))
        return known

    def _of_arms(self, arms: Arms, x: int) -> str | None:
        for arm in arms.steps:
            if arm is not None and arm.provenance & x:
                return self.of(arm, x)
        return next((self.of(arm, x) for arm in arms.steps if arm is not None), None)

    def _text(self, step: Step) -> str:
        if isinstance(step.node, exp.SetOperation):
            return str(step.node.key).upper()
        if step.node.__class__ is exp.Distinct and not step.node.args.get("on"):
            return "DISTINCT"
        span = self._tokens.before_alias(step.alias) if step.alias is not None else None
        text = self._tokens.text_of(step.node) if span is None else self._tokens.slice(*span)
        if text is not None:
            return text
        return printed(step.node, self._tracer.rules.dialect)


def _is_within(inner: Step, step: AnyStep) -> bool:
    """Whether a step is a part of the other's own text, as that of a scalar subquery is."""
    return isinstance(step, Step) and step.start <= inner.start and inner.end <= step.end


def _plain_steps(waiting: list[Any]) -> dict[Step, None]:
    found: dict[Step, None] = {}
    for what in waiting:
        if what.__class__ is Step:
            found[what] = None
        elif what.__class__ is Arms:
            waiting.extend(arm for arm in what.steps if arm is not None and len(waiting) < 10_000)
    return found
