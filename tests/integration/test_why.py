"""``lineage-post why`` on the shop: every flag, every exit code, and that it only reads."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from lineage_post.bridge import profile
from tests.integration.conftest import Shop

Call = Callable[..., tuple[int, str, str]]
ONE = ("dim_products", "--where", "product_id = 9")
ALL_ROWS = ("--where", "true", "--limit", "100000", "--all", "--depth", "sources")


@pytest.fixture
def why(built_shop: Shop, lineage_post: Call) -> Call:
    """Asks the shop; the arguments are those after ``why``."""
    return asking(built_shop, lineage_post)


def asking(shop: Shop, lineage_post: Call) -> Call:
    where = ("--project-dir", str(shop.folder), "--profiles-dir", str(shop.folder))
    return lambda *arguments: lineage_post("why", *arguments, *where)


def rows_of(answer: tuple[int, str, str]) -> list[dict[str, Any]]:
    code, out, err = answer
    assert code == 0, err
    document = json.loads(out)
    assert list(document) == ["metadata", "rows"]
    rows: list[dict[str, Any]] = document["rows"]
    return rows


def ends_of(row: dict[str, Any]) -> set[tuple[str, str]]:
    """The stored rows that an answer ends in: of sources and seeds, and versions of snapshots."""
    found: set[tuple[str, str]] = set()
    for witness in row["witnesses"]:
        if witness["why"] is None or witness["relation"].startswith("snapshot."):
            found.add((witness["relation"], witness["token"]))
        else:
            found |= ends_of(witness["why"])
    return found


def below(row: dict[str, Any], relation: str) -> list[dict[str, Any]]:
    """The answers for the witnesses of one relation, at any depth."""
    found = []
    for witness in row["witnesses"]:
        if witness["why"] is not None:
            found += [witness["why"]] if witness["relation"] == relation else []
            found += below(witness["why"], relation)
    return found


# -- what is shown


def test_a_row_is_shown_with_its_witnesses_their_keys_and_the_columns_that_matter(
    why: Call,
) -> None:
    code, out, _ = why(*ONE)
    assert code == 0
    assert "dim_products" in out and "product_id=9" in out and "reproduced" in out
    assert re.search(r"snap_products\s+1 row", out) and "dbt_valid_from=" in out
    assert "list_price_cents=" in out and "note: ties" in out


def test_json_has_metadata_and_rows(why: Call) -> None:
    code, out, _ = why(*ONE, "--output", "json")
    document = json.loads(out)
    assert code == 0
    assert document["metadata"]["model"] == "model.shop.dim_products"
    assert document["metadata"]["where"] == "product_id = 9"
    [row] = document["rows"]
    assert row["label"] == "reproduced" and row["row"]["product_id"] == 9
    assert row["counts"] == {
        name: sum(w["relation"] == name for w in row["witnesses"]) for name in row["counts"]
    }
    assert {"relation", "key", "values", "multiplicity"} <= set(row["witnesses"][0])


def test_how_gives_the_polynomial_and_terms_that_add_up(why: Call) -> None:
    from lineage_post.provenance.polynomial import parse, tokens

    [row] = rows_of(why(*ONE, "--how", "--output", "json"))
    assert row["polynomial"] and all(name.startswith("@") for name in row["gates"])
    assert any("raw_order_items[" in text for text in row["gates"].values())
    [units] = [term for term in row["terms"] if term["column"] == "units_sold"]
    assert sum(int(term["value"]) for term in units["terms"]) == row["row"]["units_sold"]
    assert list(tokens(parse(units["terms"][0]["polynomial"])))
    assert "polynomial" in why(*ONE, "--how")[1]


def test_where_cells_name_cells_that_hold_the_value(why: Call, built_shop: Shop) -> None:
    [row] = rows_of(why(*ONE, "--where-cells", "--output", "json"))
    cells = {cell["column"]: cell["sources"] for cell in row["cells"]}
    [source] = cells["product_name"]
    assert source["relation"] == "seed.shop.raw_products"
    number = re.search(r"\[(\d+)\]", source["token"])
    assert number is not None
    held = built_shop.query(
        f'select "{source["column"]}" from raw.raw_products where rowid = {number[1]}'
    )
    assert held == [(row["row"]["product_name"],)]
    assert "unit_margin" not in cells
    assert "copied from" in why(*ONE, "--where-cells")[1]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("fct_ordrs", "Did you mean fct_orders"),
        ("fct_orders.revenu", "Did you mean revenue"),
        ("fct_orders.revenue", "Name fct_orders alone"),
    ],
)
def test_a_name_that_cannot_be_asked_for_is_told_before_dbt_compiles(
    why: Call, monkeypatch: pytest.MonkeyPatch, asked: str, told: str
) -> None:
    monkeypatch.setattr(profile, "compile_in_full", lambda *_, **__: pytest.fail("it compiles"))
    code, out, err = why(asked, "--where", "order_id = 1")
    assert (code, out) == (2, "") and told in " ".join(err.split())


def test_a_seed_has_the_rows_of_its_file(why: Call) -> None:
    code, _, err = why("raw_products", "--where", "id = 9")
    assert code == 2 and "its rows are the lines of seeds/raw_products.csv" in " ".join(err.split())


@pytest.mark.long
def test_depth_walks_steps_or_to_the_sources(why: Call) -> None:
    asked = ("customer_summary", "--where", "customer_id = 9", "--output", "json")
    [one] = rows_of(why(*asked))
    assert set(one["counts"]) == {"model.shop.dim_customers"}
    assert all(witness["why"] is None for witness in one["witnesses"])
    [two] = rows_of(why(*asked, "--depth", "2"))
    [step] = below(two, "model.shop.dim_customers")
    assert step["label"] == "reproduced" and not below(two, "model.shop.fct_orders")
    [whole] = rows_of(why(*asked, "--depth", "sources"))
    assert below(whole, "model.shop.fct_orders")
    assert {relation.split(".")[0] for relation, _ in ends_of(whole)} <= {"seed", "source"}


def test_as_of_now_computes_the_rows(why: Call) -> None:
    [row] = rows_of(why(*ONE, "--as-of-now", "--output", "json"))
    assert row["label"] == "computed now" and row["row"]["product_id"] == 9
    assert "computed now" in why(*ONE, "--as-of-now")[1]


@pytest.mark.long
def test_limit_sample_counts_only_and_all_bound_what_is_shown(why: Call) -> None:
    everything = ("dim_products", "--where", "true")
    assert len(rows_of(why(*everything, "--limit", "3", "--output", "json"))) == 3
    sampled = why(*ONE, "--sample", "2")[1]
    assert re.search(r"and \d+ more", sampled)
    assert not re.search(r"and \d+ more", why(*ONE, "--sample", "2", "--all")[1])
    [counted] = rows_of(why(*ONE, "--counts-only", "--output", "json"))
    assert counted["witnesses"] == [] and counted["counts"]["seed.shop.raw_order_items"] > 1


def test_sql_needs_no_connection_and_gives_the_row(
    shop: Shop, lineage_post: Call, built_shop: Shop
) -> None:
    (shop.folder / "shop.duckdb").unlink()
    (shop.folder / "profiles.yml").unlink()
    code, sql, _ = asking(shop, lineage_post)(*ONE, "--output", "sql")
    assert code == 0 and sql.startswith("-- why a row of model.shop.dim_products is there")
    [row] = built_shop.query(sql)
    assert row[0] == 9 and "raw_order_items[" in row[-1]


# -- exit codes


def test_no_row_is_exit_one(why: Call) -> None:
    code, out, err = why("dim_products", "--where", "product_id = 4711")
    assert (code, out) == (1, "") and "No row of dim_products matches: product_id = 4711" in err


def test_a_python_model_is_refused(why: Call) -> None:
    code, _, err = why("customer_scores", "--where", "customer_id = 9")
    assert code == 2 and "Python model" in err


def test_an_operator_without_a_rule_is_refused_with_its_line(
    shop: Shop, lineage_post: Call
) -> None:
    manifest = shop.target / "manifest.json"
    document = json.loads(manifest.read_text(encoding="utf-8"))
    node = document["nodes"]["model.shop.dim_products"]
    table = document["nodes"]["model.shop.stg_products"]["relation_name"]
    node["compiled_code"] = f"select *\nfrom {table}\nusing sample 3 rows"
    manifest.write_text(json.dumps(document), encoding="utf-8")
    code, _, err = asking(shop, lineage_post)("dim_products", "--where", "product_id = 9")
    assert code == 2 and "TABLESAMPLE on line 3" in err
    code, _, err = asking(shop, lineage_post)(*ONE, "--output", "sql")
    assert code == 2 and "TABLESAMPLE on line 3" in err


@pytest.mark.parametrize(
    "condition",
    [
        "product_id = 9; drop table marts.dim_products",
        "product_id in (select id from raw.raw_products)",
        "product_id = 9) or (1 = (select 1)",
        "true union select * from raw.raw_products",
        "read_text('profiles.yml') is not null",
        "copy marts.dim_products to 'x.csv'",
        "no_such_column = 1",
        "raw_products.id = 1",
        "",
    ],
)
def test_what_is_no_condition_over_the_model_is_refused(condition: str, why: Call) -> None:
    for output in ("table", "sql"):
        code, out, err = why("dim_products", "--where", condition, "--output", output)
        assert (code, out) == (2, ""), condition
        assert "condition" in err or "column" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("no_such_model", "--where", "true"),
        ("dim_products",),
        (*ONE, "--depth", "0"),
        (*ONE, "--depth", "many"),
        (*ONE, "--limit", "0"),
        (*ONE, "--output", "xml"),
    ],
)
def test_wrong_use_is_exit_two(arguments: tuple[str, ...], why: Call) -> None:
    assert why(*arguments)[0] == 2


# -- only reading


def test_the_warehouse_is_only_read(
    why: Call, built_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lineage_post.bridge.profile import connect

    database = built_shop.folder / "shop.duckdb"
    before = digest(database)
    assert why(*ONE, "--how", "--where-cells", "--depth", "sources")[0] == 0
    assert digest(database) == before
    connection = connect(built_shop.folder, "duckdb", profiles_dir=str(built_shop.folder))
    with pytest.raises(duckdb.Error, match="read-only"):
        connection.raw.execute("create table x (i int)")  # type: ignore[attr-defined]
    connection.close()


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# -- chains


@pytest.mark.long
@pytest.mark.parametrize("model", ["dim_customers", "dim_products"])
def test_stepwise_equals_inlining_for_every_row_of_a_rebuilt_project(model: str, why: Call) -> None:
    stepwise = rows_of(why(model, *ALL_ROWS, "--output", "json"))
    inlined = rows_of(why(model, *ALL_ROWS, "--as-of-now", "--output", "json"))
    assert {row["label"] for row in stepwise} == {"reproduced"}
    by_row = {json.dumps(row["row"]): ends_of(row) for row in inlined}
    assert len(by_row) == len(stepwise) > 10
    for row in stepwise:
        assert ends_of(row) == by_row[json.dumps(row["row"])]


@pytest.mark.long
def test_a_stale_incremental_and_a_snapshot_are_labelled(shop: Shop, lineage_post: Call) -> None:
    with duckdb.connect(str(shop.folder / "shop.duckdb")) as connection:
        connection.execute("update raw.raw_orders set status = 'returned' where id = 7")
        connection.execute("delete from raw.raw_orders where id = 28")
        connection.execute("update raw.raw_products set list_price_cents = 1 where id = 9")
    why = asking(shop, lineage_post)
    asked = ("--depth", "sources", "--all", "--output", "json")
    [customer] = rows_of(why("dim_customers", "--where", "customer_id = 9", *asked))
    orders = {o["row"]["order_id"]: o for o in below(customer, "model.shop.fct_orders")}
    assert customer["label"] == "reproduced"
    assert orders[7]["label"] == "changed since load" and "status" in orders[7]["changed"]
    assert orders[28]["label"] == "gone"
    assert orders[1]["label"] == "reproduced"
    [product] = rows_of(why(*ONE, *asked))
    [version] = below(product, "snapshot.shop.snap_products")
    assert version["label"] == "changed since load"
    assert version["changed"] == ["list_price_cents"]
