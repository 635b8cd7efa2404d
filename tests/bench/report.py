"""What was measured, as tables and as one JSON document; and what the project aims at."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.bench.commands import DIFF, IMPACT, START
from tests.bench.hook import Second
from tests.bench.queries import BEST, EDGES, EXPRESSIONS, PARSE

#: Task of a project -> what a reader is told.
TASKS = {
    "load": "load manifest and catalog",
    "parse": "sqlglot: parse only",
    "cold-plain": "lineage_post cold, 1 process, no expressions",
    "cold-1": "lineage_post cold, 1 process",
    "cold-2": "lineage_post cold, 2 processes",
    "warm": "lineage_post warm",
    "changed": "lineage_post, one model changed",
    "sqlglot-best": "sqlglot.lineage, its best setting",
    "sqlglot-default": "sqlglot.lineage, its default",
}
Reports = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Aim:
    """A ratio, and the bound it is to keep."""

    what: str
    value: float
    bound: float
    is_least: bool = False

    @property
    def is_reached(self) -> bool:
        return self.value >= self.bound if self.is_least else self.value <= self.bound


@dataclass(slots=True)
class Results:
    """Everything one run of the benchmark measured."""

    #: Models -> task -> report.
    projects: dict[int, dict[str, dict[str, Any]]] = field(default_factory=dict)
    #: Workload -> contender -> CPU milliseconds a query.
    queries: dict[str, dict[str, float]] = field(default_factory=dict)
    #: Name of a manifest -> (its models, tool -> report).
    manifests: dict[str, tuple[int, dict[str, dict[str, Any]]]] = field(default_factory=dict)
    #: The models of a project, and what commands on it take.
    commands: tuple[int, dict[str, dict[str, Any]]] | None = None
    #: The second ``dbt build`` of an unchanged project.
    hook: Second | None = None
    #: What ``why`` costs, in times of the query that makes the row.
    why: dict[str, Any] = field(default_factory=dict)
    loads: list[tuple[str, tuple[float, float, float]]] = field(default_factory=list)

    def note_load(self, when: str) -> None:
        """The machine's load average is told beside every table."""
        self.loads.append((when, os.getloadavg()))


def to_dict(results: Results) -> dict[str, Any]:
    """The JSON document of a run."""
    return {
        "metadata": {
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "sqlglot": version("sqlglot"),
            "load": [{"when": when, "averages": list(load)} for when, load in results.loads],
        },
        "projects": {str(models): reports for models, reports in results.projects.items()},
        "queries": results.queries,
        "manifests": {
            name: {"models": models, "tools": reports}
            for name, (models, reports) in results.manifests.items()
        },
        "commands": results.commands,
        "hook": asdict(results.hook) if results.hook else None,
        "why": results.why,
        "aims": [{**asdict(aim), "is_reached": aim.is_reached} for aim in aims(results)],
    }


def tables(results: Results) -> Iterator[Table | str]:
    """One table for each part, in the order in which parts are measured."""
    for name, row in results.queries.items():
        yield _query_table(f"{name}: CPU for a query", row)
    for models, reports in results.projects.items():
        yield _project_table(f"a made project of {models:,} models", reports)
    for name, (models, tools) in results.manifests.items():
        yield _project_table(f"{name}: {models:,} models, whole processes", tools)
    if results.commands is not None:
        models, reports = results.commands
        yield _project_table(f"{models:,} models: commands as whole processes", reports)
    if results.hook is not None:
        title = f"second dbt build of {results.hook.models:,} unchanged models"
        yield _project_table(title, results.hook.reports)
        yield results.hook.words()
    if results.why:
        yield _why_table(results.why)


def show_aims(results: Results, console: Console) -> None:
    """Prints the aims, and the machine's load while they were measured."""
    console.print(_aims_table(list(aims(results))))
    for when, load in results.loads:
        console.print(f"load {when}: " + " ".join(f"{value:.1f}" for value in load))


def _project_table(title: str, reports: Reports) -> Table:
    table = _table(title, "wall s", "cpu s", "cpu : parse", "cpu : cold", "edges", "peak MB")
    parse = reports.get("parse", {}).get("cpu")
    cold = reports.get("cold-1", reports.get("lineage-post build", {})).get("cpu")
    for task, report in reports.items():
        table.add_row(
            TASKS.get(task, task),
            f"{report['wall']:.2f}",
            f"{report['cpu']:.2f}",
            f"{report['cpu'] / parse:.2f}" if parse else "",
            f"{report['cpu'] / cold:.2f}" if cold else "",
            f"{report['edges']:,}" if report["edges"] else "",
            f"{report['peak_mb']:.0f}",
        )
    return table


