"""A diff in the stable JSON form; its keys are in docs/json.md."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lineage_post.artifacts import Node, Project
from lineage_post.diff.change import LEVELS, Diff, NodeChange
from lineage_post.impact import Dependent, Moved
from lineage_post.impact.document import path_to_list, possible_to_dict


def diff_to_dict(diff: Diff) -> dict[str, Any]:
    """``summary``, ``changes`` and ``impacted``."""
    return {
        "summary": {level.value: len(diff.of_level(level)) for level in LEVELS},
        "changes": [_change_to_dict(change) for change in diff.changes],
        "impacted": list(diff.impacted),
    }


def selection_of(diff: Diff, project: Project) -> list[str]:
    """The impacted nodes as dbt selects them: by name, with the package where a name is not one
    node's alone, ``ver.v2`` for a version."""
    nodes = [project.nodes[unique_id] for unique_id in diff.impacted]
    names: dict[str, int] = {}
    for node in project.nodes.values():
        if node.resource_type in ("model", "snapshot", "seed"):
            names[_name(node)] = names.get(_name(node), 0) + 1
    return sorted(
        _name(node) if names[_name(node)] == 1 else f"{node.package_name}.{_name(node)}"
        for node in nodes
    )


def _name(node: Node) -> str:
    return f"{node.name}.v{node.version}" if node.version is not None else node.name


def _change_to_dict(change: NodeChange) -> dict[str, Any]:
    return {
        "kind": change.kind.value,
        "unique_id": change.unique_id,
        "column": change.column,
        "level": change.level.value,
        "because": change.because,
        "before": change.before,
        "after": change.after,
        "candidates": list(change.candidates),
        "file": change.file,
        "line": change.line,
        "broken": [_broken_to_dict(d) for d in change.broken],
        "may_break": [
            {**_broken_to_dict(d.dependent), "because": d.because} for d in change.may_break
        ],
        "affected": {"values": _moved(change.affected), "rows": _moved(change.rows)},
        "consumers": list(change.consumers),
        "possibly_affected": [possible_to_dict(p) for p in change.possible],
        "build_modes": list(change.forms) if change.forms else None,
        "is_same_code": change.is_same_code if change.forms else None,
    }


def _broken_to_dict(dependent: Dependent) -> dict[str, Any]:
    return {
        "unique_id": dependent.unique_id,
        "kind": dependent.kind,
        "name": dependent.name,
        "column": dependent.column,
        "role": dependent.role,
        "how": [how.value for how in dependent.how],
        "uses": path_to_list([dependent.uses])[0],
        "file": dependent.file,
        "line": dependent.line,
    }


def _moved(found: Iterable[Moved]) -> list[dict[str, Any]]:
    return [
        {"unique_id": m.node, "column": m.column, "how": [how.value for how in m.how]}
        for m in found
    ]
