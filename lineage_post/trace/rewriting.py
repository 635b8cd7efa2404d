"""Tokens in place of what sqlglot has no grammar for, where other words say the same.

::

    merge into t using u on ... remove duplicates     Redshift: ... when not matched then insert row
    insert ... select ... log errors into e           Oracle: without the clause, which fills e
    when matched then update ... delete where c       Oracle: ... when matched and c then delete
    select ... limit 1 by a limit 10                  ClickHouse: without the count, of no column
    group by window(ts, '1 hour')                     Spark: window is a name
    |> set a = b + 1 |> drop c |> rename d as e       BigQuery: select * replace, except, rename

New tokens stand at the place of the word they stand for, so that places in the text stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlglot import TokenType
from sqlglot.tokens import Token  # type: ignore[attr-defined]

from lineage_post.trace.dialects import Rules

Tokens = Sequence[Any]
_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})
#: What follows the last LIMIT of a query of ClickHouse.
_AFTER_LIMIT = frozenset(
    {TokenType.SEMICOLON, TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT,
     TokenType.SETTINGS, TokenType.FORMAT, TokenType.INTO}
)  # fmt: skip
_AFTER_DELETE = frozenset({TokenType.WHEN, TokenType.SEMICOLON})
_AFTER_PIPE = frozenset({TokenType.PIPE_GT, TokenType.SEMICOLON})


def rewritten(tokens: Tokens, sql: str, rules: Rules) -> Tokens:
    """The tokens that sqlglot is given; ``sql`` is the text they are of."""
    for dialect, sign, rewrite in _REWRITES:
        if dialect in (rules.name, rules.family) and sign.search(sql):
            tokens = rewrite(tokens)
    return tokens


def _without_evolution(tokens: Tokens) -> Tokens:
    """``merge with schema evolution into t`` without the three words."""
    for i, token in enumerate(tokens):
        if token.token_type is TokenType.MERGE and _says(
            tokens, i + 1, "with", "schema", "evolution"
        ):
            return [*tokens[: i + 1], *_without_evolution(tokens[i + 4 :])]
    return tokens


def _with_inserted_row(tokens: Tokens) -> Tokens:
    """Redshift's shortest MERGE replaces rows that match and adds others: all columns in order."""
    found: list[Any] = []
    skip = 0
    for i, token in enumerate(tokens):
        if skip:
            skip -= 1
        elif _says(tokens, i, "remove", "duplicates"):
            kinds = (TokenType.WHEN, TokenType.NOT, TokenType.VAR, TokenType.THEN,
                     TokenType.INSERT, TokenType.ROW)  # fmt: skip
            words = ("when", "not", "matched", "then", "insert", "row")
            found += [_made(kind, word, token) for kind, word in zip(kinds, words)]
            skip = 1
        else:
            found.append(token)
    return found


def _without_log_errors(tokens: Tokens) -> Tokens:
    """A statement of Oracle without what becomes of the rows that fail."""
    found: list[Any] = []
    is_left_out = False
    for i, token in enumerate(tokens):
        if token.token_type is TokenType.SEMICOLON:
            is_left_out = False
        elif _says(tokens, i, "log", "errors") and _ends_statement(tokens, i + 2):
            is_left_out = True
        if not is_left_out:
            found.append(token)
    return found


def _with_branch_that_deletes(tokens: Tokens) -> Tokens:
    """Oracle's ``when matched then update set ... delete where c`` with a branch of its own."""
    found: list[Any] = []
    n = 0
    while n < len(tokens):
        if not _says(tokens, n, "delete", "where"):
            found.append(tokens[n])
            n += 1
            continue
        end = _end(tokens, n + 2, lambda token: token.token_type in _AFTER_DELETE)
        delete = tokens[n]
        found += [_made(TokenType.WHEN, "when", delete), _made(TokenType.VAR, "matched", delete)]
        found += [_made(TokenType.AND, "and", delete), _made(TokenType.L_PAREN, "(", delete)]
        found += tokens[n + 2 : end]
        found += [_made(TokenType.R_PAREN, ")", delete), _made(TokenType.THEN, "then", delete)]
        found.append(delete)
        n = end
    return found


def _ends_statement(tokens: Tokens, i: int) -> bool:
    """Whether what follows ``log errors`` is the rest of that clause."""
    if i >= len(tokens) or tokens[i].token_type in (TokenType.SEMICOLON, TokenType.L_PAREN):
        return True
    return tokens[i].text.lower() in ("into", "reject")


