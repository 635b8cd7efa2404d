"""Tokens in place of what sqlglot has no grammar for, where other words say the same.

::

    merge into t using u on ... remove duplicates     Redshift: ... when not matched then insert row
    declare @t table (a int); set a += b              T-SQL: create table #t, set a = a + b
    from db..t                                        T-SQL: from db.dbo.t, Snowflake: db.public.t
    insert ... select ... log errors into e           Oracle: without the clause, which fills e
    when matched then update ... delete where c       Oracle: ... when matched and c then delete
    from dictionary('db.d')                           ClickHouse: from db.d
    select ... limit 1 by a limit 10                  ClickHouse: without the count, of no column
    group by window(ts, '1 hour')                     Spark: window is a name
    a <#> b                                           Postgres' extensions: a <-> b
    from t, t.xs as x with offset as n              BigQuery: unnest(t.xs) as x with offset as n
    |> set a = b + 1                                  BigQuery: see pipes.py

New tokens stand at the place of the word they stand for, so that places in the text stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from sqlglot import TokenType

from lineage_post.trace.dialects import Rules
from lineage_post.trace.pipes import with_stars
from lineage_post.trace.token_parts import Tokens, end_of, made, says

#: What follows the last LIMIT of a query of ClickHouse.
_AFTER_LIMIT = frozenset(
    {TokenType.SEMICOLON, TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT,
     TokenType.SETTINGS, TokenType.FORMAT, TokenType.INTO}
)  # fmt: skip
_COMPOUND = frozenset(
    {TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.MOD,
     TokenType.AMP, TokenType.PIPE, TokenType.CARET}
)  # fmt: skip
_BEFORE_TARGET = frozenset({TokenType.SET, TokenType.COMMA, TokenType.SELECT})
_NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER})
_WITHIN_PATH = frozenset({TokenType.DOT})
_BEFORE_ITEM = frozenset({TokenType.COMMA, TokenType.FROM, TokenType.JOIN})
#: Of pgvector, PostGIS and pg_trgm.
_OPERATORS = frozenset(
    {"<#>", "<+>", "<~>", "<%>", "~=", "<<|", "|>>", "|&>", "&<|", "%>", "%>>", "<%", "<<%",
     "<<->>", "<<#>>", "<<->", "<->>", "<<<->", "<->>>"}
)  # fmt: skip
_AFTER_DELETE = frozenset({TokenType.WHEN, TokenType.SEMICOLON})


def rewritten(tokens: Tokens, sql: str, rules: Rules) -> Tokens:
    """The tokens that sqlglot is given; ``sql`` is the text they are of."""
    for dialect, sign, rewrite in _REWRITES:
        if dialect in (rules.name, rules.family) and sign.search(sql):
            tokens = rewrite(tokens)
    return tokens


def _without_evolution(tokens: Tokens) -> Tokens:
    """``merge with schema evolution into t`` without the three words."""
    for i, token in enumerate(tokens):
        if token.token_type is TokenType.MERGE and says(
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
        elif says(tokens, i, "remove", "duplicates"):
            kinds = (TokenType.WHEN, TokenType.NOT, TokenType.VAR, TokenType.THEN,
                     TokenType.INSERT, TokenType.ROW)  # fmt: skip
            words = ("when", "not", "matched", "then", "insert", "row")
            found += [made(kind, word, token) for kind, word in zip(kinds, words)]
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
        elif says(tokens, i, "log", "errors") and _ends_statement(tokens, i + 2):
            is_left_out = True
        if not is_left_out:
            found.append(token)
    return found


def _with_temporary_tables(tokens: Tokens) -> Tokens:
    """T-SQL's ``declare @t table (a int)`` as ``create table #t (a int)``, and every @t as #t."""
    names = {
        tokens[i + 2].text.lower()
        for i, token in enumerate(tokens)
        if token.token_type is TokenType.DECLARE and _declares_table(tokens, i)
    }
    found: list[Any] = []
    skip = 0
    for i, token in enumerate(tokens):
        if skip:
            skip -= 1
        elif token.token_type is TokenType.DECLARE and _declares_table(tokens, i):
            skip = 4 if tokens[i + 3].token_type is TokenType.ALIAS else 3
            found += [made(TokenType.CREATE, "create", token), tokens[i + skip]]
            found += [made(TokenType.HASH, "#", tokens[i + 1]), tokens[i + 2]]
        elif token.token_type is TokenType.PARAMETER and _names_one(tokens, i + 1, names):
            found.append(made(TokenType.HASH, "#", token))
        else:
            found.append(token)
    return found


