"""The list below the search box: quick to draw at each keystroke, and whole all the same."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from lineage_post.publish.explorer import why_not_built, write_explorer
from tests.browser.conftest import Site
from tests.unit.lineages import lineage_of
from tests.unit.manifests import make_model, make_source

pytestmark = [pytest.mark.browser]
expect.set_options(timeout=30_000)

MANY = 32
#: Types, and counts the rows as soon as they are there, before any timer can run.
TYPED = """(text) => new Promise((resolve) => {
  const box = document.querySelector("#search");
  new MutationObserver((_, self) => {
    self.disconnect();
    resolve(document.querySelectorAll("#found li").length);
  }).observe(document.querySelector(".search"), { childList: true, subtree: true });
  box.focus();
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(box, text);
  box.dispatchEvent(new Event("input", { bubbles: true }));
})"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    if why_not_built() is not None:
        pytest.skip("the page is not built: run make explorer")
    listed = ", ".join(f"amount as a_name_of_some_length_{i}" for i in range(MANY))
    lineage = lineage_of(
        make_source("orders", {"amount": "double"}),
        make_model(
            "wide", f'select {listed} from "dev"."raw"."orders"', ["source.shop.raw.orders"]
        ),
    )
    written = write_explorer(lineage, tmp_path_factory.mktemp("search"))
    assert written is not None
    return (Path(written) / "index.html").as_uri()


@pytest.fixture
def page(browse: functools.partial[Site], address: str) -> Page:
    page = browse(address).page
    page.goto(address)
    page.wait_for_selector(".home")
    return page


def test_what_is_in_sight_is_drawn_at_once_and_the_rest_when_typing_rests(page: Page) -> None:
    drawn = page.evaluate(TYPED, "name_of")
    assert 0 < drawn < MANY
    said = page.locator(".found [role=status]")
    expect(said).to_have_text(f"{MANY} found")
    expect(page.locator("#found li")).to_have_count(MANY)
    box = page.locator("#found").bounding_box()
    row = page.locator("#found li").nth(drawn - 1).bounding_box()
    assert box and row and row["y"] + row["height"] > box["y"] + box["height"], "they fill the list"


def test_the_arrow_keys_go_through_all_that_is_found(page: Page) -> None:
    page.evaluate(TYPED, "name_of")
    for _ in range(MANY):
        page.keyboard.press("ArrowDown")
    last = page.locator("#found li").nth(MANY - 1)
    expect(last).to_have_attribute("aria-selected", "true")
    expect(last).to_be_in_viewport()


def test_the_same_text_once_more_leaves_the_list_whole(page: Page) -> None:
    page.evaluate(TYPED, "name_of")
    expect(page.locator("#found li")).to_have_count(MANY)
    page.evaluate(TYPED, "name_of")
    expect(page.locator("#found li")).to_have_count(MANY)


def test_a_row_that_is_found_is_no_layer_of_its_own(page: Page) -> None:
    """Each layer is rastered by itself, and the next keystroke's frame waits for all of them."""
    layers: list[int] = []
    session = page.context.new_cdp_session(page)
    session.on("LayerTree.layerTreeDidChange", lambda e: layers.append(len(e.get("layers") or [])))
    session.send("LayerTree.enable")
    page.fill("#search", "name_of")
    expect(page.locator("#found li")).to_have_count(MANY)
    page.wait_for_timeout(300)
    assert layers and max(layers) < MANY, f"{max(layers)} layers"
