"""What the warehouse remembers: versions of inputs, claims of producers, as of, as recorded."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from lineage_post.artifacts import project_from_manifest_dict
from lineage_post.history.claims import Claim, Claims, InputVersion
from lineage_post.publish.claims import write_claims
from lineage_post.values import ColumnLineage, Edge
from lineage_post.vocabulary import State, Subtype
from tests.dbt.dbt_project import DbtProject, Result

pytestmark = pytest.mark.dbt

FCT = "model.shop.fct_customers"
LOG = "model.shop.order_log"
REPORT = "select revenue * as doubled from {{ ref('fct_customers') }}"
LONG_AGO = datetime(2026, 1, 1, 12, 0)


def claim(target: str, source: tuple[str, str], column: str, **settings: Any) -> Claim:
    """A claim of one edge."""
    settings.setdefault("run_id", "q1")
    settings.setdefault("observed_at", LONG_AGO)
    return Claim(
        target,
        columns=(ColumnLineage(1, column, None, State.KNOWN, None),),
        edges=(Edge(*source, None, target, column, Subtype.TRANSFORMATION),),
        **settings,
    )


def load(project: DbtProject, *claims: Claim, name: str = "logs", complete: bool = False) -> Result:
    """Imports claims as an importer does: files, then dbt."""
    known = project_from_manifest_dict(project.manifest())
    folder = write_claims(Claims(name, claims, complete), project.target, known)
    arguments = json.dumps({"directory": str(folder)})
    result = project.dbt("run-operation", "lineage_post.load", "--args", arguments)
    assert result.code == 0, result.lines
    return result


def rows(project: DbtProject, macro: str, columns: str) -> list[tuple[Any, ...]]:
    """Rows of one of the package's queries, asked as a user's own model would."""
    text = f"{{{{ config(materialized='table') }}}}\nselect {columns} from ({{{{ {macro} }}}}) as q"
    project.write("models/asked.sql", text)
    result = project.dbt("run", "--select", "asked")
    assert result.code == 0, result.lines
    project.remove("models/asked.sql")
    return sorted(project.query(f"select * from {project.schema}.asked"), key=repr)


def edges_to(project: DbtProject, node: str, **times: str) -> set[tuple[str, str]]:
    given = ", ".join(f"{k}='{v}'" for k, v in times.items())
    found = rows(
        project, f"lineage_post.column_edges_as_of({given})", "to_node, from_column, to_column"
    )
    return {(a, b) for n, a, b in found if n == node and b}


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
    assert len(project.table("lineage_nodes", "query", where)) == 1


def test_a_claim_of_tables_alone_gives_a_table_edge(duck: DbtProject) -> None:
    outside = "external.warehouse.raw.events"
    load(
        duck,
        Claim(LOG, "q1", LONG_AGO, inputs=(InputVersion(outside, None, "observed"),)),
    )
    found = duck.table("lineage_table_edges", "from_node, vouched_by", f"to_node = '{LOG}'")
    assert (outside, "logs") in found


def cli(project: DbtProject, capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """The JSON that a command answers with."""
    from lineage_post.cli import run

    project.database.release()
    capsys.readouterr()
    code = run([*arguments, "--output", "json", "--project-dir", str(project.folder)])
    streams = capsys.readouterr()
    assert code in (0, 1), streams.err
    return json.loads(streams.out)


def test_a_column_tells_its_history_through_an_edit_a_rename_and_a_break(
    project: DbtProject, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten runs; the command line and the view tell the same."""
    select = ("run", "--select", "report", "renamed")
    edited = REPORT.replace("*", "* 3")
    project.dbt(*select)
    project.write("models/report.sql", edited)
    second = project.dbt(*select)
    project.write("models/report.sql", "select no_such_column from {{ ref('fct_customers') }}")
    failed = project.dbt(*select)
    assert failed.code != 0
    project.write("models/report.sql", edited)
    project.dbt(*select)
    schema = (project.folder / "models/schema.yml").read_text()
    project.write("models/schema.yml", schema.replace("ref('report')", "ref('renamed')"))
    project.remove("models/report.sql")
    renamed = "{{ config(meta={'lineage': {'renamed_from': 'report'}}) }}\n"
    project.write("models/renamed.sql", renamed + edited)
    project.dbt(*select)
    project.write("models/renamed.sql", renamed + REPORT.replace("*", "* 5"))
    sixth = project.dbt(*select)
    project.write(
        "models/report.sql", "select email_hash as doubled from {{ ref('fct_customers') }}"
    )
    project.dbt(*select)
    project.remove("models/report.sql")
    project.dbt("run", "--select", "stg_orders")
    project.write(
        "models/report.sql", "select customer_id as doubled from {{ ref('fct_customers') }}"
    )
    ninth = project.dbt(*select)
    found = cli(
        project, capsys, "history", "renamed.doubled", "--profiles-dir", str(project.folder)
    )
    told = [
        (c["change"], c["run_id"], (c["after"] or {}).get("expression"))
        for c in found["changes"]
        if c["column"] == "doubled" and c["producer"] == "execution"
    ]
    assert [t[0] for t in told] == ["first", "changed", "changed"]
    assert [t[1] for t in told[1:]] == [second.run_id, sixth.run_id]
    assert "* 3" in told[1][2] and "* 5" in told[2][2]
    view = project.table(
        "lineage_column_changes",
        "change, run_id, expression",
        "node = 'model.shop.renamed' and column_name = 'doubled' and producer = 'execution'",
    )
    assert sorted(view) == sorted(told)
    breaks = project.table(
        "lineage_column_changes", "change, run_id, sources", "node = 'model.shop.report'"
    )
    assert ("break", ninth.run_id, f"{FCT}.customer_id") in breaks
    # What the failed run left behind is an attempt, and changed no answer.
    assert failed.run_id not in {row[1] for row in view}


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


def test_a_bare_name_is_the_one_that_the_connection_completes(duck: DbtProject) -> None:
    duck.write("models/report.sql", "select revenue as doubled from fct_customers")
    assert duck.dbt("run", "--select", "report").code == 0
    edges = duck.current_edges("model.shop.report")
    assert ("fct_customers", "revenue", "report", "doubled", "IDENTITY") in edges


def test_a_statement_that_cannot_be_parsed_is_counted(
    duck: DbtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lineage_post.lineage import unit
    from lineage_post.trace.result import Trace
    from lineage_post.vocabulary import Reason

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
