"""The box "Why is this row there?" on a model's page: SQL to copy that runs on the warehouse."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from playwright.sync_api import Locator, Page, expect

from lineage_post.provenance.polynomial import parse, tokens
from tests.browser.conftest import Site

pytestmark = [pytest.mark.browser, pytest.mark.dbt]

CUSTOMERS = "model.browser_shop.fct_customers"


def box(site: Site, unique_id: str = CUSTOMERS) -> Locator:
    """The opened box on a model's page."""
    page: Page = site.open(unique_id)
    found = page.locator("details.lp-why")
    found.locator("summary").click()
    return found


def ask(found: Locator, condition: str) -> str:
    """What stands in the SQL to copy once the reader has typed ``condition``."""
    found.get_by_label("Condition that picks rows").fill(condition)
    return found.get_by_label("SQL to copy").input_value()


def test_the_sql_to_copy_gives_the_row_and_the_rows_it_comes_from(site: Site, target: Path) -> None:
    sql = ask(box(site), "customer_id = 1 and currency in ('EUR')")
    assert site.errors == []
    with duckdb.connect(str(target.parent / "shop.duckdb"), read_only=True) as connection:
        [row] = connection.execute(sql).fetchall()
    assert row[0] == 1
    named = {token.name for token in tokens(parse(row[-1]))}
    assert named == {"stg_customers", "stg_orders"}


def test_the_command_to_copy_is_quoted_for_a_shell(served: Site) -> None:
    found = box(served)
    ask(found, "full_name = 'O''Hara $&'")
    command = found.get_by_label("Command to copy").input_value()
    assert command == (
        f"lineage-post why {CUSTOMERS} --where 'full_name = '\\''O'\\'''\\''Hara $&'\\'''"
    )
    assert "'O''Hara $&'" in found.get_by_label("SQL to copy").input_value()


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("", "Write a condition over the columns"),
        ("customer_id = 1; drop table x", "This cannot stand in a condition: ; drop"),
        ("customer_id = 1 -- x", "This cannot stand in a condition: -- x"),
        ("customer_id in (select 1)", "There is no column select"),
        ("pg_sleep(9) is null", "Not a function of a condition: pg_sleep"),
        ("customer_id = 1) or (true", "A bracket is closed that was not opened."),
        ("(customer_id = 1", "A bracket is not closed."),
        ("no_such_column = 1", "There is no column no_such_column"),
    ],
)
def test_what_is_no_condition_gives_no_sql_and_says_why(
    condition: str, said: str, served: Site
) -> None:
    found = box(served)
    assert ask(found, "customer_id = 1")
    assert ask(found, condition) == ""
    expect(found.get_by_role("status")).to_contain_text(said)
    expect(found.get_by_label("SQL to copy")).to_be_hidden()
    expect(found.get_by_label("Command to copy")).to_be_hidden()


def test_copying_puts_the_sql_on_the_clipboard(served: Site) -> None:
    found = box(served)
    sql = ask(found, "customer_id = 2")
    served.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    found.get_by_role("button", name="Copy SQL").click()
    expect(found.get_by_role("button", name="Copied")).to_be_visible()
    pasted = served.page.evaluate("navigator.clipboard.readText()")
    assert pasted == sql