def _without_second_limit(tokens: Tokens) -> Tokens:
    """``limit 1 by a limit 10``: how many rows come out of those is told by no column."""
    found: list[Any] = []
    n = 0
    while n < len(tokens):
        second = _second_limit(tokens, n) if tokens[n].token_type is TokenType.LIMIT else None
        if second is None:
            found.append(tokens[n])
            n += 1
            continue
        found += tokens[n:second]
        n = _end(tokens, second, lambda token: token.token_type in _AFTER_LIMIT)
    return found


def _second_limit(tokens: Tokens, first: int) -> int | None:
    """Where the LIMIT of numbers behind a LIMIT ... BY stands."""
    is_limit = TokenType.LIMIT
    second = _end(
        tokens, first + 1, lambda x: x.token_type is is_limit or x.token_type in _AFTER_LIMIT
    )
    if second >= len(tokens) or tokens[second].token_type is not is_limit:
        return None
    if not any(token.text.lower() == "by" for token in tokens[first:second]):
        return None
    last = _end(tokens, second + 1, lambda token: token.token_type in _AFTER_LIMIT)
    has_query = any(token.token_type is TokenType.SELECT for token in tokens[second:last])
    return None if has_query else second


def _with_named_window(tokens: Tokens) -> Tokens:
    """Spark's function ``window(ts, '1 hour')``; the clause has a name before the bracket."""
    found = list(tokens)
    for i, token in enumerate(tokens[:-1]):
        if token.token_type is TokenType.WINDOW and tokens[i + 1].token_type is TokenType.L_PAREN:
            found[i] = Token(
                TokenType.VAR, token.text, token.line, token.col, token.start, token.end
            )
    return found


def _with_stars(tokens: Tokens) -> Tokens:
    """BigQuery's pipe operators that change columns in place, as a SELECT of all columns."""
    found: list[Any] = []
    n = 0
    while n < len(tokens):
        found.append(tokens[n])
        n += 1
        if tokens[n - 1].token_type is TokenType.PIPE_GT and n < len(tokens):
            end = _end(
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
        return [_made(TokenType.VAR, "extend", operator), *body]
    inner = _replaced(operator, body) if word == "set" else list(body)
    if word not in _STARS or not inner:
        return None
    return [
        _made(TokenType.SELECT, "select", operator),
        _made(TokenType.STAR, "*", operator),
        _made(*_STARS[word], operator),
        _made(TokenType.L_PAREN, "(", operator),
        *inner,
        _made(TokenType.R_PAREN, ")", operator),
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
        end = _end(body, start, lambda token: token.token_type is TokenType.COMMA)
        name, equals, *value = [*body[start:end], None, None][: max(end - start, 2)]
        if not value or equals is None or equals.token_type is not TokenType.EQ:
            return None
        found += [*value, _made(TokenType.ALIAS, "as", operator), name, *body[end : end + 1]]
        start = end + 1
    return found


def _end(tokens: Tokens, start: int, is_end: Callable[[Any], bool]) -> int:
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


def _says(tokens: Tokens, i: int, *words: str) -> bool:
    return [token.text.lower() for token in tokens[i : i + len(words)]] == list(words)


def _made(kind: Any, text: str, at: Any) -> Any:
    """A token at the place of another."""
    return Token(kind, text, at.line, at.col, at.start, at.end)


#: (dialect or family, what its text has, the rewriting).
_REWRITES: tuple[tuple[str, re.Pattern[str], Callable[[Tokens], Tokens]], ...] = (
    ("spark", re.compile(r"(?i)\bschema\s+evolution\b"), _without_evolution),
    ("spark", re.compile(r"(?i)\bwindow\s*\("), _with_named_window),
    ("redshift", re.compile(r"(?i)\bremove\s+duplicates\b"), _with_inserted_row),
    ("oracle", re.compile(r"(?i)\blog\s+errors\b"), _without_log_errors),
    ("oracle", re.compile(r"(?i)\bdelete\s+where\b"), _with_branch_that_deletes),
    ("clickhouse", re.compile(r"(?i)\blimit\b[^;]*\bby\b[^;]*\blimit\b"), _without_second_limit),
    ("bigquery", re.compile(r"\|>"), _with_stars),
)
