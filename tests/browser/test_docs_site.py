"""What people see in dbt's docs site, and that nothing in names or SQL runs."""

from __future__ import annotations

import functools
import json
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from lineage_post.artifacts.decoration import START
from lineage_post.publish import docs_data
from lineage_post.publish.docs_page import with_panel
from lineage_post.publish.explorer import why_not_built
from tests.browser.conftest import Site, serve

pytestmark = [pytest.mark.browser, pytest.mark.dbt]
expect.set_options(timeout=30_000)

CUSTOMERS = "model.browser_shop.fct_customers"
ORDERS = "model.browser_shop.stg_orders"
RAW_ORDERS = "seed.browser_shop.raw_orders"
HOSTILE = "model.browser_shop.hostile"
EXPOSURE = "exposure.browser_shop.lineage_fct_customers__revenue"


def cells(page: Page, column: str) -> list[str]:
    """The texts of the cells after the name, on one line each."""
    row = page.locator(f'#lineage-post-panel tr:has(th .lp-name:text-is("{column}"))')
    return [" ".join(text.split()) for text in row.locator("td").all_inner_texts()]


@pytest.mark.parametrize(
    "unique_id",
    [
        CUSTOMERS,
        RAW_ORDERS,
        "snapshot.browser_shop.orders_history",
        "source.browser_shop.web.visits",
        "model.browser_shop.pricing.v2",
    ],
)
def test_every_node_s_page_has_the_panel(served: Site, unique_id: str) -> None:
    page = served.open(unique_id)
    assert page.locator("#lineage-post-panel h6").inner_text() == "Column lineage"
    assert page.locator("#lineage-post-panel tbody tr").count() >= 2
    assert served.errors == []


def test_a_column_shows_where_it_comes_from_and_what_uses_it(served: Site) -> None:
    page = served.open(ORDERS)
    comes_from, used_by = cells(page, "amount")
    assert comes_from == "transformation raw_orders.amount"
    assert used_by.startswith("identity")
    assert "aggregation fct_customers.revenue" in used_by
    assert "pricing.v1.price" in used_by and "pricing.v2.price" in used_by


def test_columns_stand_in_the_order_of_the_catalog(served: Site) -> None:
    page = served.open(CUSTOMERS)
    assert page.locator("#lineage-post-panel th .lp-name").all_inner_texts() == [
        "CUSTOMER_ID",
        "full_name",
        "email_hash",
        "revenue",
        "orders",
        "first_order_on",
        "currency",
    ], "and YAML's spelling goes before the warehouse's"


def test_indirect_influences_wait_behind_a_switch_and_row_level_ones_stand_once(
    site: Site,
) -> None:
    page = site.open(CUSTOMERS)
    panel = page.locator("#lineage-post-panel")
    switch = panel.get_by_role("switch")
    assert switch.get_attribute("aria-checked") == "false"
    assert cells(page, "revenue")[0] == "aggregation stg_orders.amount"
    expect(panel.locator(".lp-rows")).to_have_count(0)
    switch.click()
    assert switch.get_attribute("aria-checked") == "true"
    assert cells(page, "revenue")[0] == (
        "aggregation stg_orders.amount conditional stg_orders.status"
    )
    assert cells(page, "full_name")[0] == "identity stg_customers.full_name"
    rows = " ".join(panel.locator(".lp-rows").inner_text().split())
    assert "join stg_customers.customer_id stg_orders.customer_id" in rows
    assert panel.locator(".lp-rows").count() == 1
    switch.click()
    expect(panel.locator(".lp-rows")).to_have_count(0)


def test_a_link_opens_the_column_on_the_page_of_its_node(site: Site) -> None:
    page = site.open(CUSTOMERS)
    page.click(f"{site.row('revenue')} a")
    page.wait_for_selector("tr.lp-hit")
    assert page.url.endswith(f"#!/model/{ORDERS}")
    assert page.locator("tr.lp-hit .lp-name").inner_text() == "amount"
    expect(page.locator("#lineage-post-panel")).to_have_count(1)
    page.go_back()
    page.wait_for_selector(site.row("revenue"))


def test_the_tab_leads_to_the_panel(served: Site) -> None:
    page = served.open(CUSTOMERS)
    page.get_by_role("link", name="Column Lineage").click()
    page.wait_for_url(f"**#!/model/{CUSTOMERS}#column_lineage")
    expect(page.locator("#lineage-post-panel")).to_have_count(1)
    expect(page.locator(".lp-tab")).to_have_count(1)


