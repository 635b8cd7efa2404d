"""Other producers' files: names become nodes, steps on the way are chained, faults are named."""

from __future__ import annotations

import json
from datetime import datetime
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import duckdb
import pytest

from lineage_post.cli import run as run_cli
from lineage_post.errors import ArtifactError
from lineage_post.history.claims import Claims
from lineage_post.lineage import Lineage
from lineage_post.producers import read_access_history, read_csv, read_dbt_index
from lineage_post.producers.names import names_of
from lineage_post.producers.tables import read_rows
from lineage_post.vocabulary import Certainty, Subtype

from .lineages import lineage_of
from .manifests import make_manifest, make_model, make_source

ORDERS, MART = "source.shop.raw.orders", "model.shop.fct"
NODES = (
    make_source("orders", {"id": "int", "amount": "double"}),
    make_model("fct", 'select id, amount as total from "dev"."raw"."orders"', [ORDERS]),
)


@pytest.fixture(scope="module")
def lineage() -> Lineage:
    return lineage_of(*NODES)


def edges_in(claims: Claims) -> list[tuple[str, str, str, str | None]]:
    edges = [e for claim in claims.claims for e in claim.edges]
    return [(e.from_node, e.from_column, e.to_node, e.to_column) for e in edges]


def query(number: int, target: str, columns: dict[str, list[str]], **more: Any) -> dict[str, Any]:
    """A row of ACCESS_HISTORY: each column of ``target`` with its sources, as ``table.column``."""
    sources = {name: [s.rsplit(".", 1) for s in found] for name, found in columns.items()}
    read = {table for found in sources.values() for table, _ in found}
    return {
        "QUERY_ID": f"q{number}",
        "QUERY_START_TIME": f"2026-01-0{number} 10:00:00.000 +0000",
        "DIRECT_OBJECTS_ACCESSED": json.dumps([{"objectName": t} for t in sorted(read)]),
        "OBJECTS_MODIFIED": json.dumps(
            [
                {
                    "objectDomain": "Table",
                    "objectName": target,
                    "columns": [
                        {
                            "columnName": name,
                            "directSources": [{"objectName": t, "columnName": c} for t, c in found],
                        }
                        for name, found in sources.items()
                    ],
                }
            ]
        ),
        **more,
    }


def test_access_history_is_chained_through_tables_that_no_node_is(lineage: Lineage) -> None:
    names = names_of(lineage)
    rows = [
        query(3, "DEV.MAIN.FCT", {"TOTAL": ["DEV.TMP.STEP2.X"], "ID": ["DEV.RAW.ORDERS.ID"]}),
        query(2, "DEV.TMP.STEP2", {"X": ["DEV.TMP.STEP1.Y"]}),
        query(1, "DEV.TMP.STEP1", {"Y": ["DEV.RAW.ORDERS.AMOUNT"]}),
    ]
    claims = read_access_history(rows, names)
    assert edges_in(claims) == [(ORDERS, "id", MART, "id"), (ORDERS, "amount", MART, "total")]
    assert not names.unmapped, "steps on the way are no relations of their own"
    (claim,) = claims.claims
    assert claim.run_id == "q3" and claim.observed_at == datetime(2026, 1, 3, 10)
    assert {e.certainty for e in claim.edges} == {Certainty.ASSUMED}


def test_an_insert_adds_to_what_was_written_and_a_rebuild_replaces_it(lineage: Lineage) -> None:
    first = query(1, "dev.main.fct", {"total": ["dev.raw.orders.amount"]}, QUERY_TYPE="INSERT")
    second = query(2, "dev.main.fct", {"total": ["dev.raw.orders.id"]}, QUERY_TYPE="INSERT")
    claims = read_access_history([first, second], names_of(lineage)).claims
    assert len(claims[-1].edges) == 2 and claims[-1].operation == "insert"
    rebuilt = {**second, "QUERY_TYPE": "CREATE_TABLE_AS_SELECT"}
    claims = read_access_history([first, rebuilt], names_of(lineage)).claims
    assert len(claims[-1].edges) == 1 and claims[-1].operation == "create_table_as"


