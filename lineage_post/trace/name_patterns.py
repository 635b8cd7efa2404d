"""Patterns that pick columns by their names."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

from sqlglot import exp


def like(pattern: str, *, ignore_case: bool) -> Callable[[str], bool]:
    escaped = re.escape(pattern).replace("%", ".*").replace("_", ".")
    compiled = re.compile(escaped, re.IGNORECASE | re.DOTALL if ignore_case else re.DOTALL)
    return lambda name: compiled.fullmatch(name) is not None


def regex(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern)
    except re.error:
        return None


Test = Callable[[str], bool]


def lambda_test(body: Any) -> Test | None:
    """``x -> x like 'a%' or x in ('b', 'c')`` as a test of a name, or None where it is another."""
    if isinstance(body, exp.Paren):
        return lambda_test(body.this)
    if isinstance(body, exp.Not):
        return _negated(lambda_test(body.this))
    if isinstance(body, (exp.And, exp.Or)):
        left, right = lambda_test(body.this), lambda_test(body.expression)
        if left is None or right is None:
            return None
        if isinstance(body, exp.And):
            return lambda name: left(name) and right(name)
        return lambda name: left(name) or right(name)
    if not isinstance(body.this, (exp.Identifier, exp.Star, exp.Column)):
        return None
    if isinstance(body, exp.In) and not body.args.get("query"):
        wanted = {e.name for e in body.expressions}
        is_plain = bool(wanted) and all(isinstance(e, exp.Literal) for e in body.expressions)
        return wanted.__contains__ if is_plain else None
    literal = body.args.get("expression")
    test = _literal_test(body, literal.name) if isinstance(literal, exp.Literal) else None
    return _negated(test) if body.args.get("negate") else test


def _negated(test: Test | None) -> Test | None:
    return None if test is None else lambda name: not test(name)


def _literal_test(body: Any, text: str) -> Test | None:
    """A comparison of a name with a text."""
    if isinstance(body, (exp.Like, exp.ILike)):
        return like(text, ignore_case=isinstance(body, exp.ILike))
    if isinstance(body, exp.EQ):
        return lambda name: name == text
    if isinstance(body, exp.NEQ):
        return lambda name: name != text
    if isinstance(body, exp.Glob):
        return lambda name: fnmatchcase(name, text)
    if isinstance(body, exp.StartsWith):
        return lambda name: name.startswith(text)
    if isinstance(body, exp.EndsWith):
        return lambda name: name.endswith(text)
    if isinstance(body, exp.Contains):
        return lambda name: text in name
    if isinstance(body, (exp.SimilarTo, exp.RegexpLike)):
        is_whole = isinstance(body, exp.SimilarTo)
        compiled = regex(f"^(?:{text})$" if is_whole else text)
        return None if compiled is None else lambda name: compiled.search(name) is not None
    return None
