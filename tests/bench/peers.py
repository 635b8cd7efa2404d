"""Other tools to compare with, each in an environment of its own below ``.peers/``.

``make bench-peers`` installs them: they lock versions of sqlglot that are not ours.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".peers"
PACKAGES = {"dbt-colibri": ("dbt-colibri",), "openlineage-sql": ("openlineage-sql",)}


def install() -> None:
    """Makes the environments that are missing."""
    for name, packages in PACKAGES.items():
        home = FOLDER / name
        if not (home / ".made").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
            pip = [home / "bin/python", "-m", "pip", "install", "--quiet"]
            subprocess.run([*pip, *packages], check=True)
            (home / ".made").touch()
        print(f"{name} is in {home.relative_to(ROOT)}")


def peer_tasks(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Whole processes, beside ours as a whole process; nothing where no peer is installed."""
    if not any((FOLDER / name / ".made").exists() for name in PACKAGES):
        return
    ours = [Path(sys.executable).parent / "lineage-post", "build", "--target-path", str(folder)]
    yield "lineage-post build, whole process", _timed([*map(str, ours)], folder)
    colibri = FOLDER / "dbt-colibri/bin/colibri"
    if colibri.exists():
        with tempfile.TemporaryDirectory() as scratch:
            for name in ("manifest.json", "catalog.json"):
                shutil.copy(folder / name, scratch)
            command = [
                str(colibri), "generate",
                "--manifest", f"{scratch}/manifest.json",
                "--catalog", f"{scratch}/catalog.json",
                "--output-dir", f"{scratch}/dist",
            ]  # fmt: skip
            yield "dbt-colibri, whole process", _timed(command, Path(scratch))
    openlineage = FOLDER / "openlineage-sql/bin/python"
    if openlineage.exists():
        script = Path(__file__).with_name("openlineage_peer.py")
        command = [str(openlineage), str(script), str(folder / "manifest.json")]
        yield "openlineage-sql, whole process", _timed(command, folder)


def _timed(command: list[str], cwd: Path) -> dict[str, Any]:
    before, wall = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    after = getrusage(RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        print(f"{command[0]}: {done.stderr.strip()[-300:]}", file=sys.stderr)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = done.stdout.strip().splitlines()[-1:]
    edges = int(found[0]) if found and found[0].isdigit() else 0
    return {
        "wall": time.perf_counter() - wall,
        "cpu": cpu,
        "edges": edges,
        "peak_mb": after.ru_maxrss / 1024,
    }


if __name__ == "__main__":
    install()
