"""Loads that fail, are killed or meet: no wrong view, no lost refresh, and the next run repairs."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

import pytest

from lineage_post.bridge.warehouse import Warehouse
from tests.dbt.dbt_project import BASE_TABLES, DbtProject

pytestmark = pytest.mark.dbt

#: In CI a few; `LINEAGE_POST_KILLS=20` for all.
KILLS = int(os.environ.get("LINEAGE_POST_KILLS", "3"))
KILLED = 77
#: dbt in a process that ends at once, without a word, at the n-th statement of a load.
PROGRAM = """\
import os, sys
from lineage_post.bridge import warehouse
left = int(sys.argv.pop(1))
execute = warehouse.Warehouse.execute
def counted(self, sql, parameter=None):
    global left
    left -= 1
    if left < 0:
        os._exit(77)
    execute(self, sql, parameter)
warehouse.Warehouse.execute = counted
from dbt.cli.main import cli
cli()
"""


def process(project: DbtProject, number: int, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(number), *arguments, "--profiles-dir", "."],
        cwd=project.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.long
def test_a_load_that_is_killed_leaves_the_earlier_answer_and_the_next_run_repairs(
    project: DbtProject,
) -> None:
    project.configure("\nvars:\n  lineage_post: {batch_bytes: 200}\n")
    project.database.release()
    edges, recorded = project.current_edges(), project.recorded()
    codes = set()
    for number in range(KILLS):
        sql = f"select revenue * {number + 10} as doubled from {{{{ ref('fct_customers') }}}}"
        project.write("models/report.sql", sql)
        codes.add(process(project, number % 5, "run", "--select", "report").wait(timeout=120))
        now = project.recorded()
        assert all(set(recorded[table]) <= set(now[table]) for table in BASE_TABLES)
        assert project.current_edges() == edges
    assert codes == {KILLED}
    repaired = project.dbt("run", "--select", "report")
    assert repaired.code == 0 and project.refreshes(repaired)["report"] == "success"
    assert project.current_edges() == edges
    expression = project.table(
        "lineage_column_edges", "expression", "to_node = 'model.shop.report'"
    )
    assert expression and f"* {KILLS + 9}" in str(expression)


@pytest.mark.postgres
def test_two_runs_that_end_at_once_both_have_their_refreshes(
    postgres_project: DbtProject,
) -> None:
    project = postgres_project
    project.restore()
    edges = project.current_edges()
    # Of one model each: two runs that build the same table are refused by Postgres, not by us.
    models = ("order_log", "report")

    def recorded() -> list[int]:
        found = (
            project.table("lineage_refreshes", "node", f"node = 'model.shop.{m}'") for m in models
        )
        return [len(rows) for rows in found]

    before = recorded()
    running = [
        process(project, 9999, "run", "--select", model, "--target-path", f"target_{model}")
        for model in models
    ]
    assert [one.wait(timeout=240) for one in running] == [0, 0]
    assert recorded() == [count + 1 for count in before]
    # order_log is incremental: its second build also reads the table itself.
    assert project.current_edges() >= edges


class Failing:
    """Warehouse.execute that fails at the n-th statement, as often as it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int, times: int) -> None:
        self.left, self.times, self.execute = at, times, Warehouse.execute
        monkeypatch.setattr(Warehouse, "execute", lambda *given: self(*given))

    def __call__(self, warehouse: Any, sql: str, parameter: str | None = None) -> None:
        self.left -= 1
        if self.left < 0 < self.times:
            self.times -= 1
            raise ConnectionError("the server went away")
        self.execute(warehouse, sql, parameter)


@pytest.mark.parametrize("times", [1, 2])
def test_a_statement_that_fails_once_or_twice_is_run_again(
    project: DbtProject, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    project.write(
        "models/report.sql", "select revenue * 7 as doubled from {{ ref('fct_customers') }}"
    )
    edges = len(project.table("lineage_edges"))
    Failing(monkeypatch, at=2, times=times)
    result = project.dbt("run", "--select", "report")
    assert result.code == 0 and not [line for line in result.ours if "WARNING" in line]
    assert project.refreshes(result)["report"] == "success"
    assert len(project.table("lineage_edges")) == edges + 1


@pytest.mark.postgres
def test_a_connection_that_is_cut_is_opened_again(
    postgres_project: DbtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = postgres_project
    project.restore()
    project.write(
        "models/report.sql", "select revenue * 8 as doubled from {{ ref('fct_customers') }}"
    )
    execute, done = Warehouse.execute, threading.Event()

    def cut(warehouse: Any, sql: str, parameter: str | None = None) -> None:
        if "lineage_refreshes" in sql and not done.is_set():
            done.set()
            project.database.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = 'shop' and pid <> pg_backend_pid()"
            )
        execute(warehouse, sql, parameter)

    monkeypatch.setattr(Warehouse, "execute", cut)
    result = project.dbt("run", "--select", "report")
    assert done.is_set() and result.code == 0, result.ours
    assert project.refreshes(result)["report"] == "success"
