"""Other tools to compare with, each in an environment of its own below ``.peers/``.

``make bench-peers`` installs them: they lock versions of sqlglot that are not ours.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".peers"
PACKAGES = {"dbt-colibri": ("dbt-colibri",), "openlineage-sql": ("openlineage-sql",)}
OURS = "lineage-post build"
START = "interpreter start and imports alone"
ARTIFACTS = ("manifest.json", "catalog.json")

#: The command line of a tool for a folder with the artifacts.
Command = Callable[[Path], list[str]]


def install() -> None:
    """Makes the environments that are missing."""
    for name, packages in PACKAGES.items():
        home = FOLDER / name
        if not (home / ".made").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
            pip = [str(home / "bin/python"), "-m", "pip", "install", "--quiet"]
            subprocess.run([*pip, *packages], check=True)
            (home / ".made").touch()
        print(f"{name} is in {home.relative_to(ROOT)}")


def whole_processes(folder: Path, *, rounds: int = 1) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each tool as a whole process, cold, over a copy of the artifacts; the least of the rounds.

    Edges are counted where the tool prints their number.
    """
    commands: dict[str, Command] = {START: _start, OURS: _ours}
    if (FOLDER / "dbt-colibri/.made").exists():
        commands["dbt-colibri"] = _colibri
    if (FOLDER / "openlineage-sql/.made").exists():
        commands["openlineage-sql"] = _openlineage
    for name, command in commands.items():
        reports = [_cold_run(command, folder) for _ in range(rounds)]
        yield name, min(reports, key=lambda report: float(report["cpu"]))


def _start(target: Path) -> list[str]:
    del target
    return [sys.executable, "-c", "import lineage_post.lineage, lineage_post.cli.build"]


def _ours(target: Path) -> list[str]:
    program = Path(sys.executable).with_name("lineage-post")
    return [str(program), "build", "--target-path", str(target)]


def _colibri(target: Path) -> list[str]:
    files = [f"{target}/{name}" for name in ARTIFACTS]
    return [
        str(FOLDER / "dbt-colibri/bin/colibri"), "generate", "--disable-telemetry",
        "--manifest", files[0], "--catalog", files[1], "--output-dir", f"{target}/dist",
    ]  # fmt: skip


def _openlineage(target: Path) -> list[str]:
    script = Path(__file__).with_name("openlineage_peer.py")
    return [
        str(FOLDER / "openlineage-sql/bin/python"),
        str(script),
        str(target / "manifest.json"),
    ]


def _cold_run(command: Command, folder: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch, "target")
        target.mkdir()
        for name in ARTIFACTS:
            shutil.copy(folder / name, target)
        return timed(command(target), Path(scratch))


def timed(command: Sequence[str], cwd: Path) -> dict[str, Any]:
    """CPU and wall seconds of a command, its peak memory, and the edges where it tells them."""
    # A small process starts it: a child's peak memory is at least its parent's.
    launcher = [sys.executable, "-S", "-E", str(Path(__file__).with_name("launch.py"))]
    done = subprocess.run([*launcher, *command], cwd=cwd, capture_output=True, text=True)
    *lines, usage = done.stdout.strip().splitlines()
    report: dict[str, Any] = json.loads(usage)
    if report.pop("exit") not in (0, 1):
        print(f"{command[0]}: {done.stderr.strip()[-300:]}", file=sys.stderr)
    edges = int(lines[-1]) if lines and lines[-1].isdigit() else None
    return {**report, "edges": edges}


if __name__ == "__main__":
    install()
