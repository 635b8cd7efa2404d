"""Changes as people write them: ``impacts(lineage, rename={"stg_orders.status": "state"})``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lineage_post.errors import SelectionError
from lineage_post.impact.answer import Analysis
from lineage_post.impact.change import Change, ChangeKind, Impact
from lineage_post.lineage import Lineage
from lineage_post.selection import target_of


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
        *(_change(lineage, ChangeKind.RENAME, name, to) for name, to in (rename or {}).items()),
        *(_change(lineage, ChangeKind.DROP, name, None) for name in dropped),
        *(_change(lineage, ChangeKind.RETYPE, name, to) for name, to in (retype or {}).items()),
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


def _change(lineage: Lineage, kind: ChangeKind, name: str, to: str | None) -> Change:
    node, column = named_column(lineage, name)
    return Change(kind, node, column, to)