def test_the_columns_that_a_query_read_are_told_of_its_inputs_and_make_no_edge(
    lineage: Lineage,
) -> None:
    read = [{"objectName": "DEV.RAW.ORDERS", "columns": [{"columnName": c} for c in ("ID", "X")]}]
    row = query(1, "dev.main.fct", {"total": ["dev.raw.orders.amount"]})
    row["DIRECT_OBJECTS_ACCESSED"] = json.dumps(read)
    (claim,) = read_access_history([row], names_of(lineage)).claims
    assert [(i.node, i.kind, dict(i.facts)) for i in claim.inputs] == [
        (ORDERS, "observed", {"columns": ["X", "id"]})
    ]
    assert len(claim.edges) == 1
    # A query whose direct objects were not exported is known by the tables beneath.
    beneath = {**row, "DIRECT_OBJECTS_ACCESSED": "", "BASE_OBJECTS_ACCESSED": json.dumps(read)}
    assert read_access_history([beneath], names_of(lineage)).claims == (claim,)


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv", "parquet"])
def test_access_history_is_read_from_every_form(
    ending: str, lineage: Lineage, tmp_path: Path
) -> None:
    rows = [query(1, "dev.main.fct", {"total": ["dev.raw.orders.amount"]})]
    path = tmp_path / f"history.{ending}"
    source = tmp_path / "rows.json"
    source.write_text(json.dumps(rows), encoding="utf-8")
    if ending == "json":
        path = source
    elif ending == "jsonl":
        path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    else:
        with duckdb.connect() as connection:
            connection.execute(f"copy (from '{source}') to '{path}'")
    claims = read_access_history(read_rows(path), names_of(lineage))
    assert edges_in(claims) == [(ORDERS, "amount", MART, "total")]


@pytest.mark.parametrize(
    "row, said",
    [
        ({}, "no QUERY_ID"),
        ({"QUERY_ID": "q1"}, "query q1: there is no QUERY_START_TIME"),
        ({"QUERY_ID": "q1", "QUERY_START_TIME": "2026-01-01", "OBJECTS_MODIFIED": "{"}, "query q1"),
    ],
)
def test_a_row_that_is_wrong_is_named(row: dict[str, Any], said: str, lineage: Lineage) -> None:
    with pytest.raises(ValueError, match=said):
        read_access_history([row], names_of(lineage))


def test_csv_edges_may_name_nodes_or_relations(lineage: Lineage) -> None:
    rows = [
        {"from_node": ORDERS, "from_column": "AMOUNT", "to_node": "dev.main.fct",
         "to_column": "total", "subtype": "aggregation", "expression": "'=sum(amount)"},
        {"from_node": '"dev"."raw"."orders"', "from_column": "id", "to_node": MART,
         "to_column": ""},
    ]  # fmt: skip
    claims = read_csv(rows, names_of(lineage), producer="mine", at=datetime(2026, 1, 1))
    (claim,) = claims.claims
    assert claims.is_complete and claim.run_id.startswith("mine-")
    whole, value = claim.edges
    assert (whole.subtype, whole.to_column, whole.certainty) == (
        Subtype.FILTER,
        None,
        Certainty.ASSUMED,
    )
    assert (value.subtype, value.from_column) == (Subtype.AGGREGATION, "amount")
    assert value.expression == "=sum(amount)"


@pytest.mark.parametrize(
    "change, said",
    [
        ({"to_node": ""}, "row 2: to_node is empty"),
        ({"subtype": "COPY"}, "row 2: the subtype 'COPY' is not one of IDENTITY"),
        ({"to_column": "", "subtype": "IDENTITY"}, "row 2: IDENTITY without a to_column"),
        ({"from_node": "read_csv('x')"}, "row 2: .* is neither"),
    ],
)
def test_a_wrong_csv_row_is_named_with_its_line(
    change: dict[str, str], said: str, lineage: Lineage
) -> None:
    row = {"from_node": ORDERS, "from_column": "id", "to_node": MART, "to_column": "id"}
    with pytest.raises(ValueError, match=said):
        read_csv([{**row, **change}], names_of(lineage), producer="p", at=datetime(2026, 1, 1))


