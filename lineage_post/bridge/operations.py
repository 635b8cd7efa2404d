"""dbt's run-operation in a process of its own, for commands that write into the warehouse."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lineage_post.errors import LineageError


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

    Raises LineageError with what dbt said where it fails.
    """
    command = ["run-operation", f"lineage_post.{macro}", "--args", json.dumps(dict(arguments))]
    command += ["--project-dir", str(project_dir)]
    for flag, value in (
        ("--profiles-dir", profiles_dir),
        ("--target", target),
        ("--target-path", target_path and str(target_path)),
    ):
        command += [flag, value] if value else []
    done = subprocess.run(
        [sys.executable, "-c", "from dbt.cli.main import cli; cli()", "--no-use-colors", *command],
        cwd=project_dir,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    said = [
        line.partition("lineage_post: ")[2]
        for line in done.stdout.splitlines()
        if "lineage_post: " in line
    ]
    if done.returncode != 0:
        last = said[-1] if said else _last_line(done.stdout + done.stderr)
        raise LineageError(
            f"dbt run-operation lineage_post.{macro} failed: {last}",
            hint="dbt deps and dbt build must have run; logs/dbt.log has the rest.",
        )
    return "\n".join(said)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
