"""Where an expression stands in the text, by its tokens; None where that is not sure."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from sqlglot import TokenType, exp

_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})
_SPREADS = frozenset({TokenType.DISTINCT, TokenType.ALL})
_START = attrgetter("start")
_COLUMN_PARTS = ("catalog", "db", "table", "this")


class Tokens:
    """The tokens of a statement, and which of them is at an offset."""

    __slots__ = ("_at", "sql", "tokens")

    def __init__(self, sql: str, tokens: Sequence[Any]) -> None:
        self.sql = sql
        self.tokens = tokens
        self._at: dict[int, int] = {}

    def slice(self, first: int, last: int) -> str:
        """The text from one token to another."""
        return self.sql[self.tokens[first].start : self.tokens[last].end + 1]

    def at(self, node: Any) -> int | None:
        """The token a node says it starts at."""
        meta = node._meta
        if meta is None or "start" not in meta:
            return None
        if not self._at:
            tokens = self.tokens
            self._at = dict(zip(map(_START, reversed(tokens)), range(len(tokens) - 1, -1, -1)))
        return self._at.get(meta["start"])

    def before_alias(self, alias: Any) -> tuple[int, int] | None:
        """The select item that ends where ``as alias`` begins."""
        at = self.at(alias)
        if at is None or at < 2 or self.tokens[at - 1].token_type is not TokenType.ALIAS:
            return None
        first = self._after_previous(alias)
        if first is None:
            first = self._item_start(at - 2)
        return None if first is None or first > at - 2 else (first, at - 2)

    def _after_previous(self, alias: Any) -> int | None:
        """Where a select item starts, by the name that the one before it ends with."""
        item = alias.parent
        if item.__class__ is not exp.Alias or not item.index or item.arg_key != "expressions":
            return None
        previous = item.parent.args["expressions"][item.index - 1]
        if previous.__class__ is exp.Alias:
            name = previous.args["alias"]
        elif previous.__class__ is exp.Column:
            name = previous.args["this"]
        else:
            return None
        at = self.at(name)
        follows = self.tokens[at + 1 : at + 2] if at is not None else ()
        if at is None or not follows or follows[0].token_type is not TokenType.COMMA:
            return None
        return at + 2

    def _item_start(self, last: int) -> int | None:
        tokens = self.tokens
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
                    return n + 2 if tokens[n + 1].token_type in _SPREADS else n + 1
        return None

    def first_of(self, node: Any) -> int | None:
        """The first token of an expression."""
        while True:
            if isinstance(node, exp.Column):
                return self.at(next(node.args[p] for p in _COLUMN_PARTS if node.args.get(p)))
            if node._meta is not None and isinstance(node, (exp.Literal, exp.Func)):
                return self.at(node)
            if isinstance(node, exp.Paren):
                return self._preceded(node.args["this"], TokenType.L_PAREN)
            if isinstance(node, exp.Neg):
                return self._preceded(node.args["this"], TokenType.DASH)
            if not _starts_with_its_left_side(node):
                return None
            node = node.args["this"]

    def _preceded(self, inner: Any, kind: Any) -> int | None:
        first = self.first_of(inner)
        if first is None or first == 0 or self.tokens[first - 1].token_type is not kind:
            return None
        return first - 1

    def last_of(self, node: Any) -> int | None:
        """The last token of an expression."""
        while True:
            if isinstance(node, exp.Column):
                return self.at(node.args["this"])
            if isinstance(node, exp.Literal):
                return self.at(node)
            if isinstance(node, exp.Paren):
                return self._followed(self.last_of(node.args["this"]), TokenType.R_PAREN)
            if isinstance(node, exp.In):
                items = node.args.get("expressions")
                return self._followed(self.last_of(items[-1]), TokenType.R_PAREN) if items else None
            if isinstance(node, exp.Is) and isinstance(node.args["expression"], exp.Null):
                return self._null_after(self.last_of(node.args["this"]))
            if isinstance(node, exp.Not):
                return self._null_after_not(node.args["this"])
            if isinstance(node, exp.Between):
                node = node.args["high"]
            elif isinstance(node, exp.Func) and not isinstance(node, exp.Connector):
                return self._closing(self.at(node))
            elif isinstance(node, exp.Binary) and not isinstance(node, exp.Dot):
                node = node.args["expression"]
            else:
                return None

    def _followed(self, last: int | None, kind: Any) -> int | None:
        if last is None or last + 1 >= len(self.tokens):
            return None
        return last + 1 if self.tokens[last + 1].token_type is kind else None

    def _null_after(self, last: int | None) -> int | None:
        return self._followed(self._followed(last, TokenType.IS), TokenType.NULL)

    def _null_after_not(self, inner: Any) -> int | None:
        """``a is not null`` is parsed as a negation of ``a is null``; ``not x`` ends with x."""
        if isinstance(inner, exp.Is) and isinstance(inner.args["expression"], exp.Null):
            last = self._followed(self.last_of(inner.args["this"]), TokenType.IS)
            negated = self._followed(self._followed(last, TokenType.NOT), TokenType.NULL)
            return negated if negated is not None else self.last_of(inner)
        return self.last_of(inner)

    def _closing(self, at: int | None) -> int | None:
        """The parenthesis that closes the arguments of the function named at a token."""
        if at is None or at + 1 >= len(self.tokens):
            return None
        if self.tokens[at + 1].token_type is not TokenType.L_PAREN:
            return None
        depth = 0
        for n in range(at + 1, len(self.tokens)):
            kind = self.tokens[n].token_type
            if kind in _OPENING:
                depth += 1
            elif kind in _CLOSING:
                depth -= 1
                if depth == 0:
                    return n
        return None


def _starts_with_its_left_side(node: Any) -> bool:
    if isinstance(node, (exp.Between, exp.In, exp.Connector)):
        return True
    return isinstance(node, exp.Binary) and not isinstance(node, (exp.Func, exp.Dot))
