"""build, show and exposures over artifacts that dbt made."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage_post import __version__
from tests.integration.conftest import Shop

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def target(built_shop: Shop, tmp_path: Path) -> Path:
    """A copy of the artifacts alone, which a test may change."""
    copied = tmp_path / "target"
    copied.mkdir()
    for name in ("manifest.json", "catalog.json", "run_results.json", "index.html"):
        shutil.copy2(built_shop.target / name, copied)
    shutil.copytree(built_shop.target / "compiled", copied / "compiled")
    return copied


@pytest.fixture
def flags(built_shop: Shop, target: Path) -> list[str]:
    return ["--project-dir", str(built_shop.folder), "--target-path", str(target)]


def edit_manifest(target: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    path = target / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    edit(manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")


def without_sql(manifest: dict[str, Any], *kept: str) -> None:
    """As `dbt test` (nothing kept) or `dbt run -s one` leave it."""
    manifest["metadata"]["invocation_id"] = "another"
    for node in manifest["nodes"].values():
        if node["name"] not in kept:
            node.pop("compiled_code", None)
            node["compiled"] = False


def lineage_of(target: Path) -> dict[str, Any]:
    text = (target / "lineage_post/lineage.json").read_text(encoding="utf-8")
    document = json.loads(text)
    assert isinstance(document, dict)
    return document


def node(document: dict[str, Any], unique_id: str) -> dict[str, Any]:
    found = next(n for n in document["nodes"] if n["unique_id"] == unique_id)
    assert isinstance(found, dict)
    return found


class TestBuild:
    def test_it_writes_a_document_that_says_what_it_is_of(
        self, lineage_post: Call, flags: list[str], target: Path
    ) -> None:
        code, out, _ = lineage_post("build", *flags)
        assert code == 0 and "100.0 %" in out
        document = lineage_of(target)
        manifest = json.loads((target / "manifest.json").read_text(encoding="utf-8"))
        metadata = document["metadata"]
        assert metadata["invocation_id"] == manifest["metadata"]["invocation_id"]
        assert metadata["tool_version"] == __version__
        assert metadata["options"]["exposures"] == "marked"
        assert {"env", "user_id"}.isdisjoint(metadata), "SE-05"
        revenue = [e for e in node(document, "model.shop.fct_orders")["edges"]
                   if e["to_column"] == "revenue" and e["type"] == "DIRECT"]  # fmt: skip
        assert [e["from_column"] for e in revenue] == ["net_amount_eur"]

    def test_it_prints_one_json_document(self, lineage_post: Call, flags: list[str]) -> None:
        code, out, _ = lineage_post("build", *flags, "--output", "json")
        document = json.loads(out)
        assert code == 0
        assert document["coverage"]["columns"]["unknown"] == 0
        assert document["coverage"]["percent_known"] == 100.0
        assert document["edges"]["direct"] > 100
        assert any(path.endswith("lineage.json") for path in document["files"])

    def test_the_same_input_gives_the_same_bytes(
        self, lineage_post: Call, flags: list[str], target: Path
    ) -> None:
        texts = []
        for _ in range(2):
            lineage_post("build", *flags)
            document = lineage_of(target)
            del document["metadata"]["generated_at"]
            texts.append(json.dumps(document))
        assert texts[0] == texts[1]

    def test_it_writes_the_rows_that_dbt_loads(self, lineage_post: Call, shop: Shop) -> None:
        before = shop.query("select count(*) from lineage.lineage_edges")
        lineage_post("build", "--project-dir", str(shop.folder))
        rows = sorted(path.name for path in (shop.target / "lineage_post/rows").iterdir())
        assert rows == [f"lineage_{t}.jsonl" for t in ("columns", "edges", "nodes", "refreshes")]
        shop.dbt("run-operation", "lineage_post.load")
        again = shop.dbt("run-operation", "lineage_post.load")
        assert again.returncode == 0
        assert shop.query("select count(*) from lineage.lineage_edges") >= before

    def test_a_manifest_without_sql_is_refused_and_a_full_document_kept(
        self, lineage_post: Call, flags: list[str], target: Path
    ) -> None:
        lineage_post("build", *flags)
        before = (target / "lineage_post/lineage.json").read_bytes()
        edit_manifest(target, without_sql)
        code, out, err = lineage_post("build", *flags)
        assert (code, out) == (2, "")
        assert "has compiled SQL" in err and "dbt compile" in err and "manifest.json" in err
        assert (target / "lineage_post/lineage.json").read_bytes() == before

    def test_sql_on_disk_can_stand_in_for_it(
        self, lineage_post: Call, flags: list[str], target: Path
    ) -> None:
        edit_manifest(target, without_sql)
        code, _, _ = lineage_post("build", *flags, "--compiled-from-disk")
        assert code == 0
        assert node(lineage_of(target), "model.shop.fct_daily_revenue")["state"] == "known"

    def test_what_a_partial_run_did_not_compile_is_carried_over_and_said(
        self, lineage_post: Call, flags: list[str], target: Path
    ) -> None:
        lineage_post("build", *flags)
        full = lineage_of(target)
        edit_manifest(target, lambda manifest: without_sql(manifest, "stg_orders"))
        code, _, err = lineage_post("build", *flags)
        assert code == 0 and "lacks the SQL of" in err
        kept = node(lineage_of(target), "model.shop.dim_customers")
        assert kept["edges"] == node(full, "model.shop.dim_customers")["edges"]
        assert kept["carried_over_from"]["invocation_id"] == full["metadata"]["invocation_id"]

    def test_a_changed_model_is_not_carried_over(
        self, lineage_post: Call, flags: list[str], target: Path
    ) -> None:
        lineage_post("build", *flags)

        def edit(manifest: dict[str, Any]) -> None:
            without_sql(manifest, "stg_orders")
            manifest["nodes"]["model.shop.dim_customers"]["raw_code"] += " -- other"

        edit_manifest(target, edit)
        lineage_post("build", *flags)
        changed = node(lineage_of(target), "model.shop.dim_customers")
        assert (changed["state"], changed["reason"]) == ("unknown", "not_compiled")

    def test_fail_under_is_a_finding(
        self, lineage_post: Call, flags: list[str], target: Path
    ) -> None:
        assert lineage_post("build", *flags, "--fail-under", "100")[0] == 0
        edit_manifest(target, lambda manifest: without_sql(manifest, "stg_orders", "fct_orders"))
        shutil.rmtree(target / "lineage_post")
        code, _, err = lineage_post("build", *flags, "--fail-under", "95")
        assert code == 1 and "less than 95 %" in err

    def test_strict_makes_a_warning_a_finding(
        self, lineage_post: Call, flags: list[str], target: Path
    ) -> None:
        lineage_post("build", *flags)
        edit_manifest(target, lambda manifest: without_sql(manifest, "stg_orders"))
        assert lineage_post("build", *flags, "--strict")[0] == 1

    def test_an_unknown_adapter_is_an_error_before_any_work(
        self, lineage_post: Call, flags: list[str], target: Path
    ) -> None:
        edit_manifest(target, lambda m: m["metadata"].update(adapter_type="frobnicate"))
        code, _, err = lineage_post("build", *flags)
        assert code == 2 and "'frobnicate'" in err and "snowflake" in err
        assert not list((target / "lineage_post").glob("lineage*"))
        assert lineage_post("build", *flags, "--dialect", "duckdb")[0] == 0

    def test_selected_nodes_alone_are_published(
        self, lineage_post: Call, flags: list[str], target: Path
    ) -> None:
        lineage_post("build", *flags, "--select", "marts", "--exclude", "dim_products")
        published = {n["unique_id"] for n in lineage_of(target)["nodes"]}
        assert "model.shop.fct_orders" in published
        assert published.isdisjoint({"model.shop.dim_products", "model.shop.stg_orders"})

    def test_excluded_packages_still_serve_as_steps(
        self, lineage_post: Call, flags: list[str], target: Path
    ) -> None:
        lineage_post("build", *flags, "--exclude-packages", "shop")
        assert not any(".shop." in n["unique_id"] for n in lineage_of(target)["nodes"])

    def test_another_manifest_and_catalog_can_be_named(
        self, lineage_post: Call, flags: list[str], target: Path, tmp_path: Path
    ) -> None:
        for name in ("manifest.json", "catalog.json"):
            shutil.move(target / name, tmp_path / name)
        assert lineage_post("build", *flags)[0] == 2
        named = [f"--{n}={tmp_path / n}.json" for n in ("manifest", "catalog")]
        assert lineage_post("build", *flags, *named)[0] == 0
        assert lineage_post("build", *flags, named[0], "--catalog", "gone.json")[0] == 2

    def test_an_injected_model_is_known_by_its_own_projects_manifest(
        self, lineage_post: Call, flags: list[str], target: Path, tmp_path: Path
    ) -> None:
        upstream = shutil.copy2(target / "manifest.json", tmp_path / "upstream.json")

        def inject(manifest: dict[str, Any]) -> None:
            """What a project has of another project's public model: a name, no code, no columns."""
            stub = manifest["nodes"]["model.shop.stg_currencies"]
            stub.update(raw_code="", compiled_code=None, columns={}, package_name="platform")
            stub["depends_on"] = {"nodes": [], "macros": []}

        edit_manifest(target, inject)
        lineage_post("build", *flags)
        assert node(lineage_of(target), "model.shop.stg_currencies")["edges"] == []
        code, _, _ = lineage_post("build", *flags, "--upstream-manifest", str(upstream))
        assert code == 0
        edges = node(lineage_of(target), "model.shop.stg_currencies")["edges"]
        assert {edge["from_node"] for edge in edges} == {"seed.shop.raw_currencies"}

    def test_folders_may_have_spaces_and_accents(
        self, lineage_post: Call, target: Path, tmp_path: Path
    ) -> None:
        folder = tmp_path / "My Projects" / "café"
        shutil.copytree(target, folder / "target dir")
        (folder / "dbt_project.yml").write_text(
            "name: shop\ntarget-path: target dir\n", encoding="utf-8"
        )
        code, _, _ = lineage_post("build", "--project-dir", str(folder))
        assert code == 0 and (folder / "target dir/lineage_post/lineage.json").is_file()

    def test_decorating_the_site_twice_changes_nothing(
        self, lineage_post: Call, flags: list[str], target: Path
    ) -> None:
        lineage_post("build", *flags)
        page = (target / "index.html").read_bytes()
        lineage_post("build", *flags)
        assert (target / "index.html").read_bytes() == page and b"lineage_post" in page


