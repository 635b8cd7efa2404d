"""Small manifests for tests of what dbt's own projects do not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def make_manifest(
    *nodes: Mapping[str, Any],
    project: str = "shop",
    adapter_type: str = "duckdb",
    **sections: Any,
) -> dict[str, Any]:
    """A manifest of these nodes; sources and exposures go to their own sections."""
    found: dict[str, Any] = {"nodes": {}, "sources": {}, "exposures": {}}
    for node in nodes:
        section = {"source": "sources", "exposure": "exposures"}
        found[section.get(node["resource_type"], "nodes")][node["unique_id"]] = dict(node)
    metadata = {
        "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
        "dbt_version": "1.11.0",
        "project_name": project,
        "adapter_type": adapter_type,
        "invocation_id": "run-1",
    }
    return {"metadata": metadata, **found, "macros": {}, "disabled": {}, **sections}


def make_model(
    name: str,
    sql: str | None,
    parents: Sequence[str] = (),
    *,
    package: str = "shop",
    materialized: str = "view",
    **more: Any,
) -> dict[str, Any]:
    """A model in ``dev.main``; ``more`` overrides or adds keys."""
    is_ephemeral = materialized == "ephemeral"
    return {
        "unique_id": f"model.{package}.{name}",
        "resource_type": "model",
        "name": name,
        "package_name": package,
        "database": "dev",
        "schema": "main",
        "alias": name,
        "fqn": [package, name],
        "relation_name": None if is_ephemeral else f'"dev"."main"."{name}"',
        "original_file_path": f"models/{name}.sql",
        "language": "sql",
        "raw_code": sql or "select 1",
        "compiled_code": sql,
        "config": {"materialized": materialized},
        "depends_on": {"nodes": list(parents), "macros": []},
        "columns": {},
        **more,
    }


def make_source(name: str, columns: Mapping[str, str | None] | None = None) -> dict[str, Any]:
    """A source table ``dev.raw.<name>`` with declared columns."""
    declared = {c: {"name": c, "data_type": t} for c, t in (columns or {}).items()}
    return {
        "unique_id": f"source.shop.raw.{name}",
        "resource_type": "source",
        "name": name,
        "source_name": "raw",
        "package_name": "shop",
        "database": "dev",
        "schema": "raw",
        "identifier": name,
        "fqn": ["shop", "raw", name],
        "relation_name": f'"dev"."raw"."{name}"',
        "original_file_path": "models/sources.yml",
        "columns": declared,
    }


def make_catalog(tables: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """A catalog document: unique_id -> {column: type}."""
    nodes: dict[str, Any] = {"nodes": {}, "sources": {}}
    for unique_id, columns in tables.items():
        section = "sources" if unique_id.startswith("source.") else "nodes"
        nodes[section][unique_id] = {
            "unique_id": unique_id,
            "metadata": {"name": unique_id.rsplit(".", 1)[-1], "schema": "main"},
            "columns": {
                name: {"name": name, "type": data_type, "index": i}
                for i, (name, data_type) in enumerate(columns.items(), 1)
            },
        }
    return nodes
