"""What the warehouse remembers: versions of inputs, claims of producers, as of, as recorded."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from lineage_post.artifacts import project_from_manifest_dict
from lineage_post.cli import run
from lineage_post.history.claims import Claim, Claims, InputVersion
from lineage_post.publish.claims import write_claims
from tests.dbt.dbt_project import BASE_TABLES, DbtProject
from tests.dbt.remembered import FCT, LOG, LONG_AGO, REPORT, claim, cli, edges_to, load, rows

pytestmark = pytest.mark.dbt


def test_an_edge_lists_all_that_vouch_for_it(project: DbtProject) -> None:
    load(
        project,
        claim(
            FCT,
            ("model.shop.stg_customers", "customer_id"),
            "customer_id",
            operation="create_table_as",
            query="create table fct as select customer_id from stg",
        ),
    )
    where = f"to_node = '{FCT}' and to_column = 'customer_id'"
    found = project.table(
        "lineage_column_edges", "from_column, subtype, producers, vouched_by", where
    )
    assert found == [("customer_id", "IDENTITY", 2, "execution, logs")]
    claims = project.table(
        "lineage_claims", "producer, subtype, observations, operation, is_current", where
    )
    assert ("logs", "TRANSFORMATION", 1, "create_table_as", True) in claims
    assert ("execution", "IDENTITY", 1, "create_table_as", True) in claims
    queries = dict(project.table("lineage_claims", "producer, query", where))
    assert queries["logs"] == "create table fct as select customer_id from stg"
    assert "customers.customer_id" in queries["execution"]


def test_an_import_prunes_and_a_purge_retires_only_the_producers_own(project: DbtProject) -> None:
    mine = claim(FCT, ("model.shop.stg_orders", "amount"), "revenue")
    other = claim(LOG, ("model.shop.stg_orders", "amount"), "amount")
    load(project, mine, other, complete=True)
    load(project, mine, name="others")
    load(project, mine, complete=True)

    def claimed() -> set[tuple[str, str]]:
        found = project.table("lineage_claims", "producer, to_node", "producer <> 'execution'")
        return set(found)

    assert claimed() == {("logs", FCT), ("others", FCT)}
    before = project.recorded()
    arguments = json.dumps({"producer": "logs"})
    assert project.dbt("run-operation", "lineage_post.purge", "--args", arguments).code == 0
    assert claimed() == {("others", FCT)}
    after = project.recorded()
    assert all(set(before[table]) <= set(after[table]) for table in before)
    again = project.dbt("run-operation", "lineage_post.purge", "--args", arguments)
    assert again.code != 0 and any("logs claims nothing" in line for line in again.lines)
    # What happened long ago can be claimed anew.
    load(project, mine)
    assert claimed() == {("logs", FCT), ("others", FCT)}


def test_a_file_of_one_producer_cannot_speak_for_another(duck: DbtProject) -> None:
    known = project_from_manifest_dict(duck.manifest())
    mine = claim(FCT, ("model.shop.stg_orders", "amount"), "revenue")
    folder = write_claims(Claims("logs", (mine,)), duck.target, known)
    (folder / "claims.json").write_text('{"producer": "others", "is_complete": true}')
    arguments = json.dumps({"directory": str(folder)})
    result = duck.dbt("run-operation", "lineage_post.load", "--args", arguments)
    assert result.code != 0
    assert any("has rows that are not: of logs" in line for line in result.lines)


def test_stale_means_that_no_producer_confirms_it(project: DbtProject) -> None:
    project.configure("\nvars:\n  lineage_post:\n    stale_after_days: {logs: 30}\n")
    old = claim(FCT, ("model.shop.stg_orders", "amount"), "revenue")
    both = claim(
        LOG, ("model.shop.stg_orders", "amount"), "amount", observed_at=LONG_AGO, run_id="q2"
    )
    load(project, old, both)
    assert project.dbt("run", "--select", "package:lineage_post").code == 0
    stale = "from_node = 'model.shop.stg_orders' and stale"
    assert project.table("lineage_column_edges", "to_node, vouched_by", stale) == [(FCT, "logs")]
    assert project.table("lineage_table_edges", "to_node", stale) == [(FCT,)]
    claims = project.table("lineage_claims", "producer, to_node", stale)
    assert claims == [("logs", FCT), ("logs", LOG)]


def test_a_producer_denies_only_what_it_could_have_seen(project: DbtProject) -> None:
    load(project, claim(FCT, ("model.shop.stg_orders", "order_id"), "revenue"))
    found = project.table(
        "lineage_disagreements", "grain, from_node, from_column, to_column, asserted_by, denied_by"
    )
    assert ("column", "model.shop.stg_orders", "order_id", "revenue", "logs", "execution") in found
    assert ("column", "model.shop.big_orders", "amount", "revenue", "execution", "logs") in found
    assert ("table", "model.shop.stg_orders", None, None, "logs", "execution") in found
    # The logs know nothing of the other columns, nor of any join.
    assert {row[3] for row in found if row[5] == "logs" and row[0] == "column"} == {"revenue"}


def test_the_command_line_names_who_asserts_and_who_denies(
    duck: DbtProject, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(duck, capsys, "disagreements")["disagreements"] == []
    load(duck, claim(FCT, ("model.shop.stg_orders", "order_id"), "revenue"))
    found = cli(duck, capsys, "disagreements")["disagreements"]
    told = {(d["grain"], d["from_column"], d["asserted_by"], d["denied_by"]) for d in found}
    assert ("table", None, "logs", "execution") in told
    assert ("column", "order_id", "logs", "execution") in told
    assert ("column", "amount", "execution", "logs") in told
    assert cli(duck, capsys, "disagreements", "--producer", "nobody")["disagreements"] == []


REFUSED = (
    ({"producer": "log"}, "log claims nothing. Did you mean logs"),
    ({"producer": "zzz"}, "zzz claims nothing. The producers are execution, logs, others"),
    ({"producer": "manifest"}, "manifest is what lineage_post itself recorded"),
    ({"producer": "execution"}, "execution is what lineage_post itself recorded"),
    ({"producer": "logs", "node": "report"}, "report has no claim of logs"),
    ({"producer": "logs", "node": "customers"}, "customers has no claim of logs"),
)


def test_a_purge_of_what_nobody_meant_is_refused_with_the_names_there_are(
    claimed_duck: DbtProject,
) -> None:
    before = claimed_duck.recorded()
    for arguments, said in REFUSED:
        given = ("--args", json.dumps(arguments))
        result = claimed_duck.dbt("run-operation", "lineage_post.purge", *given)
        assert result.code != 0 and any(said in line for line in result.lines), result.lines
    assert claimed_duck.recorded() == before


@pytest.fixture
def claimed_duck(duck: DbtProject) -> DbtProject:
    """The project with what two producers say of it."""
    load(duck, claim(FCT, ("model.shop.stg_orders", "amount"), "revenue"))
    load(duck, claim(FCT, ("model.shop.stg_orders", "amount"), "revenue"), name="others")
    return duck


def test_the_command_line_retires_one_producer_and_no_other(
    claimed_duck: DbtProject, capsys: pytest.CaptureFixture[str]
) -> None:
    from lineage_post.cli import run

    claimed_duck.database.release()
    where = ("--project-dir", str(claimed_duck.folder), "--profiles-dir", str(claimed_duck.folder))
    kept = [claimed_duck.target / name for name in ("manifest.json", "run_results.json")]
    before = [file.read_bytes() for file in kept]
    assert run(["purge", "--producer", "logs", "--node", "fct_customers", *where]) == 0
    assert [file.read_bytes() for file in kept] == before, "whose SQL no run-operation has"
    assert "retired what logs claimed of 1 nodes" in capsys.readouterr().out
    found = claimed_duck.table("lineage_claims", "distinct producer")
    assert found == [("execution",), ("others",)]


def test_a_late_import_does_not_change_a_replay_of_the_past(project: DbtProject) -> None:
    [(built,)] = project.table("lineage_refreshes", "max(refreshed_at)", f"node = '{FCT}'")
    recorded = (built + timedelta(seconds=30)).isoformat()
    late = claim(
        FCT, ("model.shop.stg_orders", "order_id"), "revenue", observed_at=built + timedelta(1e-5)
    )
    moment = (built + timedelta(seconds=2)).isoformat()
    before = edges_to(project, FCT, as_of=moment, as_recorded=recorded)
    known = project_from_manifest_dict(project.manifest())
    folder = write_claims(Claims("logs", (late,)), project.target, known)
    refreshes = folder / "lineage_refreshes.jsonl"
    at = (built + timedelta(days=1)).strftime("%Y-%m-%d %H:%M:%S.%f")
    refreshes.write_text(
        refreshes.read_text().replace('"recorded_at":null', f'"recorded_at":"{at}"')
    )
    arguments = json.dumps({"directory": str(folder)})
    assert project.dbt("run-operation", "lineage_post.load", "--args", arguments).code == 0
    assert edges_to(project, FCT, as_of=moment, as_recorded=recorded) == before
    assert edges_to(project, FCT, as_of=moment) == before | {("order_id", "revenue")}


@pytest.mark.parametrize("time", ["yesterday", "2026-13", "'; drop table x"])
def test_what_is_no_time_is_an_error_that_names_the_argument(duck: DbtProject, time: str) -> None:
    escaped = time.replace("'", "\\'")
    duck.write(
        "models/asked.sql",
        f"select * from ({{{{ lineage_post.column_edges_as_of('{escaped}') }}}})",
    )
    result = duck.dbt("compile", "--select", "asked")
    duck.remove("models/asked.sql")
    assert result.code != 0
    assert any("as_of is" in line and "which is no time" in line for line in result.lines)


def test_walks_go_from_one_column_with_their_depth(project: DbtProject) -> None:
    down = rows(project, "lineage_post.downstream('seed.shop.raw_orders', 'amount')", "*")
    assert ("model.shop.report", "doubled", 4) in down
    assert ("model.shop.stg_orders", "amount", 1) in down
    up = rows(project, f"lineage_post.upstream('{FCT}', 'revenue', depth=2)", "*")
    assert up == [("model.shop.big_orders", "amount", 1), ("model.shop.stg_orders", "amount", 2)]
    rows_too = rows(project, f"lineage_post.upstream('{FCT}', 'revenue', 1, indirect=true)", "*")
    assert ("model.shop.stg_customers", "customer_id", 1) in rows_too


def test_inputs_have_the_versions_that_can_be_told(duck: DbtProject) -> None:
    duck.write("orders.csv", "id,amount\n1,2\n")
    duck.write(
        "models/files.yml",
        "sources:\n  - name: files\n    tables:\n      - name: orders\n        config:\n"
        "          meta: {external_location: orders.csv}\n",
    )
    duck.write("models/filed.sql", "select id from {{ source('files', 'orders') }}")
    duck.configure("\nvars:\n  lineage_post: {commits: {app: lakefs-7}}\n")
    loaded = "2026-02-03T04:05:06Z"
    fresh = {"unique_id": "source.shop.app.customers", "max_loaded_at": loaded}
    (duck.target / "sources.json").write_text(json.dumps({"results": [fresh]}))
    result = duck.dbt("run", "--select", "filed", "stg_customers", "report")
    assert result.code == 0, result.lines
    duck.remove("models/filed.sql")
    duck.remove("models/files.yml")
    duck.remove("orders.csv")
    where = f"run_id = '{result.run_id}'"
    found = dict(duck.table("lineage_refreshes", "node, inputs", where))
    [file] = json.loads(found["model.shop.filed"])
    assert (file["kind"], file["path"], file["size"]) == ("file", "orders.csv", 14)
    assert len(file["version"]) == 64 and file["modified_at"]
    customers = json.loads(found["model.shop.stg_customers"])
    assert [(i["kind"], i["version"]) for i in customers] == [
        ("commit", "lakefs-7"),
        ("freshness", loaded),
    ]
    [fct] = json.loads(found["model.shop.report"])
    assert fct["kind"] == "refresh" and fct["version"]
    view = duck.table("lineage_inputs", "input_node, kind", "node = 'model.shop.stg_customers'")
    assert len(view) == 2


def test_tables_of_an_earlier_version_are_filled_and_then_grow(project: DbtProject) -> None:
    for column in ("query", "renamed_from"):
        project.database.execute(
            f"alter table {project.schema}_lineage.lineage_nodes drop column {column} cascade"
        )
    project.write("models/report.sql", REPORT.replace("*", "* 3"))
    first = project.dbt("run", "--select", "report")
    assert first.code == 0 and project.refreshes(first)["report"] == "success", first.lines
    before = len(project.table("lineage_nodes"))
    assert project.dbt("run", "--select", "package:lineage_post").code == 0
    assert len(project.table("lineage_nodes")) == before
    project.write("models/report.sql", REPORT.replace("*", "* 4"))
    assert project.dbt("run", "--select", "report").code == 0
    where = "node = 'model.shop.report' and query like '%* 4%'"
    assert project.table("lineage_nodes", "renamed_from, native", where) == [(None, None)]
    # A column that was there all the time was filled with its own value.
    earlier = "node = 'model.shop.report' and query is null"
    assert project.table("lineage_nodes", "distinct native", earlier) == [(None,)]


def test_a_claim_of_tables_alone_gives_a_table_edge(duck: DbtProject) -> None:
    outside = "external.warehouse.raw.events"
    load(
        duck,
        Claim(LOG, "q1", LONG_AGO, inputs=(InputVersion(outside, None, "observed"),)),
    )
    found = duck.table("lineage_table_edges", "from_node, vouched_by", f"to_node = '{LOG}'")
    assert (outside, "logs") in found


def test_show_answers_as_of_a_time(project: DbtProject, capsys: pytest.CaptureFixture[str]) -> None:
    [(built,)] = project.table(
        "lineage_refreshes", "max(refreshed_at)", "node = 'model.shop.report'"
    )
    project.write(
        "models/report.sql", "select customer_id as doubled from {{ ref('fct_customers') }}"
    )
    assert project.dbt("run", "--select", "report").code == 0
    profiles = ("--profiles-dir", str(project.folder))

    def sources(*flags: str) -> str:
        return json.dumps(cli(project, capsys, "show", "report.doubled", *profiles, *flags))

    then, now = sources("--as-of", built.isoformat()), sources("--as-of", "2999-01-01")
    assert '"revenue"' in then and '"customer_id"' not in then
    assert '"customer_id"' in now
    for command, flags in (
        ("show", ("--as-of", "2001-01-01")),
        ("show", ("--as-of", "2001-01-01..2001-02-01")),
        ("show", ("--as-recorded", "2001-01-01")),
        ("history", ("--as-of", "2001-01-01")),
    ):
        here = ("--project-dir", str(project.folder), *profiles)
        assert run([command, "report.doubled", *flags, *here]) == 2
        assert "History starts at 2" in capsys.readouterr().err
    read = json.loads(then)
    assert read["metadata"]["as_of"] == f"{built.isoformat()}Z"
    assert read["metadata"]["as_recorded"] is None and read["metadata"]["read_at"]
    [edge] = read["upstream"][0]["edges"]
    assert (edge["producers"], edge["stale"]) == (["execution"], False)


@pytest.mark.parametrize("name", ["fct_customers", "{schema}.fct_customers"])
def test_a_shorter_name_is_the_one_that_the_connection_completes(
    project: DbtProject, name: str
) -> None:
    if project.database.name == "postgres":
        project.database.execute("alter database shop set search_path = nowhere, shop")
    name = name.format(schema=project.schema)
    project.write("models/report.sql", f"select revenue as doubled from {name}")
    result = project.dbt("run", "--select", "report")
    assert result.code == 0, result.lines
    edges = project.current_edges("model.shop.report")
    assert ("fct_customers", "revenue", "report", "doubled", "IDENTITY") in edges


def test_a_statement_that_cannot_be_parsed_is_counted(
    duck: DbtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lineage_post.lineage import unit
    from lineage_post.trace.result import Trace
    from lineage_post.vocabulary import Reason, State

    def no_parser_takes_it(*args: Any, **kwargs: Any) -> Trace:
        return Trace(State.UNKNOWN, "select", Reason.PARSE_ERROR)

    monkeypatch.setattr(unit, "trace", no_parser_takes_it)
    duck.write("models/report.sql", REPORT.replace("*", "+ 0"))
    assert duck.dbt("run", "--select", "report").code == 0
    metrics = json.loads((duck.target / "lineage_post" / "run.json").read_text())
    assert metrics["statements"]["unparsed"] == ["model.shop.report"]
    assert metrics["refreshes"] == {"success": 1}
    counted = duck.table("lineage_coverage", "nodes_unparsed", "resource_type = 'model'")
    assert counted == [(1,)]


def as_text(values: list[Any]) -> str:
    return json.dumps(values, sort_keys=True)


def test_exported_lineage_is_imported_into_empty_tables_as_the_same_edges(
    duck: DbtProject, capsys: pytest.CaptureFixture[str]
) -> None:
    from lineage_post.cli import run

    here = ("--project-dir", str(duck.folder))
    files = {form: str(duck.folder / f"edges.{form}") for form in ("json", "openlineage")}
    for form, file in files.items():
        assert run(["export", form, "--output-file", file, *here]) == 0
    exported = json.loads(Path(files["json"]).read_text())["edges"]
    events = Path(files["openlineage"])
    events = events.rename(events.with_suffix(".jsonl"))
    for table in BASE_TABLES:
        duck.database.execute(f"delete from main_lineage.{table}")
    told = cli(duck, capsys, "import", "openlineage", str(events))
    arguments = json.dumps({"directory": told["directory"]})
    result = duck.dbt("run-operation", "lineage_post.load", "--args", arguments)
    assert result.code == 0, result.lines
    names = [name for name in exported[0] if name not in ("from_field", "type", "ops")]
    stored = duck.table("lineage_column_edges", ", ".join((*names, "ops")))
    back = {as_text([*row, json.loads(ops)]) for *row, ops in stored}
    assert back == {as_text([*(edge[n] for n in names), edge["ops"]]) for edge in exported}
    assert duck.table("lineage_refreshes", "distinct producer") == [("openlineage",)]


def test_a_refresh_of_the_future_is_told_of_since_it_hides_what_is_built(duck: DbtProject) -> None:
    duck.database.execute(
        "update main_lineage.lineage_refreshes set refreshed_at = refreshed_at + interval 9 hour"
        " where node = 'model.shop.report'"
    )
    duck.write("models/report.sql", REPORT.replace("*", "* 3"))
    result = duck.dbt("run", "--select", "report")
    assert result.code == 0 and duck.refreshes(result)["report"] == "success"
    said = [line for line in result.ours if "Is a clock wrong?" in line]
    assert len(said) == 1 and "model.shop.report" in said[0]
