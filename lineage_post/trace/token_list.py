"""The tokens of a statement, and what stands before and behind each of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from sqlglot import TokenType, exp

_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})
SPREADS = frozenset({TokenType.DISTINCT, TokenType.ALL})
_CASE, _END = frozenset({TokenType.CASE}), frozenset({TokenType.END})
#: What may stand behind a select item.
AFTER_ALIAS = frozenset(
    {TokenType.COMMA, TokenType.FROM, TokenType.R_PAREN, TokenType.SEMICOLON, TokenType.UNION}
)
_START = attrgetter("start")


class TokenList:
    """Tokens, and which of them is at an offset."""

    __slots__ = ("_starts", "sql", "tokens")

    def __init__(self, sql: str, tokens: Sequence[Any]) -> None:
        self.sql = sql
        self.tokens = tokens
        self._starts: list[int] = []

    def slice(self, first: int, last: int) -> str:
        """The text from one token to another."""
        return self.sql[self.tokens[first].start : self.tokens[last].end + 1]

    def spaced(self, first: int, last: int) -> str:
        """The text from one token to another with one space behind each comma, none before."""
        text = ""
        for n in range(first, last + 1):
            is_comma = self.tokens[n].token_type is TokenType.COMMA
            gap = "" if is_comma or n == first else self._gap(n)
            text += gap + self.slice(n, n)
        return text

    def _gap(self, n: int) -> str:
        """What stands between a token and the one before it, as one space or none."""
        before = self.tokens[n - 1]
        if before.token_type is TokenType.COMMA:
            return " "
        return " " if self.tokens[n].start > before.end + 1 else ""

    def opens_call(self, n: int) -> bool:
        """Whether a bracket stands right behind a token."""
        follows = self.tokens[n + 1 : n + 2]
        return bool(follows) and follows[0].token_type is TokenType.L_PAREN

    def at(self, node: Any) -> int | None:
        """The token a node says it starts at."""
        meta = node._meta
        if meta is None or "start" not in meta:
            return None
        starts = self._starts
        if not starts:
            starts = self._starts = list(map(_START, self.tokens))
        start = meta["start"]
        n = bisect_left(starts, start)
        return n if n < len(starts) and starts[n] == start else None

    def before_alias(self, alias: Any) -> tuple[int, int] | None:
        """The select item that ends where its alias stands, with or without ``as``."""
        at = self.at(alias)
        if at is None or at < 2:
            return None
        if self.tokens[at - 1].token_type is TokenType.ALIAS:
            last = at - 2
        elif at + 1 < len(self.tokens) and self.tokens[at + 1].token_type in AFTER_ALIAS:
            last = at - 1
        else:  # ``n: x`` and ``n = x`` name what follows
            return None
        first = self._after_previous(alias)
        if first is None:
            first = self._item_start(last)
        return None if first is None or first > last else (first, last)

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
                if kind is TokenType.PIPE_GT:
                    return None
                if kind is TokenType.SELECT:
                    return n + 2 if tokens[n + 1].token_type in SPREADS else n + 1
        return None

    def _before(self, first: int | None, kind: Any) -> int | None:
        if not first or self.tokens[first - 1].token_type is not kind:
            return None
        return first - 1

    def _followed(self, last: int | None, kind: Any) -> int | None:
        if last is None or last + 1 >= len(self.tokens):
            return None
        return last + 1 if self.tokens[last + 1].token_type is kind else None

    def _end_of_path(self, last: int | None) -> int | None:
        """``v:a.b[0]:c``: names behind colons and dots, and subscripts."""
        tokens = self.tokens
        while last is not None and last + 2 < len(tokens):
            kind = tokens[last + 1].token_type
            if kind is TokenType.L_BRACKET:
                last = self._match(last + 1, _OPENING, _CLOSING)
            elif kind is TokenType.COLON or kind is TokenType.DOT:
                last += 1 if tokens[last + 2].token_type is TokenType.L_BRACKET else 2
            else:
                break
        return last

    def _closing(self, at: int | None) -> int | None:
        """The parenthesis that closes the one right behind a token."""
        first = self._followed(at, TokenType.L_PAREN)
        return None if first is None else self._match(first, _OPENING, _CLOSING)

    def _end(self, at: int | None) -> int | None:
        return None if at is None else self._match(at, _CASE, _END)

    def _is_dot(self, n: int) -> bool:
        """Whether a name follows: ``t.end`` ends no CASE."""
        return self.tokens[n].token_type is TokenType.DOT

    def _match(self, at: int, opening: frozenset[Any], closing: frozenset[Any]) -> int | None:
        """Where what opens at a token is closed."""
        depth = 0
        for n in range(at, len(self.tokens)):
            kind = self.tokens[n].token_type
            if kind in opening:
                depth += 1
            elif kind in closing and not (closing is _END and self._is_dot(n - 1)):
                depth -= 1
                if depth == 0:
                    return n
        return None
