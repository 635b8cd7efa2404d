"""Impacts in the stable JSON form; its keys are in docs/json.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from lineage_post.graph import Column
from lineage_post.impact.change import Dependent, Doubt, Impact, Possible
from lineage_post.impact.domain import Domain, Moved
from lineage_post.lineage import Lineage


def impact_to_dict(impact: Impact, lineage: Lineage) -> dict[str, Any]:
    """One change with all its dependents, of packages that are not left out."""
    change = impact.change
    dependents = [d for d in impact.dependents if lineage.is_published(d.unique_id)]
    possible = [p for p in impact.possible if lineage.is_published(p.unique_id)]
    broken = [d for d in dependents if change.breaks in d.breaks_on]
    doubts = {doubt.dependent for doubt in impact.doubts.may_break}
    return {
        "change": change.kind.value,
        "unique_id": change.node,
        "column": change.column,
        "to": change.to,
        "summary": {
            "breaks": kinds(broken),
            "may_break": kinds(d for d in dependents if d in doubts),
            "depends": kinds(
                d for d in dependents if d not in doubts and change.breaks not in d.breaks_on
            ),
            "possibly_affected": kinds(possible),
        },
        "passes": path_to_list(impact.passes),
        "dependents": [dependent_to_dict(d, impact) for d in dependents],
        "possibly_affected": [possible_to_dict(p) for p in possible],
        "mentions": [
            {"unique_id": m.unique_id, "column": m.column, "file": m.file, "line": m.line}
            for m in impact.mentions
            if lineage.is_published(m.unique_id)
        ],
    }


def kinds(found: Iterable[Dependent | Possible]) -> dict[str, int]:
    """How many nodes and consumers of each kind, each counted once."""
    each = {(d.kind, d.unique_id) for d in found}
    return dict(sorted(Counter(kind for kind, _ in each).items()))


def dependent_to_dict(dependent: Dependent, impact: Impact) -> dict[str, Any]:
    """A dependent; ``breaks`` says whether the change in question breaks it."""
    return {
        "unique_id": dependent.unique_id,
        "kind": dependent.kind,
        "name": dependent.name,
        "column": dependent.column,
        "role": dependent.role,
        "file": dependent.file,
        "line": dependent.line,
        "how": [how.value for how in dependent.how],
        "breaks": impact.change.breaks in dependent.breaks_on,
        "breaks_on": [b.value for b in dependent.breaks_on],
        "uses": path_to_list([dependent.uses])[0],
        "path": path_to_list(dependent.path),
        "expression": dependent.expression,
        "may_break": _because(impact.doubts.may_break, dependent),
        "not_judged": _because(impact.doubts.unjudged, dependent),
    }


def _because(doubts: Iterable[Doubt], dependent: Dependent) -> str | None:
    return next((doubt.because for doubt in doubts if doubt.dependent == dependent), None)


def possible_to_dict(possible: Possible) -> dict[str, Any]:
    return {
        "unique_id": possible.unique_id,
        "kind": possible.kind,
        "name": possible.name,
        "file": possible.file,
        "because": possible.because,
        "reason": possible.reason,
        "breaks_on": [b.value for b in possible.breaks_on],
    }


def domain_to_dict(
    domain: Domain, possible: Iterable[Possible], lineage: Lineage
) -> dict[str, Any]:
    """The two groups of outputs, and what is possibly affected."""
    return {
        "unique_id": domain.node,
        "column": domain.column,
        "values": [_moved_to_dict(m) for m in domain.values if lineage.is_published(m.node)],
        "rows": [_moved_to_dict(m) for m in domain.rows if lineage.is_published(m.node)],
        "possibly_affected": [
            possible_to_dict(p) for p in possible if lineage.is_published(p.unique_id)
        ],
    }


def _moved_to_dict(moved: Moved) -> dict[str, Any]:
    return {
        "unique_id": moved.node,
        "column": moved.column,
        "how": [how.value for how in moved.how],
        "path": path_to_list(moved.path),
    }


def path_to_list(path: Iterable[Column]) -> list[dict[str, Any]]:
    return [{"unique_id": node, "column": column} for node, column in path]
