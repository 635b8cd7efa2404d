"""dbt in this process: each process of its own spends some five seconds on imports."""

from __future__ import annotations

import io
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stdout
from pathlib import Path
from unittest import mock

from tests.dbt.dbt_project import ROOT


def run_dbt(
    folder: Path, arguments: Sequence[str], environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """What the command line would exit with and print, in the project of ``folder``."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager
    from dbt.cli.main import dbtRunner

    said = io.StringIO()
    with chdir(folder), mock.patch.dict(os.environ, environment), redirect_stdout(said):
        outcome = dbtRunner().invoke(["--no-use-colors", *arguments])
    # The adapter keeps the file open for the next command of this process.
    DuckDBConnectionManager.close_all_connections()
    code = 0 if outcome.success else 2 if outcome.exception else 1
    fault = str(outcome.exception or "")
    return subprocess.CompletedProcess(arguments, code, said.getvalue(), fault)


def install(folder: Path) -> None:
    """This package in a project, as ``dbt deps`` puts it there."""
    (folder / "packages.yml").write_text(f"packages:\n  - local: {ROOT.as_posix()}\n")
    (folder / "dbt_packages").mkdir()
    (folder / "dbt_packages" / "lineage_post").symlink_to(ROOT)
