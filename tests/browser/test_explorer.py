"""The explorer in a real browser: from disk, from a host and from the server."""

from __future__ import annotations

import functools
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from lineage_post.lineage import Lineage
from lineage_post.options import Options
from lineage_post.policy import View
from lineage_post.policy.file import policy_from_mapping
from lineage_post.publish.explorer import Beside, why_not_built, write_explorer
from tests.browser.conftest import Site, serve
from tests.unit.lineages import lineage_of
from tests.unit.manifests import make_model, make_source

pytestmark = [pytest.mark.browser]
expect.set_options(timeout=30_000)

LOOKS = ("value", "indirect", "command")
HOSTILE = "</script><script>window.pwned=1</script>"
IMAGE = "<img src=x onerror=window.pwned=2>"


def shop() -> Lineage:
    return lineage_of(
        make_source("orders", {"id": "int", "amount": "double", "status": "text"}),
        make_source("clicks"),
        make_model(
            "stg_orders",
            'select id, to_eur(amount) as amount, status from "dev"."raw"."orders"',
            ["source.shop.raw.orders"],
            tags=["inner"],
        ),
        make_model(
            "fct_orders",
            'select id, sum(amount) as revenue from "dev"."main"."stg_orders" '
            "where status = 'paid' group by 1",
            ["model.shop.stg_orders"],
            materialized="table",
            description=f"One row an order. {IMAGE}{HOSTILE} {{{{ 7*7 }}}} a\u202eb",
            columns={"revenue": {"name": "revenue", "description": "What was paid."}},
        ),
        make_model(
            "mart",
            'select revenue, revenue * 2 as twice from "dev"."main"."fct_orders"',
            ["model.shop.fct_orders"],
        ),
        make_model(
            "hostile",
            f'select revenue as "{IMAGE}", id as "{HOSTILE}", id as "up\u202edown", '
            'id as "it\'s {{ 7*7 }} ""quoted""" from "dev"."main"."fct_orders"',
            ["model.shop.fct_orders"],
        ),
        make_model("gap", 'select * from "dev"."raw"."clicks"', ["source.shop.raw.clicks"]),
        make_model("counted", 'select count(*) as n from "dev"."main"."mart"', ["model.shop.mart"]),
        options=Options(
            processes=1, commands={"to_eur": {"inputs": ["amount"], "outputs": ["amount"]}}
        ),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if why_not_built() is not None:
        pytest.skip("the page is not built: run make explorer")
    written = write_explorer(shop(), tmp_path_factory.mktemp("explorer"))
    assert written is not None
    return written


@pytest.fixture(params=["disk", "host"])
def explorer(
    request: pytest.FixtureRequest, browse: functools.partial[Site], folder: Path
) -> Iterator[Site]:
    """The explorer, opened from disk and served below a path of some host."""
    if request.param == "disk":
        yield browse((folder / "index.html").as_uri())
        return
    server = serve(folder.parent)
    yield browse(f"http://127.0.0.1:{server.server_port}/{folder.name}/index.html")
    server.shutdown()


@pytest.fixture
def local(browse: functools.partial[Site], folder: Path) -> Site:
    return browse((folder / "index.html").as_uri())


def at(site: Site, place: str = "") -> Page:
    site.page.goto("about:blank")
    site.page.goto(f"{site.home}{place}")
    site.page.wait_for_selector(".card" if place else ".home")
    return site.page


def cards(page: Page) -> set[str]:
    return set(page.locator(".card .name").all_inner_texts())


def test_search_finds_a_column_and_focuses_it(explorer: Site) -> None:
    page = at(explorer)
    page.keyboard.press("/")
    page.keyboard.type("fct.reven")
    expect(page.locator("[role=option]").first).to_contain_text("revenue")
    page.keyboard.press("Enter")
    page.wait_for_selector(".card")
    assert page.evaluate("location.hash") == "#/column/model.shop.fct_orders/revenue"
    assert {"raw.orders", "stg_orders", "fct_orders", "mart"} <= cards(page)
    assert "counted" not in cards(page), "it has no value of this column"
    assert explorer.errors == []
    outside = [u for u in explorer.requests if not u.startswith(("data:", "about:"))]
    home = explorer.home.rsplit("/", 1)[0]
    assert all(url.startswith(home) for url in outside)


def test_a_search_for_nothing_says_so(local: Site) -> None:
    page = at(local)
    page.fill("#search", "no such thing")
    expect(page.locator(".found [role=status]")).to_have_text("Nothing has this name.")


def test_cards_are_collapsed_and_say_how_many_columns_take_part(local: Site) -> None:
    page = at(local, "#/node/model.shop.mart")
    strip = page.locator('[aria-label="mart"] .strip')
    assert strip.inner_text().strip() == "2 columns"
    assert page.locator('[aria-label="counted"] .strip').inner_text().strip() == "no columns"
    assert page.locator('[aria-label="mart"] .row').count() == 0
    strip.click()
    rows = page.locator('[aria-label="mart"] .row')
    assert rows.all_inner_texts() == ["revenue", "twice"]
    assert page.locator(".edges .link.none").count() == 1


def test_direction_depth_and_indirect_kinds_are_in_the_address(local: Site) -> None:
    page = at(local, "#/column/model.shop.fct_orders/revenue?direction=up&depth=1")
    assert cards(page) == {"fct_orders", "stg_orders"}
    page.get_by_role("button", name="Downstream", exact=True).click()
    expect(page.locator('[aria-label="mart"]')).to_be_visible()
    page.get_by_role("button", name="Upstream", exact=True).click()
    assert page.locator(".edges .link.indirect").count() == 0
    page.locator(".menu summary").click()
    page.get_by_role("switch", name="filter").click()
    expect(page.locator(".edges .link.indirect")).to_have_count(1)
    assert page.evaluate("location.hash").endswith("?direction=up&depth=1&indirect=filter")
    page.reload()
    expect(page.locator(".edges .link.indirect")).to_have_count(1)


def test_hovering_a_column_traces_it_through_everything(local: Site) -> None:
    page = at(local, "#/column/model.shop.fct_orders/revenue")
    page.locator(".row.root").hover()
    expect(page.locator(".world.tracing")).to_have_count(1)
    lit = page.locator(".card.on .name").all_inner_texts()
    assert {"raw.orders", "stg_orders", "fct_orders", "mart", "hostile"} <= set(lit)
    assert page.locator('[aria-label="stg_orders"] .through').inner_text() == "amount"
    page.mouse.move(2, 2)
    expect(page.locator(".world.tracing")).to_have_count(0)


def test_a_click_opens_the_details(local: Site) -> None:
    page = at(local, "#/node/model.shop.fct_orders")
    sheet = page.locator(".sheet")
    expect(sheet).to_contain_text("One row an order.")
    expect(sheet).to_contain_text("Its rows are decided by")
    page.locator('[aria-label="fct_orders"] .strip').click()
    page.locator('[aria-label="fct_orders"] .row', has_text="revenue").click()
    expect(sheet.locator("h2")).to_have_text("revenue")
    expect(sheet).to_contain_text("What was paid.")
    assert sheet.locator(".sql .t-call").first.inner_text().lower() == "sum"
    expect(sheet).to_contain_text("aggregation")
    assert cards(page) >= {"stg_orders"}, "the focus stays"


def test_an_edge_of_a_command_opens_the_command_and_twice_the_relation(local: Site) -> None:
    page = at(local, "#/column/model.shop.stg_orders/amount")
    edge = page.locator(".edges .link.command .hitbox")
    assert edge.count() == 1
    edge.dispatch_event("click")
    expect(page.locator(".sheet h2")).to_have_text("to_eur")
    edge.dispatch_event("dblclick")
    page.wait_for_url("**#/node/model.shop.stg_orders")


def test_what_is_not_known_is_seen_as_not_known(local: Site) -> None:
    page = at(local, "#/node/model.shop.gap")
    expect(page.locator('[aria-label="gap"] em')).to_have_text("unknown")
    assert page.locator(".edges .link.unknown").count() == 1
    expect(page.locator(".sheet .gapnote").first).to_contain_text("star_unexpanded")


def test_raw_data_stand_below_their_source(local: Site) -> None:
    page = at(local, "#/node/source.shop.raw.orders")
    expect(page.locator(".card.native .name")).to_have_text("dev.raw.orders")
    assert page.locator(".edges .link.native").count() == 1


def test_names_and_descriptions_show_as_text(explorer: Site) -> None:
    page = at(explorer, "#/node/model.shop.hostile")
    page.locator('[aria-label="hostile"] .strip').click()
    rows = page.locator('[aria-label="hostile"] .row').all_inner_texts()
    assert rows[:3] == [IMAGE, HOSTILE, "up(U+202E)down"] and "{{ 7*7 }}" in rows[3]
    page.locator('[aria-label="hostile"] .row').first.click()
    page.fill("#search", "onerror")
    expect(page.locator("[role=option]").first).to_contain_text("<img")
    page.goto(f"{explorer.home}#/node/model.shop.fct_orders")
    expect(page.locator(".sheet .text")).to_contain_text(IMAGE)
    expect(page.locator(".sheet .text")).to_contain_text("a(U+202E)b")
    assert page.locator("#root img, #root script").count() == 0
    assert page.evaluate("window.trapped") == []
    assert explorer.errors == []


def test_no_script_runs_that_is_not_a_file_of_the_page(explorer: Site) -> None:
    page = at(explorer)
    page.evaluate(
        """() => { const s = document.createElement('script');
                   s.textContent = 'window.pwned = 9'; document.body.append(s);
                   document.body.setAttribute('onclick', 'window.pwned = 8');
                   document.body.click(); }"""
    )
    assert page.evaluate("window.trapped") == []
    policy = page.locator("meta[http-equiv]").get_attribute("content") or ""
    assert "unsafe" not in policy and "default-src 'none'" in policy


def test_a_keyboard_is_enough(local: Site) -> None:
    page = at(local, "#/column/model.shop.fct_orders/revenue")
    page.locator(".toggle").click()
    page.locator(".row.root").focus()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.textContent") == "amount"
    page.keyboard.press("f")
    page.wait_for_url("**#/column/model.shop.stg_orders/amount")
    page.locator(".sheet").get_by_role("button", name="Focus").focus()
    page.keyboard.press("Escape")
    expect(page.locator(".sheet")).to_have_count(0)
    page.go_back()
    page.wait_for_url("**#/column/model.shop.fct_orders/revenue")
    expect(page.locator(".row.root")).to_have_text("revenue")


def test_an_address_of_what_is_gone_says_so(local: Site) -> None:
    site = local
    site.page.goto(f"{site.home}#/node/model.shop.gone")
    expect(site.page.locator(".notice")).to_contain_text("model.shop.gone")


def test_light_and_dark_follow_the_reader(chromium: Browser, folder: Path) -> None:
    colors = {}
    for scheme in ("light", "dark"):
        context = chromium.new_context(color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto((folder / "index.html").as_uri())
        page.wait_for_selector(".home")
        colors[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
        if scheme == "dark":
            page.get_by_role("button", name="Dark colours").click()
            page.wait_for_selector("html[data-theme=light]")
            page.reload()
            page.wait_for_selector("html[data-theme=light]")
            now = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert now == colors["light"], "the choice is kept"
        context.close()
    assert colors["light"] != colors["dark"]


def test_at_150_percent_nothing_is_cut_off(chromium: Browser, folder: Path) -> None:
    context = chromium.new_context(viewport={"width": 907, "height": 600}, device_scale_factor=1.5)
    page = context.new_page()
    page.goto(f"{(folder / 'index.html').as_uri()}#/column/model.shop.fct_orders/revenue")
    page.wait_for_selector(".card")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for name in ("Upstream", "Downstream", "Columns"):
        box = page.get_by_role("button", name=name, exact=True).bounding_box()
        assert box is not None and box["x"] + box["width"] <= 907
    context.close()


def page_of(view: View, folder: Path) -> Path | None:
    beside = Beside(served=True, is_incomplete=view.is_incomplete)
    return write_explorer(view.lineage, folder, beside)


@pytest.fixture
def served(tmp_path: Path, browse: functools.partial[Site]) -> Iterator[Site]:
    """The explorer of a viewer who may not see what is tagged inner."""
    uvicorn = pytest.importorskip("uvicorn")
    from lineage_post.server.app import create_app
    from lineage_post.server.settings import Settings
    from lineage_post.server.state import State

    if why_not_built() is not None:
        pytest.skip("the page is not built: run make explorer")
    policy = policy_from_mapping(
        {"default": "some", "viewers": {"some": {"hide": ["tag:inner"], "scope": ["+mart"]}}},
        where="policy.yml",
    )
    state = State(shop, (), policy, lambda v: page_of(v, tmp_path))
    state.start()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = uvicorn.Config(create_app(state, Settings(port=port)), port=port, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield browse(f"http://127.0.0.1:{port}/")
    server.should_exit = True
    thread.join(10)


def test_a_pasted_statement_is_drawn(served: Site) -> None:
    page = at(served)
    page.get_by_role("button", name="Paste SQL").click()
    page.fill("textarea", "select id, to_eur(revenue) as twice from main.fct_orders where id > 1")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".card")
    assert len(cards(page)) == 2
    assert page.locator(".card .row", has_text="twice").count() == 1
    looks = {look: page.locator(f".edges .link.{look}").count() for look in LOOKS}
    assert looks == {"value": 1, "indirect": 1, "command": 1}
    expect(page.locator(".chip")).to_have_text("to_eur")
    page.locator(".card .row", has_text="twice").click()
    expect(page.locator(".sheet .sql").first).to_contain_text("to_eur(revenue)")


def test_a_statement_that_is_no_sql_says_where(served: Site) -> None:
    page = at(served)
    page.get_by_role("button", name="Paste SQL").click()
    page.fill("textarea", "select (1 from t")
    page.get_by_role("button", name="Show its lineage").click()
    expect(page.get_by_role("alert")).to_contain_text("Line 1, column")
    assert page.locator(".card").count() == 0


def test_restricted_nodes_keep_their_place_without_a_name(served: Site) -> None:
    page = at(served, "#/column/model.shop.fct_orders/revenue")
    card = page.locator(".card.restricted")
    expect(card.locator(".name")).to_have_text("restricted")
    card.locator(".head").click()
    expect(page.locator(".sheet h2")).to_have_text("restricted")
    assert "stg_orders" not in page.content()
    assert {"raw.orders", "fct_orders"} <= cards(page), "and what lies beyond is connected"
    assert "hostile" not in cards(page), "it is out of scope"
    expect(page.locator(".incomplete")).to_contain_text("left out")
    assert served.errors == []


def test_the_server_makes_the_sql_of_a_rows_sources_when_asked(served: Site) -> None:
    page = at(served, "#/node/model.shop.mart")
    page.get_by_text("Why is this row there?").click()
    page.get_by_label("Condition that picks rows").fill("revenue = 1")
    sql = page.get_by_label("SQL to copy").input_value()
    assert "revenue = 1" in sql and "fct_orders" in sql
    page = at(served, "#/node/model.shop.fct_orders")
    page.get_by_text("Why is this row there?").click()
    page.get_by_label("Condition that picks rows").fill("id = 1")
    expect(page.locator(".why [role=status]")).to_contain_text("may not be shown")
    assert served.errors == []


def test_a_card_stays_where_it_is_when_its_columns_open(local: Site) -> None:
    page = at(local, "#/node/model.shop.fct_orders")
    card = page.locator('[aria-label="hostile"]')
    before = card.bounding_box()
    card.locator(".strip").click()
    expect(card.locator(".row")).to_have_count(4)
    after = card.bounding_box()
    assert before is not None and after is not None
    assert abs(before["x"] - after["x"]) < 2 and abs(before["y"] - after["y"]) < 2


def settled(card: Locator) -> dict[str, float]:
    """Where a card stands once it has stopped moving."""
    box = None
    for _ in range(40):
        before, box = box, card.bounding_box()
        if box is not None and box == before:
            return dict(box)
        card.page.wait_for_timeout(400)
    raise AssertionError("the card never stood still")


def test_what_nobody_moved_is_fitted_in_again_when_the_details_close(local: Site) -> None:
    page = at(local, "#/node/model.shop.fct_orders?depth=3")
    close = page.get_by_role("button", name="Close details")
    expect(close).to_be_visible()
    narrow = settled(page.locator('[aria-label="fct_orders"]'))
    page.keyboard.press("Escape")
    close.click()
    expect(close).to_have_count(0)
    wide = settled(page.locator('[aria-label="fct_orders"]'))
    assert wide["x"] > narrow["x"] + 50
