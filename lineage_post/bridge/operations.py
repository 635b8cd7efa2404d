"""dbt's run-operation in a process of its own, for commands that write into the warehouse."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lineage_post.errors import LineageError

_ARTIFACTS = ("manifest.json", "run_results.json")
_HINT = "dbt deps and dbt build must have run; logs/dbt.log has the rest."


def run_operation(
    project_dir: Path,
    macro: str,
    arguments: Mapping[str, Any],
    *,
    profiles_dir: str | None = None,
    target: str | None = None,
    target_path: Path | None = None,
) -> str:
    """Runs ``lineage_post.<macro>`` on the project's profile; returns what it says, a line or more.

    What dbt's last command left in ``target_path`` stays there: a run-operation compiles nothing,
    and its own manifest would have no SQL. Raises LineageError with what dbt said where it fails.
    """
    command = ["run-operation", f"lineage_post.{macro}", "--args", json.dumps(dict(arguments))]
    # The hook's part of dbt comes in when a manifest is written: whatever the environment says.
    command += ["--write-json", "--project-dir", str(project_dir)]
    for flag, value in (
        ("--profiles-dir", profiles_dir),
        ("--target", target),
        ("--target-path", target_path and str(target_path)),
    ):
        command += [flag, value] if value else []
    with _artifacts_kept(target_path):
        done = _run_dbt(command, project_dir)
    said = [
        line.partition("lineage_post: ")[2]
        for line in done.stdout.splitlines()
        if "lineage_post: " in line
    ]
    if done.returncode != 0:
        last = said[-1] if said else _last_line(done.stdout + done.stderr)
        raise LineageError(
            f"dbt run-operation lineage_post.{macro} failed: {last}",
            hint=None if said else _HINT,
        )
    return "\n".join(said)


@contextmanager
def _artifacts_kept(target_path: Path | None) -> Iterator[None]:
    """Puts the manifest and the results back that were there, also after a fault."""
    files = [target_path / name for name in _ARTIFACTS] if target_path is not None else []
    present = [file for file in files if file.is_file()]
    with tempfile.TemporaryDirectory() as folder:
        for file in present:
            shutil.copy2(file, folder)
        try:
            yield
        finally:
            for file in present:
                shutil.copy2(Path(folder, file.name), file)


def _run_dbt(command: list[str], project_dir: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from dbt.cli.main import cli; cli()", "--no-use-colors", *command],
        cwd=project_dir,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        check=False,
    )


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