def _why_table(why: Mapping[str, Any]) -> Table:
    queries, scale = why["queries"], why["scale"]
    title = f"why: CPU of asking for one row : its query, {queries} TPC queries, scale {scale}"
    table = _table(f"{title}, 2 GB", *why["asked"])
    for what, key in (("until its witnesses are known", "asked"), ("and read, all", "whole")):
        table.add_row(what, *(f"{value:.2f}" for value in why[key].values()))
    return table


def _query_table(title: str, row: Mapping[str, float]) -> Table:
    table = _table(title, "ms", ": parse")
    for name, milliseconds in row.items():
        table.add_row(name, f"{milliseconds:.2f}", f"{milliseconds / row[PARSE]:.2f}")
    return table


def _aims_table(found: list[Aim]) -> Table:
    table = _table("ratios, and what they are to be", "is", "aim", "")
    for aim in found:
        sign = ">=" if aim.is_least else "<="
        reached = "reached" if aim.is_reached else "missed"
        table.add_row(aim.what, f"{aim.value:.3g}", f"{sign} {aim.bound:g}", reached)
    return table


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("what", no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def aims(results: Results) -> Iterator[Aim]:
    """Every aim that this run has the figures for."""
    for name, row in results.queries.items():
        yield from _query_aims(name, row)
    for models, reports in results.projects.items():
        yield from _project_aims(f"{models:,} models", reports)
    if {1_000, 5_000} <= results.projects.keys():
        large, small = (results.projects[n].get("cold-1", {}).get("cpu") for n in (5_000, 1_000))
        if large and small:
            yield Aim("cost of 5,000 models : 1,000", large / small, 6)
    if results.commands is not None:
        yield from _command_aims(*results.commands)
    if results.why:
        for figure, bound in (("median", 2.5), ("p90", 6), ("q67", 10)):
            yield Aim(f"why, one row : its query, {figure}", results.why["asked"][figure], bound)
    for name, (models, tools) in results.manifests.items():
        ours, theirs = tools.get("lineage-post build"), tools.get("dbt-colibri")
        if ours and theirs:
            bound = 10 if models >= 700 else 7
            ratio = theirs["cpu"] / ours["cpu"]
            yield Aim(f"{name}: dbt-colibri : ours", ratio, bound, is_least=True)


def _command_aims(models: int, reports: Reports) -> Iterator[Aim]:
    start = reports[START]["cpu"]
    for what, bound in ((IMPACT, 1.0), (DIFF, 3.0)):
        seconds = reports[what]["cpu"] - start
        yield Aim(f"{models:,} models: {what}, s beyond the start", seconds, bound)


def _query_aims(name: str, row: Mapping[str, float]) -> Iterator[Aim]:
    least = 3.5 if name == "TPC-DS" else 5
    yield Aim(f"{name}: parse and edges : parse", row[EDGES] / row[PARSE], 1.5)
    yield Aim(f"{name}: the same with expressions : parse", row[EXPRESSIONS] / row[PARSE], 1.75)
    yield Aim(f"{name}: sqlglot.lineage at best : ours", row[BEST] / row[EDGES], least, True)


def _project_aims(name: str, reports: Reports) -> Iterator[Aim]:
    cold = reports.get("cold-1")
    if cold is None:
        return
    if "cold-2" in reports and name.startswith("5,000"):
        speed = cold["wall"] / reports["cold-2"]["wall"]
        yield Aim(f"{name}: 1 process : 2 processes, wall", speed, 1.6, is_least=True)
    if "warm" in reports:
        yield Aim(f"{name}: warm : cold", reports["warm"]["cpu"] / cold["cpu"], 0.05)
    if "changed" in reports:
        changed = reports["changed"]["cpu"] / cold["cpu"]
        yield Aim(f"{name}: one model changed : cold", changed, 0.08)
    if name.startswith("5,000"):
        peak = max(reports[task]["peak_mb"] for task in ("cold-1", "cold-2") if task in reports)
        yield Aim(f"{name}: peak MB", peak, 600)
