"""What goes wrong, and what the user then sees: one line, and a run that is not harmed by it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dbt_lineage_post
from lineage_post.bridge import publishing
from lineage_post.bridge.say import warn
from lineage_post.bridge.warehouse import Warehouse
from tests.dbt.dbt_project import NO_TESTS, DbtProject

pytestmark = pytest.mark.dbt

STRICT = "\nvars:\n  lineage_post: {strict: true}\n"
RUN_REPORT = ("run", "--select", "report")


def broken(*args: Any, **kwargs: Any) -> Any:
    raise RuntimeError("a fault with 'quotes', a {{ brace }} and\na second line")


def test_a_fault_is_one_warning_line(duck: DbtProject, monkeypatch: pytest.MonkeyPatch) -> None:
    before = duck.recorded()
    monkeypatch.setattr(publishing, "rows_of", broken)
    result = duck.dbt(*RUN_REPORT)
    assert result.code == 0
    [line] = result.ours
    assert line.startswith("lineage_post: [WARNING] RuntimeError: a fault with 'quotes'")
    assert "not recorded" in line and "\n" not in line
    assert duck.recorded() == before


def test_a_fault_stays_a_warning_under_warn_error(
    duck: DbtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "rows_of", broken)
    assert duck.dbt("--warn-error", *RUN_REPORT).code == 0


def test_a_strict_fault_fails_the_run_and_stands_in_its_results(
    project: DbtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.configure(STRICT)
    before = project.recorded()
    monkeypatch.setattr(publishing, "rows_of", broken)
    result = project.dbt(*RUN_REPORT)
    assert result.code == 1
    [hook] = [r for r in result.run_results if r["unique_id"].startswith("operation.")]
    assert hook["status"] == "error"
    assert "lineage_post: RuntimeError: a fault with 'quotes'" in hook["message"]
    assert result.statuses()["model.shop.report"] == "success"
    assert project.recorded() == before


def test_a_load_that_the_warehouse_refuses_leaves_no_row_behind(
    project: DbtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = Warehouse.execute

    def refused(self: Warehouse, sql: str, parameter: str | None = None) -> None:
        if "lineage_refreshes" in sql:
            sql, parameter = "select no_such_column", None
        execute(self, sql, parameter)

    project.write("models/report.sql", "select revenue as other from {{ ref('fct_customers') }}")
    before = project.recorded()
    monkeypatch.setattr(Warehouse, "execute", refused)
    result = project.dbt(*RUN_REPORT)
    assert result.code == 0
    assert len([line for line in result.ours if "WARNING" in line]) == 1
    assert project.recorded() == before
    monkeypatch.undo()
    assert project.refreshes(project.dbt(*RUN_REPORT))["report"] == "success"


def test_rows_of_a_load_that_died_half_way_are_not_seen_and_are_repaired(
    duck: DbtProject,
) -> None:
    """As on a warehouse without transactions: edges that no refresh stands behind."""
    edges = duck.current_edges()
    duck.write("models/report.sql", "select revenue as other from {{ ref('fct_customers') }}")
    duck.dbt(*RUN_REPORT)
    run = "(select max(recorded_at) from main_lineage.lineage_refreshes)"
    duck.database.execute(f"delete from main_lineage.lineage_refreshes where recorded_at = {run}")
    assert duck.current_edges() == edges
    duck.dbt(*RUN_REPORT)
    where = "to_node = 'model.shop.report'"
    assert len(duck.table("lineage_column_edges", where=where)) == 1
    assert len(duck.table("lineage_edges", where=f"{where} and to_column = 'other'")) == 2


def test_without_the_python_side_one_line_says_what_to_do(
    duck: DbtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dbt_lineage_post, "plugins", [])
    result = duck.dbt(*RUN_REPORT)
    assert result.code == 0
    [line] = result.ours
    assert "pip install dbt-lineage-post" in line


def test_with_no_write_json_one_line_says_why_nothing_is_recorded(duck: DbtProject) -> None:
    result = duck.dbt("--no-write-json", *RUN_REPORT)
    assert result.code == 0
    [line] = result.ours
    assert "--no-write-json" in line


def test_without_tables_one_line_says_what_to_run(project: DbtProject) -> None:
    project.database.execute(f"drop schema {project.schema}_lineage cascade")
    result = project.dbt(*RUN_REPORT)
    assert result.code == 0
    [line] = result.ours
    assert "dbt run --select package:lineage_post" in line
    assert project.dbt("run", "--select", "package:lineage_post").code == 0
    assert project.refreshes(project.dbt(*RUN_REPORT))["report"] == "success"


def test_with_the_tables_disabled_one_line_says_so(duck: DbtProject) -> None:
    duck.configure("    +enabled: false\n")
    result = duck.dbt(*RUN_REPORT)
    assert result.code == 0
    [line] = result.ours
    assert "disabled" in line


def test_a_wrong_option_is_named(duck: DbtProject) -> None:
    duck.configure("\nvars:\n  lineage_post: {exposure: leaf}\n")
    result = duck.dbt(*RUN_REPORT)
    assert result.code == 0
    [line] = result.ours
    assert "there is no option 'exposure'" in line and "Did you mean exposures?" in line


def test_the_hook_reads_the_environment_and_tells_what_is_no_option(
    duck: DbtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINEAGE_POST_ENABLED", "false")
    monkeypatch.setenv("LINEAGE_POST_STRICTLY", "true")
    before = duck.recorded()
    result = duck.dbt("--warn-error", *RUN_REPORT)
    [line] = result.ours
    assert result.code == 0 and duck.recorded() == before
    assert "LINEAGE_POST_STRICTLY is no option" in line and "mean LINEAGE_POST_STRICT?" in line


def test_a_warning_is_said_where_dbt_makes_errors_of_all_warnings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As dbt 1.12 does with --warn-error, and dbt 1.11 where a flag says so."""
    from dbt_common.events import event_manager_client
    from dbt_common.events.event_manager import EventManager

    manager, said = EventManager(), []
    manager.warn_error, manager.require_warn_or_error_handling = True, True
    manager.add_callback(lambda event: said.append(event.info.msg))
    monkeypatch.setattr(event_manager_client, "_EVENT_MANAGER", manager)
    warn("a fault")
    assert said == ["lineage_post: [WARNING] a fault"]


