"""What the explorer marks, and what it does with pictures that are too large, in a real browser."""

from __future__ import annotations

import functools
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from lineage_post.history.claims import Claim, Claims
from lineage_post.lineage import Lineage
from lineage_post.publish.claims import write_claims
from lineage_post.publish.explorer import Beside, claimed_of, why_not_built, write_explorer
from lineage_post.publish.why_sql import why_templates
from lineage_post.values import Edge
from lineage_post.vocabulary import Subtype
from tests.browser.conftest import Site
from tests.browser.test_explorer import at, cards
from tests.unit.lineages import lineage_of
from tests.unit.manifests import make_model, make_source

pytestmark = [pytest.mark.browser]

STG, FCT = "model.shop.stg_orders", "model.shop.fct_orders"
LONG = "name_" + "of_two_hundred_characters_" * 7 + "that_end_here"
RTL = "\u05e9\u05dc\u05d5\u05dd_\u202eabc"


def read(name: str, column: str = "id") -> str:
    return f'select {column} from "dev"."main"."{name}"'


def resource(unique_id: str, **more: Any) -> dict[str, Any]:
    kind, package, name = unique_id.split(".")
    found = {"unique_id": unique_id, "resource_type": kind, "package_name": package, "name": name}
    return {unique_id: {**found, "original_file_path": "models/semantic.yml", **more}}


def shop() -> Lineage:
    return lineage_of(
        make_source("orders", {"id": "int", "amount": "double"}),
        make_model(
            "stg_orders",
            'select id, amount from "dev"."raw"."orders"',
            ["source.shop.raw.orders"],
        ),
        make_model(
            "fct_orders",
            'select id, sum(amount) as revenue from "dev"."main"."stg_orders" group by 1',
            [STG],
            materialized="table",
        ),
        make_model("grown", read("grown"), materialized="incremental"),
        make_model("ping", read("pong")),
        make_model("pong", read("ping")),
        make_model(LONG, read("fct_orders", f'id as "{RTL}", revenue as "{LONG}"'), [FCT]),
        catalog={f"model.shop.{name}": {"id": "int"} for name in ("grown", "ping", "pong")},
        semantic_models=resource(
            "semantic_model.shop.orders",
            depends_on={"nodes": [FCT]},
            measures=[{"name": "earned", "expr": "revenue"}],
        ),
        metrics=resource(
            "metric.shop.income",
            depends_on={"nodes": ["semantic_model.shop.orders"]},
            type_params={"input_measures": [{"name": "earned"}]},
        ),
        saved_queries=resource(
            "saved_query.shop.weekly",
            depends_on={"nodes": ["metric.shop.income"]},
            query_params={"metrics": ["income"]},
        ),
    )


