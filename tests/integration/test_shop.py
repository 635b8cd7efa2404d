"""integration_project as it ships: built by dbt with the hook, held to its expected edges."""

from __future__ import annotations

from tests.integration.conftest import Shop

#: The package's tests of its tables ran in the shop's first build.
NOT_ITS_OWN_TESTS = ("--exclude", "package:lineage_post,resource_type:test")


def test_every_column_of_the_shop_is_known(built_shop: Shop) -> None:
    rows = built_shop.query(
        "select resource_type, columns, columns_known from lineage.lineage_coverage"
    )
    assert {kind for kind, *_ in rows} >= {"model", "seed", "source", "snapshot", "exposure"}
    assert all(columns == known for _, columns, known in rows), rows
    assert built_shop.query("select * from lineage.lineage_unknowns") == []


def test_the_edges_are_those_a_person_would_draw(shop: Shop) -> None:
    done = shop.dbt("test", "--select", "tag:after_hook", check=False)
    assert done.returncode == 0, done.stdout
    assert "PASS=" in done.stdout and "PASS=0" not in done.stdout


def test_a_second_build_runs_incrementally_and_still_passes(shop: Shop) -> None:
    shop.dbt("build", *NOT_ITS_OWN_TESTS)
    shop.dbt("test", "--select", "tag:after_hook")
    modes = shop.query(
        "select build_mode from lineage.lineage_refreshes "
        "where node = 'model.shop.fct_orders' order by refreshed_at"
    )
    assert [mode for (mode,) in modes] == ["first", "incremental"]


def test_a_full_refresh_keeps_what_was_recorded(shop: Shop) -> None:
    before = shop.query("select count(*) from lineage.lineage_refreshes")
    shop.dbt("build", "--full-refresh", *NOT_ITS_OWN_TESTS)
    assert shop.query("select count(*) from lineage.lineage_refreshes") > before


def test_marked_columns_have_exposures_that_select_what_feeds_them(shop: Shop) -> None:
    listed = shop.dbt(
        "ls", "--quiet", "--resource-type", "model", "--output", "name",
        "--select", "1+exposure:lineage_fct_orders__revenue",
    )  # fmt: skip
    assert set(listed.stdout.split()) == {
        "fct_orders",
        "int_order_items_priced",
        "int_order_payments",
        "int_orders_enriched",
        "stg_currencies",
        "stg_order_items",
        "stg_orders",
        "stg_payments",
    }


def test_the_docs_site_is_decorated(built_shop: Shop) -> None:
    page = (built_shop.target / "index.html").read_text(encoding="utf-8")
    assert "lineage_post" in page
    manifest = (built_shop.target / "manifest.json").read_text(encoding="utf-8")
    assert "exposure.shop.lineage_fct_orders__revenue" in manifest
