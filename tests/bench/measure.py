"""One measurement in a process of its own: ``python -m tests.bench.measure TASK FOLDER``.

Prints a JSON object: CPU seconds of all processes and wall seconds of the work alone, the edges
found, and the peak memory. The loading of artifacts is a task of its own.
"""

from __future__ import annotations

import gc
import json
import resource
import shutil
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot.lineage import lineage as sqlglot_lineage
from sqlglot.schema import MappingSchema

from lineage_post.artifacts import CatalogTable, Project, read_catalog, read_manifest
from lineage_post.cache import Cache
from lineage_post.lineage import ENGINE, Lineage, trace_project
from lineage_post.options import Options
from lineage_post.trace.dialects import dialect_of, rules_of
from tests.bench.memory import own_peak_mb
from tests.bench.queries import sqlglot_leaves

#: Does the work and gives back what it found, to be counted after the clock has stopped.
Work = Callable[[], Any]


def main(task: str, folder: Path) -> None:
    """Prepares the task, runs its work once and prints what it took."""
    work = TASKS[task](folder)
    gc.collect()
    wall, cpu = time.perf_counter(), _cpu()
    found = work()
    report = {"wall": time.perf_counter() - wall, "cpu": _cpu() - cpu, "peak_mb": _peak_mb(task)}
    edges = sum(1 for _ in found.edges()) if isinstance(found, Lineage) else found
    print(json.dumps({**report, "edges": edges}))


def load(folder: Path) -> Work:
    """Reads manifest and catalog."""

    def work() -> None:
        _project(folder)

    return work


def parse(folder: Path) -> Work:
    """Parses every model and keeps nothing."""
    statements, dialect = _statements(folder)

    def work() -> None:
        for sql in statements:
            sqlglot.parse_one(sql, dialect=dialect)

    return work


def cold(folder: Path, *, processes: int, expressions: bool = True) -> Work:
    """Everything traced for the first time, and the cache of it written."""
    project, catalog = _ready(folder)
    options = Options(processes=processes, expressions=expressions)
    home = folder / f"cache-{processes}"
    if not expressions:
        home = folder / "cache-plain"
    shutil.rmtree(home, ignore_errors=True)

    def work() -> Lineage:
        cache = Cache.open(home, ENGINE)
        found = trace_project(project, catalog=catalog, options=options, cache=cache)
        cache.save()
        return found

    return work


def warm(folder: Path, *, changed: bool) -> Work:
    """With the cache of the same project, and with one model's SQL changed since."""
    filled, home = folder / "cache-1", folder / "cache-warm"
    if not filled.exists():
        cold(folder, processes=1)()
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(filled, home)
    project, catalog = _ready(folder / "changed" if changed else folder)

    def work() -> Lineage:
        cache = Cache.open(home, ENGINE)
        found = trace_project(project, catalog=catalog, options=Options(processes=1), cache=cache)
        cache.save()
        return found

    return work


def sqlglot_best(folder: Path) -> Work:
    """``sqlglot.lineage``: all columns of a model at once, one shared schema, nothing copied."""
    statements, dialect = _statements(folder)
    schema = _sqlglot_schema(folder, dialect)
    return lambda: sum(sqlglot_leaves(sql, schema, dialect) for sql in statements)


def sqlglot_default(folder: Path) -> Work:
    """``sqlglot.lineage`` as it comes: all columns of a model, one shared schema."""
    statements, dialect = _statements(folder)
    schema = _sqlglot_schema(folder, dialect)

    def work() -> None:
        for sql in statements:
            sqlglot_lineage(None, sql, schema, dialect=dialect)

    return work


def _project(folder: Path) -> tuple[Project, dict[str, CatalogTable]]:
    """The project, and the columns of its sources alone: those of models are traced."""
    catalog = read_catalog(folder / "catalog.json")
    sources = {key: table for key, table in catalog.items() if not key.startswith("model.")}
    return read_manifest(folder / "manifest.json"), sources


def _ready(folder: Path) -> tuple[Project, dict[str, CatalogTable]]:
    """The same, and imported what tracing imports when it is first needed."""
    project, catalog = _project(folder)
    import_module("lineage_post.trace.tracing")
    rules_of(dialect_of(project.adapter_type))
    return project, catalog


def _statements(folder: Path) -> tuple[list[str], str]:
    project = read_manifest(folder / "manifest.json")
    nodes = project.nodes.values()
    statements = [n.compiled_code for n in nodes if n.compiled_code and n.language == "sql"]
    return statements, dialect_of(project.adapter_type)


def _sqlglot_schema(folder: Path, dialect: str) -> MappingSchema:
    schema = MappingSchema(dialect=dialect)
    project = read_manifest(folder / "manifest.json")
    for unique_id, table in read_catalog(folder / "catalog.json").items():
        name = project.nodes[unique_id].relation_name
        schema.add_table(name or "", dict(table.columns), dialect=dialect)
    return schema


def _cpu() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _peak_mb(task: str) -> float:
    """The most memory this process held and, at most, what its two workers held beside it."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own_peak_mb() + (2 * usage.ru_maxrss / 1024 if task == "cold-2" else 0)


TASKS: dict[str, Callable[[Path], Work]] = {
    "load": load,
    "parse": parse,
    "cold-plain": lambda folder: cold(folder, processes=1, expressions=False),
    "cold-1": lambda folder: cold(folder, processes=1),
    "cold-2": lambda folder: cold(folder, processes=2),
    "warm": lambda folder: warm(folder, changed=False),
    "changed": lambda folder: warm(folder, changed=True),
    "sqlglot-best": sqlglot_best,
    "sqlglot-default": sqlglot_default,
}

if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
