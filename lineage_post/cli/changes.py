"""A change of a column's derivation, as text and as JSON: what history and show tell."""

from __future__ import annotations

from typing import Any

from lineage_post.cli import console
from lineage_post.history.replay import Change, Derivation
from lineage_post.lineage.modes import FORMS

_WORDS = {
    "first": "first recorded",
    "added": "added",
    "changed": "changed",
    "removed": "removed",
    "break": "another node under the same name",
}
_OF_ROWS = {
    "added": "decided by columns now",
    "changed": "decided in another way",
    "removed": "decided by no column any more",
}


def say_change(change: Change, node: str | None = None) -> None:
    """When, what, by whom, and from what to what; with the node where it is not always the same."""
    refresh = change.refresh
    name = ".".join(p for p in (node, change.column or "rows") if p)
    words = _WORDS if change.column else _WORDS | _OF_ROWS
    revision = f", commit {refresh.git_revision[:10]}" if refresh.git_revision else ""
    console.say(
        f"[quiet]{refresh.refreshed_at:%Y-%m-%d %H:%M:%S}[/] [column]{console.marked(name)}[/] "
        f"{words[change.kind]} [quiet]by {console.marked(refresh.producer)}, "
        f"run {console.marked(refresh.run_id)}{revision}[/]"
    )
    if change.forms is not None:
        then, now = (FORMS[form] for form in change.forms)
        console.say(f"  [quiet]of the same definition: {then} before, {now} after[/]")
    for sign, style, side in (("-", "remove", change.before), ("+", "add", change.after)):
        if side is not None:
            console.say(f"  [{style}]{sign} {console.marked(_text(side))}[/]")


def _text(side: Derivation) -> str:
    sources = ", ".join(side.sources) or "no column"
    expression = " ".join((side.expression or "").split())
    return f"{sources}: {expression}" if expression else sources


def change_to_dict(change: Change) -> dict[str, Any]:
    """The change with its refresh; ``before`` and ``after`` have sources, expression and state."""
    refresh = change.refresh
    return {
        "column": change.column,
        "change": change.kind,
        "changed_at": refresh.refreshed_at.isoformat(),
        "recorded_at": refresh.recorded_at.isoformat(),
        "run_id": refresh.run_id,
        "producer": refresh.producer,
        "git_revision": refresh.git_revision,
        "recorded_as": refresh.node,
        "build_modes": list(change.forms) if change.forms else None,
        "before": _side(change.before),
        "after": _side(change.after),
    }


def _side(side: Derivation | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {"sources": list(side.sources), "expression": side.expression, "state": side.state}
