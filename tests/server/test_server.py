"""The HTTP face: graphs, limits, tokens, and what a viewer is never told."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lineage_post.cli import run as run_cli
from lineage_post.cli.serve import _page as page_of
from lineage_post.errors import ArtifactError
from lineage_post.history.claims import InputVersion
from lineage_post.lineage import Lineage
from lineage_post.policy import Policy, view_of
from lineage_post.policy.file import policy_from_mapping
from lineage_post.publish.explorer import why_not_built
from lineage_post.server import state as states
from lineage_post.server.app import create_app
from lineage_post.server.listening import listening
from lineage_post.server.settings import Settings, tokens_of
from lineage_post.server.state import State
from tests.unit.lineages import lineage_of
from tests.unit.manifests import make_model, make_source

ORDERS, MART = "model.shop.stg_orders", "model.shop.fct_orders"


def shop(column: str = "revenue") -> Lineage:
    return lineage_of(
        make_source("orders", {"id": "int", "amount": "double", "status": "text"}),
        make_model(
            "stg_orders",
            'select id, amount, status from "dev"."raw"."orders"',
            ["source.shop.raw.orders"],
            tags=["inner"],
        ),
        make_model(
            "fct_orders",
            f'select id, sum(amount) as {column} from "dev"."main"."stg_orders" '
            "where status = 'paid' group by 1",
            [ORDERS],
            materialized="table",
        ),
    )


Make = Callable[..., TestClient]


@pytest.fixture
def client() -> TestClient:
    return make_client()


def make_client(
    policy: Policy | None = None,
    *,
    settings: Settings | None = None,
    load: Callable[[], Lineage] = shop,
    watched: tuple[Path, ...] = (),
    page: Path | None = None,
    loads: Mapping[str, InputVersion] | None = None,
) -> TestClient:
    state = State(load, watched, policy or Policy(), lambda view: page, lambda: loads or {})
    state.start()
    app = create_app(state, settings or Settings())
    return TestClient(app, base_url="http://localhost")


def test_the_graph_around_a_column(client: TestClient) -> None:
    found = client.get("/lineage/federation", params={"focus": "fct_orders.revenue"}).json()
    assert [
        (n["unique_id"], n["column"], n["kind"], n["materialized"]) for n in found["nodes"]
    ] == [
        (MART, "revenue", "derived", True),
        (ORDERS, "amount", "derived", False),
        ("source.shop.raw.orders", "amount", "source", False),
    ]
    assert [(e["source"], e["target"], e["transform"]) for e in found["edges"]] == [
        (f"{ORDERS}:amount", f"{MART}:revenue", "AGGREGATION"),
        ("source.shop.raw.orders:amount", f"{ORDERS}:amount", "IDENTITY"),
    ]
    assert found["outputs"] == [f"{MART}:revenue"]
    assert found["truncated"] is None and found["incomplete"] is None


def test_depth_and_direction_bound_the_graph_and_say_so(client: TestClient) -> None:
    ask = {"focus": "fct_orders.revenue", "direction": "upstream", "depth": 1}
    found = client.get("/lineage/federation", params=ask).json()
    assert len(found["nodes"]) == 2 and found["truncated"] == {"nodes": 0, "hops": True}
    assert client.get("/lineage/federation", params={**ask, "depth": 9}).status_code == 422
    down = client.get("/lineage/federation", params={**ask, "direction": "downstream"}).json()
    assert [n["column"] for n in down["nodes"]] == ["revenue"]


def test_more_than_500_columns_are_cut_and_counted() -> None:
    names = [f"c{i}" for i in range(600)]
    wide = lineage_of(make_source("wide", dict.fromkeys(names, "int")))
    found = make_client(load=lambda: wide).get("/lineage/federation").json()
    assert len(found["nodes"]) == 500 and found["truncated"]["nodes"] == 100


def test_indirect_edges_are_drawn_when_asked_for(client: TestClient) -> None:
    ask = {"focus": "stg_orders.status", "direction": "downstream", "indirect": "true"}
    found = client.get("/lineage/federation", params=ask).json()
    assert [(e["target"], e["transform"]) for e in found["edges"]] == [(f"{MART}:", "FILTER")]


def test_a_focus_that_is_not_there_has_near_names(client: TestClient) -> None:
    answer = client.get("/lineage/federation", params={"focus": "fct_orders.revenu"})
    assert answer.status_code == 404
    assert "revenue" in answer.json()["detail"]["hint"]


def test_the_graph_of_a_statement_knows_the_projects_columns(client: TestClient) -> None:
    answer = client.post("/lineage/graph", json={"sql": "select * from dev.main.fct_orders"})
    found = answer.json()
    assert [n["column"] for n in found["nodes"] if n["kind"] == "derived"] == ["id", "revenue"]
    assert found["outputs"] == ["result:1", "result:2"] and found["state"] == "known"


def test_a_statement_that_cannot_be_parsed_is_422_with_its_position(client: TestClient) -> None:
    answer = client.post("/lineage/graph", json={"sql": "select a,\nfrom from where"})
    assert answer.status_code == 422
    assert (answer.json()["detail"]["line"], answer.json()["detail"]["column"]) == (2, 15)
    strange = client.post("/lineage/graph", json={"sql": "select 1", "dialect": "cobol"})
    assert strange.status_code == 422 and "cobol" in strange.json()["detail"]["message"]


def test_dependents_say_what_breaks(client: TestClient) -> None:
    ask = {"column": "stg_orders.status", "change": "drop"}
    found = client.get("/lineage/dependents", params=ask).json()
    assert found["summary"]["breaks"] == {"model": 1}
    rename = client.get("/lineage/dependents", params={**ask, "change": "rename"})
    assert rename.status_code == 422 and "to=NAME" in rename.json()["detail"]["hint"]
    for name, said in (("stg_orders.state", "has a dot"), ("status", "is the name")):
        asked = {**ask, "change": "rename", "to": name}
        refused = client.get("/lineage/dependents", params=asked)
        assert refused.status_code in (404, 422) and said in refused.json()["detail"]["message"]


def test_an_answer_that_the_caller_has_is_304(client: TestClient) -> None:
    ask = {"focus": "fct_orders.revenue"}
    first = client.get("/lineage/federation", params=ask)
    again = client.get(
        "/lineage/federation", params=ask, headers={"If-None-Match": first.headers["etag"]}
    )
    assert again.status_code == 304 and again.content == b""
    assert first.headers["content-encoding"] == "gzip"


def test_the_api_describes_itself_without_a_foreign_host(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/lineage/graph", "/lineage/federation", "/lineage/dependents"} <= set(paths)
    page = client.get("/docs")
    assert page.status_code == 200 and "http" not in page.text.replace("http-equiv", "")


def test_every_answer_has_a_policy_for_what_its_page_may_load(client: TestClient) -> None:
    for path in ("/health", "/lineage/federation", "/no/such/page"):
        policy = client.get(path).headers["content-security-policy"]
        assert "script-src 'self';" in policy and "default-src 'none'" in policy


LIMITED = policy_from_mapping(
    {
        "default": "anybody",
        "viewers": {
            "anybody": {"hide": ["stg_orders"]},
            "insider": {"token_env": "INSIDER"},
            "narrow": {"scope": ["fct_orders"], "token_env": "NARROW"},
        },
    },
    where="policy.yml",
)
TOKENS = tokens_of(LIMITED, {"INSIDER": "token-1", "NARROW": "token-2"})


@pytest.mark.parametrize("path", ["federation?indirect=true", "dependents?column=orders.amount"])
def test_what_a_viewer_may_not_see_is_in_no_answer(path: str) -> None:
    client = make_client(LIMITED, settings=Settings(tokens=TOKENS))
    text = client.get(f"/lineage/{path}").text
    assert "restricted" in text and "stg_orders" not in text
    told = client.get(f"/lineage/{path}", headers={"Authorization": "Bearer token-1"}).text
    assert "stg_orders" in told


def test_a_hidden_model_cannot_be_asked_for_nor_read_by_a_statement() -> None:
    client = make_client(LIMITED, settings=Settings(tokens=TOKENS))
    gone = client.get("/lineage/federation", params={"focus": "stg_orders.amount"})
    assert gone.status_code == 404 and "status" not in gone.text
    star = client.post("/lineage/graph", json={"sql": "select * from dev.main.stg_orders"}).json()
    assert star["open"] and not star["outputs"]


def test_what_is_out_of_scope_is_dropped_and_said_to_be_missing() -> None:
    client = make_client(LIMITED, settings=Settings(tokens=TOKENS))
    found = client.get(
        "/lineage/federation",
        params={"focus": "fct_orders.revenue"},
        headers={"Authorization": "Bearer token-2"},
    ).json()
    assert [n["unique_id"] for n in found["nodes"]] == [MART]
    assert "left out" in found["incomplete"]


def test_beyond_loopback_a_token_is_needed() -> None:
    open_to_all = Settings(host="0.0.0.0", tokens={"token-3": None})
    client = make_client(settings=open_to_all)
    assert client.get("/health").status_code == 401
    assert client.get("/health", headers={"Authorization": "Bearer nonsense"}).status_code == 401
    assert client.get("/health", headers={"Authorization": "Bearer token-3"}).status_code == 200


def test_a_link_with_a_token_leaves_a_cookie_and_no_token_in_the_address() -> None:
    client = make_client(settings=Settings(host="0.0.0.0", tokens={"token-3": None}))
    first = client.get("//elsewhere.example/?token=token-3", follow_redirects=False)
    assert first.status_code == 303 and first.headers["location"] in ("/", "/elsewhere.example/")
    assert "HttpOnly" in first.headers["set-cookie"]
    assert client.get("/health").status_code == 200


def test_on_loopback_another_name_of_the_host_is_refused(client: TestClient) -> None:
    assert client.get("/health", headers={"Host": "rebound.example"}).status_code == 400


def test_a_body_that_is_too_large_is_refused_however_it_comes() -> None:
    client = make_client(settings=Settings(most_bytes=1000))
    body = b'{"sql": "' + b"x" * 2000 + b'"}'
    kind = {"Content-Type": "application/json"}
    assert client.post("/lineage/graph", content=body, headers=kind).status_code == 413
    parts = (body[i : i + 100] for i in range(0, len(body), 100))
    assert client.post("/lineage/graph", content=parts, headers=kind).status_code == 413


def test_what_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "lineage_post.server.answers.statement", lambda *args: time.sleep(0.5) or {}
    )
    client = make_client(settings=Settings(most_seconds=0.05))
    answer = client.post("/lineage/graph", json={"sql": "select 1"})
    assert answer.status_code == 503 and "0.05 s" in answer.json()["detail"]


def test_the_page_is_served_and_nothing_beside_its_folder(tmp_path: Path) -> None:
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text("<p>the explorer", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    os.symlink(tmp_path / "secret.txt", page / "link.txt")
    client = make_client(page=page)
    assert client.get("/").text == "<p>the explorer"
    for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/link.txt"):
        answer = client.get(path)
        assert answer.status_code == 404 and "secret" not in answer.text


def test_artifacts_that_change_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "LOOK_EVERY", 0.0)
    manifest = tmp_path / "manifest.json"
    manifest.write_text("1", encoding="utf-8")
    names = iter(["revenue", "income"])

    def load() -> Lineage:
        try:
            return shop(next(names))
        except StopIteration:
            raise ArtifactError("manifest.json: half written") from None

    client = make_client(load=load, watched=(manifest,))
    assert client.get("/lineage/federation", params={"focus": "fct_orders.revenue"}).is_success
    manifest.write_text("two", encoding="utf-8")
    assert wait_for(client, "fct_orders.income", 200)
    manifest.write_text("three!", encoding="utf-8")
    deadline = time.monotonic() + 10
    while client.get("/health").json()["status"] != "stale" and time.monotonic() < deadline:
        client.get("/lineage/federation", params={"focus": "fct_orders"})
    assert "half written" in client.get("/health").json()["problem"]
    assert client.get("/lineage/federation", params={"focus": "fct_orders.income"}).is_success


def wait_for(client: TestClient, focus: str, status: int) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if client.get("/lineage/federation", params={"focus": focus}).status_code == status:
            return True
        time.sleep(0.01)
    return False


def lake(**more: object) -> Lineage:
    """A source that is copied in from a lake, and what reads it."""
    place = {"location": "s3://lake/orders/*.parquet"}
    source = {**make_source("orders", {"id": "int"}), "external": place, **more}
    return lineage_of(
        source,
        make_model("stg_orders", 'select id from "dev"."raw"."orders"', ["source.shop.raw.orders"]),
    )


def test_raw_places_are_told_to_viewers_whose_policy_allows_it() -> None:
    policy = policy_from_mapping(
        {
            "default": "plain",
            "viewers": {"plain": {}, "engineer": {"natives": True, "token_env": "ENGINEER"}},
        },
        where="policy.yml",
    )
    seen = InputVersion("source.shop.raw.orders", "2026-01-02T03:00:00+00:00", "freshness")
    freshness = {"warn_after": {"count": 12, "period": "hour"}}
    client = make_client(
        policy,
        settings=Settings(tokens=tokens_of(policy, {"ENGINEER": "token-4"})),
        load=lambda: lake(freshness=freshness, meta={"lineage": {"served": "replica"}}),
        loads={seen.node: seen},
    )
    ask = {"focus": "stg_orders.id"}
    plain = client.get("/lineage/federation", params=ask)
    assert plain.json()["natives"] == [] and "s3:" not in plain.text
    told = client.get(
        "/lineage/federation", params=ask, headers={"Authorization": "Bearer token-4"}
    ).json()
    assert told["natives"] == [
        {
            "relation": "dev.raw.orders",
            "source": "source.shop.raw.orders",
            "type": "external_location",
            "address": "s3://lake/orders/*.parquet",
            "served": {
                "mode": "replica",
                "ttl": "12 hour",
                "last_load": "2026-01-02T03:00:00+00:00",
                "next_load": "2026-01-02T15:00:00+00:00",
            },
        }
    ]


def test_the_sql_that_tells_why_a_row_is_there_is_made_when_asked_for(client: TestClient) -> None:
    found = client.get("/lineage/why", params={"node": "fct_orders"}).json()
    assert "lineage_post_condition" in found["sql"] and found["columns"] == ["id", "revenue"]
    source = client.get("/lineage/why", params={"node": "source.shop.raw.orders"}).json()
    assert "no SQL" in source["refusal"]
    assert client.get("/lineage/why", params={"node": "nothing"}).status_code == 404


def test_the_sql_of_a_row_names_nothing_that_a_viewer_may_not_see() -> None:
    client = make_client(LIMITED, settings=Settings(tokens=TOKENS))
    answer = client.get("/lineage/why", params={"node": "fct_orders"})
    assert "refusal" in answer.json() and "stg_orders" not in answer.text


def test_pages_of_artifacts_that_have_changed_twice_are_removed(tmp_path: Path) -> None:
    if why_not_built() is not None:
        pytest.skip("the page is not built: run make explorer")
    view = view_of(shop(), Policy().default)
    pages = [page_of(view, tmp_path, tmp_path) for _ in range(3)]
    assert [page is not None and page.is_dir() for page in pages] == [False, True, True]


def test_a_used_port_is_named_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert run_cli(["serve", "--port", str(port), "--project-dir", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert f"port {port} of 127.0.0.1" in told and "--port" in told


def test_a_host_that_is_not_this_machine_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    # 192.0.2.0/24 is for documentation (RFC 5737), and no machine's.
    assert run_cli(["serve", "--host", "192.0.2.1", "--port", "0"]) == 2
    told = capsys.readouterr().err
    assert "192.0.2.1" in told and "--host" in told


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_any_free_port_is_the_same_at_all_addresses(host: str) -> None:
    found = listening(host, 0)
    try:
        ports = {one.getsockname()[1] for one in found}
        assert len(ports) == 1 and ports != {0}
    finally:
        for one in found:
            one.close()
