"""``make bench``: this engine beside sqlglot's own, on made projects or on a target folder.

    python -m tests.bench                      projects of 100, 1,000 and 5,000 models
    python -m tests.bench --models 100         another size
    python -m tests.bench --target path/target a real manifest.json and catalog.json

All measurements of a row come from one run, one after another; the ratios count, not the seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.bench.peers import peer_tasks
from tests.bench.projects import write_project

SIZES = (100, 1_000, 5_000)
TASKS = {
    "load": "load manifest and catalog",
    "parse": "sqlglot: parse only",
    "trace-plain": "lineage_post, 1 process, no expressions",
    "trace-1": "lineage_post, 1 process",
    "trace-2": "lineage_post, 2 processes",
    "warm": "lineage_post, nothing changed",
    "changed": "lineage_post, one model changed",
    "sqlglot-best": "sqlglot.lineage, all columns at once",
    "sqlglot-default": "sqlglot.lineage, a call per column",
}
#: One call per column takes minutes on larger projects and tells nothing new.
ONLY_SMALL = {"sqlglot-default": 100}
Report = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--target", type=Path)
    arguments = parser.parse_args()
    console = Console()
    console.print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, {_load()}"
    )
    totals: dict[int, Report] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for size, folder in _folders(arguments, Path(scratch)):
            reports = dict(_measured(folder, size))
            console.print(_table(str(folder) if size is None else f"{size:,} models", reports))
            if size is not None and "trace-1" in reports:
                totals[size] = reports["trace-1"]
    for small, large in zip(sorted(totals), sorted(totals)[1:], strict=False):
        ratio = totals[large]["cpu"] / totals[small]["cpu"]
        console.print(f"{large:,} models cost {ratio:.1f} times {small:,}; {_load()}")


def _folders(arguments: argparse.Namespace, scratch: Path) -> Iterator[tuple[int | None, Path]]:
    if arguments.target:
        yield None, arguments.target
        return
    for size in arguments.models:
        folder = write_project(scratch / str(size), size)
        write_project(folder / "changed", size, changed=size // 2)
        yield size, folder


def _measured(folder: Path, size: int | None) -> Iterator[tuple[str, Report]]:
    for task in TASKS:
        skipped = size is not None and size > ONLY_SMALL.get(task, size)
        if skipped or (task == "changed" and not (folder / "changed").is_dir()):
            continue
        command = [sys.executable, "-m", "tests.bench.measure", task, str(folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(f"{task} failed: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            continue
        yield task, json.loads(done.stdout.splitlines()[-1])
    yield from peer_tasks(folder)


def _table(title: str, reports: dict[str, Report]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("what")
    for heading in ("wall s", "cpu s", "x parse", "x cold", "edges", "peak MB"):
        table.add_column(heading, justify="right")
    parse = reports.get("parse", {}).get("cpu")
    cold = reports.get("trace-1", {}).get("wall")
    for task, report in reports.items():
        table.add_row(
            TASKS.get(task, task),
            f"{report['wall']:.2f}",
            f"{report['cpu']:.2f}",
            f"{report['cpu'] / parse:.2f}" if parse else "",
            f"{report['wall'] / cold:.2f}" if cold else "",
            f"{report['edges']:,}" if report["edges"] else "",
            f"{report['peak_mb']:.0f}",
        )
    return table


def _load() -> str:
    return "load " + " ".join(f"{value:.1f}" for value in os.getloadavg())


if __name__ == "__main__":
    main()
