"""Labels on columns, where they flow to, and what stops them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lineage_post.governance.classification import Classification, classified
from lineage_post.governance.flow import Flow, StoppedBy
from lineage_post.governance.gaps import gaps_of
from lineage_post.lineage import Lineage
from tests.governance.conftest import Call, Crm
from tests.governance.small import source
from tests.unit.lineages import lineage_of
from tests.unit.manifests import make_model


def small(**columns: Any) -> Lineage:
    """``raw.orders`` -> ``stg``, whose columns carry the labels."""
    orders = source("orders", {"email": columns, "id": {}})
    stg = make_model("stg", "select email, id from raw.orders", [orders["unique_id"]])
    return lineage_of(orders, stg)


@pytest.mark.parametrize(
    "declared, labels",
    [
        ({"tags": ["pii", "gdpr"]}, {"pii", "gdpr"}),
        ({"config": {"tags": ["pii"]}}, {"pii"}),
        ({"meta": {"pii": True}}, {"pii"}),
        ({"config": {"meta": {"classification": "secret"}}}, {"classification=secret"}),
        ({"meta": {"classification": ["a", "b"]}}, {"classification=a", "classification=b"}),
        ({"meta": {"pii": False, "phi": None, "sensitive": "no"}}, set()),
        ({"meta": {"owner": "me"}}, set()),
    ],
)
def test_labels_are_column_tags_and_classifying_meta_keys(
    declared: dict[str, Any], labels: set[str]
) -> None:
    found = classified(small(**declared))
    assert set().union(*found.values()) == labels


@pytest.mark.parametrize(
    "selectors, labels",
    [
        ({"tags": ["p*"]}, {"pii"}),
        ({"meta": ["level=high"]}, {"level=high"}),
        ({"meta": ["level=low"]}, set()),
        ({"meta": ["governance.kind"]}, {"governance.kind=contact"}),
    ],
)
def test_selectors_pick_labels(selectors: dict[str, list[str]], labels: set[str]) -> None:
    meta = {"level": "high", "governance": {"kind": "contact"}}
    found = classified(small(tags=["pii", "other"], meta=meta), **selectors)
    assert set().union(*found.values()) == labels


def test_a_cell_is_labelled_by_the_path_without_a_mask_where_another_one_has_it() -> None:
    orders = source("orders", {"email": {"tags": ["pii"]}})
    both = make_model(
        "both",
        "select md5(email) as hashed, md5(email) || email as mixed from raw.orders",
        [orders["unique_id"]],
    )
    flow = Flow(found := lineage_of(orders, both), Classification(found))
    assert set(flow.inherited) == {(both["unique_id"], "mixed")}
    assert [(s.column[1], s.by) for s in flow.stops] == [("hashed", StoppedBy.MASKING)]


def test_a_label_of_a_nested_field_is_one_of_the_column_that_holds_it() -> None:
    orders = source("orders", {"address": {}, "address.city": {"tags": ["pii"]}, "id": {}})
    stg = make_model("stg", "select address, id from raw.orders", [orders["unique_id"]])
    flow = Flow(found := lineage_of(orders, stg), Classification(found))
    assert set(flow.declared) == {(orders["unique_id"], "address")}
    assert set(flow.inherited) == {(stg["unique_id"], "address")}


def test_what_is_beyond_sql_that_is_not_understood_may_have_a_label() -> None:
    orders = source("orders", {"email": {"tags": ["pii"]}})
    broken = make_model("broken", "select from where", [orders["unique_id"]])
    after = make_model("after", "select x from main.broken", [broken["unique_id"]])
    found = lineage_of(orders, broken, after)
    gaps = gaps_of(found, Flow(found, Classification(found)).carriers())
    assert {(g.unique_id, g.because, g.reason) for g in gaps} >= {
        (broken["unique_id"], broken["unique_id"], "parse_error")
    }


def test_tags_are_shown_with_the_path_that_brought_them(crm: Crm, cli: Call) -> None:
    code, out, _ = cli(crm, "tags", "--output", "json")
    found = json.loads(out)
    inherited = {
        (c["unique_id"].split(".", 2)[-1], c["column"], i["label"]): len(i["path"]) - 1
        for c in found["columns"]
        for i in c["inherited"]
    }
    assert code == 0
    assert inherited[("fct_orders", "sent_to", "pii")] == 3
    assert inherited[("dim_users", "display_name", "classification=confidential")] == 2
    assert not [key for key in inherited if key[1] in ("email_hash", "has_email", "users")]
    stopped = {(s["column"], s["by"]) for s in found["stopped"]}
    assert stopped == {("email_hash", "masking"), ("has_email", "declassified")}
    assert [p["unique_id"] for p in found["possible"]] == ["exposure.crm.crm_board"]


def test_the_text_names_each_step_of_the_path(crm: Crm, cli: Call) -> None:
    _, out, _ = cli(crm, "tags", "fct_orders", "--tag", "pii")
    assert "from raw_users.email > stg_users.email > dim_users.contact" in out
    assert "confidential" not in out


def test_the_view_says_the_same_as_the_command(crm: Crm, cli: Call) -> None:
    _, out, _ = cli(crm, "tags", "--output", "json")
    told = {
        (c["unique_id"], c["column"], i["label"], len(i["path"]) - 1)
        for c in json.loads(out)["columns"]
        for i in c["inherited"]
    }
    rows = crm.query(
        "select node, column_name, label, distance from lineage_column_tags where not is_declared"
    )
    assert set(rows) == told
    path = crm.query("select path from lineage_column_tags where node like '%fct_orders'")
    assert path == [
        (
            "seed.crm.raw_users.email > model.crm.stg_users.email > model.crm.dim_users.contact"
            " > model.crm.fct_orders.sent_to",
        )
    ]


def test_nothing_is_written_without_write(crm: Crm, cli: Call) -> None:
    before = crm.yaml()
    code, diff, _ = cli(crm, "tags", "--diff")
    assert code == 0 and "+            config: {tags: [pii]}" in diff
    assert crm.yaml() == before


def test_written_tags_only_add_lines_and_dbt_reads_them(crm: Crm, cli: Call) -> None:
    before = crm.yaml()
    _, announced, _ = cli(crm, "tags", "--diff")
    code, diff, _ = cli(crm, "tags", "--write")
    assert code == 0 and diff == announced
    for path, text in crm.yaml().items():
        kept = [line for line in text.split("\n") if line in before[path].split("\n")]
        assert [x for x in before[path].split("\n") if x not in text.split("\n")] == []
        assert len(kept) >= len(before[path].split("\n"))
    assert cli(crm, "tags", "--write")[1] == "", "a second run changes nothing"
    crm.dbt("compile", "--no-populate-cache", "--select", "package:crm")
    _, out, _ = cli(crm, "tags", "--output", "json")
    found = {(c["unique_id"], c["column"]): c for c in json.loads(out)["columns"]}
    sent = found["model.crm.fct_orders", "sent_to"]
    assert sent["declared"] == [{"label": "pii", "as": "tag"}]
    card = found["model.crm.user_card.v2", "display_name"]
    assert card["declared"] == [{"label": "classification=confidential", "as": "meta"}]
    assert cli(crm, "tags", "--diff")[1] == ""


def test_git_can_apply_the_diff(crm: Crm, cli: Call) -> None:
    import subprocess

    _, diff, _ = cli(crm, "tags", "--diff")
    (crm.folder / "tags.diff").write_text(diff, encoding="utf-8", newline="")
    subprocess.run(["git", "apply", "--unsafe-paths", "tags.diff"], cwd=crm.folder, check=True)
    assert cli(crm, "tags", "--diff")[1] == ""
