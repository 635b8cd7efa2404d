"""Changes as people write them: ``impacts(lineage, rename={"stg_orders.status": "state"})``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from lineage_post.errors import SelectionError
from lineage_post.impact.answer import Analysis
from lineage_post.impact.change import Change, ChangeKind, Impact
from lineage_post.impact.retype import checked_type
from lineage_post.lineage import Lineage
from lineage_post.selection import target_of, without_quotes
from lineage_post.trace.dialects import dialect_of

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Words that no warehouse takes as a column's name without quotes.
_RESERVED = {
    *("ALL", "AND", "AS", "CASE", "CAST", "CREATE", "DISTINCT", "ELSE", "EXCEPT", "FALSE", "FOR"),
    *("FROM", "GROUP", "HAVING", "IN", "INTERSECT", "IS", "JOIN", "NOT", "NULL", "ON", "OR"),
    *("ORDER", "SELECT", "TABLE", "THEN", "TRUE", "UNION", "USING", "WHEN", "WHERE", "WITH"),
}


def impacts(
    lineage: Lineage,
    *,
    rename: Mapping[str, str] | None = None,
    drop: str | Iterable[str] = (),
    retype: Mapping[str, str | None] | None = None,
) -> tuple[Impact, ...]:
    """The answer to each change, in order. Columns are named as on the command line.

    Raises SelectionError, with near names, for a column that is not there.
    """
    dropped = (drop,) if isinstance(drop, str) else tuple(drop)
    changes = [
        *(change_of(lineage, ChangeKind.RENAME, name, to) for name, to in (rename or {}).items()),
        *(change_of(lineage, ChangeKind.DROP, name, None) for name in dropped),
        *(change_of(lineage, ChangeKind.RETYPE, name, to) for name, to in (retype or {}).items()),
    ]
    analysis = Analysis(lineage)
    return tuple(analysis.impact(change) for change in changes)


def named_column(lineage: Lineage, text: str) -> tuple[str, str]:
    """The column that a text names. Raises SelectionError for a node alone."""
    target = target_of(text, lineage)
    if target.column is None:
        raise SelectionError(
            f"{text!r} is a node; name a column of it",
            hint=f"It has {', '.join(lineage.graph.columns(target.node)[:12])}.",
        )
    return target.node, target.column


def change_of(lineage: Lineage, kind: ChangeKind, name: str, to: str | None) -> Change:
    """The change that two texts name. Raises SelectionError for what cannot be a column's name, or
    its type."""
    node, column = named_column(lineage, name)
    if kind is ChangeKind.RENAME:
        to = new_name(name, to)
    elif kind is ChangeKind.RETYPE and to is not None:
        to = checked_type(lineage, (node, column), to)
    return Change(kind, node, column, to)


def new_name(name: str, to: str | None) -> str:
    """The new name of the column ``name``: alone, in quotes it may have dots. Raises
    SelectionError for what cannot be one."""
    plain = (to or "").strip()
    if not plain:
        raise SelectionError(
            f"rename of {name}: there is no new name", hint="Write --rename orders.total=amount."
        )
    unquoted = without_quotes(plain)
    if unquoted == plain and "." in plain:
        raise SelectionError(
            f"rename of {name}: the new name {plain!r} has a dot",
            hint=f"A column stays in its model: write its new name alone, as in "
            f"{plain.rpartition('.')[2] or 'amount'}.",
        )
    return unquoted


def is_plain_name(name: str) -> bool:
    """Whether SQL may have a column's name without quotes, as far as that is so everywhere."""
    return _PLAIN.fullmatch(name) is not None and name.upper() not in _RESERVED


def quoted_name(lineage: Lineage, name: str) -> str:
    """The name as SQL of the project's dialect has it in quotes."""
    from sqlglot import exp

    dialect = lineage.options.dialect or dialect_of(lineage.project.adapter_type)
    return exp.to_identifier(name, quoted=True).sql(dialect=dialect)
