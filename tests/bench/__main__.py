"""``make bench``: this engine beside sqlglot's own and other tools, on made projects and queries.

    python -m tests.bench                      everything, some fifteen minutes
    python -m tests.bench --quick              small sizes, once
    python -m tests.bench --only queries       a part of it
    python -m tests.bench --target path/target whole processes on a real manifest and catalog

All figures come from one run, one after another; the ratios count, not the seconds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from lineage_post.artifacts import read_manifest
from tests.bench.commands import asking_for_a_row, commands
from tests.bench.hook import second_build
from tests.bench.peers import whole_processes
from tests.bench.projects import write_project
from tests.bench.queries import milliseconds, workloads
from tests.bench.report import TASKS, Results, show_aims, tables, to_dict

PARTS = ("queries", "projects", "manifests", "commands", "hook", "why")
#: The models of the project that ``impact`` and ``diff`` are asked about.
COMMANDS_ON = 1_000
#: The models of the project that is built with and without the hook; so many when in a hurry.
HOOK_ON, HOOK_ON_QUICK = 1_000, 100
#: The most models a slow contender is given.
LIMITS = {"sqlglot-default": 100, "sqlglot-best": 1_000}


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure, and how often: the least of the rounds counts."""

    parts: tuple[str, ...]
    sizes: tuple[int, ...]
    rounds: int
    targets: tuple[Path, ...] = ()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=PARTS, action="append", help="parts; default: all")
    parser.add_argument("--models", type=int, nargs="*", help="sizes of the made projects")
    parser.add_argument("--quick", action="store_true", help="100 and 1,000 models, one round")
    parser.add_argument("--target", type=Path, action="append", help="a real target folder")
    parser.add_argument("--output", choices=("table", "json"), default="table")
    arguments = parser.parse_args()
    console = Console(width=max(120, Console().width))
    results, shown = Results(), 0
    for results in _measurements(_plan(arguments)):
        if arguments.output == "table":
            found = list(tables(results))
            console.print(*found[shown:], sep="\n")
            shown = len(found)
    if arguments.output == "table":
        show_aims(results, console)
    else:
        print(json.dumps(to_dict(results), indent=2))


def _plan(arguments: argparse.Namespace) -> Plan:
    sizes = (100, 1_000) if arguments.quick else (100, 1_000, 5_000)
    targets = tuple(arguments.target or ())
    parts = arguments.only or (("manifests",) if targets else PARTS)
    return Plan(
        parts=tuple(parts),
        sizes=tuple(arguments.models or sizes),
        rounds=1 if arguments.quick else 3,
        targets=targets,
    )


def _measurements(plan: Plan) -> Iterator[Results]:
    """The same results again and again, with one table more."""
    results = Results()
    results.note_load("at the start")
    if "queries" in plan.parts:
        yield from _queries(plan, results)
    with tempfile.TemporaryDirectory() as scratch:
        if "projects" in plan.parts:
            yield from _projects(plan, results, Path(scratch))
        if "manifests" in plan.parts:
            yield from _manifests(plan, results, Path(scratch))
        if "commands" in plan.parts:
            folder = _made(Path(scratch), COMMANDS_ON)
            found = commands(folder, _changed(folder, COMMANDS_ON), rounds=plan.rounds)
            results.commands = (COMMANDS_ON, dict(found))
            results.note_load("after impact and diff")
            yield results
        if "hook" in plan.parts:
            _say("dbt build with and without the hook")
            models = HOOK_ON if plan.rounds > 1 else HOOK_ON_QUICK
            results.hook = second_build(Path(scratch) / "hook", models)
            results.note_load("after dbt build")
            yield results
    if "why" in plan.parts:
        _say("asking for a row")
        results.why = asking_for_a_row()
        yield results


def _queries(plan: Plan, results: Results) -> Iterator[Results]:
    for workload in workloads():
        _say(workload.name)
        results.queries[workload.name] = milliseconds(
            workload, rounds=2 * plan.rounds + 1, with_default=plan.rounds > 1
        )
        yield results
    results.note_load("after the queries")


def _projects(plan: Plan, results: Results, scratch: Path) -> Iterator[Results]:
    for size in plan.sizes:
        folder = _made(scratch, size)
        _changed(folder, size)
        rounds = plan.rounds if size < 5_000 else min(plan.rounds, 2)
        results.projects[size] = dict(_measured(folder, size, rounds))
        results.note_load(f"after {size:,} models")
        yield results


def _manifests(plan: Plan, results: Results, scratch: Path) -> Iterator[Results]:
    sizes = [size for size in plan.sizes if size < 5_000]
    made = {f"made-{size}": _made(scratch, size) for size in sizes}
    targets = {path.resolve().parent.name: path for path in plan.targets} or made
    for name, folder in targets.items():
        _say(name)
        tools = dict(whole_processes(folder, rounds=min(plan.rounds, 2)))
        results.manifests[name] = (_models(folder), tools)
        yield results
    results.note_load("after the whole processes")


def _made(scratch: Path, size: int) -> Path:
    folder = scratch / str(size)
    return folder if folder.exists() else write_project(folder, size)


def _changed(folder: Path, size: int) -> Path:
    """The same project with another SQL in one of its models."""
    changed = folder / "changed"
    return changed if changed.exists() else write_project(changed, size, changed=size // 2)


def _models(folder: Path) -> int:
    nodes = read_manifest(folder / "manifest.json").nodes.values()
    return sum(node.resource_type in ("model", "snapshot") for node in nodes)


def _measured(folder: Path, size: int, rounds: int) -> Iterator[tuple[str, dict[str, Any]]]:
    reports: dict[str, list[dict[str, Any]]] = {}
    for _ in range(rounds):
        # In turn, so that what else the machine does weighs on all of them alike.
        for task in TASKS:
            is_slow = task in LIMITS
            if size > LIMITS.get(task, size) or (is_slow and task in reports):
                continue
            _say(f"{size:,} models: {TASKS[task]}")
            report = _measure(task, folder)
            if report is not None:
                reports.setdefault(task, []).append(report)
    for task, found in reports.items():
        least = min(found, key=lambda report: float(report["cpu"]))
        yield task, {**least, "wall": min(report["wall"] for report in found)}


def _measure(task: str, folder: Path) -> dict[str, Any] | None:
    command = [sys.executable, "-m", "tests.bench.measure", task, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{task} failed: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def _say(what: str) -> None:
    if sys.stderr.isatty():
        print(f"... {what}", file=sys.stderr)


if __name__ == "__main__":
    main()
