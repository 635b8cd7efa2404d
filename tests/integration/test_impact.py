"""impact and diff on the shop and on a branch of it, both compiled by dbt: golden outputs.

``LINEAGE_POST_GOLDEN=write`` writes the golden files anew; look at the difference before a commit.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lineage_post import load
from tests.integration.conftest import LEFT_OUT, QuickShop, Shop

Call = Callable[..., tuple[int, str, str]]
GOLDEN = Path(__file__).parent / "golden"

#: What the branch does: file below models/, before, after.
EDITS = (
    # A rename, with what reads it.
    ("staging/stg_web_sessions.sql", "    channel,\n", "    channel as marketing_channel,\n"),
    ("intermediate/int_first_touch.sql", "channel as first_channel",
     "marketing_channel as first_channel"),
    # A rename that a dashboard does not know of.
    ("marts/dim_customers.sql", "end as segment", "end as tier"),
    ("marts/customer_summary_v2.sql", "    segment\n", "    tier as segment\n"),
    # A drop.
    ("marts/dim_customers.sql", "    customers.country_code,\n", ""),
    # A column computed in another way, one that is new, another filter.
    ("marts/fct_daily_revenue.sql", "count(distinct customer_id)", "count(customer_id)"),
    ("marts/dim_products.sql", "    products.category,\n",
     "    products.category,\n    upper(products.category) as category_label,\n"),
    ("marts/fct_daily_revenue.sql", "where status <> 'cancelled'",
     "where status not in ('cancelled', 'returned')"),
)  # fmt: skip


@pytest.fixture(scope="module")
def branch(built_shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A branch of the shop, compiled: as a pull request has it."""
    shop = QuickShop(tmp_path_factory.mktemp("branch") / "shop")
    shutil.copytree(built_shop.folder, shop.folder, symlinks=True, ignore=_left_out)
    for name, before, after in EDITS:
        path = shop.folder / "models" / name
        text = path.read_text(encoding="utf-8")
        assert before in text, f"{name} has changed: mend EDITS"
        path.write_text(text.replace(before, after), encoding="utf-8")
    shop.dbt("compile")
    return shop


def _left_out(folder: str, names: list[str]) -> set[str]:
    # The packages stay installed, and the warehouse built: compiling looks into it.
    kept = {"dbt_packages", *(name for name in names if ".duckdb" in name)}
    return set(LEFT_OUT(folder, names)) - kept


