"""A CRM that dbt has built once, in copies that tests may change."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from lineage_post.cli import run
from tests.dbt.in_process import install, run_dbt

HERE = Path(__file__).parent
LEFT_OUT = shutil.ignore_patterns("target", "logs", "dbt_packages", "*.duckdb", "*.duckdb.wal")


@dataclass(frozen=True)
class Crm:
    """A copy of the project."""

    folder: Path

    def dbt(self, *arguments: str) -> None:
        secret = {"DBT_PROFILES_DIR": str(self.folder), "SECRET_OF_THE_MACHINE": "hunter2"}
        done = run_dbt(self.folder, arguments, secret)
        assert done.returncode == 0, done.stdout + done.stderr

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(self.folder / "crm.duckdb"), read_only=True) as connection:
            return connection.execute(sql).fetchall()

    def yaml(self) -> dict[str, str]:
        """The text of every YAML file with columns in it."""
        found = [p for name in ("models", "seeds", "snapshots") for p in self._files(name)]
        return {
            p.relative_to(self.folder).as_posix(): p.read_bytes().decode("utf-8") for p in found
        }

    def _files(self, name: str) -> list[Path]:
        return sorted((self.folder / name).rglob("*.yml"))


@pytest.fixture(scope="session")
def built_crm(tmp_path_factory: pytest.TempPathFactory) -> Crm:
    """The project after `dbt build` with the hook; tests leave it as it is."""
    crm = Crm(tmp_path_factory.mktemp("crm") / "crm")
    shutil.copytree(HERE / "project", crm.folder, ignore=LEFT_OUT)
    install(crm.folder)
    crm.dbt("build", "--exclude", "package:lineage_post,resource_type:test")
    return crm


@pytest.fixture
def crm(built_crm: Crm, tmp_path: Path) -> Crm:
    """A copy of the built project that a test may change."""
    copied = Crm(tmp_path / "crm")
    shutil.copytree(built_crm.folder, copied.folder, symlinks=True)
    return copied


Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs a command on a project: ``cli(crm, "tags")`` is (exit code, stdout, stderr)."""

    def call(crm: Crm, *arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([*arguments, "--project-dir", str(crm.folder)])
        streams = capsys.readouterr()
        return code, streams.out, streams.err

    return call
