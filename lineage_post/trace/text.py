"""The SQL text of an expression: a slice of the statement, or generated where none can be told."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, Optional

from sqlglot.tokens import TokenType

from lineage_post.trace.relation import AnyStep, Arms, Step
from lineage_post.trace.tracer import Tracer

_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})
_COMPARISONS = frozenset({"EQ", "NEQ", "GT", "GTE", "LT", "LTE"})


class Texts:
    """The text of each step, found once."""

    def __init__(self, t: Tracer) -> None:
        self._tracer = t
        self._known: dict[int, Optional[str]] = {}

    def of(self, step: AnyStep, x: int = -1) -> Optional[str]:
        """The text of a step; of the arm of a set operation that ``x`` comes through."""
        if isinstance(step, Arms):
            for arm in step.steps:
                if arm is not None and provenance_of(arm) & x:
                    return self.of(arm, x)
            return None
        if step is None or step.node is None:
            return None
        if id(step) not in self._known:
            self._known[id(step)] = self._text(step)
        return self._known[id(step)]

    def _text(self, step: Step) -> str:
        sliced = self._before_alias(step.alias) if step.alias is not None else None
        if sliced is None and step.node.__class__.__name__ in _COMPARISONS:
            sliced = self._comparison(step.node)
        if sliced is None:
            sliced = str(step.node.sql(dialect=self._tracer.rules.dialect, comments=False))
        return sliced

    def _before_alias(self, alias: Any) -> Optional[str]:
        """The item that ends where ``as alias`` begins."""
        meta = alias._meta
        tokens = self._tracer.tokens
        if meta is None or "start" not in meta or not tokens:
            return None
        at = bisect_left(tokens, meta["start"], key=_start)
        last = at - 1
        if at >= len(tokens) or last < 0 or tokens[at].start != meta["start"]:
            return None
        if tokens[last].token_type is not TokenType.ALIAS:
            return None
        last -= 1
        first = self._item_start(tokens, last)
        if first is None or first > last:
            return None
        return self._tracer.sql[tokens[first].start : tokens[last].end + 1]

    @staticmethod
    def _item_start(tokens: Any, last: int) -> Optional[int]:
        depth = 0
        for n in range(last, -1, -1):
            kind = tokens[n].token_type
            if kind in _CLOSING:
                depth += 1
            elif kind in _OPENING:
                if depth == 0:
                    return n + 1
                depth -= 1
            elif depth == 0:
                if kind is TokenType.COMMA:
                    return n + 1
                if kind is TokenType.SELECT:
                    if tokens[n + 1].token_type in (TokenType.DISTINCT, TokenType.ALL):
                        return n + 2
                    return n + 1
        return None

    def _comparison(self, node: Any) -> Optional[str]:
        """``a.x = b.y`` between columns and literals, from its first token to its last."""
        left, right = _span(node.args["this"]), _span(node.args["expression"])
        if left is None or right is None or left[0] > right[0]:
            return None
        return self._tracer.sql[left[0] : right[1] + 1]


def provenance_of(step: AnyStep) -> int:
    """What flows through a step."""
    if isinstance(step, Step):
        return step.provenance
    x = 0
    for arm in step.steps if step is not None else ():
        x |= provenance_of(arm)
    return x


def _start(token: Any) -> int:
    return int(token.start)


def _span(node: Any) -> Optional[tuple[int, int]]:
    """First and last character of a column or literal."""
    if node.__class__.__name__ == "Column":
        parts = [node.args[p] for p in ("catalog", "db", "table", "this") if node.args.get(p)]
        first, last = parts[0]._meta, parts[-1]._meta
    elif node.__class__.__name__ == "Literal":
        first = last = node._meta
    else:
        return None
    if first is None or last is None or "start" not in first or "end" not in last:
        return None
    return first["start"], last["end"]
