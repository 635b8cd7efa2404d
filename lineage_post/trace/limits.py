"""Refuses text that a parser would answer with a crash or with exponential time.

Compiled sqlglot can end in a segmentation fault where pure Python raises RecursionError, and tries
every nesting of joins that have no condition. Both are told by the tokens, before the parser runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, pairwise, repeat
from operator import attrgetter
from typing import Any

from sqlglot import TokenType

from lineage_post.trace.errors import TooComplex

#: Nesting that parses within the 512 KB stack a thread has on some systems (measured: 150 does,
#: 250 does not).
NESTING_LIMIT = 140
#: Joins in a row without a condition: the parser's work doubles with each (12 take 0.1 s).
BARE_JOIN_LIMIT = 12

_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END})
_PREFIXES = frozenset({TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE})
_ARROWS = frozenset({TokenType.ARROW, TokenType.FARROW})
_GENERIC_TYPES = frozenset(
    {TokenType.STRUCT, TokenType.ARRAY, TokenType.MAP, TokenType.NESTED, TokenType.OBJECT}
)
_STEPS = {**dict.fromkeys(_OPENING, 1), **dict.fromkeys(_CLOSING, -1)}
_RUNNING = _PREFIXES | _ARROWS | {TokenType.LT}
_KIND = attrgetter("token_type")
_CONDITIONS = frozenset({TokenType.ON, TokenType.USING})
_WITHOUT_CONDITION = frozenset({TokenType.CROSS, TokenType.NATURAL, TokenType.ARRAY})
_OF_JOINS = _CONDITIONS | _WITHOUT_CONDITION | {TokenType.SELECT, TokenType.JOIN}


def check(sql: str, tokens: Sequence[Any]) -> None:
    """Raises TooComplex for text that is not safe to parse."""
    lower = sql.lower()
    if _may_be_deep(lower):
        kinds = list(map(_KIND, tokens))
        if not _is_flat(kinds):
            _check_nesting(kinds)
    if lower.count("join") > BARE_JOIN_LIMIT:
        _check_joins(tokens)


def _may_be_deep(lower: str) -> bool:
    """A cheap bound from above: few characters can open so many levels."""
    bound = lower.count("(")
    if bound <= NESTING_LIMIT:
        bound += sum(map(lower.count, "[{<>~-+")) + sum(map(lower.count, ("case", "not", "prior")))
    return bound > NESTING_LIMIT


def _is_flat(kinds: list[Any]) -> bool:
    """A closer bound, without a step of Python's for each token."""
    depth = list(accumulate(map(_STEPS.get, kinds, repeat(0)), initial=0))
    # What closes nothing must not hide what is opened behind it.
    bound = max(depth) - min(depth)
    counts = Counter(kinds)
    if bound + sum(counts[kind] for kind in _RUNNING) > NESTING_LIMIT:
        pairs = Counter(pairwise(kinds))
        bound += sum(counts[kind] for kind in _ARROWS)
        bound += sum(pairs[kind, kind] for kind in _PREFIXES)
        bound += sum(pairs[kind, TokenType.LT] for kind in _GENERIC_TYPES)
        if bound > NESTING_LIMIT:
            return False
    return counts[TokenType.L_BRACKET] <= NESTING_LIMIT


def _check_nesting(kinds: Sequence[Any]) -> None:
    depth = run = since_arrow = types = subscripts = 0
    before = None
    for kind in kinds:
        if kind in _OPENING:
            depth += 1
        elif kind in _CLOSING:
            depth = max(depth - 1, 0)
        if kind is TokenType.LT and before in _GENERIC_TYPES:
            types += 1
        elif kind is TokenType.GT:
            types = max(types - 1, 0)
        if kind in _ARROWS or kind in _PREFIXES and kind is before:
            run, since_arrow = run + 1, 0
        else:
            since_arrow += 1
            run = run if since_arrow < 2 else 0
        if kind is TokenType.L_BRACKET and before is TokenType.R_BRACKET:
            subscripts += 1
            if subscripts > NESTING_LIMIT:
                raise TooComplex(f"more than {NESTING_LIMIT} subscripts")
        before = kind
        if depth + run + types > NESTING_LIMIT:
            raise TooComplex(f"nested more than {NESTING_LIMIT} levels deep")


def _check_joins(tokens: Sequence[Any]) -> None:
    bare = 0
    has_method = False
    for kind in filter(_OF_JOINS.__contains__, map(_KIND, tokens)):
        if kind in _WITHOUT_CONDITION:
            has_method = True
        elif kind in _CONDITIONS or kind is TokenType.SELECT:
            bare = 0
        elif kind is TokenType.JOIN:
            bare = 0 if has_method else bare + 1
            has_method = False
            if bare > BARE_JOIN_LIMIT:
                raise TooComplex(f"more than {BARE_JOIN_LIMIT} joins in a row have no condition")
