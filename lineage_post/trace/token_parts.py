"""Parts of a list of tokens: words in turn, the end of a clause, tokens of our own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlglot import TokenType
from sqlglot.tokens import Token  # type: ignore[attr-defined]

Tokens = Sequence[Any]
_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})


def end_of(tokens: Tokens, start: int, is_end: Callable[[Any], bool]) -> int:
    """The first token from ``start`` on that ends a part or closes it; else their count."""
    depth = 0
    for n, token in _from(tokens, start):
        if token.token_type in _OPENING:
            depth += 1
        elif token.token_type in _CLOSING:
            if depth == 0:
                return n
            depth -= 1
        elif depth == 0 and is_end(token):
            return n
    return len(tokens)


def _from(tokens: Tokens, start: int) -> Iterator[tuple[int, Any]]:
    return ((n, tokens[n]) for n in range(start, len(tokens)))


def says(tokens: Tokens, i: int, *words: str) -> bool:
    """Whether those words stand there."""
    return [token.text.lower() for token in tokens[i : i + len(words)]] == list(words)


def made(kind: Any, text: str, at: Any) -> Any:
    """A token at the place of another."""
    return Token(kind, text, at.line, at.col, at.start, at.end)
