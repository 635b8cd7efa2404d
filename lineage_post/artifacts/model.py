"""What the rest of the project knows of dbt: frozen nodes, free of versions and credentials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

#: Resource types that stand for a table or view, or are inlined where one could stand.
RELATION_TYPES = frozenset({"model", "snapshot", "seed", "source"})


@dataclass(frozen=True, slots=True)
class RelationName:
    """The full name of a table or view, as the warehouse stores it; parts may be None."""

    database: str | None
    schema: str | None
    identifier: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that are known, database first."""
        return tuple(p for p in (self.database, self.schema, self.identifier) if p)

    def __str__(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class DeclaredColumn:
    """A column as YAML declares it. ``meta`` merges ``meta`` and ``config.meta``."""

    name: str
    data_type: str | None = None
    description: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InlinedCte:
    """An ephemeral model as dbt inlined it into a reader: CTE ``name``, holding ``sql``."""

    unique_id: str
    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class Hook:
    """A statement that runs before or after a node is built; ``kind`` is ``pre-hook`` or
    ``post-hook``, or of an operation ``on-run-start`` or ``on-run-end``. ``code`` is its SQL, None
    where Jinja in it was not rendered. Hooks that move no data are not kept."""

    kind: str
    raw_code: str
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A dbt resource. Paths use ``/``; ``config`` holds known settings only, never credentials.

    ``details`` has what only this resource type has: of an exposure ``type``, ``maturity`` and
    ``email``; of a test ``test``, ``kwargs``, ``column`` and ``attached_node``; of a source
    ``source_name``, ``loader`` and ``freshness``; of a model ``constraints`` and ``grants``; of a
    unit test and of what the semantic layer has: see consumer_details. ``native`` is where the data
    of a source or seed really are: see native.
    """

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
    fqn: tuple[str, ...] = ()
    ctes: tuple[InlinedCte, ...] = ()
    macros: tuple[str, ...] = ()
    root_path: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    hooks: tuple[Hook, ...] = ()
    native: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_ephemeral(self) -> bool:
        return self.materialized == "ephemeral"

    @property
    def label_or_name(self) -> str:
        """What people call it: the label, ``ver.v1`` for a version, else the name."""
        if self.label:
            return self.label
        return f"{self.name}.v{self.version}" if self.version is not None else self.name


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
    #: Path of each macro's file, by unique_id of the macro; macros of dbt itself are left out.
    macro_paths: Mapping[str, str] = field(default_factory=dict)
    #: Packages whose nodes another project owns (injected, or from an upstream manifest).
    external_packages: frozenset[str] = frozenset()
    #: Database and schema of the connection, as far as known: what a shorter name is short for.
    home: tuple[str, str | None] | None = None
    #: Bare names of macros whose SQL writes to relations.
    writing_macros: frozenset[str] = frozenset()

    def with_compiled(self, codes: Mapping[str, str]) -> Project:
        """The project with the compiled SQL of ``codes`` (by unique_id) put in."""
        nodes = dict(self.nodes)
        for unique_id, code in codes.items():
            if unique_id in nodes:
                nodes[unique_id] = replace(nodes[unique_id], compiled_code=code)
        return replace(self, nodes=nodes)


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """The columns the warehouse itself reports for a node: name -> data type, in order."""

    unique_id: str
    columns: Mapping[str, str]
    relation: RelationName | None = None


@dataclass(frozen=True, slots=True)
class NodeResult:
    """What a run did to a node. Times are ISO strings in UTC; ``failures`` are those of a test."""

    unique_id: str
    status: str
    message: str | None = None
    compiled_code: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    failures: int | None = None


@dataclass(frozen=True, slots=True)
class RunResults:
    """A run: its command, and what it did to each node."""

    invocation_id: str | None
    generated_at: str | None
    command: str | None
    results: Mapping[str, NodeResult]
