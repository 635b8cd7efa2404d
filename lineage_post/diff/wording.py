"""A diff in words, for the terminal and for a comment alike."""

from __future__ import annotations

from collections.abc import Iterable

from lineage_post.diff.change import LEVELS, Diff, DiffKind, NodeChange
from lineage_post.impact import Dependent, Moved
from lineage_post.impact.walk import display_name
from lineage_post.lineage import Lineage
from lineage_post.lineage.modes import FORMS

_VERBS = {
    DiffKind.NODE_ADDED: "added",
    DiffKind.NODE_REMOVED: "removed",
    DiffKind.COLUMN_ADDED: "added",
    DiffKind.COLUMN_REMOVED: "removed",
    DiffKind.COLUMN_RENAMED: "renamed to",
    DiffKind.COLUMN_RETYPED: "has another type",
    DiffKind.COLUMN_REDERIVED: "computed in another way",
    DiffKind.FILTER_CHANGED: "filter changed",
    DiffKind.JOIN_CHANGED: "joins changed",
    DiffKind.GRAIN_CHANGED: "grain changed",
    DiffKind.LIMIT_CHANGED: "limit changed",
    DiffKind.CONFIG_CHANGED: "settings changed",
    DiffKind.DATA_CHANGED: "has other data",
    DiffKind.UNKNOWN: "changed in a way that is not known",
}


def what(change: NodeChange) -> str:
    """``renamed to marketing_channel``."""
    verb = _VERBS[change.kind]
    return f"{verb} {change.after}" if change.kind is DiffKind.COLUMN_RENAMED else verb


def subject(change: NodeChange, lineages: tuple[Lineage, Lineage]) -> str:
    """``stg_orders.status``, or the node alone; of the state that still has it."""
    name = node_name(change.unique_id, lineages)
    return f"{name}.{change.column}" if change.column else name


def node_name(unique_id: str, lineages: tuple[Lineage, Lineage]) -> str:
    before, after = lineages
    return display_name(after if unique_id in after.project.nodes else before, unique_id)


def forms(change: NodeChange) -> str | None:
    """``as its first build runs it before, as later builds run it after; its own code is the
    same``; None where both states have one form."""
    if change.forms is None:
        return None
    then, now = (FORMS[form] for form in change.forms)
    told = f"{then} before, {now} after"
    return f"{told}; its own code is the same" if change.is_same_code else told


def before_and_after(change: NodeChange) -> tuple[str, str] | None:
    """The two expressions or types, where the kind of the change has them."""
    if change.kind is DiffKind.COLUMN_RENAMED or not (change.before or change.after):
        return None
    return change.before or "", change.after or ""


def broken_places(change: NodeChange) -> list[tuple[Dependent, str]]:
    """What breaks, each place once: with the columns of it that do, ``revenue, segment``."""
    return _places(change.broken)


def doubtful_places(change: NodeChange) -> list[tuple[Dependent, str, str]]:
    """What may break, as ``broken_places`` has it, and why: ``SUM over varchar``."""
    found: dict[str, list[Dependent]] = {}
    for doubt in change.may_break:
        found.setdefault(doubt.because, []).append(doubt.dependent)
    return [
        (one, columns, because)
        for because, dependents in found.items()
        for one, columns in _places(dependents)
    ]


def _places(dependents: Iterable[Dependent]) -> list[tuple[Dependent, str]]:
    found: dict[tuple[object, ...], list[Dependent]] = {}
    for one in dependents:
        found.setdefault((one.unique_id, one.kind, one.role, one.file, one.line), []).append(one)
    return [
        (members[0], ", ".join(dict.fromkeys(m.column for m in members if m.column)))
        for members in found.values()
    ]


def grouped(moved: Iterable[Moved], lineages: tuple[Lineage, Lineage]) -> list[tuple[str, str]]:
    """Outputs by their node: ``("fct_orders", "revenue, status")``."""
    found: dict[str, list[str]] = {}
    for one in moved:
        found.setdefault(one.node, []).append(one.column)
    return [(node_name(node, lineages), ", ".join(names)) for node, names in found.items()]


def summary(diff: Diff) -> str:
    """``2 breaking, 3 changed, 1 compatible``; what there is none of is left out."""
    counts = [(len(diff.of_level(level)), level.value) for level in LEVELS]
    return ", ".join(f"{count} {name}" for count, name in counts if count) or "no changes"