def test_sql_opens_by_keyboard_and_closes_again(served: Site) -> None:
    page = served.open(CUSTOMERS)
    button = page.get_by_role("button", name="SQL of revenue")
    assert button.get_attribute("aria-expanded") == "false"
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".lp-expression")).to_contain_text(re.compile("sum", re.IGNORECASE))
    assert button.get_attribute("aria-expanded") == "true"
    page.keyboard.press("Enter")
    expect(page.locator(".lp-expression")).to_have_count(0)


def test_everything_that_can_be_clicked_can_be_reached_by_keyboard(served: Site) -> None:
    page = served.open(CUSTOMERS)
    every = "document.querySelectorAll('#lineage-post-panel :is(a, button, input, summary)')"
    # What a closed box holds is reached once it is open.
    shown = f"[...{every}].filter((one) => one.checkVisibility())"
    page.evaluate(f"{shown}[0].focus()")
    for number in range(page.evaluate(f"{shown}.length")):
        assert page.evaluate(f"{shown}[{number}] === document.activeElement")
        page.keyboard.press("Tab")


def test_unknown_says_why_and_a_constant_is_not_unknown(served: Site) -> None:
    page = served.open(CUSTOMERS)
    assert cells(page, "currency")[0] == "no source column: constant, counted or generated"
    page = served.open("model.browser_shop.score")
    assert "unknown" in page.locator(".lp-node-gap").inner_text()
    assert "python_model" in page.locator(".lp-node-gap").inner_text()
    assert "unknown" in cells(page, "points")[0]


def test_a_reader_that_nothing_is_known_of_is_named(served: Site) -> None:
    page = served.open(ORDERS)
    note = page.locator(".lp-readers")
    expect(note).to_contain_text(
        "A reader whose columns are not all known may use any column: score"
    )
    assert note.get_by_role("link", name="score").get_attribute("href") == (
        "#!/model/model.browser_shop.score"
    )


def test_masking_is_marked(served: Site) -> None:
    page = served.open("model.browser_shop.stg_customers")
    assert cells(page, "email_hash")[0] == "transformation raw_customers.email masked"


def test_long_lists_are_cut_and_open_on_demand(served: Site) -> None:
    page = served.open("model.browser_shop.wide")
    rows = page.locator("#lineage-post-panel tbody tr")
    expect(rows).to_have_count(60)
    page.get_by_role("button", name="Show all 81 columns").click()
    expect(rows).to_have_count(81)
    page.fill("#lineage-post-panel .lp-filter", "AMOUNT_7")
    expect(rows).to_have_count(11)

    page = served.open(ORDERS)
    links = page.locator(f"{served.row('amount')} td:last-child .lp-link")
    before = links.count()
    page.locator(f"{served.row('amount')} td:last-child .lp-more").last.click()
    assert links.count() > before
    assert page.evaluate("document.activeElement.tagName") == "A", "the focus goes to the first"


@pytest.mark.parametrize("unique_id", [HOSTILE, RAW_ORDERS])
def test_hostile_names_and_sql_are_text(site: Site, unique_id: str) -> None:
    page = site.open(unique_id)
    for button in page.get_by_role("button", name=re.compile("^SQL of")).all():
        button.click()
    panel = page.locator("#lineage-post-panel")
    panel.get_by_role("switch").click() if panel.get_by_role("switch").count() else None
    text = panel.inner_text()
    for name in (
        "<svg onload=window.pwned=1>",
        "a'); drop table x; --",
        "{{ 7*7 }}",
        "</script><script>window.pwned=2</script>",
        "(U+202E)down",
    ):
        assert name in text
    assert panel.locator("svg, img, script").count() == 0
    for row in page.locator("column-details tr.column-row").all():
        row.click()
    page.wait_for_timeout(300)
    assert page.evaluate("window.trapped") == []
    assert site.errors == []


def test_the_search_shows_hostile_text_as_text(site: Site) -> None:
    page = site.open(CUSTOMERS)
    for query in ("onload", "pwned", "hostile"):
        page.fill("input[type=search], .app-header input", query)
        page.wait_for_timeout(400)
    assert "<svg onload" in page.locator("body").inner_text()
    assert page.evaluate("window.trapped") == []


