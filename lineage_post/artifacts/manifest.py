"""manifest.json, or dbt's live Manifest, as a Project.

Every difference between dbt versions is settled here: ``raw_sql`` before 1.3, meta and tags under
``config`` since 1.10, keys that are None left out by dbt 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lineage_post.artifacts.access import json_object, mapping, read_bytes, slashed, take, text
from lineage_post.artifacts.decoration import EXPOSURES_PATH
from lineage_post.artifacts.hooks import called_macros, writing_macros
from lineage_post.artifacts.model import InlinedCte, Node, Project
from lineage_post.artifacts.nodes import NodeReader
from lineage_post.errors import ArtifactError

#: The name of the CTE that an ephemeral model becomes in its readers.
_CTE_NAME = re.compile(r"__dbt__cte__(\w+)")

MANIFEST_HINT = "Run dbt compile or dbt docs generate, or name the file with --manifest."

#: Where a manifest keeps its resources. ``disabled`` is not among them.
SECTIONS = (
    "nodes",
    "sources",
    "exposures",
    "metrics",
    "semantic_models",
    "saved_queries",
    "unit_tests",
    "functions",
)


def read_manifest(path: Path) -> Project:
    """The project of a manifest file. Raises ArtifactError naming the file and what to do."""
    return project_of_manifest(path, read_bytes(path, what="manifest", hint=MANIFEST_HINT))


def project_of_manifest(path: Path, data: bytes) -> Project:
    """The project of a manifest file that was read as ``data``. Raises as ``read_manifest``."""
    document = json_object(data, path, what="manifest", hint=MANIFEST_HINT)
    if not isinstance(document.get("nodes"), dict) or "metadata" not in document:
        raise ArtifactError(f"{path}: not a dbt manifest", hint=MANIFEST_HINT)
    try:
        return project_from_manifest_dict(document)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ArtifactError(
            f"{path}: not a readable manifest: {error}", hint=MANIFEST_HINT
        ) from error


def project_from_manifest_dict(document: Mapping[str, Any]) -> Project:
    """The project of a parsed manifest. The document may be dropped afterwards."""
    return _project(document)


def project_from_manifest(manifest: Any) -> Project:
    """The project of dbt's live Manifest, whose nodes this run may have compiled only in part."""
    return _project(manifest)


def _project(manifest: Any) -> Project:
    metadata = take(manifest, "metadata") or {}
    name = text(take(metadata, "project_name")) or _root_package(manifest)
    adapter_type = text(take(metadata, "adapter_type")) or ""
    reader = NodeReader(adapter_type, _group_owners(manifest))
    nodes: dict[str, Node] = {}
    for unique_id, resource in _resources(manifest):
        if take(take(resource, "config") or {}, "enabled") is not False:
            nodes[unique_id] = reader.read(unique_id, resource)
    nodes = _with_ctes(nodes)
    return Project(
        name=name,
        adapter_type=adapter_type,
        nodes=nodes,
        invocation_id=text(take(metadata, "invocation_id")),
        generated_at=_time(take(metadata, "generated_at")),
        dbt_version=text(take(metadata, "dbt_version")),
        quoting={k: v for k, v in _quoting(metadata).items() if isinstance(v, bool)},
        macro_paths=_macro_paths(manifest),
        external_packages=_external_packages(nodes, name),
        writing_macros=writing_macros(manifest, _called_by_hooks(nodes)),
    )


def _called_by_hooks(nodes: Mapping[str, Node]) -> set[str]:
    hooks = (hook for node in nodes.values() for hook in node.hooks)
    return {name for hook in hooks for name in called_macros(hook.raw_code)}


def _with_ctes(nodes: dict[str, Node]) -> dict[str, Node]:
    """The nodes with the ephemeral models inlined into them, which dbt 2 does not list."""
    ephemeral = {n.name: n for n in nodes.values() if n.is_ephemeral and n.compiled_code}
    found = {}
    for unique_id, node in nodes.items():
        code = node.compiled_code
        if code and not node.ctes and "__dbt__cte__" in code:
            names = dict.fromkeys(_CTE_NAME.findall(code))
            ctes = tuple(
                InlinedCte(other.unique_id, f"__dbt__cte__{name}", other.compiled_code or "")
                for name in names
                if (other := ephemeral.get(name)) is not None
            )
            found[unique_id] = replace(node, ctes=ctes)
    return {**nodes, **found}


def _resources(manifest: Any) -> Iterator[tuple[str, Any]]:
    for section in SECTIONS:
        for unique_id, resource in mapping(take(manifest, section)).items():
            if take(resource, "original_file_path") != EXPOSURES_PATH:
                yield unique_id, resource


def _root_package(manifest: Any) -> str:
    # Manifests before dbt 1.6 do not name their project: the package of the most models is it.
    counts: dict[str, int] = {}
    for resource in mapping(take(manifest, "nodes")).values():
        package = str(take(resource, "package_name") or "")
        counts[package] = counts.get(package, 0) + 1
    return max(sorted(counts), key=lambda package: counts[package], default="")


def _group_owners(manifest: Any) -> dict[str, str]:
    owners: dict[str, str] = {}
    for group in mapping(take(manifest, "groups")).values():
        owner = take(group, "owner") or {}
        label = text(take(owner, "name", "email"))
        if label:
            owners[str(take(group, "name"))] = label
    return owners


def _quoting(metadata: Any) -> dict[str, Any]:
    quoting = take(metadata, "quoting")
    return mapping(quoting) or {
        part: getattr(quoting, part, None) for part in ("database", "schema", "identifier")
    }


def _macro_paths(manifest: Any) -> dict[str, str]:
    paths = {}
    for unique_id, macro in mapping(take(manifest, "macros")).items():
        if not unique_id.startswith(("macro.dbt.", "macro.dbt_")):
            paths[unique_id] = slashed(take(macro, "original_file_path"))
    return paths


def _external_packages(nodes: Mapping[str, Node], project: str) -> frozenset[str]:
    # A node that another project owns was injected without its code (dbt-loom, dbt mesh).
    models = [n for n in nodes.values() if n.resource_type == "model" and n.package_name != project]
    with_code = {n.package_name for n in models if n.raw_code or n.compiled_code}
    return frozenset(n.package_name for n in models) - with_code


def _time(value: Any) -> str | None:
    if hasattr(value, "isoformat"):
        return str(value.isoformat()).replace("+00:00", "") + "Z"
    return text(value)
