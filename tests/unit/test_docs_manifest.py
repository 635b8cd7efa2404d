"""What is put into manifest.json: once, beside the user's own text, and never read back."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from lineage_post.artifacts import project_from_manifest_dict
from lineage_post.artifacts.decoration import END, START
from lineage_post.lineage import Lineage
from lineage_post.options import Options
from lineage_post.publish import docs_manifest
from lineage_post.publish.docs_manifest import patch_manifest
from lineage_post.publish.exposures import ExposureSpec
from lineage_post.vocabulary import Certainty, Reason, State, Subtype
from tests.unit.handmade import column, edge, make_lineage

RAW, STG, FCT = "seed.shop.raw", "model.shop.stg", "model.shop.fct"


def shop(**more: Any) -> Lineage:
    columns = {
        RAW: ["id", "email"],
        STG: ["order_id", "email_hash", "loaded"],
        FCT: ["orders", column("gone", State.UNKNOWN, Reason.UNRESOLVED_COLUMN)],
    }
    edges = [
        edge(f"{RAW}:id", f"{STG}:order_id", Subtype.IDENTITY),
        edge(f"{RAW}:email", f"{STG}:email_hash", Subtype.TRANSFORMATION, masking=True),
        edge(f"{STG}:order_id", f"{FCT}:orders", Subtype.AGGREGATION, certainty=Certainty.ASSUMED),
        edge(f"{STG}:email_hash", FCT, Subtype.FILTER),
    ]
    states = {FCT: (State.PARTIAL, Reason.UNRESOLVED_COLUMN)}
    return make_lineage(columns, edges, states=states, **more)


def manifest(**columns: str) -> dict[str, Any]:
    """A manifest of the three nodes; the keywords are the columns that YAML declares of STG."""
    declared = {
        name: {"name": name, "description": text, "meta": {}, "tags": ["t"]}
        for name, text in columns.items()
    }
    return {
        "metadata": {"project_name": "shop", "adapter_type": "duckdb"},
        "nodes": {
            RAW: {"unique_id": RAW, "package_name": "shop", "columns": {}, "meta": {}},
            STG: {
                "unique_id": STG,
                "package_name": "shop",
                "columns": declared,
                "meta": {"owner": "ada"},
            },
            FCT: {"unique_id": FCT, "package_name": "shop", "columns": {}, "meta": {}},
        },
        "sources": {},
        "exposures": {},
        "parent_map": {},
        "child_map": {FCT: ["test.shop.unique_fct"]},
    }


def description(document: dict[str, Any], node: str, name: str) -> str:
    return str(document["nodes"][node]["columns"][name]["description"])


def test_a_column_says_where_it_comes_from_and_what_uses_it() -> None:
    document = manifest(order_id="The order.")
    patch_manifest(document, shop())
    assert description(document, STG, "order_id") == (
        f"The order.\n\n{START}\n\n"
        "**Comes from** [raw](#!/seed/seed.shop.raw) `id` (identity)\n\n"
        "**Used by** [fct](#!/model/model.shop.fct) `orders` (aggregation, assumed)\n\n"
        f"{END}"
    )


@pytest.mark.parametrize(
    ("node", "name", "said"),
    [
        (STG, "email_hash", "`email` (transformation, masked)"),
        (STG, "loaded", "**Comes from** no source column: constant, counted or generated"),
        (STG, "loaded", "**Used by** no traced column"),
        (
            FCT,
            "gone",
            "**Comes from** unknown: a column that none of its relations has (unresolved_column)",
        ),
    ],
)
def test_masked_constant_and_unknown_columns_are_told_apart(
    node: str, name: str, said: str
) -> None:
    document = manifest()
    patch_manifest(document, shop())
    assert said in description(document, node, name)


def test_a_seed_s_column_says_only_what_uses_it() -> None:
    document = manifest()
    patch_manifest(document, shop())
    assert "Comes from" not in description(document, RAW, "id")
    assert "**Used by** [stg]" in description(document, RAW, "id")


def test_a_declared_column_keeps_its_spelling_and_everything_else() -> None:
    document = manifest(Order_ID="The order.")
    patch_manifest(document, shop())
    assert set(document["nodes"][STG]["columns"]) == {"Order_ID", "email_hash", "loaded"}
    assert document["nodes"][STG]["columns"]["Order_ID"]["tags"] == ["t"]


def test_running_twice_is_running_once() -> None:
    document = manifest(order_id="The order.")
    spec = exposure()
    patch_manifest(document, shop(), [spec])
    once = copy.deepcopy(document)
    patch_manifest(document, shop(), [spec])
    assert document == once


def test_what_changed_is_replaced() -> None:
    document = manifest(order_id="The order.")
    patch_manifest(document, shop(), [exposure()])
    patch_manifest(document, make_lineage({STG: ["order_id"]}))
    assert "no source column" in description(document, STG, "order_id")
    assert description(document, STG, "order_id").count(START) == 1
    assert set(document["nodes"][STG]["columns"]) == {"order_id"}
    assert document["exposures"] == {}


def test_a_decorated_manifest_reads_like_the_one_dbt_wrote() -> None:
    document = manifest(order_id="The order.")
    plain = project_from_manifest_dict(copy.deepcopy(document))
    patch_manifest(document, shop(), [exposure()])
    assert project_from_manifest_dict(document) == plain


@pytest.mark.parametrize(
    ("node", "said"),
    [
        (STG, "known, 3 of 3 columns"),
        (FCT, "partial, 1 of 2 columns known: unresolved_column"),
    ],
)
def test_the_meta_of_a_node_sums_its_lineage_up_beside_the_user_s_own(node: str, said: str) -> None:
    document = manifest()
    patch_manifest(document, shop())
    meta = document["nodes"][node]["meta"]
    assert meta.pop("column_lineage") == said
    assert meta == ({"owner": "ada"} if node == STG else {})


def test_where_dbt_compares_descriptions_they_are_left_alone() -> None:
    document = manifest(order_id="The order.")
    document["nodes"][STG]["config"] = {"persist_docs": {"columns": True}}
    patch_manifest(document, shop())
    assert description(document, STG, "order_id") == "The order."
    assert set(document["nodes"][STG]["columns"]) == {"order_id"}
    assert "column_lineage" in document["nodes"][STG]["meta"]


def test_a_package_that_is_not_published_is_left_alone() -> None:
    document = manifest(order_id="The order.")
    before = copy.deepcopy(document)
    patch_manifest(document, shop(options=Options(exclude_packages=("shop",))))
    assert document == before


def test_a_name_that_the_search_would_show_as_markup_is_not_added() -> None:
    document = manifest()
    patch_manifest(document, make_lineage({STG: ["<svg onload=x>", "fine"]}))
    assert set(document["nodes"][STG]["columns"]) == {"fine"}


def test_a_large_project_gets_no_columns_that_yaml_does_not_declare(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(docs_manifest, "ADDED_AT_MOST", 3)
    document = manifest(order_id="The order.")
    patch_manifest(document, shop())
    assert set(document["nodes"][STG]["columns"]) == {"order_id"}
    assert START in description(document, STG, "order_id")


def test_many_users_are_counted() -> None:
    targets = {f"model.shop.m{i:02}": ["x"] for i in range(12)}
    edges = [edge(f"{RAW}:id", f"{target}:x", Subtype.IDENTITY) for target in targets]
    document = manifest()
    patch_manifest(document, make_lineage({RAW: ["id"], **targets}, edges))
    said = description(document, RAW, "id")
    assert said.count("(identity)") == 8
    assert "and 4 more" in said


def exposure() -> ExposureSpec:
    return ExposureSpec(
        "lineage_fct__orders", "fct.orders", "analysis", "text", (RAW, FCT), "shop", None
    )


def test_an_exposure_is_added_with_its_place_in_the_graph() -> None:
    document = manifest()
    patch_manifest(document, shop(), [exposure()])
    unique_id = "exposure.shop.lineage_fct__orders"
    assert document["exposures"][unique_id]["depends_on"]["nodes"] == [RAW, FCT]
    assert document["parent_map"][unique_id] == [RAW, FCT]
    assert document["child_map"][FCT] == ["test.shop.unique_fct", unique_id]


def test_an_exposure_of_the_user_s_own_yaml_stays() -> None:
    document = manifest()
    own = {"original_file_path": "models/exposures.yml", "label": "mine"}
    document["exposures"]["exposure.shop.lineage_fct__orders"] = own
    patch_manifest(document, shop(), [exposure()])
    assert document["exposures"] == {"exposure.shop.lineage_fct__orders": own}
