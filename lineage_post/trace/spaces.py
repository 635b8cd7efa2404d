"""Marks that nobody sees as what they are: spaces, where sqlglot takes them for letters.

A file saved with a byte order mark begins with one, and dbt leaves it in the model; a web page
leaves others in what is copied from it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lineage_post.trace.dialects import Rules, rules_of

#: The byte order mark, and what else DuckDB takes for a space.
_MARK, _INVISIBLE = re.compile("\ufeff"), re.compile("[\u200b\u2060\ufeff]")


def readable(sql: str, dialect: str | None) -> str:
    """The SQL as sqlglot can parse it. Raises what its tokenizer raises."""
    rules = rules_of(dialect or "")
    if not has_marks(sql, rules):
        return sql
    return spaced(sql, rules.dialect.tokenize(sql), rules)


def has_marks(sql: str, rules: Rules) -> bool:
    """Whether there is anything to replace, in quotes or not."""
    return not sql.isascii() and _marks(rules).search(sql) is not None


def spaced(sql: str, tokens: Sequence[Any], rules: Rules) -> str:
    """The text with a space for each mark that is not in quotes, so that all places stay."""
    marks = _marks(rules)
    parts, end = [], 0
    for token in tokens:
        text = sql[token.start : token.end + 1]
        if text == token.text:  # not in quotes
            parts += [sql[end : token.start], marks.sub(" ", text)]
            end = token.end + 1
    return "".join([*parts, sql[end:]])


def _marks(rules: Rules) -> re.Pattern[str]:
    return _INVISIBLE if rules.family == "duckdb" else _MARK
