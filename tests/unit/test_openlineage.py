"""OpenLineage out and in: valid events, the same edges back, a spool behind the endpoint."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from lineage_post.errors import OptionError
from lineage_post.lineage import Lineage
from lineage_post.options import Options
from lineage_post.producers import read_openlineage
from lineage_post.producers.names import names_of
from lineage_post.publish import emit
from lineage_post.publish.emit import json_lines, send
from lineage_post.publish.openlineage import Naming, events_of
from lineage_post.publish.run import Build, Run
from lineage_post.vocabulary import Certainty, State, Status, Subtype

from .lineages import lineage_of
from .manifests import make_model, make_source

ORDERS, EPHEMERAL, MART = "source.shop.raw.orders", "model.shop.paid", "model.shop.fct"

#: What the specification demands of an event and of the facet, written down once more.
DATASET = {
    "type": "object",
    "required": ["namespace", "name"],
    "properties": {"facets": {"additionalProperties": {"required": ["_producer", "_schemaURL"]}}},
}
INPUT_FIELD = {
    "type": "object",
    "required": ["namespace", "name", "field"],
    "properties": {
        "transformations": {
            "items": {
                "required": ["type"],
                "properties": {
                    "type": {"enum": ["DIRECT", "INDIRECT"]},
                    "subtype": {"type": "string"},
                    "description": {"type": "string"},
                    "masking": {"type": "boolean"},
                },
            }
        }
    },
}
EVENT = {
    "type": "object",
    "required": ["eventTime", "producer", "schemaURL", "job"],
    "properties": {
        "eventTime": {"pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$"},
        "eventType": {"enum": ["START", "COMPLETE", "FAIL"]},
        "run": {"required": ["runId"], "properties": {"runId": {"pattern": "^[0-9a-f-]{36}$"}}},
        "job": {"required": ["namespace", "name"]},
        "inputs": {"type": "array", "items": DATASET},
        "outputs": {"type": "array", "items": DATASET},
    },
}
FACET = {
    "required": ["fields"],
    "properties": {
        "fields": {
            "additionalProperties": {
                "required": ["inputFields"],
                "properties": {"inputFields": {"items": INPUT_FIELD}},
            }
        },
        "dataset": {"type": "array", "items": INPUT_FIELD},
    },
}


@pytest.fixture(scope="module")
def lineage() -> Lineage:
    return lineage_of(
        make_source(
            "orders", {"id": "int", "amount": "double", "email": "text", "who": "struct(name text)"}
        ),
        make_model(
            "paid",
            'select id, amount, md5(email) as email, guess(who) as who, "who"."name" as name '
            'from "dev"."raw"."orders" where amount > 0',
            [ORDERS],
            materialized="ephemeral",
        ),
        make_model(
            "fct",
            "with __dbt__cte__paid as (select id, amount, md5(email) as email, guess(who) as who, "
            '"who"."name" as name from "dev"."raw"."orders" where amount > 0) '
            "select email, count(id) as orders, sum(amount) as total, max(name) as name "
            "from __dbt__cte__paid group by email",
            [EPHEMERAL],
            materialized="table",
            extra_ctes=[
                {
                    "id": EPHEMERAL,
                    "sql": " __dbt__cte__paid as (\nselect id, amount, md5(email) as email, "
                    'guess(who) as who, "who"."name" as name from "dev"."raw"."orders" '
                    "where amount > 0)",
                }
            ],
            description="Orders by </script> hash.",
            tags=["mart"],
            columns={"total": {"name": "total", "tags": ["money"], "description": "In euro."}},
        ),
    )


RUN = Run(
    "11111111-1111-4111-8111-111111111111",
    {MART: Build(MART, Status.SUCCESS, datetime(2026, 1, 2, 3, 4, 5))},
)


def dicts(events: Iterator[Any]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in json_lines(events)]


def column_facet(event: Mapping[str, Any]) -> dict[str, Any]:
    facet: dict[str, Any] = event["outputs"][0]["facets"]["columnLineage"]
    return facet


def test_a_built_node_starts_and_completes_within_its_run(lineage: Lineage) -> None:
    events = [e for e in dicts(events_of(lineage, RUN)) if e["job"]["name"] == MART]
    assert [e["eventType"] for e in events] == ["START", "COMPLETE"]
    assert events[0]["run"]["runId"] == events[1]["run"]["runId"] != RUN.run_id
    parent = events[1]["run"]["facets"]["parent"]
    assert parent["run"]["runId"] == RUN.run_id and parent["job"]["name"] == "dbt.shop.build"
    output = events[1]["outputs"][0]
    assert (output["namespace"], output["name"]) == ("duckdb", "dev.main.fct")
    assert "columnLineage" not in events[0]["outputs"][0]["facets"]
    tags = [(t["key"], t.get("field")) for t in output["facets"]["tags"]["tags"]]
    assert tags == [("mart", None), ("money", "total")]


def test_every_event_is_what_the_specification_demands(lineage: Lineage) -> None:
    events = dicts(events_of(lineage, RUN))
    for event in events:
        Draft202012Validator(EVENT).validate(event)
    facets = [column_facet(e) for e in events if "columnLineage" in str(e["outputs"])]
    assert len(facets) == 2
    for facet in facets:
        Draft202012Validator(FACET).validate(facet)


def test_what_decides_whole_rows_stands_once_for_the_dataset(lineage: Lineage) -> None:
    (event,) = [e for e in dicts(events_of(lineage, RUN)) if e["job"]["name"] == EPHEMERAL]
    assert "eventType" not in event, "no run builds an ephemeral model"
    (whole,) = column_facet(event)["dataset"]
    assert whole["field"] == "amount"
    assert whole["transformations"][0]["subtype"] == "FILTER"


def test_a_count_masks_for_openlineage_alone(lineage: Lineage) -> None:
    events = [e for e in dicts(events_of(lineage, RUN)) if e.get("eventType") == "COMPLETE"]
    fields = column_facet(events[0])["fields"]
    assert fields["orders"]["inputFields"][0]["transformations"][0]["masking"] is True
    assert fields["total"]["inputFields"][0]["transformations"][0]["masking"] is False


def test_a_build_that_failed_fails_and_gives_nothing_away(lineage: Lineage) -> None:
    failed = replace(RUN, builds={MART: replace(RUN.builds[MART], status=Status.ERROR)})
    events = [e for e in dicts(events_of(lineage, failed)) if e["job"]["name"] == MART]
    assert [e["eventType"] for e in events] == ["START", "FAIL"]
    assert all("columnLineage" not in e["outputs"][0]["facets"] for e in events)


def test_what_is_unknown_is_said_to_be(lineage: Lineage) -> None:
    (event,) = [e for e in dicts(events_of(lineage, None)) if e["job"]["name"] == MART]
    assert event["outputs"][0]["facets"]["lineagePost_state"]["state"] == "known"


def test_the_same_input_gives_the_same_bytes(lineage: Lineage) -> None:
    naming = Naming("duckdb://here", "jobs")
    first, again = (list(json_lines(events_of(lineage, RUN, naming=naming))) for _ in range(2))
    assert first == again and '"namespace": "duckdb://here"' in first[-1]


def test_what_is_exported_comes_back_as_the_same_edges(lineage: Lineage) -> None:
    claims = read_openlineage(dicts(events_of(lineage, RUN)), names_of(lineage))
    back = {e for claim in claims.claims for e in claim.edges}
    assert back == {*lineage.edges()}
    assert any(e.certainty is Certainty.ASSUMED for e in back)
    assert any(e.from_field == "name" for e in back) and any(e.ops for e in back)
    assert claims.producer == "openlineage" and not claims.is_complete


def test_a_project_that_has_none_of_the_nodes_gets_the_same_edges_between_external_ones(
    lineage: Lineage,
) -> None:
    nobody = lineage_of(make_model("other", "select 1 as one"))
    claims = read_openlineage(dicts(events_of(lineage, RUN)), names_of(nobody))
    outside = {
        node.unique_id: f"external.{node.relation if node.relation else node.unique_id}"
        for node in lineage.project.nodes.values()
    }
    expected = {
        e._replace(from_node=outside[e.from_node], to_node=outside[e.to_node])
        for e in lineage.edges()
        # Of a struct's field only who knows the struct can tell that it is one.
        if e.from_field is None
    }
    back = {e for claim in claims.claims for e in claim.edges if "." not in e.from_column}
    assert back == expected


def event(facet: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "eventTime": "2026-01-02T03:04:05Z",
        "eventType": "COMPLETE",
        "run": {"runId": "r1"},
        "job": {"namespace": "j", "name": "n"},
        "inputs": [],
        "outputs": [
            {"namespace": "pg", "name": "DEV.main.FCT", "facets": {"columnLineage": facet}}
        ],
        **more,
    }


SOURCE = {"namespace": "pg", "name": "dev.raw.orders", "field": "AMOUNT"}


@pytest.mark.parametrize(
    "fields, subtype, masking, certainty",
    [
        (
            {"inputFields": [SOURCE], "transformationType": "IDENTITY"},
            Subtype.IDENTITY,
            False,
            Certainty.EXACT,
        ),
        (
            {"inputFields": [SOURCE], "transformationType": "MASKED"},
            Subtype.TRANSFORMATION,
            True,
            Certainty.ASSUMED,
        ),
        ({"inputFields": [SOURCE]}, Subtype.TRANSFORMATION, False, Certainty.ASSUMED),
        (
            {
                "inputFields": [
                    {**SOURCE, "transformations": [{"type": "INDIRECT", "subtype": "CONDITIONAL"}]}
                ]
            },
            Subtype.CONDITIONAL,
            False,
            Certainty.EXACT,
        ),
    ],
    ids=["1-0-0 identity", "1-0-0 masked", "nothing said", "1-1-0"],
)
def test_each_version_of_the_facet_is_read(
    lineage: Lineage,
    fields: Mapping[str, Any],
    subtype: Subtype,
    masking: bool,
    certainty: Certainty,
) -> None:
    claims = read_openlineage([event({"fields": {"TOTAL": fields}})], names_of(lineage))
    (claim,) = claims.claims
    (edge,) = claim.edges
    assert claim.node == MART, "names map by the full name, whatever its case"
    assert (edge.from_node, edge.from_column, edge.to_column) == (ORDERS, "amount", "total")
    assert (edge.subtype, edge.masking, edge.certainty) == (subtype, masking, certainty)


def test_a_name_no_node_has_becomes_external(lineage: Lineage) -> None:
    names = names_of(lineage)
    other = {"namespace": "s3://bucket", "name": "a/b.parquet", "field": "x"}
    found = event({"fields": {"total": {"inputFields": [other]}}})
    (claim,) = read_openlineage([found], names).claims
    assert claim.edges[0].from_node == "external.s3://bucket/a/b.parquet"
    assert names.unmapped == {"external.s3://bucket/a/b.parquet"}


def test_a_run_that_failed_claims_no_edge(lineage: Lineage) -> None:
    facet = {"fields": {"total": {"inputFields": [SOURCE]}}}
    events = [event(facet, eventType="RUNNING"), event(facet, eventType="FAIL")]
    (claim,) = read_openlineage(events, names_of(lineage)).claims
    assert claim.status is Status.ERROR and not claim.edges


def test_a_producer_that_knows_tables_alone_knows_no_columns(lineage: Lineage) -> None:
    table = event({"fields": {}}, inputs=[{"namespace": "pg", "name": "dev.raw.orders"}])
    (claim,) = read_openlineage([table], names_of(lineage)).claims
    assert claim.state is State.UNKNOWN and [i.node for i in claim.inputs] == [ORDERS]


class Endpoint(HTTPServer):
    """Answers with a status that the test sets, and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status = 201
        self.got: list[dict[str, Any]] = []
        self.tokens: set[str | None] = set()


class Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.status < 300:
            self.server.got.append(json.loads(body))
        self.server.tokens.add(self.headers.get("Authorization"))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(emit.RETRIES, "total", 0)


def test_events_that_cannot_be_sent_wait_and_keep_their_order(
    lineage: Lineage, endpoint: Endpoint, tmp_path: Path
) -> None:
    url, spool = f"http://127.0.0.1:{endpoint.server_port}", tmp_path / "spool.jsonl"
    events = list(events_of(lineage, RUN))
    endpoint.status = 503
    down = send(events, url, spool, environ={})
    assert (down.arrived, down.waiting) == (0, len(events)) and down.problem
    endpoint.status = 201
    up = send(events[:1], url, spool, environ={"OPENLINEAGE_API_KEY": "key-1"})
    assert (up.arrived, up.waiting, up.problem) == (len(events) + 1, 0, None)
    assert endpoint.got == dicts(iter([*events, events[0]])) and not spool.exists()
    assert "Bearer key-1" in endpoint.tokens


def test_an_event_that_is_refused_for_good_does_not_block_the_others(
    lineage: Lineage, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.status = 422
    url = f"http://user:secret@127.0.0.1:{endpoint.server_port}"
    sent = send(events_of(lineage, RUN), url, tmp_path / "spool.jsonl", environ={})
    assert sent.waiting == 0 and sent.problem and "422" in sent.problem
    assert "secret" not in sent.problem


def test_an_address_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no HTTP address"):
        send([], "file:///etc/passwd", tmp_path / "spool.jsonl")


def test_expressions_can_be_left_out(lineage: Lineage) -> None:
    quiet = replace(lineage, options=Options(expressions=False))
    assert not any("sql" in e["job"]["facets"] for e in dicts(events_of(quiet, RUN)))
