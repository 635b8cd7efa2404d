"""Which statements move no column: what they do is of no use to a trace, and no gap in it."""

from __future__ import annotations

import re
from typing import Any

from sqlglot import exp

from lineage_post.trace.alterations import renamed_column

_CLASSES = frozenset(
    {"Drop", "Set", "Use", "Grant", "Revoke", "Comment", "Commit", "Rollback", "Transaction",
     "Alter", "TruncateTable", "Analyze", "Describe", "Kill", "Pragma", "Cache", "Uncache",
     "Refresh", "Semicolon", "Show", "Attach", "Detach", "Declare", "Summarize", "Install",
     "Put", "Get"}
)  # fmt: skip
#: The first word of those that sqlglot does not parse.
_WORDS = frozenset(
    {"ADD", "ALTER", "ANALYZE", "BEGIN", "CHECKPOINT", "CLOSE", "CLUSTER", "COLLECT", "COMMENT",
     "COMMIT", "CREATE", "DEALLOCATE", "DROP", "EXPLAIN", "FLUSH", "GRANT", "LIST", "LOAD",
     "LOCK", "MSCK", "OPTIMIZE", "PUT", "REFRESH", "REINDEX", "REMOVE", "RESET", "REVOKE",
     "ROLLBACK", "SECURITY", "SET", "SHOW", "SYSTEM", "TRUNCATE", "UNSET", "VACUUM", "ZORDER"}
)  # fmt: skip
#: What an ALTER does that gives a table the rows of another one, or other values.
_MOVING = frozenset({"SwapTable", "AlterRename", "ReplacePartition"})
_MOVES = re.compile(
    r"\b(SWAP\s+WITH|APPEND\s+FROM|EXCHANGE\s+(SUB)?PARTITIONS?|SWITCH|MOVE\s+PARTITION|RENAME\s+TO|"
    r"(ATTACH|REPLACE)\s+PARTITION\b.*\bFROM|UPDATE\s+\S+\s*=)",
    re.IGNORECASE | re.DOTALL,
)
#: What a CREATE makes that holds no rows, and does nothing when others write.
_WITHOUT_ROWS = (
    "AGGREGATE", "API", "CAST", "CATALOG", "COLLATION", "CONNECTION", "DATABASE", "DOMAIN",
    "EXTENSION", "FILE FORMAT", "FUNCTION", "GROUP", "INDEX", "INTEGRATION", "LANGUAGE", "LIBRARY",
    "LOGIN", "MACRO", "POLICY", "PROCEDURE", "PUBLICATION", "ROLE", "SCHEMA", "SEQUENCE", "SERVER",
    "STAGE", "STATISTICS", "TAG", "TYPE", "USER", "WAREHOUSE",
)  # fmt: skip
_BEFORE_KIND = (
    r"(OR\s+REPLACE|TEMP|TEMPORARY|UNIQUE|FULLTEXT|SPATIAL|BITMAP|(NON)?CLUSTERED|COLUMNSTORE|"
    r"MASKING|ROW\s+ACCESS|NETWORK|STORAGE|SECURITY|NOTIFICATION|EXTERNAL(?=\s+FUNCTION))"
)
_KINDS = "|".join(_WITHOUT_ROWS).replace(" ", r"\s+")
#: Words that are harmless unless this is behind them: EXPLAIN ANALYZE runs what it explains.
_DOING = {
    "ALTER": _MOVES,
    "CREATE": re.compile(rf"\A(?!\s*({_BEFORE_KIND}\s+)*({_KINDS})\b)", re.IGNORECASE),
    "EXPLAIN": re.compile(r"\bANALY[SZ]E\b.*\b(INSERT|UPDATE|DELETE|MERGE|CREATE)\b", re.I | re.S),
    "LOAD": re.compile(r"\bINTO\b", re.IGNORECASE),
}


def is_harmless(node: Any) -> bool:
    """Whether a statement moves no column."""
    if isinstance(node, exp.Command):
        word, rest = str(node.this).upper(), str(node.args.get("expression") or "")
        if word in _DOING and _DOING[word].search(rest):
            return False
        return word in _WORDS
    if renamed_column(node) is not None:
        return True
    for action in node.args.get("actions") or ():
        if type(action).__name__ in _MOVING or action.args.get("using"):
            return False
    return type(node).__name__ in _CLASSES