def test_switched_off_it_does_nothing(duck: DbtProject) -> None:
    duck.configure("\nvars:\n  lineage_post: {enabled: false}\n")
    before = duck.recorded()
    result = duck.dbt(*RUN_REPORT)
    assert (result.code, result.ours) == (0, [])
    assert duck.recorded() == before


@pytest.mark.parametrize("threads", ["1", pytest.param("8", marks=pytest.mark.long)])
@pytest.mark.parametrize("command", [("compile",), ("docs", "generate")], ids=" ".join)
def test_commands_that_only_render_the_hook_record_nothing(
    duck: DbtProject, command: tuple[str, ...], threads: str
) -> None:
    before = duck.recorded()
    result = duck.dbt(*command, "--threads", threads)
    assert result.code == 0
    assert not [line for line in result.ours if "WARNING" in line]
    assert duck.recorded() == before
    assert duck.manifest()["nodes"]["model.shop.report"]["compiled_code"]


def test_a_run_that_selects_nothing_records_nothing(duck: DbtProject) -> None:
    before = duck.recorded()
    result = duck.dbt("run", "--select", "no_such_model")
    assert (result.code, result.ours) == (0, [])
    assert duck.recorded() == before


@pytest.mark.parametrize("command", ["ls", "parse", "clone"])
def test_other_commands_are_left_alone(duck: DbtProject, command: str) -> None:
    extra = ("--state", "target") if command == "clone" else ()
    result = duck.dbt(command, *extra)
    assert not [line for line in result.ours if "WARNING" in line]


def test_graph_can_still_be_rendered_as_json(duck: DbtProject) -> None:
    duck.write(
        "models/report.sql",
        # dbt 1.12 cannot render the parts of the graph themselves, with or without the hook.
        "{% set text = [graph.get('lineage_post') | tojson] %}"
        "{% for part in graph.values() %}{% for node in part.values() %}"
        "{% do text.append(node | tojson) %}{% endfor %}{% endfor %}"
        "select {{ text | length }} as size from {{ ref('fct_customers') }}",
    )
    assert duck.dbt(*RUN_REPORT).code == 0


HOSTILE = [
    "it's",
    'say "when"',
    "back\\slash",
    "<svg onload=alert(1)>",
    "{{ 7*7 }}",
    "'); drop table lineage_edges; --",
    "naïve ☕ %s %(x)s",
    "line\nbreak",
]


def test_hostile_names_are_data(project: DbtProject) -> None:
    quoted = ['"' + name.replace('"', '""') + '"' for name in HOSTILE]
    columns = ", ".join(f"revenue as {name}" for name in quoted)
    project.write(
        "models/report.sql",
        "{% raw %}" + f"select {columns} from " + "{% endraw %}{{ ref('fct_customers') }}",
    )
    result = project.dbt(*RUN_REPORT)
    assert result.code == 0, result.lines
    found = {
        row[0]
        for row in project.table(
            "lineage_column_edges", "to_column", "to_node = 'model.shop.report'"
        )
    }
    assert found == set(HOSTILE)
    [(derivations,)] = project.table(
        "lineage_refreshes",
        "column_derivations",
        f"node = 'model.shop.report' and run_id = '{result.run_id}'",
    )
    assert set(json.loads(derivations)) == set(HOSTILE)


def test_batches_are_cut_by_the_option(duck: DbtProject, monkeypatch: pytest.MonkeyPatch) -> None:
    statements: list[str] = []
    execute = Warehouse.execute

    def counted(self: Warehouse, sql: str, parameter: str | None = None) -> None:
        statements.append(sql)
        execute(self, sql, parameter)

    monkeypatch.setattr(Warehouse, "execute", counted)
    duck.configure("\nvars:\n  lineage_post: {batch_bytes: 2000}\n")
    duck.database.execute("drop schema main_lineage cascade")
    assert duck.dbt("build", *NO_TESTS).code == 0
    assert len(statements) > 8
    assert "lineage_refreshes" in statements[-1]
    assert len(duck.table("lineage_refreshes")) == 10
