"""dbt's artifacts, from files or from the live objects, as frozen nodes. Nothing else knows dbt's versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class RelationName:
    """The full name of a table or view, as the warehouse stores it; parts may be None."""

    database: str | None
    schema: str | None
    identifier: str

    def __str__(self) -> str:
        return ".".join(part for part in (self.database, self.schema, self.identifier) if part)


@dataclass(frozen=True, slots=True)
class DeclaredColumn:
    """A column as YAML declares it. ``meta`` merges ``meta`` and ``config.meta``."""

    name: str
    data_type: str | None = None
    description: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """A dbt resource. Paths use ``/``; ``config`` holds dbt's config of the node, never credentials."""

    unique_id: str
    name: str
    resource_type: str
    package_name: str
    path: str
    relation: RelationName | None = None
    relation_name: str | None = None
    materialized: str | None = None
    language: str = "sql"
    raw_code: str = ""
    compiled_code: str | None = None
    checksum: str | None = None
    depends_on: tuple[str, ...] = ()
    columns: tuple[DeclaredColumn, ...] = ()
    description: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    owner: str | None = None
    access: str | None = None
    group: str | None = None
    version: str | None = None
    is_latest_version: bool = False
    defer_relation: RelationName | None = None
    patch_path: str | None = None
    url: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """A manifest: every enabled node by unique_id, and where it came from."""

    name: str
    adapter_type: str
    nodes: Mapping[str, Node]
    invocation_id: str | None = None
    generated_at: str | None = None
    dbt_version: str | None = None
    quoting: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """The columns the warehouse itself reports for a node: name -> data type, in order."""

    unique_id: str
    columns: Mapping[str, str]