class TestShow:
    def test_upstream_is_a_tree_down_to_the_seeds(
        self, lineage_post: Call, flags: list[str]
    ) -> None:
        code, out, _ = lineage_post("show", "+fct_daily_revenue.revenue_7_days", *flags)
        assert code == 0
        lines = out.splitlines()
        assert lines[0].startswith("fct_daily_revenue.revenue_7_days")
        depth = {
            line.split("── ")[1].split()[0]: line.index("── ") for line in lines if "── " in line
        }
        assert depth["fct_orders.revenue"] < depth["stg_order_items.quantity"]
        assert "raw_order_items.unit_price_cents" in depth
        assert (
            "rows decided by: fct_orders.ordered_at (group by), fct_orders.status (filter)" in out
        )

    def test_downstream_ends_with_the_impact(self, lineage_post: Call, flags: list[str]) -> None:
        _, out, _ = lineage_post("show", "raw_customers.email+", *flags)
        assert "stg_customers.email_hash" in out and "masked" in out
        assert "A change of it changes 4 columns in 3 models." in out

    def test_json_has_both_directions_with_depths(
        self, lineage_post: Call, flags: list[str]
    ) -> None:
        _, out, _ = lineage_post("show", "+fct_orders.revenue+", *flags, "--output", "json")
        document = json.loads(out)
        assert list(document) == [
            "metadata", "column", "upstream", "downstream", "possibly_affected",
            "named_by",
        ]  # fmt: skip
        assert document["column"]["unique_id"] == "model.shop.fct_orders"
        assert document["column"]["state"] == "known"
        depths = {(s["unique_id"], s["column"]): s["depth"] for s in document["upstream"]}
        assert depths["model.shop.int_orders_enriched", "net_amount_eur"] == 1
        assert depths["seed.shop.raw_order_items", "quantity"] == 4
        assert document["downstream"][0]["edges"][0]["from_column"] == "revenue"

    def test_indirect_influences_are_followed_on_demand(
        self, lineage_post: Call, flags: list[str]
    ) -> None:
        plain = json.loads(
            lineage_post("show", "+dim_customers.segment", *flags, "--output", "json")[1]
        )
        wide = json.loads(
            lineage_post(
                "show", "+dim_customers.segment", *flags, "--output", "json", "--indirect"
            )[1]
        )
        assert plain["upstream"] == []
        assert ("model.shop.fct_orders", "revenue") in {
            (s["unique_id"], s["column"]) for s in wide["upstream"]
        }

    def test_a_model_lists_its_columns(self, lineage_post: Call, flags: list[str]) -> None:
        code, out, _ = lineage_post("show", "dim_customers", *flags)
        assert code == 0 and "name_hash" in out
        assert "stg_customers.first_name, stg_customers.last_name" in out

    @pytest.mark.parametrize(
        "name, unique_id",
        [
            ("fct_orders.REVENUE", "model.shop.fct_orders"),
            ("shop.fct_orders.revenue", "model.shop.fct_orders"),
            ("model.shop.fct_orders.revenue", "model.shop.fct_orders"),
            ("web.web_sessions.channel", "source.shop.web.web_sessions"),
            ("customer_summary.v1.order_count", "model.shop.customer_summary.v1"),
            ("customer_summary_v1.order_count", "model.shop.customer_summary.v1"),
            ("customer_summary.segment", "model.shop.customer_summary.v2"),
            ("snap_products.dbt_valid_to", "snapshot.shop.snap_products"),
            ("int_order_items_priced.net_amount", "model.shop.int_order_items_priced"),
        ],
    )
    def test_nodes_are_found_by_the_names_people_use(
        self, name: str, unique_id: str, lineage_post: Call, flags: list[str]
    ) -> None:
        code, out, err = lineage_post("show", name, *flags, "--output", "json")
        assert code == 0, err
        assert json.loads(out)["column"]["unique_id"] == unique_id

    @pytest.mark.parametrize(
        "name, near",
        [
            ("fct_orders.revnue", "revenue"),
            ("fct_order.revenue", "fct_orders"),
            ("fct_oders", "fct_orders"),
        ],
    )
    def test_a_wrong_name_is_answered_with_near_ones(
        self, name: str, near: str, lineage_post: Call, flags: list[str]
    ) -> None:
        code, out, err = lineage_post("show", name, *flags)
        assert (code, out) == (2, "") and near in err

    def test_unknown_differs_from_a_constant(
        self, lineage_post: Call, flags: list[str], target: Path
    ) -> None:
        def edit(manifest: dict[str, Any]) -> None:
            manifest["nodes"]["model.shop.all_days"]["compiled_code"] = "select from where"

        _, out, _ = lineage_post("show", "+fct_daily_revenue.order_count", *flags)
        assert "no column's value: count(*)" in out and "known" not in out
        edit_manifest(target, edit)
        _, out, _ = lineage_post("show", "+all_days.date_day", *flags)
        assert "unknown (parse_error)" in out and "not known" in out

    def test_readers_that_are_not_known_may_be_affected(
        self, lineage_post: Call, flags: list[str], target: Path
    ) -> None:
        def edit(manifest: dict[str, Any]) -> None:
            name = "model.shop.fct_daily_revenue"
            manifest["nodes"][name]["compiled_code"] = "select from where"

        edit_manifest(target, edit)
        _, out, _ = lineage_post("show", "fct_orders.revenue+", *flags, "--output", "json")
        possibly = json.loads(out)["possibly_affected"]
        assert "model.shop.fct_daily_revenue" in possibly

    def test_a_stale_document_is_said_so(
        self, lineage_post: Call, flags: list[str], target: Path
    ) -> None:
        lineage_post("build", *flags)
        assert "stale" not in lineage_post("show", "fct_orders.revenue", *flags)[2]
        edit_manifest(target, lambda m: m["metadata"].update(invocation_id="newer"))
        assert "stale" not in lineage_post("show", "fct_orders.revenue", *flags)[2]

        def another_sum(manifest: dict[str, Any]) -> None:
            model = manifest["nodes"]["model.shop.fct_daily_revenue"]
            model["compiled_code"] = model["compiled_code"].replace("cancelled", "returned")

        edit_manifest(target, another_sum)
        assert "lineage.json is stale" in lineage_post("show", "fct_orders.revenue", *flags)[2]


