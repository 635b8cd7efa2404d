"""SQL text as one parsed query; what is none, or has no rule, is refused."""

from __future__ import annotations

import re

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from lineage_post.provenance.refusal import Refusal, refuse
from lineage_post.trace.spaces import readable


def parsed(sql: str, dialect: str) -> exp.Expr:
    """The one query in ``sql``. Raises Refusal for all else, and for what has no rule."""
    try:
        statements = [
            s for s in sqlglot.parse(readable(sql, dialect), read=dialect) if s is not None
        ]
    except SqlglotError as error:
        line = re.search(r"Line (\d+)", str(error))
        raise Refusal("SQL that cannot be parsed", int(line[1]) if line else None) from error
    except RecursionError as error:
        raise Refusal("an expression nested too deeply") from error
    if len(statements) != 1:
        raise Refusal(f"a script of {len(statements)} statements")
    statement = statements[0]
    if isinstance(statement, exp.Pivot):
        raise refuse("UNPIVOT" if statement.args.get("unpivot") else "PIVOT", statement)
    if not isinstance(statement, exp.Query):
        raise refuse(f"{statement.key.upper()} statement", statement)
    _refuse_operators(statement)
    return statement


def _refuse_operators(query: exp.Expr) -> None:
    for node in query.walk():
        if isinstance(node, exp.Pivot):
            raise refuse("UNPIVOT" if node.args.get("unpivot") else "PIVOT", node)
        if isinstance(node, exp.TableSample):
            raise refuse("TABLESAMPLE", node, "A sample cannot be drawn a second time.")
        if isinstance(node, exp.MatchRecognize):
            raise refuse("MATCH_RECOGNIZE", node)
        if isinstance(node, exp.Join) and (node.method or "").upper() == "POSITIONAL":
            raise refuse("POSITIONAL JOIN", node)
        if isinstance(node, exp.Columns):
            raise refuse("COLUMNS(...)", node)