def test_a_column_s_description_has_the_user_s_text_then_its_lineage(site: Site) -> None:
    page = site.open(ORDERS)
    row = page.locator('column-details tr.column-row:has-text("amount")').first
    expect(row).to_contain_text("What was paid, in **euros**.")
    assert "lineage_post" not in page.locator("column-details").inner_text()
    row.click()
    details = page.locator("column-details td.column-expanded:visible [marked]")
    text = " ".join(details.inner_text().split())
    assert text.startswith("What was paid, in euros. Comes from raw_orders amount")
    details.get_by_role("link", name="fct_customers").click()
    page.wait_for_url(f"**#!/model/{CUSTOMERS}")


def test_a_column_that_yaml_does_not_list_is_described_too(served: Site) -> None:
    page = served.open(CUSTOMERS)
    row = page.locator('column-details tr.column-row:has-text("currency")')
    expect(row).to_contain_text("Comes from no source column")
    row.click()
    expect(page.locator("td.column-expanded:visible [marked]")).to_contain_text("Used by no traced")


def test_the_details_of_a_node_sum_its_lineage_up(served: Site) -> None:
    page = served.open(CUSTOMERS)
    text = page.locator("table-details").inner_text()
    assert "known, 7 of 7 columns" in text
    assert "finance@example.com" in text, "the user's own meta stay"


def test_an_exposure_shows_the_column_s_whole_lineage(site: Site) -> None:
    page = site.open(EXPOSURE, wait_for=".model-markdown table")
    expect(page.locator("h1 .break").first).to_have_text("fct_customers.revenue")
    text = " ".join(page.locator(".model-markdown").inner_text().split())
    assert "stg_orders amount DIRECT aggregation" in text
    assert "raw_orders amount DIRECT transformation" in text
    assert "INDIRECT join" in text
    listed = page.locator("reference-list").inner_text()
    assert "fct_customers" in listed and "stg_orders" in listed
    page.locator(".model-markdown a").first.click()
    page.wait_for_url(f"**#!/model/{CUSTOMERS}")


def test_a_column_s_row_opens_into_a_small_graph(site: Site) -> None:
    page = site.open(CUSTOMERS)
    row = page.locator(site.row("revenue"))
    opener = row.get_by_role("button", name="draw its lineage")
    opener.click()
    assert opener.get_attribute("aria-expanded") == "true"
    drawing = page.locator(".lp-drawing")
    boxes = [" ".join(t.split()) for t in drawing.locator(".lp-box").all_inner_texts()]
    assert "fct_customers revenue" in boxes and "stg_orders amount" in boxes
    assert "raw_orders amount" in boxes, "two steps up"
    assert drawing.locator(".lp-value").count() >= 2
    assert drawing.locator(".lp-decides").count() == 1, "its condition is told apart"
    row.get_by_role("button", name="SQL").click()
    opener.click()
    expect(drawing).to_have_count(0)
    expect(page.locator(".lp-sql-row")).to_have_count(1)
    opener.click()
    drawing.locator("a.lp-box", has_text="amount").last.click()
    page.wait_for_url(f"**#!/model/{ORDERS}")


def test_hostile_columns_are_drawn_as_text(site: Site) -> None:
    page = site.open(HOSTILE)
    for opener in page.locator(".lp-opener").all():
        opener.click()
    expect(page.locator(".lp-own").first).to_contain_text("<svg onload=window.pwned=1>")
    assert page.locator("#lineage-post-panel img, #lineage-post-panel script").count() == 0
    assert page.evaluate("window.trapped") == []
    assert site.errors == []


@pytest.mark.skipif(why_not_built() is not None, reason="the page is not built")
def test_the_explorer_opens_from_the_panel_and_leads_back(site: Site) -> None:
    page = site.open(CUSTOMERS)
    row = page.locator(site.row("CUSTOMER_ID"))
    row.get_by_role("button", name="draw its lineage").click()
    page.get_by_role("link", name="Open in the explorer").click()
    page.wait_for_selector(".card")
    assert page.evaluate("location.hash").startswith(f"#/column/{CUSTOMERS}/")
    expect(page.locator(".row.root")).to_have_text("customer_id")
    page.locator(".sheet").get_by_role("link", name="dbt docs").click()
    page.wait_for_url(f"**index.html#!/model/{CUSTOMERS}")


