"""What the hook records of each kind of run. Nothing recorded before is ever lost."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from lineage_post.lineage import unit
from lineage_post.trace.result import Trace
from lineage_post.vocabulary import Reason, State
from tests.dbt.dbt_project import BASE_TABLES, NO_TESTS, DbtProject, Result, Row, short

pytestmark = pytest.mark.dbt

BUILT = {
    "raw_orders": "success",
    "stg_orders": "success",
    "stg_customers": "success",
    "fct_customers": "success",
    "order_log": "success",
    "report": "success",
    "orders_over_time": "success",
}
DERIVED = {"app.customers": "derived", "big_orders": "derived", "board": "derived"}
EDGES_OF_FCT = {
    ("stg_customers", "customer_id", "fct_customers", "customer_id", "IDENTITY"),
    ("stg_customers", "email", "fct_customers", "email_hash", "TRANSFORMATION"),
    ("big_orders", "amount", "fct_customers", "revenue", "AGGREGATION"),
    ("stg_customers", "customer_id", "fct_customers", None, "JOIN"),
    ("big_orders", "customer_id", "fct_customers", None, "JOIN"),
    ("stg_customers", "customer_id", "fct_customers", None, "GROUP_BY"),
    ("stg_customers", "email", "fct_customers", None, "GROUP_BY"),
}
BROKEN = "select no_such_column from {{ ref('stg_orders') }}"


class Watched:
    """A project whose recorded rows are compared before and after each command."""

    def __init__(self, project: DbtProject) -> None:
        self.project = project

    def dbt(self, *args: str, rebuilt: set[str] | None = None) -> Result:
        """Runs a command; only edges into ``rebuilt`` (None: any) may differ afterwards."""
        before, edges = self.project.recorded(), self.project.current_edges()
        result = self.project.dbt(*args)
        after = self.project.recorded()
        for table in BASE_TABLES:
            lost = set(before[table]) - set(after[table])
            assert not lost, f"{args} lost rows of {table}: {lost}"
        if rebuilt is not None:
            now = self.project.current_edges()
            assert {e for e in edges if e[2] not in rebuilt} == {
                e for e in now if e[2] not in rebuilt
            }
        return result


@pytest.fixture
def watched(project: DbtProject) -> Watched:
    return Watched(project)


@pytest.fixture
def watched_duck(duck: DbtProject) -> Watched:
    return Watched(duck)


def added(project: DbtProject, before: dict[str, list[Row]]) -> dict[str, int]:
    now = project.recorded()
    return {table: len(now[table]) - len(before[table]) for table in BASE_TABLES}


def test_a_build_records_every_node_its_edges_and_its_inputs(project: DbtProject) -> None:
    rows = project.table("lineage_refreshes", "node, status")
    assert {short(node): status for node, status in rows} == {**BUILT, **DERIVED}
    assert project.current_edges("model.shop.fct_customers") == EDGES_OF_FCT
    assert ("app.customers", "email", "stg_customers", "email", "IDENTITY") in (
        project.current_edges()
    )
    assert ("stg_orders", "amount", "big_orders", None, "FILTER") in project.current_edges()
    assert {
        (short(a), short(b)): state
        for a, b, state in project.table("lineage_table_edges", "from_node, to_node, column_state")
    } == {
        ("raw_orders", "stg_orders"): "columns flow",
        ("raw_orders", "orders_over_time"): "columns flow",
        ("stg_orders", "big_orders"): "columns flow",
        ("stg_orders", "order_log"): "columns flow",
        ("app.customers", "stg_customers"): "columns flow",
        ("stg_customers", "fct_customers"): "columns flow",
        ("big_orders", "fct_customers"): "columns flow",
        ("fct_customers", "report"): "columns flow",
        ("report", "board"): "not available",
    }


def test_a_refresh_says_what_was_built_from_what(project: DbtProject) -> None:
    columns = "operation, build_mode, producer, inputs, column_derivations, run_id, trace_id"
    [row] = project.table("lineage_refreshes", columns, "node = 'model.shop.fct_customers'")
    operation, build_mode, producer, inputs, derivations, run_id, trace_id = row
    assert (operation, build_mode, producer) == ("create_table_as", None, "execution")
    assert json.loads(inputs) == [
        {"node": "model.shop.big_orders", "version": run_id, "kind": "refresh"},
        {"node": "model.shop.stg_customers", "version": run_id, "kind": "refresh"},
    ]
    revenue = json.loads(derivations)["revenue"]
    assert revenue["sources"] == [{"node": "model.shop.big_orders", "column": "amount"}]
    assert "sum" in revenue["expression"].lower()
    assert trace_id == run_id.replace("-", "")
    where = "node in ('model.shop.order_log', 'snapshot.shop.orders_over_time')"
    modes = project.table("lineage_refreshes", "operation, build_mode", where)
    assert modes == [("create_table_as", "first"), ("snapshot", "first")]


def test_the_models_pass_their_own_tests_over_recorded_rows(watched: Watched) -> None:
    result = watched.dbt("test", "--select", "package:lineage_post", rebuilt=set())
    assert result.code == 0
    assert len(result.run_results) > 30
    assert set(result.statuses().values()) == {"pass", "success"}


def test_a_second_build_of_an_unchanged_project_adds_refreshes_alone(watched: Watched) -> None:
    before = watched.project.recorded()
    result = watched.dbt("build", *NO_TESTS, rebuilt={"order_log"})
    assert result.code == 0
    # order_log and orders_over_time now run in their incremental mode, which is other SQL.
    new = watched.project.refreshes(result)
    assert new == {**BUILT, **DERIVED}
    counts = added(watched.project, before)
    assert counts["lineage_refreshes"] == len(new)
    fingerprints = {row[0] for row in watched.project.recorded()["lineage_edges"]}
    unchanged = fingerprints & {row[0] for row in before["lineage_edges"]}
    assert len(unchanged) >= len(BUILT) - 1
    derived = watched.project.table(
        "lineage_refreshes",
        "column_derivations",
        f"run_id = '{result.run_id}' and node = 'model.shop.fct_customers'",
    )
    assert derived == [(None,)]


def test_a_run_of_one_model_keeps_the_lineage_of_all_others(watched: Watched) -> None:
    watched.project.write(
        "models/report.sql", "select revenue * 3 as tripled from {{ ref('fct_customers') }}"
    )
    result = watched.dbt("run", "--select", "report", rebuilt={"report", "board"})
    assert watched.project.refreshes(result) == {"report": "success", "board": "derived"}
    assert watched.project.current_edges("model.shop.report") == {
        ("fct_customers", "revenue", "report", "tripled", "TRANSFORMATION")
    }


def test_a_run_of_one_model_sees_the_columns_of_parents_it_did_not_run(
    watched: Watched,
) -> None:
    watched.project.write("models/report.sql", "select * from {{ ref('fct_customers') }}")
    watched.dbt("run", "--select", "report", rebuilt={"report", "board"})
    assert watched.project.current_edges("model.shop.report") == {
        ("fct_customers", name, "report", name, "IDENTITY")
        for name in ("customer_id", "email_hash", "revenue")
    }


@pytest.mark.parametrize(
    ("command", "built", "derived"),
    [
        (["seed"], {"raw_orders"}, set()),
        (["snapshot"], {"orders_over_time"}, {"raw_orders"}),
        (["run", "--select", "stg_customers"], {"stg_customers"}, {"app.customers"}),
        (["run", "--select", "fct_customers"], {"fct_customers"}, {"big_orders"}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
@pytest.mark.any_warehouse
def test_each_command_records_what_it_built_and_the_inputs_no_run_builds(
    watched: Watched, command: list[str], built: set[str], derived: set[str]
) -> None:
    result = watched.dbt(*command, rebuilt=set())
    assert result.code == 0
    assert watched.project.refreshes(result) == {
        **dict.fromkeys(built, "success"),
        **dict.fromkeys(derived, "derived"),
    }


@pytest.mark.parametrize(
    "command",
    [
        ("run", "--select", "stg_orders", "report"),
        ("run", "--select", "fct_customers"),
        ("snapshot",),
    ],
    ids=" ".join,
)
@pytest.mark.any_warehouse
def test_a_partial_run_of_what_is_unchanged_adds_refreshes_alone(
    watched: Watched, command: tuple[str, ...]
) -> None:
    watched.project.dbt("snapshot")
    before = watched.project.recorded()
    watched.dbt(*command, rebuilt=set())
    counts = added(watched.project, before)
    assert counts.pop("lineage_refreshes") > 0
    assert set(counts.values()) == {0}


@pytest.mark.any_warehouse
def test_dbt_test_records_nothing(watched: Watched) -> None:
    before = watched.project.recorded()
    result = watched.dbt("test", "--select", "stg_orders", rebuilt=set())
    assert (result.code, result.ours) == (0, [])
    assert watched.project.recorded() == before


@pytest.mark.any_warehouse
def test_a_failed_and_a_skipped_model_never_become_current(watched: Watched) -> None:
    watched.project.write("models/fct_customers.sql", BROKEN)
    result = watched.dbt("build", *NO_TESTS, rebuilt={"order_log"})
    assert result.code == 1
    recorded = watched.project.refreshes(result)
    assert (recorded["fct_customers"], recorded["report"]) == ("error", "skipped")
    assert recorded["stg_orders"] == "success"
    current = watched.project.table(
        "lineage_current", "status, run_id", "node = 'model.shop.fct_customers'"
    )
    assert [status for status, _ in current] == ["success"]
    assert current[0][1] != result.run_id


@pytest.mark.any_warehouse
def test_a_jinja_error_is_a_failed_attempt(watched: Watched) -> None:
    watched.project.write(
        "models/report.sql", "{{ exceptions.raise_compiler_error('no') if execute }} select 1 as a"
    )
    result = watched.dbt("run", "--select", "report", rebuilt=set())
    assert result.code == 1
    assert watched.project.refreshes(result) == {"report": "error"}


@pytest.mark.any_warehouse
def test_retry_records_what_it_repaired(watched: Watched) -> None:
    good = (watched.project.folder / "models/fct_customers.sql").read_text()
    watched.project.write("models/fct_customers.sql", BROKEN)
    watched.project.dbt("run", "--select", "fct_customers", "report")
    results = (watched.project.target / "run_results.json").read_text()
    watched.project.write("models/fct_customers.sql", good)
    state = watched.project.folder / "state"
    state.mkdir(exist_ok=True)
    (state / "run_results.json").write_text(results)
    retried = watched.dbt("retry", "--state", "state", rebuilt=set())
    shutil.rmtree(state)
    assert retried.code == 0
    recorded = watched.project.refreshes(retried)
    assert (recorded["fct_customers"], recorded["report"]) == ("success", "success")


@pytest.mark.any_warehouse
def test_fail_fast_records_what_was_built_before_it(watched: Watched) -> None:
    watched.project.write("models/stg_orders.sql", "select nothing from {{ ref('raw_orders') }}")
    result = watched.dbt("build", *NO_TESTS, "--fail-fast", "--threads", "1", rebuilt=set())
    assert result.code == 1
    recorded = watched.project.refreshes(result)
    assert recorded["stg_orders"] == "error"
    assert recorded["raw_orders"] == "success"
    assert not {"fct_customers", "report", "order_log"} & {
        node for node, status in recorded.items() if status == "success"
    }


def test_full_refresh_is_recorded_and_keeps_the_history(watched: Watched) -> None:
    result = watched.dbt("build", *NO_TESTS, "--full-refresh", rebuilt=set())
    where = f"run_id = '{result.run_id}' and node = 'model.shop.order_log'"
    modes = watched.project.table("lineage_refreshes", "operation, build_mode", where)
    assert modes == [("create_table_as", "full_refresh")]


def test_an_incremental_run_says_so_and_its_edge_to_itself_is_no_table_edge(
    watched: Watched,
) -> None:
    result = watched.dbt("run", "--select", "order_log", rebuilt={"order_log"})
    where = f"run_id = '{result.run_id}' and node = 'model.shop.order_log'"
    modes = watched.project.table("lineage_refreshes", "operation, build_mode", where)
    assert modes == [("delete_insert", "incremental")]
    own = {e for e in watched.project.current_edges() if e[0] == e[2] == "order_log"}
    assert own == {("order_log", "order_id", "order_log", None, "FILTER")}
    # A change that is of the form alone says so: the definition is the same one.
    columns = "change, previous_build_mode, build_mode"
    where = f"run_id = '{result.run_id}' and node = 'model.shop.order_log'"
    forms = set(watched.project.table("lineage_column_changes", columns, where))
    assert forms == {("added", "first", "incremental")}
    pairs = watched.project.table("lineage_table_edges", "from_node, to_node")
    assert all(a != b for a, b in pairs)


@pytest.mark.parametrize(
    "flags", [("--empty",), ("--sample", "{'start': '2026-01-02', 'end': '2026-01-03'}")]
)
@pytest.mark.any_warehouse
def test_an_empty_or_sampled_run_is_recorded_as_such_and_is_never_current(
    watched: Watched, flags: tuple[str, ...]
) -> None:
    current = watched.project.table("lineage_current", "node, run_id")
    before = watched.project.recorded()
    result = watched.dbt("run", *flags, rebuilt=set())
    assert result.code == 0
    recorded = watched.project.refreshes(result)
    assert set(recorded.values()) == {"sample"}
    assert set(recorded) == set(BUILT) - {"raw_orders", "orders_over_time"}
    assert watched.project.table("lineage_current", "node, run_id") == current
    # Traced without dbt's wrapper: the same lineage, so no new rows but those of order_log.
    new = set(watched.project.recorded()["lineage_edges"]) - set(before["lineage_edges"])
    assert {row[4] for row in new} <= {"model.shop.order_log"}


def test_threads_do_not_change_what_is_recorded(watched_duck: Watched) -> None:
    def content(result: Result) -> list[Row]:
        return watched_duck.project.table(
            "lineage_refreshes", "node, status, fingerprint", f"run_id = '{result.run_id}'"
        )

    one = watched_duck.dbt("build", *NO_TESTS, "--threads", "1", rebuilt={"order_log"})
    eight = watched_duck.dbt("build", *NO_TESTS, "--threads", "8", rebuilt=set())
    assert content(one) == content(eight)


def test_partial_parsing_does_not_change_what_is_recorded(watched_duck: Watched) -> None:
    fingerprints = watched_duck.project.table("lineage_current", "node, fingerprint, inputs")
    result = watched_duck.dbt("run", "--no-partial-parse", "--select", "stg_orders", rebuilt=set())
    assert watched_duck.project.refreshes(result)["stg_orders"] == "success"
    after = watched_duck.project.table("lineage_current", "node, fingerprint, inputs")
    assert [r[:2] for r in after] == [r[:2] for r in fingerprints]


@pytest.mark.any_warehouse
def test_deferred_inputs_are_the_projects_own_nodes(watched: Watched) -> None:
    project = watched.project
    state = project.folder / "state"
    state.mkdir(exist_ok=True)
    manifest = project.manifest()
    for node in manifest["nodes"].values():
        if node["unique_id"] == "model.shop.fct_customers":
            # The same relation under the name it has in the other environment.
            node["schema"], node["alias"] = project.schema, "fct_of_production"
            node["relation_name"] = node["relation_name"].replace(
                "fct_customers", "fct_of_production"
            )
    (state / "manifest.json").write_text(json.dumps(manifest))
    project.database.execute(
        f"create table {project.schema}.fct_of_production as"
        f" select * from {project.schema}.fct_customers"
    )
    flags = ("--defer", "--favor-state", "--state", "state")
    result = watched.dbt("run", "--select", "report", *flags, rebuilt=set())
    shutil.rmtree(state)
    assert result.code == 0
    assert project.refreshes(result) == {"report": "success", "board": "derived"}
    where = f"run_id = '{result.run_id}' and node = 'model.shop.report'"
    [(inputs,)] = project.table("lineage_refreshes", "inputs", where)
    assert json.loads(inputs) == [
        {"node": "model.shop.fct_customers", "version": None, "kind": "deferred"}
    ]


@pytest.mark.any_warehouse
def test_a_node_that_left_the_project_leaves_the_current_views_alone(watched: Watched) -> None:
    project = watched.project
    project.remove("models/report.sql")
    schema = (project.folder / "models/schema.yml").read_text()
    project.write("models/schema.yml", schema[: schema.index("exposures:")])
    result = watched.dbt("run", "--select", "stg_orders", rebuilt={"report", "board"})
    recorded = project.refreshes(result)
    assert (recorded["report"], recorded["board"]) == ("removed", "removed")
    assert not [e for e in project.current_edges() if e[2] in ("report", "board")]
    again = watched.dbt("run", "--select", "stg_orders", rebuilt=set())
    assert project.refreshes(again) == {"stg_orders": "success", "raw_orders": "derived"}


def test_a_disabled_node_has_not_left_the_project(watched_duck: Watched) -> None:
    watched_duck.project.write(
        "models/report.sql",
        "{{ config(enabled=false) }} select revenue * 2 as doubled from {{ ref('fct_customers') }}",
    )
    schema = (watched_duck.project.folder / "models/schema.yml").read_text()
    watched_duck.project.write(
        "models/schema.yml", schema.replace("ref('report')", "ref('fct_customers')")
    )
    result = watched_duck.dbt("run", "--select", "stg_orders", rebuilt=set())
    assert "removed" not in watched_duck.project.refreshes(result).values()


@pytest.mark.any_warehouse
def test_lineage_that_cannot_be_traced_replaces_the_old_edges(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_parser_takes_it(sql: str, **_: Any) -> Trace:
        return Trace(State.UNKNOWN, "select", Reason.PARSE_ERROR)

    where = "node = 'model.shop.report'"
    [(known,)] = watched.project.table("lineage_current", "fingerprint", where)
    watched.project.write(
        "models/report.sql", "select revenue * 4 as doubled from {{ ref('fct_customers') }}"
    )
    monkeypatch.setattr(unit, "trace", no_parser_takes_it)
    result = watched.dbt("run", "--select", "report", rebuilt={"report"})
    assert result.code == 0
    columns = "state, reason, last_known_fingerprint, run_id"
    [current] = watched.project.table("lineage_current", columns, where)
    assert current == ("unknown", "parse_error", known, result.run_id)
    assert not watched.project.current_edges("model.shop.report")
    assert ("model.shop.report", "node") in watched.project.table("lineage_unknowns", "node, grain")
    states = watched.project.table("lineage_table_edges", "column_state", f"to_{where}")
    assert states == [("not available",)]


def test_a_fault_of_ours_does_not_replace_what_was_known(
    watched_duck: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("a fault")

    watched_duck.project.write(
        "models/report.sql", "select revenue * 4 as doubled from {{ ref('fct_customers') }}"
    )
    monkeypatch.setattr(unit, "trace", broken)
    result = watched_duck.dbt("run", "--select", "report", rebuilt=set())
    columns = "status, state, reason"
    where = f"node = 'model.shop.report' and run_id = '{result.run_id}'"
    assert watched_duck.project.table("lineage_refreshes", columns, where) == [
        ("success", "unknown", "internal_error")
    ]
