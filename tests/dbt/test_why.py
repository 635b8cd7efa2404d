"""``dbt run-operation lineage_post.why``: on dbt's own connection, of DuckDB and of Postgres."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from tests.dbt.dbt_project import DbtProject, Result

pytestmark = pytest.mark.dbt


def ask(project: DbtProject, **arguments: Any) -> Result:
    return project.dbt("run-operation", "lineage_post.why", "--args", json.dumps(arguments))


def said(result: Result) -> str:
    return "\n".join(result.lines)


def test_it_answers_without_any_earlier_target_folder_and_only_reads(project: DbtProject) -> None:
    shutil.rmtree(project.target)
    before = project.recorded()
    result = ask(
        project, model="order_log", where="order_id = 1", depth="sources", how=True,
        where_cells=True,
    )  # fmt: skip
    assert result.code == 0, said(result)
    assert "order_log order_id=1" in said(result) and "reproduced" in said(result)
    assert "raw_orders: 1 row" in said(result) and "polynomial: raw_orders[" in said(result)
    assert "amount is copied from raw_orders" in said(result)
    assert project.recorded() == before


def test_json_holds_the_rows_and_sql_runs_as_it_is(project: DbtProject) -> None:
    asked = {"model": "order_log", "where": "order_id = 1"}
    answered = ask(project, **asked, output="json")
    text = next(line for line in answered.lines if line.lstrip().startswith("{"))
    [row] = json.loads(text)["rows"]
    assert row["row"]["order_id"] == 1
    written = ask(project, **asked, output="sql")
    sql = next(line for line in written.lines if line.startswith("-- why"))
    [stored] = project.query(sql.replace("{", "{{").replace("}", "}}"))
    assert stored[0] == 1 and "raw_orders[" in stored[-1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"model": "order_log", "where": "order_id in (select 1)"}, "not allowed"),
        ({"model": "order_log", "where": "true; drop table x"}, "not one expression"),
        ({"model": "order_lug", "where": "true"}, "no model 'order_lug'. Did you mean order_log?"),
        ({"model": "order_log.amount", "where": "true"}, "Name order_log alone"),
        (
            {"model": "raw_orders", "where": "true"},
            "its rows are the lines of seeds/raw_orders.csv",
        ),
        ({"model": "order_log", "where": "order_id = 4711"}, "No row of order_log matches"),
        ({"model": "order_log", "where": "true", "dept": 2}, "no argument 'dept'"),
    ],
)
def test_what_is_refused_fails_the_operation_in_one_line(
    arguments: dict[str, Any], told: str, duck: DbtProject
) -> None:
    result = ask(duck, **arguments)
    assert result.code != 0
    assert told in said(result) + str(result.outcome.exception)


def test_a_query_that_takes_too_long_is_ended(
    project: DbtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lineage_post.provenance import plan

    numbers = "generate_series(1, 200000)"
    endless = f"(select count(*) from {numbers} a(i), {numbers} b(i) where a.i * b.i = 7)"
    original = plan.Plan._over

    def slow(self: plan.Plan, *arguments: Any) -> Any:
        return original(self, *arguments).where(f"{endless} >= 0")

    monkeypatch.setattr(plan.Plan, "_over", slow)
    result = ask(project, model="order_log", where="order_id = 1", timeout=1)
    assert result.code != 0
    told = (said(result) + str(result.outcome.exception)).lower()
    assert "interrupt" in told or "statement timeout" in told
