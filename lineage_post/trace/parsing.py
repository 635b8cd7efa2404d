"""Text to parsed statements; what cannot be parsed becomes a Trace that says so."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import Any

from sqlglot import TokenType
from sqlglot.errors import SqlglotError

from lineage_post.trace.deep import TOO_DEEP
from lineage_post.trace.dialects import Rules
from lineage_post.trace.errors import TooComplex
from lineage_post.trace.limits import check
from lineage_post.trace.multi_insert import single_statements
from lineage_post.trace.result import Trace, failed, fault_of
from lineage_post.trace.rewriting import rewritten
from lineage_post.trace.spaces import has_marks, spaced
from lineage_post.vocabulary import Reason

Statement = Any
_of_thread = threading.local()
#: ``replace into t select ...`` writes what an INSERT would.
_REPLACE = re.compile(r"(?i)(?:(?<=;)|\A)(\s*)\breplace(?=\s+into\b)")
_TOKEN = re.compile(r"<Token token_type: (?:TokenType\.)?([^,]*), text: (.*?), line: [^>]*>")
_CLASS = re.compile(r"<class '(?:\w+\.)*(\w+)'>")


def parse(sql: str, rules: Rules) -> Trace | tuple[Sequence[Any], list[Statement]]:
    """The tokens and the statements of a script, or the Trace of a text that is none."""
    try:
        tokens = _tokens(sql, rules)
        check(sql, tokens)
    except SqlglotError as error:
        return failed(Reason.PARSE_ERROR, _first_line(error))
    except TooComplex as error:
        return failed(Reason.TOO_COMPLEX, str(error))
    statements = [
        single for node in _statements(sql, tokens, rules) for single in single_statements(node)
    ]
    if not statements:
        return failed(Reason.PARSE_ERROR, "there is no statement in the text")
    return tokens, statements


def _tokens(sql: str, rules: Rules) -> Sequence[Any]:
    """The tokens, with a word in place that sqlglot knows."""
    if rules.family in ("mysql", "sqlite") and "replace" in sql.lower():
        # as long as the word it stands for, so that places in the text stay
        sql = _REPLACE.sub(r"\1insert ", sql)
    tokens = _tools(rules)[0].tokenize(sql)
    if has_marks(sql, rules):
        sql = spaced(sql, tokens, rules)
        tokens = _tools(rules)[0].tokenize(sql)
    return rewritten(tokens, sql, rules)


def _tools(rules: Rules) -> tuple[Any, Any]:
    """The thread's own tokenizer and parser of a dialect, which can be used again and again.

    Making them anew costs a small model up to a tenth of its parse.
    """
    made = _of_thread.__dict__
    found = made.get(rules.name)
    if found is None:
        found = made[rules.name] = rules.dialect.tokenizer(), rules.dialect.parser()
    return found


def _statements(sql: str, tokens: Sequence[Any], rules: Rules) -> list[Statement]:
    try:
        return [n for n in _tools(rules)[1].parse(list(tokens), sql) if n is not None]
    except RecursionError:
        return [failed(Reason.TOO_COMPLEX, TOO_DEEP)]
    except SqlglotError as error:
        chunks = _chunks(tokens)
        if len(chunks) == 1:
            return [failed(Reason.PARSE_ERROR, _first_line(error))]
    except Exception as error:
        return [failed(Reason.INTERNAL_ERROR, f"the parser failed: {fault_of(error)}")]
    return [statement for chunk in chunks for statement in _statements(sql, chunk, rules)]


def _chunks(tokens: Sequence[Any]) -> list[list[Any]]:
    """The tokens of each statement."""
    chunks: list[list[Any]] = [[]]
    for token in tokens:
        if token.token_type is TokenType.SEMICOLON:
            chunks.append([])
        else:
            chunks[-1].append(token)
    return [chunk for chunk in chunks if chunk] or [[]]


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    line = text.splitlines()[0] if text else type(error).__name__
    # The parser prints tokens and classes as Python sees them; people want the word.
    line = _TOKEN.sub(lambda t: "the end" if t[1] == "SENTINEL" else repr(t[2]), line)
    return _CLASS.sub(r"\1", line)
