"""What tracing one node takes: a plain value, so that it can be hashed and sent to a process."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lineage_post.artifacts import CatalogTable, Node, Project
from lineage_post.lineage.snapshots import Snapshot, snapshot_of
from lineage_post.relations import Relations

#: Materializations whose tables keep columns that the SQL of today no longer has.
KEEPS_COLUMNS = frozenset({"incremental", "snapshot"})


@dataclass(frozen=True, slots=True)
class Settings:
    """What all traces of a run share."""

    dialect: str
    engine: str
    expressions: bool = True
    masking_functions: tuple[str, ...] = ()
    commands: Mapping[str, Any] = field(default_factory=dict)

    def digest(self) -> str:
        """A hash of the settings and of the engine's version."""
        commands = json.dumps(self.commands, sort_keys=True, default=str)
        return _hash(
            f"{(self.dialect, self.engine, self.expressions, self.masking_functions)!r}{commands}"
        )


@dataclass(frozen=True, slots=True)
class Task:
    """A node with SQL.

    ``stop_at`` names its inlined ephemeral models: ``{"__dbt__cte__stg": "model.shop.stg"}``.
    ``parents`` are what its edges may call the relations it depends on: the key of the schema
    index, then the node meant (another node may build the same relation).
    """

    unique_id: str
    sql: str
    stop_at: tuple[tuple[str, str], ...] = ()
    parents: tuple[tuple[str, str], ...] = ()
    catalog: tuple[tuple[str, str], ...] = ()
    declared: tuple[tuple[str, str | None], ...] = ()
    keeps_columns: bool = False
    snapshot: Snapshot | None = None
    commands: Mapping[str, Any] = field(default_factory=dict)
    #: Of a microbatch model: the parents of which each batch reads a span of time, with the column.
    batched_by: tuple[tuple[str, str], ...] = ()

    def content_key(self, settings: str) -> str:
        """A hash of all that its trace depends on beside the columns of what it reads."""
        rest = (
            settings,
            self.unique_id,
            self.stop_at,
            self.parents,
            self.catalog,
            self.declared,
            self.keeps_columns,
            self.snapshot and self.snapshot.values(),
            self.commands,
            self.batched_by,
        )
        # The repr of plain values is the same in every run, and cheaper than JSON.
        return _hash(f"{rest!r}{self.sql}")


def tasks_of(
    project: Project, relations: Relations, catalog: Mapping[str, CatalogTable]
) -> dict[str, Task]:
    """A task for each node whose SQL is there, ephemeral ones that were only inlined included."""
    inlined = _inlined_bodies(project)
    tasks: dict[str, Task] = {}
    for node in project.nodes.values():
        if node.resource_type in ("model", "snapshot") and node.language == "sql":
            sql = node.compiled_code or inlined.get(node.unique_id)
            if sql is not None:
                table = catalog.get(node.unique_id)
                task = _task(node, sql, relations, table)
                batched_by = tuple(_batched_by(node, project))
                tasks[node.unique_id] = replace(task, batched_by=batched_by) if batched_by else task
    return tasks


def _batched_by(node: Node, project: Project) -> Iterator[tuple[str, str]]:
    """dbt filters what a microbatch model reads by the ``event_time`` of each parent that has one;
    its compiled SQL, which is of no batch, does not say so."""
    if node.config.get("incremental_strategy") == "microbatch":
        for parent in sorted(node.depends_on):
            found = project.nodes.get(parent)
            if found is not None and found.config.get("event_time"):
                yield parent, str(found.config["event_time"])


def _inlined_bodies(project: Project) -> dict[str, str]:
    # An ephemeral model this run did not compile still stands in each reader that it did.
    return {cte.unique_id: cte.sql for node in project.nodes.values() for cte in node.ctes}


def _task(node: Node, sql: str, relations: Relations, table: CatalogTable | None) -> Task:
    return Task(
        unique_id=node.unique_id,
        sql=sql,
        stop_at=tuple(sorted((cte.name, cte.unique_id) for cte in node.ctes)),
        parents=tuple(sorted(_parents(node.depends_on, relations))),
        catalog=tuple(table.columns.items()) if table is not None else (),
        declared=tuple((column.name, column.data_type) for column in node.columns),
        keeps_columns=node.materialized in KEEPS_COLUMNS,
        snapshot=snapshot_of(node),
        commands=_commands(node),
    )


def _parents(depends_on: Iterable[str], relations: Relations) -> Iterable[tuple[str, str]]:
    return ((relations.builder(parent), parent) for parent in depends_on)


def _commands(node: Node) -> Mapping[str, Any]:
    lineage = node.meta.get("lineage")
    commands = lineage.get("commands") if isinstance(lineage, Mapping) else None
    return dict(commands) if isinstance(commands, Mapping) else {}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