def test_without_an_explorer_beside_it_the_panel_links_to_none(
    target: Path, tmp_path: Path, browse: functools.partial[Site]
) -> None:
    shutil.copy(target / "static_index.html", tmp_path)
    page = browse((tmp_path / "static_index.html").as_uri()).open(CUSTOMERS)
    page.locator(".lp-opener").first.click()
    page.wait_for_timeout(300)
    assert page.locator(".lp-drawing").count() == 1 and page.locator(".lp-explore").count() == 0


def test_docs_made_twice_have_everything_once(target: Path, site: Site) -> None:
    manifest = json.loads((target / "manifest.json").read_text(encoding="utf-8"))
    nodes = {**manifest["nodes"], **manifest["sources"]}.values()
    texts = [c["description"] or "" for node in nodes for c in node.get("columns", {}).values()]
    assert {text.count(START) for text in texts} == {1}
    assert len(manifest["exposures"]) == 2
    page = site.open(CUSTOMERS)
    assert page.locator("#lineage-post-data").count() == 1
    expect(page.locator("#lineage-post-panel")).to_have_count(1)
    expect(page.locator(".lp-tab")).to_have_count(1)


def test_nothing_is_asked_of_another_host(site: Site) -> None:
    site.open(CUSTOMERS)
    home = site.home.rsplit("/", 1)[0]
    asked = [url for url in site.requests if url != "about:blank" and not url.startswith(home)]
    assert [url for url in asked if not url.startswith("data:")] == []


def test_packed_data_are_unpacked(
    target: Path, tmp_path: Path, browse: functools.partial[Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docs_data, "GZIP_FROM", 1)
    copied(target, tmp_path)
    html = (tmp_path / "static_index.html").read_text(encoding="utf-8")
    found = re.search(r'data-encoding="json">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    packed = with_panel(html, json.loads(found[1]))
    assert 'data-encoding="gzip"' in packed
    (tmp_path / "static_index.html").write_text(packed, encoding="utf-8", newline="")
    page = browse((tmp_path / "static_index.html").as_uri()).open(CUSTOMERS)
    assert cells(page, "revenue")[0] == "aggregation stg_orders.amount"


def test_a_panel_of_an_earlier_manifest_says_so(
    target: Path, tmp_path: Path, browse: functools.partial[Site]
) -> None:
    copied(target, tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    manifest["metadata"]["invocation_id"] = "another"
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    server = serve(tmp_path)
    page = browse(f"http://127.0.0.1:{server.server_port}/index.html").open(CUSTOMERS)
    expect(page.locator(".lp-stale")).to_contain_text("traced from an earlier manifest")
    server.shutdown()


def copied(target: Path, folder: Path) -> None:
    for name in ("manifest.json", "catalog.json", "index.html", "static_index.html"):
        shutil.copy(target / name, folder)


@pytest.fixture
def dbt_docs_serve(target: Path) -> Iterator[str]:
    """The address of ``dbt docs serve``, which copies a page of its own into the target folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = "from dbt.cli.main import cli; cli()"
    command = [sys.executable, "-c", code, "docs", "serve", "--no-browser", "--profiles-dir", "."]
    with subprocess.Popen(
        [*command, "--port", str(port)],
        cwd=target.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "Press Ctrl+C" in line:
                break
        yield f"http://localhost:{port}"
        process.terminate()


def test_dbt_docs_serve_shows_the_same(
    dbt_docs_serve: str, browse: functools.partial[Site]
) -> None:
    page = browse(f"{dbt_docs_serve}/").open(CUSTOMERS)
    assert cells(page, "revenue")[0] == "aggregation stg_orders.amount"


def test_colours_follow_the_page_s_own_and_stay_readable_on_dark(served: Site) -> None:
    page = served.open(CUSTOMERS)
    page.add_style_tag(content=".panel { background: #16181d !important; color: #e6e6e6; }")
    backgrounds = page.evaluate(
        """() => Array.from(document.querySelectorAll('.lp, .lp *')).map(
             (e) => getComputedStyle(e).backgroundColor)"""
    )
    assert all(color.startswith("rgba(") for color in set(backgrounds) - {"rgb(47, 158, 99)"})
    colors = page.evaluate(
        """() => Array.from(document.querySelectorAll('.lp-badge, .lp-name, .lp-summary')).map(
             (e) => getComputedStyle(e).color)"""
    )
    assert set(colors) == {"rgb(230, 230, 230)"}
