"""Traces a project: its nodes, parents first, with the cache, in one process or several."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import lineage_post
from lineage_post.artifacts import CatalogTable, Project
from lineage_post.cache import Cache, Record, installed
from lineage_post.lineage.assemble import assembled
from lineage_post.lineage.hooks import with_hooks, writers_to
from lineage_post.lineage.order import Order
from lineage_post.lineage.pool import Workers
from lineage_post.lineage.project import Lineage
from lineage_post.lineage.task import Settings, Task, tasks_of
from lineage_post.options import Options
from lineage_post.relations import Relations
from lineage_post.schema import Columns, Learned, static_columns
from lineage_post.trace.collector import collector_held_back
from lineage_post.trace.dialects import dialect_of
from lineage_post.vocabulary import Reason


def _engine() -> str:
    """The versions that a trace is of, and the state of the files that make it."""
    files = installed("trace", "lineage")
    return f"{lineage_post.__version__}/sqlglot-{_sqlglot_version()}/{files}"


def _sqlglot_version() -> str:
    """As its file says it: importing sqlglot takes longer than all else that a warm run does."""
    spec = find_spec("sqlglot")
    if spec is not None and spec.origin is not None:
        with suppress(OSError):
            text = Path(spec.origin).with_name("_version.py").read_text(encoding="utf-8")
            if found := re.search(r"^__version__ = .*['\"](.+)['\"]$", text, re.MULTILINE):
                return found[1]
    return str(getattr(import_module("sqlglot"), "__version__", ""))


#: The version of what tracing gives; a cached trace of another engine is not used.
ENGINE = _engine()

#: A hard-coded name gives a node a new parent, seen only once it was traced. So many rounds.
MAX_ROUNDS = 10


def trace_project(
    project: Project,
    *,
    catalog: Mapping[str, CatalogTable] | None = None,
    options: Options | None = None,
    seed_headers: Mapping[str, Sequence[str]] | None = None,
    cache: Cache | None = None,
    only: Collection[str] | None = None,
) -> Lineage:
    """The lineage of a project. Never raises for a node that cannot be traced: that is a state.

    ``only`` limits it to these nodes and all they are built from. The cache, if given, is read and
    filled; saving it is left to the caller. Raises OptionError for an adapter of unknown dialect.
    """
    options = options or Options()
    run = _Run(_limited(project, only), catalog or {}, seed_headers or {}, options, cache)
    return run.lineage()


class _Run:
    """One tracing of a project."""

    def __init__(
        self,
        project: Project,
        catalog: Mapping[str, CatalogTable],
        headers: Mapping[str, Sequence[str]],
        options: Options,
        cache: Cache | None,
    ) -> None:
        self.project = project
        self.options = options
        self.cache = cache if cache is not None else Cache()
        self.relations = Relations(project)
        self.settings = settings_of(project, options)
        self.tasks = tasks_of(project, self.relations, catalog)
        digest = self.settings.digest()
        self.keys = {key: task.content_key(digest) for key, task in self.tasks.items()}
        self.names = [*self.relations.names(), *_cte_names(project)]
        self.names_digest = hashlib.sha256(json.dumps(self.names).encode()).hexdigest()[:24]
        self.static = {
            node.unique_id: static_columns(
                node, catalog.get(node.unique_id), headers.get(node.unique_id)
            )
            for node in project.nodes.values()
            if node.resource_type in ("model", "snapshot", "seed", "source")
        }
        self.columns: dict[str, Columns] = {}
        self.records: dict[str, Record] = {}
        self.workers = Workers(self.settings, self.names, self.names_digest, options.processes)
        self.needs = {key: self._needs(task) for key, task in self.tasks.items()}

    def lineage(self) -> Lineage:
        with collector_held_back():
            return self._lineage()

    def _lineage(self) -> Lineage:
        self.workers.expect(
            sum(len(t.sql) for key, t in self.tasks.items() if self.keys[key] not in self.cache)
        )
        with self.workers:
            for _ in range(MAX_ROUNDS):
                self._round()
                if not self._add_needs_found():
                    break
        lineage = assembled(self.project, self.options, self.relations, self.records, self.columns)
        lineage = with_hooks(lineage, self.relations, self.columns, self.settings, self.names)
        return lineage.made_of(self.relations, self.tasks)

    def _needs(self, task: Task) -> set[str]:
        """The relations whose columns a node may see: its parents, itself, and those that an
        earlier trace of the same SQL is known to have read by a hard-coded name."""
        needs = {key for key, _ in task.parents if key in self.static} | {task.unique_id}
        for record in self.cache.variants(self.keys[task.unique_id]):
            needs.update(r.key for r in record.reads if r.key is not None and r.key in self.static)
        return needs

    def _round(self) -> None:
        """Traces every node once, parents first; what the cache holds is not traced."""
        self.columns = dict(self.static)
        self.records = {}
        order = Order(self.needs)
        while True:
            while ready := order.take():
                for unique_id in ready:
                    self._begin(unique_id, order)
            traced = self.workers.traced()
            for unique_id, record in traced:
                self._keep(unique_id, record)
                self._finish(unique_id, record, order)
            if not traced and not order.cut():
                return

    def _begin(self, unique_id: str, order: Order) -> None:
        """Hands a node to the workers, unless the cache holds its record."""
        shown = {key: self.columns[key] for key in sorted(self.needs[unique_id])}
        record = self._cached(unique_id, shown)
        if record is None:
            self.workers.add(self.tasks[unique_id], shown)
        else:
            self._finish(unique_id, record, order)

    def _finish(self, unique_id: str, record: Record, order: Order) -> None:
        self.records[unique_id] = record
        self.columns[unique_id] = columns_of(record)
        order.done(unique_id)

    def _keep(self, unique_id: str, record: Record) -> None:
        # A fault may be gone with the next run: it is not to be remembered.
        if record.reason is not Reason.INTERNAL_ERROR:
            self.cache.add(self.keys[unique_id], record)

    def _cached(self, unique_id: str, shown: Mapping[str, Columns]) -> Record | None:
        """A cached trace that would come out the same: it saw the same columns of the same
        relations. Names are looked up again only if some relation of the project came or went."""
        key = self.keys[unique_id]
        found = self.cache.find(key, lambda record: self._holds(record, shown))
        if found is not None and found.names != self.names_digest:
            found = found._replace(names=self.names_digest)
            self.cache.add(key, found)
        return found

    def _holds(self, record: Record, shown: Mapping[str, Columns]) -> bool:
        for read in record.reads:
            seen = shown.get(read.key) if read.key is not None else None
            if read.digest != (seen.digest if seen is not None else ""):
                return False
        if record.names == self.names_digest:
            return True
        return all(
            self.workers.index.key_of(read.parts) == read.key
            for read in record.reads
            if not (len(read.parts) == 1 and read.key is not None)
        )

    def _add_needs_found(self) -> bool:
        added = False
        for unique_id, record in self.records.items():
            for read in record.reads:
                if read.key in self.static and read.key not in self.needs[unique_id]:
                    self.needs[unique_id].add(read.key)
                    added = True
        return added


def settings_of(project: Project, options: Options) -> Settings:
    """What all traces of the project share. Raises OptionError for an unknown adapter."""
    return Settings(
        dialect=options.dialect or dialect_of(project.adapter_type),
        engine=ENGINE,
        expressions=options.expressions,
        masking_functions=options.masking_functions,
        commands=options.commands,
    )


def columns_of(record: Record) -> Columns:
    """The columns that readers of a traced node see."""
    learned = Learned(record.learned)
    return Columns.from_json(record.schema, record.schema_digest, learned, record.is_complete)


def _cte_names(project: Project) -> list[tuple[tuple[str, ...], str]]:
    """The names under which readers inline ephemeral models, where a name is one model's alone."""
    found: dict[str, set[str]] = {}
    for node in project.nodes.values():
        for cte in node.ctes:
            found.setdefault(cte.name, set()).add(cte.unique_id)
    return [((name,), ids.pop()) for name, ids in sorted(found.items()) if len(ids) == 1]


def _limited(project: Project, only: Collection[str] | None) -> Project:
    if only is None:
        return project
    wanted = _with_ancestors(project, only)
    # A hook writes to relations of other nodes, whose lineage is to be the same in a partial run.
    wanted |= _with_ancestors(project, writers_to(project, wanted))
    return replace(project, nodes={k: n for k, n in project.nodes.items() if k in wanted})


def _with_ancestors(project: Project, unique_ids: Iterable[str]) -> set[str]:
    wanted: set[str] = set()
    waiting = [unique_id for unique_id in unique_ids if unique_id in project.nodes]
    while waiting:
        unique_id = waiting.pop()
        if unique_id not in wanted:
            wanted.add(unique_id)
            waiting.extend(p for p in project.nodes[unique_id].depends_on if p in project.nodes)
    return wanted
