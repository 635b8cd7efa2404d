"""Erasing a column's values: where they are, in which order they go, what stays unknown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lineage_post.governance.erasure import Action, erasure_of
from tests.governance.conftest import Call, Crm
from tests.governance.small import source
from tests.unit.lineages import lineage_of
from tests.unit.manifests import make_model


@pytest.fixture
def erased(crm: Crm, cli: Call) -> dict[str, Any]:
    code, out, _ = cli(crm, "erase", "raw_users.email", "--output", "json")
    assert code == 0
    found: dict[str, Any] = json.loads(out)
    return found


def test_every_column_that_the_value_reaches_is_listed(erased: dict[str, Any]) -> None:
    derived = {(d["unique_id"].split(".", 2)[-1], d["column"]): d for d in erased["derived"]}
    assert {key for key, d in derived.items() if not d["masked"]} == {
        ("raw_users", "email"),
        ("stg_users", "email"),
        ("dim_users", "contact"),
        ("dim_users", "has_email"),
        ("fct_orders", "sent_to"),
        ("city_contacts", "contacts"),
        ("user_card.v1", "contact"),
        ("user_card.v2", "contact"),
        ("all_contacts", "address"),
        ("snap_users", "contact"),
        ("snap_users", "has_email"),
    }
    masked = {key for key, d in derived.items() if d["masked"]}
    assert masked == {(n, "email_hash") for n in ("stg_users", "dim_users", "snap_users")}


def test_parents_come_before_what_is_built_from_them(erased: dict[str, Any]) -> None:
    order = [step["unique_id"].split(".", 2)[-1] for step in erased["steps"]]
    for parent, child in [
        ("raw_users", "stg_users"),
        ("stg_users", "dim_users"),
        ("dim_users", "snap_users"),
        ("dim_users", "fct_orders"),
        ("fct_orders", "all_contacts"),
    ]:
        assert order.index(parent) < order.index(child)
    actions = {step["unique_id"].split(".", 2)[-1]: step["action"] for step in erased["steps"]}
    assert actions["snap_users"] == "delete rows"
    assert actions["fct_orders"] == "delete rows, or full refresh"
    assert actions["stg_users"] == "nothing is stored"
    assert actions["raw_users"] == "edit the file, then dbt seed"


def test_rows_are_found_by_keys_that_the_lineage_leads_to(erased: dict[str, Any]) -> None:
    steps = {step["unique_id"].split(".", 2)[-1]: step for step in erased["steps"]}
    snapshot = {(f["column"], f["key"]["column"]) for f in steps["snap_users"]["find_rows_by"]}
    assert ("user_id", "id") in snapshot, "the key of the seed is declared on its staging model"
    assert steps["fct_orders"]["row_keys"] == [
        {"columns": ["order_id"], "declared_by": "unique_key"}
    ]
    assert steps["city_contacts"]["find_rows_by"] == []


def test_what_it_only_decides_and_what_nobody_knows_stand_apart(erased: dict[str, Any]) -> None:
    indirect = {i["unique_id"].split(".", 2)[-1] for i in erased["indirect"]}
    assert {"city_contacts", "city_sizes"} <= indirect
    unknown = erased["unknown"]
    assert [g["unique_id"] for g in unknown["possible"]] == ["exposure.crm.crm_board"]
    assert unknown["consumers"] == ["exposure.crm.crm_board"]
    assert any("outside dbt" in beyond for beyond in unknown["beyond"])


def test_the_table_and_the_record_say_where_the_values_come_from(crm: Crm, cli: Call) -> None:
    _, out, _ = cli(crm, "erase", "dim_users.contact")
    assert "its values come from stg_users.email, raw_users.email" in out
    code, record, _ = cli(crm, "erase", "dim_users.contact", "--output", "markdown")
    assert code == 0
    assert record.startswith("# Erasure of `dim_users.contact`")
    assert '| ☐ | 1 | `"crm"."main"."dim_users"` | rebuild | `contact` |' in record


def test_a_node_instead_of_a_column_is_refused_with_its_columns(crm: Crm, cli: Call) -> None:
    code, _, err = cli(crm, "erase", "dim_users")
    assert code == 2 and "contact" in err


def test_a_cycle_ends_and_a_broken_model_is_a_gap() -> None:
    orders = source("orders", {"email": {}})
    loop = make_model(
        "loop",
        "select email from raw.orders union all select email from main.loop",
        [orders["unique_id"]],
        materialized="incremental",
    )
    broken = make_model("broken", "select from where", [loop["unique_id"]])
    found = erasure_of(lineage_of(orders, loop, broken), [(orders["unique_id"], "email")])
    assert [s.action for s in found.steps] == [
        Action.DELETE_AT_ORIGIN,
        Action.DELETE_OR_FULL_REFRESH,
    ]
    assert [(g.unique_id, g.reason) for g in found.gaps] == [(broken["unique_id"], "parse_error")]
