"""The SQL text of an expression: a slice of the statement, or generated where none can be told."""

from __future__ import annotations

from typing import Any

from lineage_post.trace.relation import AnyStep, Arms, Step
from lineage_post.trace.tracer import Tracer


class Texts:
    """The text of each step, found once."""

    def __init__(self, t: Tracer) -> None:
        self._tracer = t
        self._tokens = t.tokens
        self._known: dict[int, str] = {}

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

    def _of_arms(self, arms: Arms, x: int) -> str | None:
        for arm in arms.steps:
            if arm is not None and arm.provenance & x:
                return self.of(arm, x)
        return next((self.of(arm, x) for arm in arms.steps if arm is not None), None)

    def _text(self, step: Step) -> str:
        span = self._tokens.before_alias(step.alias) if step.alias is not None else None
        if span is None:
            span = self._span(step.node)
        if span is not None:
            return self._tokens.slice(*span)
        return str(step.node.sql(dialect=self._tracer.rules.dialect, comments=False, copy=False))

    def _span(self, node: Any) -> tuple[int, int] | None:
        first = self._tokens.first_of(node)
        last = None if first is None else self._tokens.last_of(node)
        return None if first is None or last is None or last < first else (first, last)