def test_what_dbt_wrote_is_dbts_and_what_we_wrote_is_not(lineage: Lineage) -> None:
    rows: list[dict[str, Any]] = [
        {"from_node_unique_id": ORDERS, "from_column_name": "AMOUNT", "to_node_unique_id": MART,
         "to_column_name": "TOTAL", "lineage_kind": "copy", "ingested_at": datetime(2026, 1, 1)},
        {"from_node_unique_id": ORDERS, "from_column_name": "id",
         "to_node_unique_id": "model.shop.ours", "to_column_name": "id", "lineage_kind": "mod"},
    ]  # fmt: skip
    claims = read_dbt_index(rows, names_of(lineage), ours=["model.shop.ours"])
    assert edges_in(claims) == [(ORDERS, "amount", MART, "total")]
    assert claims.claims[0].edges[0].subtype is Subtype.IDENTITY and claims.is_complete


@pytest.mark.parametrize(
    "name, text, said",
    [
        ("a.xml", "<a/>", "'.xml'|.xml is not known"),
        ("a.json", "{", "not readable"),
        ("a.jsonl", '{"a": 1}\n{"b"', "line 2"),
        ("a.json", "[1]", "int where an object should be"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    name: str, text: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ArtifactError, match=said):
        list(read_rows(path))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "dbt_project.yml").write_text("name: shop\n", encoding="utf-8")
    (tmp_path / "target").mkdir()
    manifest = tmp_path / "target" / "manifest.json"
    manifest.write_text(json.dumps(make_manifest(*NODES)), encoding="utf-8")
    return tmp_path


def test_the_command_writes_rows_and_says_how_to_load_them(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edges = project / "edges.csv"
    flags = ["--project-dir", str(project)]
    assert run_cli(["export", "csv", "-o", str(edges), *flags]) == 0
    assert run_cli(["import", "csv", str(edges), "--producer", "mine", *flags]) == 0
    out = capsys.readouterr().out
    assert "mine: 2 edges into 1 node" in out
    assert "dbt run-operation lineage_post.load" in out
    rows = project / "target" / "lineage_post" / "imports" / "mine"
    assert (rows / "claims.json").is_file()


def test_events_are_read_from_an_address_on_this_machine(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--project-dir", str(project)]
    assert run_cli(["export", "openlineage", "-o", str(project / "events.jsonl"), *flags]) == 0
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=project)) as server:
        Thread(target=server.serve_forever, args=(0.01,)).start()
        url = f"http://127.0.0.1:{server.server_port}/events.jsonl"
        answers = [
            run_cli(["import", "openlineage", origin, "--output", "json", *flags])
            for origin in (str(project / "events.jsonl"), url, f"{url}.none")
        ]
        server.shutdown()
    assert answers == [0, 0, 2]
    streams = capsys.readouterr()
    assert streams.out.count('"edges": 2') == 2
    assert f"{url}.none: File not found" in streams.err


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder, and logs nothing."""

    def log_message(self, *args: Any) -> None:
        pass


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["csv", "x.csv"], "--producer NAME"),
        (["csv", "x.csv", "--producer", "manifest"], "nothing can be imported as it"),
        (["openlineage"], "needs a file"),
        (["openlineage", "http://example.com/events"], "only an address on this machine"),
        (["dbt-index"], "no column lineage of dbt"),
        (["access-history", "none.json"], "there is no such file"),
    ],
)
def test_wrong_use_is_refused_and_nothing_is_written(
    arguments: list[str], said: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "x.csv").write_text("from_node,from_column,to_node,to_column\n", encoding="utf-8")
    given = [str(project / a) if a.endswith((".csv", ".json")) else a for a in arguments]
    assert run_cli(["import", *given, "--project-dir", str(project)]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert not (project / "target" / "lineage_post" / "imports").exists()
