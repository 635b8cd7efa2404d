"""The files of the explorer: what they hold, and what they never hold."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from lineage_post.history.claims import Claim, Claims
from lineage_post.lineage import Lineage
from lineage_post.options import Options
from lineage_post.policy.file import Viewer
from lineage_post.policy.view import view_of
from lineage_post.publish import explorer
from lineage_post.publish.claims import write_claims
from lineage_post.publish.explorer import (
    Beside,
    claimed_of,
    claims_for,
    why_not_built,
    write_explorer,
)
from lineage_post.publish.explorer_claims import imported_claims
from lineage_post.publish.explorer_codes import (
    COMMAND,
    FEEDBACK,
    KINDS,
    MATERIAL,
    OUTPUT,
    RESTRICTED,
)
from lineage_post.publish.explorer_semantic import with_semantic_layer
from lineage_post.publish.run import Build, Run
from lineage_post.values import Edge
from lineage_post.vocabulary import Status, Subtype
from tests.unit.lineages import edges_of, lineage_of, states_of
from tests.unit.manifests import make_model, make_source

ORDERS, MART = "model.shop.stg_orders", "model.shop.fct_orders"


def shop(**options: Any) -> Lineage:
    return lineage_of(
        make_source("orders", {"id": "int", "amount": "double", "status": "text"}),
        make_model(
            "stg_orders",
            'select id, to_eur(amount) as amount, status from "dev"."raw"."orders"',
            ["source.shop.raw.orders"],
            description="One row an order.",
            tags=["inner"],
        ),
        make_model(
            "fct_orders",
            'select id, sum(amount) as revenue from "dev"."main"."stg_orders" '
            "where status = 'paid' group by 1",
            [ORDERS],
            materialized="table",
        ),
        make_source("clicks"),
        make_model("gap", 'select * from "dev"."raw"."clicks"', ["source.shop.raw.clicks"]),
        make_model("counted", 'select count(*) as n from "dev"."main"."stg_orders"', [ORDERS]),
        options=Options(
            processes=1,
            commands={"to_eur": {"inputs": ["amount"], "outputs": ["amount"]}},
            **options,
        ),
    )


def data(folder: Path, name: str) -> Any:
    """The content of a data file."""
    text = (folder / "data" / f"{name}.js").read_text(encoding="utf-8")
    assert text.startswith(f'lineagePost("{name}","') and text.isascii()
    return json.loads(gzip.decompress(base64.b64decode(text.split('"')[3])))


def everything(folder: Path) -> str:
    return json.dumps([data(folder, p.stem) for p in sorted((folder / "data").iterdir())])


@pytest.fixture(autouse=True)
def is_built() -> None:
    if why_not_built() is not None:
        pytest.skip("the page is not built: run make explorer")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written = write_explorer(shop(), tmp_path / "explorer")
    assert written is not None
    return written


def node_of(core: dict[str, Any], unique_id: str) -> int:
    found: int = core["ids"].index(unique_id)
    return found


def test_every_node_has_its_kind_and_marks(folder: Path) -> None:
    core = data(folder, "core")
    kinds = {u: KINDS[int(k)] for u, k in zip(core["ids"], core["kinds"], strict=True)}
    assert kinds["source.shop.raw.orders"] == "source" and kinds[MART] == "derived"
    assert kinds["native:source.shop.raw.orders"] == "native"
    assert core["marks"][node_of(core, MART)] == MATERIAL | OUTPUT
    assert core["marks"][node_of(core, ORDERS)] == 0


def test_edges_unpack_to_those_of_the_lineage(folder: Path) -> None:
    core = data(folder, "core")
    owner = [u for u, n in zip(core["ids"], core["counts"], strict=True) for _ in range(n)]
    columns = [f"{u}.{core['names'][c]}" for u, c in zip(owner, core["columns"], strict=True)]
    steps, back, codes = core["edges"]
    target, found = 0, set()
    for step, distance, code in zip(steps, back, codes, strict=True):
        target += step
        found.add((columns[target - distance], columns[target], code))
    assert (f"{ORDERS}.amount", f"{MART}.revenue", 2) in found
    assert ("source.shop.raw.orders.amount", f"{ORDERS}.amount", 1 | COMMAND) in found


def test_a_table_edge_tells_its_three_states_apart(folder: Path) -> None:
    core = data(folder, "core")

    def flow(reader: str) -> set[int]:
        return {v % 3 for v in core["tables"][node_of(core, reader)]}

    assert flow(MART) == {0} and flow("model.shop.counted") == {1}
    assert flow("model.shop.gap") == {2}


def test_details_have_description_expression_and_ops(folder: Path) -> None:
    core, details = data(folder, "core"), data(folder, "d0")
    orders, mart = details[node_of(core, ORDERS)], details[node_of(core, MART)]
    assert orders["text"] == "One row an order." and orders["tags"] == ["inner"]
    assert mart["columns"][1]["sql"].lower() == "sum(amount)"
    assert mart["columns"][1]["edges"][0][2] == [["SUM", "sql_function"]]
    assert {code for _, code, *_ in mart["rows"]} == {4, 5}, "a filter and a group by"


def test_without_expressions_no_sql_is_in_any_file(tmp_path: Path) -> None:
    written = write_explorer(shop(expressions=False), tmp_path)
    assert written is not None
    told = everything(written).lower()
    assert "sum(" not in told and "from " not in told and "'paid'" not in told


def test_a_viewer_s_page_has_no_name_of_what_is_hidden(tmp_path: Path) -> None:
    view = view_of(shop(), Viewer("some", hide=("tag:inner",)))
    written = write_explorer(view.lineage, tmp_path, Beside(served=True))
    assert written is not None
    core = data(written, "core")
    hidden = [i for i, u in enumerate(core["ids"]) if u.startswith("restricted.")]
    assert [core["marks"][i] & RESTRICTED for i in hidden] == [RESTRICTED]
    told = everything(written)
    assert "stg_orders" not in told and "One row an order." not in told


def test_the_repository_is_a_link_only_if_it_is_one(tmp_path: Path) -> None:
    for given, shown in (
        ("https://host/shop/blob/main", "https://host/shop/blob/main/{path}"),
        ("https://host/{path}?at=main", "https://host/{path}?at=main"),
        ("javascript:alert(1)//", None),
    ):
        lineage = shop()
        lineage = replace(lineage, options=replace(lineage.options, repository=given))
        written = write_explorer(lineage, tmp_path)
        assert written is not None
        assert data(written, "core")["repository"] == shown


def test_other_producers_edges_are_drawn_and_a_quiet_one_is_stale(tmp_path: Path) -> None:
    def claim(day: int, *columns: str) -> Claim:
        edges = tuple(
            Edge(ORDERS, c, None, MART, "revenue", Subtype.TRANSFORMATION) for c in columns
        )
        return Claim(MART, f"run-{day}", datetime(2026, 1, day), edges=edges)

    claims = Claims("catalog", (claim(1, "id", "amount"), claim(2, "amount")))
    write_claims(claims, tmp_path)
    beside = Beside(claimed=claimed_of(tmp_path, shop()))
    written = write_explorer(shop(), tmp_path / "explorer", beside)
    assert written is not None
    core = data(written, "core")
    found = {(core["names"][core["columns"][c[1]]], c[4], c[5][:10]) for c in core["claims"]}
    assert core["producers"] == ["catalog"]
    assert found == {("amount", 0, "2026-01-02"), ("id", 1, "2026-01-01")}


def test_a_feedback_is_marked(tmp_path: Path) -> None:
    lineage = lineage_of(
        make_model(
            "grown",
            'select id from "dev"."main"."grown"',
            materialized="incremental",
        ),
        catalog={"model.shop.grown": {"id": "int"}},
    )
    written = write_explorer(lineage, tmp_path)
    assert written is not None
    core = data(written, "core")
    assert core["marks"][node_of(core, "model.shop.grown")] & FEEDBACK


def test_the_same_lineage_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    again = write_explorer(shop(), tmp_path / "again")
    assert again is not None
    for path in folder.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (again / path.relative_to(folder)).read_bytes()


def test_an_install_without_the_page_says_why_and_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "NOT_BUILT.txt").write_text("there was no Node.js", encoding="utf-8")
    monkeypatch.setattr(explorer, "_built", lambda: tmp_path)
    assert write_explorer(shop(), tmp_path / "explorer") is None
    told = why_not_built()
    assert told is not None and "there was no Node.js" in told and "Install a release" in told


def test_what_a_producer_claims_of_something_hidden_is_in_no_page(tmp_path: Path) -> None:
    edge = Edge(ORDERS, "amount", None, MART, "revenue", Subtype.TRANSFORMATION)
    write_claims(
        Claims("catalog", (Claim(MART, "run", datetime(2026, 1, 1), edges=(edge,)),)), tmp_path
    )
    everyone = view_of(shop(), Viewer("all", natives=True))
    assert len(claims_for(everyone, tmp_path).edges) == 1
    view = view_of(shop(), Viewer("some", hide=("tag:inner",)))
    claimed = claims_for(view, tmp_path)
    assert claimed.edges == () and set(claimed.nodes) == {MART}
    written = write_explorer(view.lineage, tmp_path / "page", Beside(claimed=claimed))
    assert written is not None and "stg_orders" not in everything(written)


def test_a_claim_is_stale_when_its_producer_said_nothing_for_too_long(tmp_path: Path) -> None:
    edge = Edge(ORDERS, "amount", None, MART, "revenue", Subtype.TRANSFORMATION)
    write_claims(
        Claims("catalog", (Claim(MART, "run", datetime(2026, 1, 1), edges=(edge,)),)), tmp_path
    )
    now = datetime(2026, 1, 20)
    for days, is_stale in ((0, False), (30, False), (7, True), ({"catalog": 7}, True)):
        found = imported_claims(tmp_path, Options(stale_after_days=days), now)
        assert [c.is_stale for c in found.edges] == [is_stale], days
        assert [v.is_stale for v in found.nodes[MART]] == [is_stale], days


def test_what_is_not_selected_is_not_called_external(tmp_path: Path) -> None:
    lineage = shop()
    part = replace(lineage, nodes={MART: lineage.nodes[MART]})
    written = write_explorer(part, tmp_path)
    assert written is not None
    core = data(written, "core")
    state = core["states"][node_of(core, ORDERS)]
    assert core["reasons"][state // 10 - 1][0] == "not_selected"


def test_what_a_run_has_built_vouches_for_itself(tmp_path: Path) -> None:
    lineage = shop()
    builds = {
        MART: Build(MART, Status.SUCCESS, datetime(2026, 1, 2, 3, 4)),
        ORDERS: Build(ORDERS, Status.ERROR, datetime(2026, 1, 2)),
    }
    claimed = claimed_of(tmp_path, lineage, Run("run", builds))
    written = write_explorer(lineage, tmp_path, Beside(claimed=claimed))
    assert written is not None
    core, details = data(written, "core"), data(written, "d0")
    told = [name for name, *_ in details[node_of(core, MART)]["producers"]]
    assert told == ["manifest", "execution"]
    assert details[node_of(core, MART)]["producers"][1][1] == "built 2026-01-02 03:04"
    assert len(details[node_of(core, ORDERS)]["producers"]) == 1


def resource(unique_id: str, **more: Any) -> dict[str, Any]:
    kind, package, name = unique_id.split(".")
    found = {"resource_type": kind, "package_name": package, "original_file_path": "s.yml"}
    return {unique_id: {"unique_id": unique_id, "name": name, **found, **more}}


def semantic() -> Lineage:
    return lineage_of(
        make_model("fct", "select 1 as id, 2 as amount, date '2026-01-01' as day"),
        semantic_models=resource(
            "semantic_model.shop.orders",
            depends_on={"nodes": ["model.shop.fct"]},
            dimensions=[{"name": "day", "expr": None}, {"name": "gone", "expr": None}],
            measures=[
                {"name": "revenue", "expr": "amount * 2"},
                {"name": "rows", "expr": "1"},
            ],
        ),
        metrics={
            **resource("metric.shop.income", type_params={"measure": {"name": "revenue"}}),
            **resource("metric.shop.visits", type_params={"measure": {"name": "rows"}}),
            **resource(
                "metric.shop.ratio",
                type_params={"numerator": {"name": "income"}, "denominator": "visits"},
            ),
        },
        saved_queries=resource(
            "saved_query.shop.q",
            query_params={
                "metrics": ["income"],
                "group_by": ["TimeDimension('order__day', 'week')"],
            },
        ),
    )


def test_the_semantic_layer_reads_what_it_names() -> None:
    lineage = with_semantic_layer(semantic())
    assert edges_of(lineage.nodes["semantic_model.shop.orders"]) == {
        "fct.amount -> revenue AGGREGATION",
        "fct.day -> day IDENTITY",
    }
    states = states_of(lineage.nodes["semantic_model.shop.orders"])
    assert states["gone"] == "unknown(unresolved_column)" and states["rows"] == "known"
    assert edges_of(lineage.nodes["metric.shop.visits"]) == {"orders.rows -> visits TRANSFORMATION"}
    assert edges_of(lineage.nodes["metric.shop.ratio"]) == {
        "income.income -> ratio TRANSFORMATION",
        "visits.visits -> ratio TRANSFORMATION",
    }
    assert edges_of(lineage.nodes["saved_query.shop.q"]) == {
        "income.income -> income IDENTITY",
        "orders.day -> day IDENTITY",
    }


@pytest.mark.parametrize(
    "viewer",
    [
        Viewer("a", hide=("fct",)),
        Viewer("b", hide=("metric:income",)),
        Viewer("c", scope=("metric:*",)),
        Viewer("d", hide=("resource_type:semantic_model",)),
    ],
    ids=lambda viewer: viewer.name,
)
def test_the_semantic_layer_of_a_viewer_names_nothing_hidden(
    tmp_path: Path, viewer: Viewer
) -> None:
    view = view_of(semantic(), viewer)
    written = write_explorer(view.lineage, tmp_path)
    assert written is not None
    told = everything(written)
    hidden = {"a": "amount", "b": "income", "c": "fct", "d": "orders"}[viewer.name]
    assert f'"{hidden}"' not in told and f".{hidden}" not in told
