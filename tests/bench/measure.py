"""One measurement in a process of its own: ``python -m tests.bench.measure TASK FOLDER``.

Prints a JSON object: CPU seconds of all processes and wall seconds of the work alone, the edges
found, and the peak memory. Loading is measured as a task of its own.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot.lineage import lineage as sqlglot_lineage
from sqlglot.schema import MappingSchema

from lineage_post.artifacts import Project, read_catalog, read_manifest
from lineage_post.cache import Cache
from lineage_post.lineage import Lineage, trace_project
from lineage_post.lineage.run import ENGINE
from lineage_post.options import Options

#: Does the work and gives back what it found, to be counted after the clock has stopped.
Work = Callable[[], Any]


def main(task: str, folder: Path) -> None:
    """Prepares the task, runs its work once and prints what it took."""
    work = TASKS[task](folder)
    gc.collect()
    wall, cpu = time.perf_counter(), _cpu()
    found = work()
    report = {"wall": time.perf_counter() - wall, "cpu": _cpu() - cpu, "peak_mb": _peak_mb()}
    edges = sum(1 for _ in found.edges()) if isinstance(found, Lineage) else found
    print(json.dumps({**report, "edges": edges}))


def load(folder: Path) -> Work:
    def work() -> None:
        read_catalog(folder / "catalog.json")
        read_manifest(folder / "manifest.json")

    return work


def parse(folder: Path) -> Work:
    statements, dialect = _statements(folder)

    def work() -> None:
        for sql in statements:
            sqlglot.parse_one(sql, dialect=dialect)

    return work


def sqlglot_best(folder: Path) -> Work:
    """All columns at once from one qualified expression and one shared schema."""
    return _sqlglot(folder, whole=True)


def sqlglot_default(folder: Path) -> Work:
    """One call per column, as most tools do it."""
    return _sqlglot(folder, whole=False)


def trace(folder: Path, *, processes: int, expressions: bool = True) -> Work:
    project, catalog = _project(folder)
    options = Options(processes=processes, expressions=expressions)

    return lambda: trace_project(project, catalog=catalog, options=options)


def warm(folder: Path, *, changed: bool) -> Work:
    """With the cache of an unchanged project, or of one in which a single model differs."""
    project, catalog = _project(folder)
    options = Options(processes=1)
    cache = Cache.open(folder / "cache", ENGINE)
    trace_project(project, catalog=catalog, options=options, cache=cache)
    cache.save()
    if changed:
        project, catalog = _project(folder / "changed")

    def work() -> Lineage:
        stored = Cache.open(folder / "cache", ENGINE)
        return trace_project(project, catalog=catalog, options=options, cache=stored)

    return work


def _project(folder: Path) -> tuple[Project, dict[str, Any]]:
    catalog = read_catalog(folder / "catalog.json")
    sources = {k: v for k, v in catalog.items() if not k.startswith("model.")}
    return read_manifest(folder / "manifest.json"), sources


def _statements(folder: Path) -> tuple[list[str], str]:
    project = read_manifest(folder / "manifest.json")
    nodes = project.nodes.values()
    return [n.compiled_code for n in nodes if n.compiled_code and n.language == "sql"], "duckdb"


def _sqlglot(folder: Path, *, whole: bool) -> Work:
    statements, dialect = _statements(folder)
    schema = MappingSchema(dialect=dialect)
    project = read_manifest(folder / "manifest.json")
    for unique_id, table in read_catalog(folder / "catalog.json").items():
        relation = project.nodes[unique_id].relation_name
        schema.add_table(relation or "", dict(table.columns), dialect=dialect)

    def work() -> int:
        found = 0
        for sql in statements:
            if whole:
                nodes = sqlglot_lineage(
                    None, sql, schema, dialect=dialect, trim_selects=False, copy=False
                )
                found += sum(_leaves(node) for node in nodes.values())
            else:
                for name in sqlglot.parse_one(sql, dialect=dialect).named_selects:
                    if name != "*":
                        found += _leaves(sqlglot_lineage(name, sql, schema, dialect=dialect))
        return found

    return work


def _leaves(node: Any) -> int:
    return len({id(n) for n in node.walk() if not n.downstream})


def _cpu() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _peak_mb() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024


TASKS: dict[str, Callable[[Path], Work]] = {
    "load": load,
    "parse": parse,
    "sqlglot-best": sqlglot_best,
    "sqlglot-default": sqlglot_default,
    "trace-1": lambda folder: trace(folder, processes=1),
    "trace-2": lambda folder: trace(folder, processes=2),
    "trace-plain": lambda folder: trace(folder, processes=1, expressions=False),
    "warm": lambda folder: warm(folder, changed=False),
    "changed": lambda folder: warm(folder, changed=True),
}

if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
