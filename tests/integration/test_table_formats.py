"""Which snapshot of an input was read, of table formats that keep them: in a matrix environment.

DuckLake, Iceberg and Delta by DuckDB's extensions, whose wheels `make test-matrix` installs.
"""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.integration.conftest import ROOT, Shop

pytestmark = pytest.mark.dbt

FILES = {
    "dbt_project.yml": """\
name: shop
profile: shop
on-run-end: "{{ lineage_post.publish(results) }}"
""",
    "packages.yml": f"packages:\n  - local: {ROOT.as_posix()}\n",
    "models/sources.yml": """\
sources:
  - name: lake
    database: lake
    schema: main
    tables: [{name: orders}]
  - name: folders
    tables:
      - name: iced
        config: {meta: {external_location: "iceberg_scan('lake/iced')"}}
      - name: delta
        config: {meta: {external_location: "delta_scan('lake/delta')"}}
""",
    "models/from_lake.sql": "select id from {{ source('lake', 'orders') }}",
    "models/from_iceberg.sql": "select id from {{ source('folders', 'iced') }}",
    "models/from_delta.sql": "select id from {{ source('folders', 'delta') }}",
}


@pytest.fixture(scope="module")
def lakehouse(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A project over one table of each format, and the extensions where dbt-duckdb finds them."""
    folder = tmp_path_factory.mktemp("lakehouse")
    extensions = folder / "extensions"
    for name in ("ducklake", "iceberg", "delta", "avro"):
        install(name, extensions)
    profile = {
        "type": "duckdb",
        "path": str(folder / "shop.duckdb"),
        "extensions": ["ducklake", "avro", "iceberg", "delta"],
        "config_options": {"extension_directory": str(extensions)},
        "attach": [
            {
                "path": f"ducklake:{folder / 'meta.ducklake'}",
                "alias": "lake",
                "options": {"data_path": f"{folder / 'files'}/"},
            }
        ],
    }
    outputs = {"shop": {"target": "dev", "outputs": {"dev": profile}}}
    (folder / "profiles.yml").write_text(json.dumps(outputs))
    for name, text in FILES.items():
        path: Path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    shop = Shop(folder)
    in_lake(
        folder, "create table lake.orders as select 1 as id", "insert into lake.orders select 2"
    )
    write_delta(folder / "lake/delta")
    write_iceberg(folder / "lake/iced", folder)
    shop.dbt("deps")
    shop.dbt("run", "--select", "package:lineage_post", "shop")
    return shop


def install(name: str, extensions: Path) -> None:
    spec = find_spec(f"duckdb_extension_{name}")
    assert spec and spec.origin
    [file] = Path(spec.origin).parent.rglob(f"{name}.duckdb_extension")
    [(platform,)] = duckdb.sql("pragma platform").fetchall()
    goal = extensions / f"v{duckdb.__version__}" / platform
    goal.mkdir(parents=True, exist_ok=True)
    shutil.copy2(file, goal)


def in_lake(folder: Path, *statements: str) -> list[Any]:
    config = {"extension_directory": str(folder / "extensions")}
    with duckdb.connect(config=config) as connection:
        connection.execute("load ducklake")
        connection.execute(
            f"attach 'ducklake:{folder / 'meta.ducklake'}' as lake (data_path '{folder}/files/')"
        )
        found: list[Any] = []
        for statement in statements:
            found = connection.execute(statement).fetchall()
        return found


def write_delta(path: Path) -> None:
    from deltalake import write_deltalake
    from pyarrow import table

    for number in range(3):
        write_deltalake(str(path), table({"id": [number]}), mode="append")


def write_iceberg(path: Path, folder: Path) -> None:
    """A table of two snapshots, with the hint that tells its newest metadata."""
    from pyarrow import table
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("made", uri=f"sqlite:///{folder / 'iceberg.db'}", warehouse=str(folder))
    catalog.create_namespace("made")
    rows = table({"id": [1]})
    made = catalog.create_table("made.iced", rows.schema, location=str(path))
    made.append(rows)
    made.append(rows)
    newest = Path(made.metadata_location.removeprefix("file://"))
    (path / "metadata/version-hint.text").write_text(newest.name.removesuffix(".metadata.json"))
    (folder / "snapshot.txt").write_text(str(made.current_snapshot().snapshot_id))


def versions(shop: Shop, model: str) -> list[tuple[str, str | None]]:
    [(inputs,)] = shop.query(
        f"select inputs from lineage_refreshes where node = 'model.shop.{model}'"
        " and status = 'success' order by refreshed_at desc limit 1"
    )
    return [(one["kind"], one["version"]) for one in json.loads(inputs)]


def test_the_snapshot_of_a_ducklake_table_is_told(lakehouse: Shop) -> None:
    [(snapshot,)] = in_lake(
        lakehouse.folder, "select max(snapshot_id) from ducklake_snapshots('lake')"
    )
    assert versions(lakehouse, "from_lake") == [("snapshot", str(snapshot))]
    read = in_lake(lakehouse.folder, f"from lake.orders at (version => {snapshot})")
    assert read == [(1,), (2,)]


def test_the_snapshot_of_an_iceberg_table_is_told(lakehouse: Shop) -> None:
    snapshot = (lakehouse.folder / "snapshot.txt").read_text()
    assert versions(lakehouse, "from_iceberg") == [("snapshot", snapshot)]


def test_the_version_of_a_delta_table_is_told(lakehouse: Shop) -> None:
    assert versions(lakehouse, "from_delta") == [("snapshot", "2")]


def test_another_snapshot_is_another_version(lakehouse: Shop) -> None:
    before = versions(lakehouse, "from_lake")
    in_lake(lakehouse.folder, "insert into lake.orders select 3")
    lakehouse.dbt("run", "--select", "from_lake")
    assert versions(lakehouse, "from_lake") != before
