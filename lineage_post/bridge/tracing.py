"""Traces from the live Manifest: what this run built, and as little more as that needs."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineage_post.artifacts import CatalogTable, Project, project_from_manifest, read_seed_headers
from lineage_post.bridge.compiling import InProcessCompiler
from lineage_post.bridge.say import describe, detail
from lineage_post.bridge.warehouse import Warehouse, columns_in_warehouse
from lineage_post.lineage.hooks import writers_to
from lineage_post.publish.run import Run
from lineage_post.publish.text_file import write_text
from lineage_post.vocabulary import ExposureMode, Status

if TYPE_CHECKING:
    from lineage_post.cache import Cache
    from lineage_post.lineage import Lineage
    from lineage_post.options import Options

#: Below ``target/``: the columns that the warehouse reported, by unique_id.
COLUMNS = Path("lineage_post") / "columns.json"
CACHE = Path("lineage_post") / "cache"
#: A star that lists columns: not ``count(*)``, not a product.
_STAR = re.compile(r"(?:select|distinct|,|\.)\s*\*", re.IGNORECASE)
#: The last part of a name after FROM or JOIN.
_AFTER_FROM = re.compile(r"\b(?:from|join)\s+(?:[\"`\[]?\w+[\"`\]]?\.){0,2}[\"`\[]?(\w+)")
_TRACED = frozenset({Status.SUCCESS, Status.SAMPLE})
_READABLE = ("model", "snapshot", "seed", "source")


#: Adapters whose sessions begin in the schema that the profile names.
COMPLETED_BY_PROFILE = frozenset({"snowflake", "trino", "databricks", "spark", "athena"})
#: Adapters whose sessions begin where the server, the user or a search path says.
COMPLETED_BY_SESSION = frozenset({"duckdb", "postgres", "redshift"})


class LiveTracer:
    """Traces the nodes of one dbt command."""

    def __init__(
        self, manifest: Any, warehouse: Warehouse, options: Options, target_path: Path
    ) -> None:
        self.manifest = manifest
        self.warehouse = warehouse
        self.adapter = warehouse.adapter
        self.options = options
        self.target_path = target_path
        home = _home(warehouse)
        self.project: Project = replace(project_from_manifest(manifest), home=home)
        self.catalog: dict[str, CatalogTable] = {}

    def trace_run(self, run: Run, codes: Mapping[str, str]) -> Lineage:
        """The lineage of what the run built, and of the inputs that no run builds."""
        is_sample = any(b.status is Status.SAMPLE for b in run.builds.values())
        built = {n for n, build in run.builds.items() if build.status in _TRACED}
        compiler = InProcessCompiler(self.manifest, self.adapter.config, plain=is_sample)
        wanted = self._with_ephemerals(built | set(writers_to(self.project, built)))
        self.project = self.project.with_compiled({} if is_sample else codes)
        missing = [n for n in sorted(wanted) if is_sample or not self._code(n)]
        self.project = compiler.render_hooks(compiler.compile(self.project, missing))
        # A seed is known by its file, whether or not the run built it.
        hard_coded = self._hard_coded(wanted) - built
        unseen = (self._inputs(wanted) | hard_coded) - built - self.headers.keys()
        self.catalog.update(self._as_recorded(self._columns(unseen, wanted)))
        self.catalog.update(self._columns(self._not_sql(wanted), wanted))
        return self._trace(wanted | self._unbuilt(wanted) | self._consumers(built) | hard_coded)

    def trace_exposed(self) -> Lineage | None:
        """The lineage of the columns to expose and all their ancestors; None if there are none."""
        wanted = self._exposed_nodes()
        if not wanted:
            return None
        for unique_id in list(wanted):
            wanted |= self._ancestors(unique_id)
        compiler = InProcessCompiler(self.manifest, self.adapter.config, plain=False)
        missing = [n for n in sorted(wanted) if not self._code(n)]
        self.project = compiler.render_hooks(compiler.compile(self.project, missing))
        leaves = {n for n in wanted if self._type(n) == "source"} | self._not_sql(wanted)
        self.catalog.update(self._columns(leaves - self.catalog.keys(), wanted))
        return self._trace(wanted)

    def _trace(self, only: Collection[str]) -> Lineage:
        lineage = self._traced(only)
        self.cache.save()
        return lineage

    def _traced(self, only: Collection[str]) -> Lineage:
        """The lineage of some nodes; the cache on disk stays as it is."""
        from lineage_post.lineage import trace_project

        # Unless the user says so no process is started from inside dbt's own.
        options = replace(self.options, processes=self.options.processes or 1)
        lineage = trace_project(
            self.project,
            catalog=self.catalog,
            options=options,
            seed_headers=self.headers,
            cache=self.cache,
            only=only,
        )
        # What was not traced is still part of the project.
        return replace(lineage, project=self.project)

    @cached_property
    def headers(self) -> Mapping[str, Sequence[str]]:
        """The columns of the seeds, from their files."""
        root = Path(str(self.adapter.config.project_root))
        return read_seed_headers(self.project, project_dir=root)

    def _as_recorded(self, tables: Mapping[str, CatalogTable]) -> dict[str, CatalogTable]:
        """Tables of nodes this run did not build, with the types of their last recorded lineage.

        Which columns there are the warehouse knows; their types are to be those of a run that
        builds the parent too, so that the same lineage has the same fingerprint in both.
        """
        built = [n for n in tables if self._type(n) in ("model", "snapshot")]
        recorded = self.warehouse.recorded_types(built) if built else {}
        return {n: _with_types(t, recorded.get(n)) for n, t in tables.items()}

    @cached_property
    def cache(self) -> Cache:
        """The traces of earlier runs, or an empty cache where the option is off."""
        from lineage_post.cache import Cache
        from lineage_post.lineage.run import ENGINE

        return Cache.open(self.target_path / CACHE, ENGINE) if self.options.cache else Cache()

    def _type(self, unique_id: str) -> str:
        node = self.project.nodes.get(unique_id)
        return node.resource_type if node else ""

    def _code(self, unique_id: str) -> str | None:
        node = self.project.nodes.get(unique_id)
        return node.compiled_code if node else None

    def _inputs(self, unique_ids: Iterable[str]) -> set[str]:
        return {
            parent
            for unique_id in unique_ids
            for parent in self.project.nodes[unique_id].depends_on
            if self._type(parent) in _READABLE
        }

    def _hard_coded(self, unique_ids: Iterable[str]) -> set[str]:
        """The nodes whose tables are named in SQL without a ref, as far as a glance tells."""
        nodes = self.project.nodes
        named: dict[str, set[str]] = {}
        for node in nodes.values():
            if node.resource_type in _READABLE and node.relation is not None:
                named.setdefault(node.relation.identifier.casefold(), set()).add(node.unique_id)
        found: set[str] = set()
        for unique_id in unique_ids:
            code = self._code(unique_id) or ""
            for name in _AFTER_FROM.findall(code.casefold()):
                found |= named.get(name, set()) - {unique_id, *nodes[unique_id].depends_on}
        return found

    def _with_ephemerals(self, built: set[str]) -> set[str]:
        """The built nodes and the ephemeral models that were inlined into them."""
        nodes = self.project.nodes
        found = {n for n in built if n in nodes}
        queue = sorted(found)
        while queue:
            for parent in self._inputs([queue.pop()]):
                if parent not in found and nodes[parent].is_ephemeral:
                    found.add(parent)
                    queue.append(parent)
        return found

    def _unbuilt(self, wanted: set[str]) -> set[str]:
        return {n for n in self._inputs(wanted) if self._type(n) in ("source", "seed")}

    def _consumers(self, built: set[str]) -> set[str]:
        return {
            n.unique_id
            for n in self.project.nodes.values()
            if n.resource_type not in (*_READABLE, "test", "unit_test", "operation", "analysis")
            and not built.isdisjoint(n.depends_on)
        }

    def _ancestors(self, unique_id: str) -> set[str]:
        found: set[str] = set()
        queue = [unique_id]
        while queue:
            for parent in self._inputs([queue.pop()]) - found:
                found.add(parent)
                queue.append(parent)
        return found

    def _exposed_nodes(self) -> set[str]:
        mode, nodes = self.options.exposures, self.project.nodes.values()
        own = [
            n for n in nodes if n.resource_type in _READABLE and n.package_name != "lineage_post"
        ]
        if mode is ExposureMode.MARKED:
            return {n.unique_id for n in own if any(_is_marked(c.meta) for c in n.columns)}
        built = [n for n in own if n.resource_type in ("model", "snapshot")]
        if mode is ExposureMode.PUBLIC:
            return {n.unique_id for n in built if n.access == "public"}
        read = {parent for n in built for parent in n.depends_on}
        return {n.unique_id for n in built if n.unique_id not in read}

    def _not_sql(self, unique_ids: Iterable[str]) -> set[str]:
        return {n for n in unique_ids if self.project.nodes[n].language != "sql"}

    def _columns(self, unique_ids: set[str], readers: set[str]) -> dict[str, CatalogTable]:
        """Columns of relations that are read and not traced, and of those that Python made.

        The warehouse is asked for what it was never asked for, and for what a star reads, since
        that is where a column that came since would be missed.
        """
        nodes = self.project.nodes
        asked = {n for n in unique_ids if not nodes[n].is_ephemeral}
        remembered = self._remembered()
        starred = self._read_by_star(readers)
        made = {n for n in asked & readers if nodes[n].language != "sql"}
        fresh = sorted(n for n in asked if n in starred | made or n not in remembered)
        found = {n: remembered[n] for n in asked if n in remembered}
        if fresh:
            objects = [self._object(n) for n in fresh]
            found.update(columns_in_warehouse(self.adapter, [o for o in objects if o is not None]))
            self._remember({**remembered, **found})
        return found

    def _read_by_star(self, readers: set[str]) -> set[str]:
        starred = {n for n in readers if _STAR.search(self._code(n) or "")}
        return self._inputs(starred)

    def _object(self, unique_id: str) -> Any:
        return self.manifest.nodes.get(unique_id) or self.manifest.sources.get(unique_id)

    def _remembered(self) -> dict[str, CatalogTable]:
        path = self.target_path / COLUMNS
        try:
            stored = json.loads(path.read_text("utf-8")) if path.is_file() else {}
            return {
                n: CatalogTable(n, dict(entry["columns"]))
                for n, entry in stored.items()
                if n in self.project.nodes
                and entry["relation"] == self.project.nodes[n].relation_name
            }
        except (OSError, ValueError, KeyError, TypeError) as error:
            detail(f"{path} ignored: {describe(error)}")
            return {}

    def _remember(self, tables: Mapping[str, CatalogTable]) -> None:
        path = self.target_path / COLUMNS
        stored = {
            n: {"relation": self.project.nodes[n].relation_name, "columns": dict(t.columns)}
            for n, t in sorted(tables.items())
        }
        write_text(path, json.dumps(stored, ensure_ascii=False))


def _with_types(table: CatalogTable, types: Mapping[str, str | None] | None) -> CatalogTable:
    if types is None:
        return table
    return replace(table, columns={c: types.get(c) or "" for c in table.columns})


def _is_marked(meta: Mapping[str, Any]) -> bool:
    settings = meta.get("lineage")
    return isinstance(settings, Mapping) and settings.get("expose") is True


def _home(warehouse: Warehouse) -> tuple[str, str | None] | None:
    """The database and schema that a shorter name is completed by, asked of the session where it
    alone knows: a search path may come from the server, the user or the profile."""
    kind, credentials = str(warehouse.adapter.type()), warehouse.adapter.config.credentials
    if kind in COMPLETED_BY_PROFILE:
        return str(credentials.database or ""), str(credentials.schema or "")
    if kind == "bigquery":
        # A bare name is refused there; a dataset is looked for where the query runs.
        return str(getattr(credentials, "execution_project", "") or credentials.database), None
    if kind not in COMPLETED_BY_SESSION:
        return None
    try:
        [(database, schema)] = warehouse.query("select current_database(), current_schema()")
    except Exception as error:
        detail(f"names are not completed: {describe(error)}")
        warehouse.rollback()
        return None
    return str(database), None if schema is None else str(schema)