def _declares_table(tokens: Tokens, i: int) -> bool:
    kinds = [token.token_type for token in tokens[i + 1 : i + 5] if token.text.lower() != "as"]
    return kinds[:1] + kinds[2:3] == [TokenType.PARAMETER, TokenType.TABLE]


def _names_one(tokens: Tokens, i: int, names: set[str]) -> bool:
    return i < len(tokens) and tokens[i].text.lower() in names


def _with_schema(name: str, tokens: Tokens) -> Tokens:
    """``db..t`` with the schema that is meant: Snowflake's public; in T-SQL that of whoever asks,
    which is dbo for most."""
    found: list[Any] = []
    for i, token in enumerate(tokens):
        found.append(token)
        if token.token_type is TokenType.DOT and says(tokens, i + 1, "."):
            found.append(made(TokenType.VAR, name, token))
    return found


def _with_plain_assignments(tokens: Tokens) -> Tokens:
    """T-SQL's ``set a += b`` as ``set a = a + b``."""
    found: list[Any] = []
    for i, token in enumerate(tokens):
        if not (_is_compound(tokens, i) or _is_compound(tokens, i - 1)):
            found.append(token)
        elif _is_compound(tokens, i):
            start = len(found)
            while start and found[start - 1].token_type not in _BEFORE_TARGET:
                start -= 1
            found += [tokens[i + 1], *found[start:], token]
    return found


def _is_compound(tokens: Tokens, i: int) -> bool:
    """Whether an operator and an equals sign stand there without a space."""
    return (
        0 <= i < len(tokens) - 1
        and tokens[i].token_type in _COMPOUND
        and tokens[i + 1].token_type is TokenType.EQ
        and tokens[i].end + 1 == tokens[i + 1].start
    )


def _with_branch_that_deletes(tokens: Tokens) -> Tokens:
    """Oracle's ``when matched then update set ... delete where c`` with a branch of its own."""
    found: list[Any] = []
    n = 0
    while n < len(tokens):
        if not says(tokens, n, "delete", "where"):
            found.append(tokens[n])
            n += 1
            continue
        end = end_of(tokens, n + 2, lambda token: token.token_type in _AFTER_DELETE)
        delete = tokens[n]
        found += [made(TokenType.WHEN, "when", delete), made(TokenType.VAR, "matched", delete)]
        found += [made(TokenType.AND, "and", delete), made(TokenType.L_PAREN, "(", delete)]
        found += tokens[n + 2 : end]
        found += [made(TokenType.R_PAREN, ")", delete), made(TokenType.THEN, "then", delete)]
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
        n = end_of(tokens, second, lambda token: token.token_type in _AFTER_LIMIT)
    return found


def _with_named_dictionary(tokens: Tokens) -> Tokens:
    """ClickHouse's ``from dictionary('db.d')`` as ``from db.d``."""
    found: list[Any] = []
    n = 0
    while n < len(tokens):
        text = tokens[n + 2] if says(tokens, n, "dictionary", "(") and n + 3 < len(tokens) else None
        is_name = text is not None and text.token_type is TokenType.STRING
        if not is_name or tokens[n + 3].token_type is not TokenType.R_PAREN:
            found.append(tokens[n])
            n += 1
            continue
        for i, part in enumerate(tokens[n + 2].text.split(".")):
            found += [made(TokenType.DOT, ".", tokens[n])] * (i > 0)
            found.append(made(TokenType.IDENTIFIER, part, tokens[n + 2]))
        n += 4
    return found


def _second_limit(tokens: Tokens, first: int) -> int | None:
    """Where the LIMIT of numbers behind a LIMIT ... BY stands."""
    is_limit = TokenType.LIMIT
    second = end_of(
        tokens, first + 1, lambda x: x.token_type is is_limit or x.token_type in _AFTER_LIMIT
    )
    if second >= len(tokens) or tokens[second].token_type is not is_limit:
        return None
    if not any(token.text.lower() == "by" for token in tokens[first:second]):
        return None
    last = end_of(tokens, second + 1, lambda token: token.token_type in _AFTER_LIMIT)
    has_query = any(token.token_type is TokenType.SELECT for token in tokens[second:last])
    return None if has_query else second


