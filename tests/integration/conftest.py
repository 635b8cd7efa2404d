"""The shop, built once by dbt with the hook, and copies of what dbt left in its target folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.dbt.in_process import install, run_dbt

ROOT = Path(__file__).parents[2]
#: What these need is there only in the environments that `make test-matrix` makes for them.
NEEDED = {"test_spark.py": "pyspark", "test_table_formats.py": "duckdb_extension_ducklake"}
collect_ignore = [file for file, module in NEEDED.items() if not find_spec(module)]
LEFT_OUT = shutil.ignore_patterns("target", "logs", "dbt_packages", "*.duckdb", "*.duckdb.wal")


@dataclass(frozen=True)
class Shop:
    """A copy of integration_project in a folder of its own."""

    folder: Path

    @property
    def target(self) -> Path:
        return self.folder / "target"

    def dbt(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs dbt as a user would, in a process of its own."""
        command = [str(Path(sys.executable).with_name("dbt")), "--no-use-colors", *arguments]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
        )
        return self._checked(done) if check else done

    @property
    def environment(self) -> dict[str, str]:
        return {
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            "DBT_PROFILES_DIR": str(self.folder),
        }

    def _checked(self, done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
        assert done.returncode == 0, f"{done.args}:\n{done.stdout}\n{done.stderr}"
        return done

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(self.folder / "shop.duckdb"), read_only=True) as connection:
            return connection.execute(sql).fetchall()


@dataclass(frozen=True)
class QuickShop(Shop):
    """The same with dbt in this process, which spares its imports."""

    def dbt(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = run_dbt(self.folder, arguments, self.environment)
        return self._checked(done) if check else done


@pytest.fixture(scope="session")
def built_shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """The shop after `dbt build` and `dbt docs generate`; tests leave it as it is."""
    shop = QuickShop(tmp_path_factory.mktemp("shop") / "integration_project")
    shutil.copytree(ROOT / "integration_project", shop.folder, ignore=LEFT_OUT)
    install(shop.folder)
    shop.dbt("build")
    shop.dbt("docs", "generate")
    return shop


@pytest.fixture
def shop(built_shop: Shop, tmp_path: Path) -> Shop:
    """A copy of the built shop that a test may change."""
    copied = QuickShop(tmp_path / "shop")
    shutil.copytree(built_shop.folder, copied.folder, symlinks=True)
    return copied


@pytest.fixture
def lineage_post(
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., tuple[int, str, str]]:
    """Runs the command line in this process: (exit code, stdout, stderr)."""
    from lineage_post.cli import run

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(arguments)
        streams = capsys.readouterr()
        return code, streams.out, streams.err

    return call
