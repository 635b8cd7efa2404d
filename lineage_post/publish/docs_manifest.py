"""Lineage inside ``manifest.json``: column descriptions, a summary in each node's meta, exposures.

dbt's docs site renders all of it without a parse, and a second run replaces what the first added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lineage_post.artifacts.decoration import ADDED_KEY, META_KEY, own_text
from lineage_post.publish.docs_text import ColumnTexts, summary
from lineage_post.publish.exposures import ExposureSpec, is_generated, manifest_entry

if TYPE_CHECKING:
    from lineage_post.lineage import Lineage, NodeLineage

#: In a project of more columns, those that no YAML declares are left to the panel: 200,000
#: descriptions would add 80 MB to the manifest.
ADDED_AT_MOST = 20_000


def patch_manifest(
    manifest: dict[str, Any],
    lineage: Lineage,
    exposures: Sequence[ExposureSpec] = (),
) -> None:
    """Writes the lineage into a manifest as read from JSON; a second call changes nothing."""
    texts = ColumnTexts(lineage)
    adds = sum(len(node.columns) for node in lineage.nodes.values()) <= ADDED_AT_MOST
    for unique_id, node_lineage in lineage.nodes.items():
        entry = _entry(manifest, unique_id)
        if entry is None or not lineage.is_published(unique_id):
            continue
        _remove_added_columns(entry)
        if not _persists_descriptions(entry):
            _describe_columns(entry, node_lineage, texts, adds=adds)
        entry["meta"] = {**(entry.get("meta") or {}), META_KEY: summary(node_lineage)}
    _replace_exposures(manifest, exposures, lineage.project.name)


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
    entry: dict[str, Any], node: NodeLineage, texts: ColumnTexts, *, adds: bool
) -> None:
    declared = {name.lower(): column for name, column in entry["columns"].items()}
    for column in node.columns:
        if column.name is None or not column.is_column:
            continue
        found = declared.get(column.name.lower())
        if found is not None:
            own = own_text(found.get("description") or "")
            block = texts.block(node.unique_id, column)
            found["description"] = f"{own}\n\n{block}" if own else block
        elif adds and "<" not in column.name:
            # The site's search shows column names as HTML, so such a name is not handed to it.
            block = texts.block(node.unique_id, column)
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
