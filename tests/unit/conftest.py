"""Artifacts for the tests, made by dbt itself, once a session."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from lineage_post.artifacts import (
    CatalogTable,
    Project,
    read_catalog,
    read_manifest,
    read_seed_headers,
)
from lineage_post.lineage import Lineage, trace_project

SHOP = Path(__file__).parent / "shop"

#: Both commands in one process: starting dbt is most of what they cost. What is left out of the
#: build is compiled all the same: Python models, which want pandas, and models that read tables by
#: name, which dbt cannot put in order.
_DBT = """
import pickle
import sys
from pathlib import Path

from dbt.cli.main import dbtRunner

from lineage_post.artifacts import project_from_manifest

LEFT_OUT = ["score", "guess", "hard_coded", "from_source", "resource_type:test"]
for command in (["build", "--exclude", *LEFT_OUT], ["docs", "generate"]):
    if not dbtRunner().invoke([*command, "--quiet", "--profiles-dir", "."]).success:
        sys.exit(f"dbt {command[0]} failed")

# What a plugin is given: the live Manifest, beside the file dbt writes of the same parse.
parsed = ["parse", "--quiet", "--profiles-dir", ".", "--target-path", "parsed"]
project = project_from_manifest(dbtRunner().invoke(parsed).result)
Path("live.pickle").write_bytes(pickle.dumps(project))
"""


@dataclass(frozen=True)
class Shop:
    """A built dbt-duckdb project and its artifacts."""

    path: Path

    @property
    def target(self) -> Path:
        return self.path / "target"

    @property
    def manifest(self) -> Path:
        return self.target / "manifest.json"

    def project(self) -> Project:
        return read_manifest(self.manifest)

    def catalog(self) -> dict[str, CatalogTable]:
        return read_catalog(self.target / "catalog.json")


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """The project of ``tests/unit/shop``, built and documented by dbt."""
    path = tmp_path_factory.mktemp("project") / "shop"
    shutil.copytree(SHOP, path)
    done = subprocess.run(
        [sys.executable, "-c", _DBT], cwd=path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return Shop(path)


@pytest.fixture(scope="session")
def shop_lineage(shop: Shop) -> Lineage:
    """The lineage of the shop, with no catalog: all from the SQL and the seeds' headers."""
    project = shop.project()
    headers = read_seed_headers(project, project_dir=shop.path)
    return trace_project(project, seed_headers=headers)