def _with_named_window(tokens: Tokens) -> Tokens:
    """Spark's function ``window(ts, '1 hour')``; the clause has a name before the bracket."""
    found = list(tokens)
    for i, token in enumerate(tokens[:-1]):
        if token.token_type is TokenType.WINDOW and tokens[i + 1].token_type is TokenType.L_PAREN:
            found[i] = made(TokenType.VAR, token.text, token)
    return found


def _with_unnest(tokens: Tokens) -> Tokens:
    """BigQuery's ``t.xs as x with offset`` as ``unnest(t.xs) as x with offset``."""
    found: list[Any] = []
    for i, token in enumerate(tokens):
        if token.token_type is TokenType.WITH and says(tokens, i + 1, "offset"):
            path = _array_path(found)
            if path is not None:
                first, end = path
                at = found[first]
                found[end:end] = [made(TokenType.R_PAREN, ")", found[end - 1])]
                found[first:first] = [made(TokenType.UNNEST, "unnest", at)]
                found.insert(first + 1, made(TokenType.L_PAREN, "(", at))
        found.append(token)
    return found


def _array_path(tokens: list[Any]) -> tuple[int, int] | None:
    """Where the dotted path of the last item of FROM stands, before its alias if it has one."""
    end = len(tokens)
    if end > 2 and tokens[end - 2].token_type is TokenType.ALIAS:
        end -= 2
    elif end > 2 and tokens[end - 2].token_type not in _WITHIN_PATH | _BEFORE_ITEM:
        end -= 1
    first = end
    while first and (
        tokens[first - 1].token_type is TokenType.DOT
        if (end - first) % 2
        else tokens[first - 1].token_type in _NAMES
    ):
        first -= 1
    is_path = end - first > 2 and first and tokens[first - 1].token_type in _BEFORE_ITEM
    return (first, end) if is_path else None


def _with_operators(tokens: Tokens) -> Tokens:
    """Operators of extensions of Postgres as its ``<->``: each compares or measures two values."""
    found: list[Any] = []
    n = 0
    while n < len(tokens):
        count = _operator_at(tokens, n)
        found.append(made(TokenType.LR_ARROW, "<->", tokens[n]) if count else tokens[n])
        n += count or 1
    return found


def _operator_at(tokens: Tokens, n: int) -> int:
    """How many tokens the operator has that starts there: the longest; 0 where none does."""
    text, count = "", 0
    for i, token in enumerate(tokens[n : n + 5], n):
        is_quoted = token.end - token.start + 1 != len(token.text)
        if is_quoted or (i > n and token.start != tokens[i - 1].end + 1):
            break
        text += token.text
        if text in _OPERATORS:
            count = i - n + 1
    return count


#: (dialect or family, what its text has, the rewriting).
_REWRITES: tuple[tuple[str, re.Pattern[str], Callable[[Tokens], Tokens]], ...] = (
    ("spark", re.compile(r"(?i)\bschema\s+evolution\b"), _without_evolution),
    ("spark", re.compile(r"(?i)\bwindow\s*\("), _with_named_window),
    ("postgres", re.compile("|".join(map(re.escape, _OPERATORS))), _with_operators),
    ("redshift", re.compile(r"(?i)\bremove\s+duplicates\b"), _with_inserted_row),
    ("tsql", re.compile(r"(?i)\bdeclare\s+@\w+\s+(?:as\s+)?table\b"), _with_temporary_tables),
    ("tsql", re.compile(r"\.\s*\."), partial(_with_schema, "dbo")),
    ("snowflake", re.compile(r"\.\s*\."), partial(_with_schema, "public")),
    ("tsql", re.compile(r"[-+*/%&|^]="), _with_plain_assignments),
    ("oracle", re.compile(r"(?i)\blog\s+errors\b"), _without_log_errors),
    ("oracle", re.compile(r"(?i)\bdelete\s+where\b"), _with_branch_that_deletes),
    ("clickhouse", re.compile(r"(?is)\blimit\b.*\blimit\b"), _without_second_limit),
    ("clickhouse", re.compile(r"(?i)\bdictionary\s*\(\s*'"), _with_named_dictionary),
    ("bigquery", re.compile(r"\|>"), with_stars),
    ("bigquery", re.compile(r"(?i)\bwith\s+offset\b"), _with_unnest),
)
