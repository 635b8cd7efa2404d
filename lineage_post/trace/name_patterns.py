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


def lambda_test(body: Any) -> Callable[[str], bool] | None:
    """``x -> x like 'a%'`` as a test of a name, or None where it is not that simple."""
    if isinstance(body, exp.Not):
        inner = lambda_test(body.this)
        return None if inner is None else lambda name: not inner(name)
    literal = body.args.get("expression")
    if not isinstance(literal, exp.Literal):
        return None
    if isinstance(body, (exp.Like, exp.ILike)):
        return like(literal.name, ignore_case=isinstance(body, exp.ILike))
    if isinstance(body, exp.EQ):
        return lambda name: name == literal.name
    if isinstance(body, exp.NEQ):
        return lambda name: name != literal.name
    if isinstance(body, exp.Glob):
        return lambda name: fnmatchcase(name, literal.name)
    if isinstance(body, (exp.SimilarTo, exp.RegexpLike)):
        is_whole = isinstance(body, exp.SimilarTo)
        compiled = regex(f"^(?:{literal.name})$" if is_whole else literal.name)
        return None if compiled is None else lambda name: compiled.search(name) is not None
    return None
