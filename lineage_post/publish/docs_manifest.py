"""Lineage inside ``manifest.json``: column descriptions, a summary in each node's meta, exposures.

dbt's docs site renders all of it without a parse. The user's own text stays as it is; what is
added stands between two link definitions that no Markdown renderer shows, so a second run
replaces it instead of adding to it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lineage_post.options import Options
from lineage_post.publish import markdown, words
from lineage_post.publish.exposures import ExposureSpec, is_generated, manifest_entry
from lineage_post.publish.exposures_text import marks
from lineage_post.vocabulary import EdgeType, State

if TYPE_CHECKING:
    from lineage_post.artifacts import Project
    from lineage_post.lineage import ColumnLineage, Edge, Lineage, NodeLineage

DEFAULTS = Options()
START, END = "[//]: # (lineage_post)", "[//]: # (/lineage_post)"
#: The key under a node's ``meta`` that holds its summary.
META_KEY = "column_lineage"
#: Marks a column entry of ``manifest.json`` that no YAML declares.
ADDED_KEY = "lineage_post"
#: A description names so many columns a side; the panel lists them all.
LISTED = 8
_BLOCK = re.compile(rf"\s*{re.escape(START)}.*?{re.escape(END)}", re.DOTALL)


@dataclass(slots=True)
class _Neighbours:
    """The DIRECT edges of one column: into it, and out of it."""

    sources: list[Edge] = field(default_factory=list)
    uses: list[Edge] = field(default_factory=list)


def patch_manifest(
    manifest: dict[str, Any],
    lineage: Lineage,
    exposures: Sequence[ExposureSpec] = (),
    *,
    options: Options = DEFAULTS,
) -> None:
    """Writes the lineage into a manifest as read from JSON; a second call changes nothing."""
    neighbours = _neighbours(lineage)
    for unique_id, node_lineage in lineage.nodes.items():
        entry = _entry(manifest, unique_id)
        if entry is None or entry.get("package_name") in options.exclude_packages:
            continue
        _remove_added_columns(entry)
        if not _persists_descriptions(entry):
            _describe_columns(entry, node_lineage, neighbours, lineage.project)
        entry["meta"] = {**(entry.get("meta") or {}), META_KEY: summary(node_lineage)}
    _replace_exposures(manifest, exposures, lineage.project.name)


def summary(node: NodeLineage) -> str:
    """``known: 7 of 7 columns``, or what is not known and why."""
    columns = [column for column in node.columns if column.is_column]
    known = sum(column.state is State.KNOWN for column in columns)
    lead = words.why(node.state, node.reason) or "known"
    gaps = sorted({str(c.reason) for c in node.columns if c.reason} - {str(node.reason)})
    counted = f"{lead}: {known} of {len(columns)} columns" if columns else lead
    return f"{counted} known ({', '.join(gaps)})" if gaps else counted


def own_text(description: str) -> str:
    """A description without what this tool added to it."""
    return _BLOCK.sub("", description)


def _neighbours(lineage: Lineage) -> dict[tuple[str, str], _Neighbours]:
    found: dict[tuple[str, str], _Neighbours] = defaultdict(_Neighbours)
    for node in lineage.nodes.values():
        for edge in node.edges:
            if edge.type is EdgeType.DIRECT and edge.to_column is not None:
                found[edge.to_node, edge.to_column].sources.append(edge)
                found[edge.from_node, edge.from_column].uses.append(edge)
    return found


def _entry(manifest: Mapping[str, Any], unique_id: str) -> dict[str, Any] | None:
    entry = manifest.get("nodes", {}).get(unique_id) or manifest.get("sources", {}).get(unique_id)
    return entry if isinstance(entry, dict) else None


def _persists_descriptions(entry: Mapping[str, Any]) -> bool:
    """Whether dbt's ``state:modified`` compares its columns' descriptions: they stay as is."""
    config = entry.get("config") or {}
    return bool((config.get("persist_docs") or {}).get("columns"))


def _remove_added_columns(entry: dict[str, Any]) -> None:
    columns = entry.get("columns") or {}
    entry["columns"] = {k: c for k, c in columns.items() if not c.get(ADDED_KEY)}


def _describe_columns(
    entry: dict[str, Any],
    node: NodeLineage,
    neighbours: Mapping[tuple[str, str], _Neighbours],
    project: Project,
) -> None:
    declared = {name.lower(): column for name, column in entry["columns"].items()}
    for column in node.columns:
        if column.name is None or not column.is_column:
            continue
        block = _block(column, node, neighbours.get((node.unique_id, column.name)), project)
        found = declared.get(column.name.lower())
        if found is not None:
            own = own_text(found.get("description") or "")
            found["description"] = f"{own}\n\n{block}" if own else block
        elif "<" not in column.name:
            # The site's search shows column names as HTML, so such a name is not handed to it.
            entry["columns"][column.name] = _added_column(column.name, block)


def _added_column(name: str, description: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "data_type": None,
        "constraints": [],
        "quote": None,
        "tags": [],
        ADDED_KEY: "not declared in YAML",
    }


def _block(
    column: ColumnLineage, node: NodeLineage, near: _Neighbours | None, project: Project
) -> str:
    near = near or _Neighbours()
    lines = []
    if _is_computed(node.unique_id):
        lines.append(f"**Comes from** {_origin(column, near.sources, project)}")
    uses = [_end(e.to_node, e.to_column or "", e, project) for e in near.uses]
    lines.append(f"**Used by** {_listed(uses) if uses else 'no traced column'}")
    return "\n\n".join([START, *lines, END])


def _is_computed(unique_id: str) -> bool:
    return unique_id.split(".", 1)[0] not in ("source", "seed")


def _origin(column: ColumnLineage, sources: Sequence[Edge], project: Project) -> str:
    listed = _listed(_end(e.from_node, _path(e), e, project) for e in sources)
    gap = words.why(column.state, column.reason)
    if column.state is State.KNOWN:
        return listed or words.NO_SOURCE
    return f"{listed}; {gap}" if listed else gap


def _path(edge: Edge) -> str:
    return f"{edge.from_column}.{edge.from_field}" if edge.from_field else edge.from_column


def _end(unique_id: str, column: str, edge: Edge, project: Project) -> str:
    kind = ", ".join([words.SUBTYPES[edge.subtype], *marks(edge)])
    node = markdown.node_link(unique_id, words.label(project, unique_id))
    return f"{node} {markdown.code(column)} ({kind})"


def _listed(items: Iterable[str]) -> str:
    ordered = list(dict.fromkeys(items))
    more = len(ordered) - LISTED
    return ", ".join(ordered[:LISTED]) + (f" and {more} more" if more > 0 else "")


def _replace_exposures(
    manifest: dict[str, Any], specs: Sequence[ExposureSpec], project_name: str
) -> None:
    exposures = manifest.setdefault("exposures", {})
    parents = manifest.setdefault("parent_map", {})
    children = manifest.setdefault("child_map", {})
    gone = {key for key, entry in exposures.items() if is_generated(entry)}
    for unique_id in gone:
        del exposures[unique_id]
        parents.pop(unique_id, None)
        children.pop(unique_id, None)
    for parent, kept in children.items():
        children[parent] = [child for child in kept if child not in gone]
    for spec in specs:
        entry = manifest_entry(spec, project_name)
        unique_id = entry["unique_id"]
        if unique_id in exposures:  # The user's YAML has it.
            continue
        exposures[unique_id] = entry
        parents[unique_id] = list(spec.depends_on)
        children[unique_id] = []
        for parent in spec.depends_on:
            children.setdefault(parent, []).append(unique_id)