class TestExposures:
    def test_they_are_listed(self, lineage_post: Call, flags: list[str]) -> None:
        code, out, _ = lineage_post("exposures", *flags, "--output", "json")
        document = json.loads(out)
        assert code == 0 and document["left_out"] == 0
        assert [e["name"] for e in document["exposures"]] == [
            "lineage_dim_customers__lifetime_value",
            "lineage_fct_daily_revenue__revenue_7_days",
            "lineage_fct_orders__revenue",
        ]

    def test_yaml_is_written_once_and_dbt_reads_it(self, lineage_post: Call, shop: Shop) -> None:
        flags = ["--project-dir", str(shop.folder)]
        assert "Wrote 3 exposures" in lineage_post("exposures", "--write", *flags)[1]
        assert "is up to date" in lineage_post("exposures", "--write", *flags)[1]
        listed = shop.dbt("ls", "--quiet", "--resource-type", "exposure").stdout.split()
        assert "exposure:shop.lineage_fct_orders__revenue" in listed

    def test_a_file_of_the_user_is_left_alone(self, lineage_post: Call, shop: Shop) -> None:
        own = shop.folder / "models/own.yml"
        own.write_text("exposures: []\n", encoding="utf-8")
        code, _, err = lineage_post(
            "exposures", "--write", "--file", "models/own.yml", "--project-dir", str(shop.folder)
        )
        assert code == 2 and "own.yml was not written by this command" in err
        assert own.read_text(encoding="utf-8") == "exposures: []\n"