def same_as_golden(name: str, text: str) -> None:
    path = GOLDEN / name
    lines = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
    if os.environ.get("LINEAGE_POST_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(lines, encoding="utf-8")
    assert lines == path.read_text(encoding="utf-8")


def place(shop: Shop) -> tuple[str, str]:
    return "--project-dir", str(shop.folder)


class TestImpact:
    def test_it_says_what_breaks(self, lineage_post: Call, built_shop: Shop) -> None:
        code, out, _ = lineage_post(
            "impact", *place(built_shop), "--all",
            "--rename", "stg_orders.status=state", "--rename", "raw_products.sku=code",
            "--drop", "raw_products.id", "--retype", "fct_orders.ordered_at=date",
            "--domain", "stg_orders.status",
        )  # fmt: skip
        assert code == 1
        same_as_golden("impact.txt", out)

    def test_a_field_nothing_uses_breaks_nothing(
        self, lineage_post: Call, built_shop: Shop
    ) -> None:
        code, out, _ = lineage_post(
            "impact", *place(built_shop), "--rename", "stg_web_sessions.page_views=views"
        )
        assert (code, out) == (
            0,
            "rename stg_web_sessions.page_views to views: breaks nothing\n",
        )

    def test_python_tells_the_files_and_lines_that_the_command_tells(
        self, lineage_post: Call, built_shop: Shop
    ) -> None:
        _, out, _ = lineage_post(
            "impact", *place(built_shop), "--drop", "stg_orders.status", "--output", "json"
        )
        (change,) = json.loads(out)["changes"]
        (impact,) = load(built_shop.target).impact(drop="stg_orders.status")
        told = {(d["unique_id"], d["file"], d["line"]) for d in change["dependents"]}
        assert {(d.unique_id, d.file, d.line) for d in impact.dependents} == told
        assert any(file.endswith(".yml") and line for _, file, line in told)

    def test_the_document_has_every_dependent(self, lineage_post: Call, built_shop: Shop) -> None:
        code, out, _ = lineage_post(
            "impact", *place(built_shop), "--drop", "stg_orders.status", "--output", "json"
        )
        (change,) = json.loads(out)["changes"]
        found = {(d["kind"], d["name"], d["column"]) for d in change["dependents"]}
        assert code == 1
        assert {
            ("model", "fct_daily_revenue", None),
            ("model", "dim_customers", "segment"),
            ("exposure", "weekly_revenue", "segment"),
            ("metric", "average_order_value", None),
            ("semantic_model", "orders", None),
            ("contract", "fct_orders", "status"),
        } <= found
        assert all(d["file"] and d["path"] for d in change["dependents"])

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--drop", "stg_orders.statu"], "Did you mean status?"),
            (["--drop", "stg_order.status"], "Did you mean stg_order"),
            (["--drop", "stg_orders"], "name a column of it"),
            (["--rename", "stg_orders.status"], "there is no new name"),
            (["--rename", "stg_orders.status=order_id"], "has a column 'order_id' already"),
            ([], "Name a change"),
        ],
    )
    def test_wrong_use_is_told(
        self, lineage_post: Call, built_shop: Shop, arguments: list[str], message: str
    ) -> None:
        code, out, err = lineage_post("impact", *place(built_shop), *arguments)
        assert (code, out) == (2, "") and message in err


class TestDiff:
    def test_it_says_what_the_branch_does(
        self, lineage_post: Call, built_shop: Shop, branch: Shop
    ) -> None:
        state = ("--state", str(built_shop.target))
        code, out, _ = lineage_post("diff", *place(branch), *state)
        assert code == 0
        same_as_golden("diff.txt", out)
        same_as_golden("diff.md", lineage_post("diff", *place(branch), *state,
                                               "--output", "github")[1])  # fmt: skip

    def test_it_selects_what_is_affected(
        self, lineage_post: Call, built_shop: Shop, branch: Shop
    ) -> None:
        state = ("--state", str(built_shop.target))
        _, out, _ = lineage_post("diff", *place(branch), *state, "--select-impacted")
        selected = out.split()
        assert "customer_scores" not in selected, "it reads neither what is gone nor what moved"
        listed = branch.dbt("ls", "--quiet", "--resource-type", "model", "--target-path",
                            "listed", "--select", *selected)  # fmt: skip
        assert len(listed.stdout.split()) == len(selected)

    @pytest.mark.parametrize(("level", "code"), [("breaking", 1), ("changed", 1), ("unknown", 1)])
    def test_it_fails_on_what_it_is_told_to(
        self, lineage_post: Call, built_shop: Shop, branch: Shop, level: str, code: int
    ) -> None:
        state = ("--state", str(built_shop.target), "--fail-on", level)
        assert lineage_post("diff", *place(branch), *state)[0] == code
        assert lineage_post("diff", *place(built_shop), *state)[:2] == (0, "no changes\n")

    def test_a_state_that_is_not_there_is_told(self, lineage_post: Call, built_shop: Shop) -> None:
        code, _, err = lineage_post("diff", *place(built_shop), "--state", "nowhere")
        assert code == 2 and "nowhere" in err and "manifest" in err

    def test_the_document_is_the_same_every_time(
        self, lineage_post: Call, built_shop: Shop, branch: Shop
    ) -> None:
        state = ("--state", str(built_shop.target), "--output", "json")
        documents = [json.loads(lineage_post("diff", *place(branch), *state)[1]) for _ in range(2)]
        for document in documents:
            del document["metadata"]["generated_at"]
            del document["metadata"]["state"]["generated_at"]
        assert documents[0] == documents[1]
        assert documents[0]["summary"]["breaking"] >= 1