def claims() -> Claims:
    """A producer that once saw the id flow into the revenue, and later did not."""

    def claim(day: int, *columns: str) -> Claim:
        edges = tuple(Edge(STG, c, None, FCT, "revenue", Subtype.TRANSFORMATION) for c in columns)
        return Claim(FCT, f"run-{day}", datetime(2026, 1, day), edges=edges)

    return Claims("query_log", (claim(1, "id", "amount"), claim(2, "amount")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if why_not_built() is not None:
        pytest.skip("the page is not built: run make explorer")
    target, lineage = tmp_path_factory.mktemp("marks"), shop()
    write_claims(claims(), target)
    beside = Beside(claimed=claimed_of(target, lineage), why=why_templates(lineage))
    written = write_explorer(lineage, target / "explorer", beside)
    assert written is not None
    return written


@pytest.fixture
def local(browse: functools.partial[Site], folder: Path) -> Site:
    return browse((folder / "index.html").as_uri())


def page_of(browse: functools.partial[Site], folder: Path, lineage: Lineage) -> Site:
    if write_explorer(lineage, folder) is None:
        pytest.skip("the page is not built: run make explorer")
    return browse((folder / "index.html").as_uri())


def ring(page: Page, name: str) -> str:
    """The class that gives a card its ring, as the colour that is seen around it."""
    shadow: str = page.locator(f'.card[aria-label="{name}"]').evaluate(
        "card => getComputedStyle(card).boxShadow"
    )
    return shadow


def test_a_stale_edge_is_dashed_and_faint_and_names_who_went_quiet(local: Site) -> None:
    page = at(local, f"#/column/{FCT}/revenue")
    stale = page.locator(".edges .link.stale")
    expect(stale).to_have_count(1)
    style = stale.locator(".line").evaluate(
        "line => [getComputedStyle(line).strokeDasharray, getComputedStyle(line).opacity]"
    )
    assert style[0] != "none" and float(style[1]) < 0.8
    stale.locator(".hitbox").dispatch_event("mouseover")
    expect(stale.locator("title")).to_contain_text("query_log last said so 2026-01-01")
    sheet = page.locator(".sheet")
    expect(sheet).to_contain_text("query_log last said so 2026-01-01")
    expect(sheet).to_contain_text("query_log says so too 2026-01-02")
    expect(sheet.locator(".facts")).to_contain_text("manifest, its compiled SQL, traced")
    expect(sheet.locator(".facts")).to_contain_text("query_log, 2026-01-02")


def test_an_error_cycle_has_a_red_ring_and_a_feedback_a_yellow_one(local: Site) -> None:
    page = at(local, "#/node/model.shop.ping")
    red, yellow = "rgb(217, 45, 60)", "rgb(242, 204, 12)"
    assert red in ring(page, "ping") and red in ring(page, "pong")
    page = at(local, "#/node/model.shop.grown")
    assert yellow in ring(page, "grown") and red not in ring(page, "grown")
    expect(page.locator('.card[aria-label="grown"] .sub')).to_contain_text("feedback")


def test_the_semantic_layer_stands_at_the_end_of_the_graph(local: Site) -> None:
    page = at(local, f"#/column/{FCT}/revenue?direction=down&depth=5")
    names = page.locator(".card.consumer .name").all_inner_texts()
    assert sorted(names) == ["income", "orders", "weekly"]
    assert page.locator(".card.output .name").all_inner_texts().count("weekly") == 1
    expect(page.locator(".sheet")).to_contain_text("orders.earned")


def test_the_sql_of_a_rows_sources_is_there_to_copy(local: Site) -> None:
    page = at(local, f"#/node/{FCT}")
    assert not any("/w0.js" in url for url in local.requests), "it is loaded when it is asked for"
    page.get_by_text("Why is this row there?").click()
    condition = page.get_by_label("Condition that picks rows")
    condition.fill("revenue > 10 and nothing = 1")
    expect(page.locator(".why [role=status]")).to_have_text("There is no column nothing")
    assert page.get_by_label("SQL to copy").count() == 0
    condition.fill("id = 42 and '$&' <> ''")
    sql = page.get_by_label("SQL to copy").input_value()
    assert "id = 42 and '$&' <> ''" in sql and "stg_orders" in sql
    command = page.get_by_label("command to copy").input_value()
    assert command.startswith(f"lineage-post why {FCT} --where 'id = 42")
    assert local.errors == []


def test_long_and_turned_names_stay_in_their_card(local: Site) -> None:
    page = at(local, f"#/node/model.shop.{LONG}?depth=1")
    card = page.locator(".card.focus")
    card.locator(".strip").click()
    assert "(U+202E)" in card.locator(".row").first.inner_text()
    for part in ("name", "row >> nth=0", "row >> nth=1"):
        inner, outer = card.locator(f".{part}").bounding_box(), card.bounding_box()
        assert inner is not None and outer is not None
        assert inner["x"] + inner["width"] <= outer["x"] + outer["width"] + 1
    sheet = page.locator(".sheet")
    assert sheet.evaluate("sheet => sheet.scrollWidth <= sheet.clientWidth")
    assert local.errors == []


def test_a_picture_over_500_tables_is_cut_and_says_so(
    tmp_path: Path, browse: functools.partial[Site]
) -> None:
    readers = [make_model(f"reader_{i}", read("hub"), ["model.shop.hub"]) for i in range(520)]
    wide = ", ".join(f"1 as column_{i}" for i in range(1000))
    hub = make_model("hub", f"select 1 as id, {wide}")
    site = page_of(browse, tmp_path, lineage_of(hub, *readers))
    page = at(site, "#/node/model.shop.hub")
    expect(page.locator(".cut")).to_contain_text("The graph was cut at 500 tables: 21 neighbours")
    assert page.locator(".card").count() < 150, "what is out of sight has no elements"
    page.keyboard.press("0")
    strip = page.locator('.card[aria-label="hub"] .strip')
    expect(strip).to_contain_text("1,001 columns")
    strip.click()
    card = page.locator('.card[aria-label="hub"]')
    expect(card.locator(".row.more")).to_have_text("971 more columns")
    expect(page.locator(".sheet")).to_contain_text("941 more columns")
    page.get_by_role("button", name="Zoom out").click()
    page.mouse.move(500, 400)
    page.mouse.wheel(0, 3000)
    expect(page.locator('.card[aria-label="reader_300"]')).to_have_count(1)
    assert page.locator(".card").count() < 500
    assert site.errors == []


def test_a_project_without_nodes_and_one_that_nobody_knows_are_told_as_such(
    tmp_path: Path, browse: functools.partial[Site]
) -> None:
    site = page_of(browse, tmp_path / "empty", lineage_of())
    assert at(site).locator(".figures dd").all_inner_texts() == ["0", "0", "0", "0"]
    expect(site.page.locator(".home")).to_contain_text("There is nothing to show yet")
    dark = lineage_of(make_model("a", None), make_model("b", None, ["model.shop.a"]))
    folder = write_explorer(dark, tmp_path / "unknown")
    assert folder is not None
    site.home = (folder / "index.html").as_uri()
    page = at(site, "#/node/model.shop.b")
    assert page.locator(".card em").all_inner_texts() == ["unknown", "unknown"]
    expect(page.locator(".sheet .gapnote").first).to_contain_text("was not compiled")
    assert cards(page) == {"a", "b"} and page.locator(".edges .link.unknown").count() == 1
    assert site.errors == []


def test_what_was_not_selected_is_told_apart_from_what_is_unknown(
    tmp_path: Path, browse: functools.partial[Site]
) -> None:
    lineage = shop()
    part = replace(lineage, nodes={FCT: lineage.nodes[FCT]})
    page = at(page_of(browse, tmp_path, part), f"#/node/{FCT}")
    outside = page.locator('.card[aria-label="stg_orders"]')
    expect(outside.locator("em")).to_have_text("not selected")
    outside.locator(".head").click()
    expect(page.locator(".sheet .gapnote")).to_contain_text("it was not selected for this page")
    page.locator(".brand").click()
    expect(page.get_by_role("heading", name="Not all known")).to_have_count(0)
