"""An expression in sqlglot's words, where its own text is not to be had."""

from __future__ import annotations

from typing import Any


def printed(node: Any, dialect: Any = None) -> str:
    """The SQL of a node; the name of its kind where sqlglot cannot print what it has parsed."""
    try:
        return str(node.sql(dialect=dialect, comments=False, copy=False)).strip()
    except Exception:
        return str(node.key).upper()
