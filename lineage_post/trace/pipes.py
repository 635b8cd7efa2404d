"""BigQuery's pipe operators that sqlglot lacks, as a SELECT of all columns.

::

    from t |> set a = b + 1      select * replace (b + 1 as a)
           |> drop c             select * except (c)
           |> rename d as e      select * rename (d as e)
           |> window f() ...     extend f() ...
"""

from __future__ import annotations

from typing import Any

from sqlglot import TokenType

from lineage_post.trace.token_parts import Tokens, end_of, made

_AFTER_PIPE = frozenset({TokenType.PIPE_GT, TokenType.SEMICOLON})


def with_stars(tokens: Tokens) -> Tokens:
    """BigQuery's pipe operators that change columns in place, as a SELECT of all columns."""
    found: list[Any] = []
    n = 0
    while n < len(tokens):
        found.append(tokens[n])
        n += 1
        if tokens[n - 1].token_type is TokenType.PIPE_GT and n < len(tokens):
            end = end_of(
                tokens, n, lambda x: x.token_type in (TokenType.PIPE_GT, TokenType.SEMICOLON)
            )
            changed = _star(tokens[n], tokens[n + 1 : end])
            if changed is not None:
                found += changed
                n = end
    return found


def _star(operator: Any, body: Tokens) -> list[Any] | None:
    """The tokens for one operator, or None where it is another or not understood."""
    word = operator.text.lower()
    if word == "window":
        return [made(TokenType.VAR, "extend", operator), *body]
    inner = _replaced(operator, body) if word == "set" else list(body)
    if word not in _STARS or not inner:
        return None
    return [
        made(TokenType.SELECT, "select", operator),
        made(TokenType.STAR, "*", operator),
        made(*_STARS[word], operator),
        made(TokenType.L_PAREN, "(", operator),
        *inner,
        made(TokenType.R_PAREN, ")", operator),
    ]


_STARS = {
    "set": (TokenType.REPLACE, "replace"),
    "drop": (TokenType.EXCEPT, "except"),
    "rename": (TokenType.RENAME, "rename"),
}


def _replaced(operator: Any, body: Tokens) -> list[Any] | None:
    """``a = b + 1, c = d`` as ``b + 1 as a, d as c``."""
    found: list[Any] = []
    start = 0
    while start < len(body):
        end = end_of(body, start, lambda token: token.token_type is TokenType.COMMA)
        name, equals, *value = [*body[start:end], None, None][: max(end - start, 2)]
        if not value or equals is None or equals.token_type is not TokenType.EQ:
            return None
        found += [*value, made(TokenType.ALIAS, "as", operator), name, *body[end : end + 1]]
        start = end + 1
    return found
