"""The Parquet files of dbt Docs v2: ours are added, dbt's own stay, nothing is made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from lineage_post.cli import run as run_cli
from lineage_post.lineage import Lineage
from lineage_post.publish.dbt_index import Layout, layouts_in, write_index
from lineage_post.publish.files import read_rows

from .lineages import lineage_of
from .manifests import make_manifest, make_model, make_source

#: The columns' file as dbt 2 writes it (dbt-index-core, NodeColumnRow), and as the newer one does.
COLUMNS = {
    "index": "unique_id varchar not null, column_name varchar not null, column_index bigint, "
    "declared_type varchar, inferred_type varchar, catalog_type varchar, data_type varchar, "
    "description varchar, tags varchar[] not null, classifiers varchar[] not null, "
    "ingested_at timestamptz not null",
    "info_schema/v1": "node_unique_id varchar not null, column_name varchar not null, "
    "column_index bigint, data_type_declared varchar, data_type_inferred varchar, "
    "data_type_actual varchar, tags varchar[] not null, ingested_at timestamptz not null",
}
EDGES = {
    "index": "from_node_unique_id, from_column_name, to_node_unique_id, to_column_name, "
    "lineage_kind",
    "info_schema/v1": "parent_node_unique_id, parent_column_name, child_node_unique_id, "
    "child_column_name, evolution",
}
MART, SOURCE = "model.shop.fct", "source.shop.raw.orders"
DECLARED = {
    "index": f"('{MART}', 'ID'{', null' * 6}, [], [], '2026-01-01 00:00:00Z')",
    "info_schema/v1": f"('{MART}', 'ID'{', null' * 4}, [], '2026-01-01 00:00:00Z')",
}
OURS = [
    (SOURCE, "amount", MART, "total", "mod"),
    (SOURCE, "id", MART, "id", "copy"),
    (SOURCE, "status", MART, "kind", "scan"),
]


NODES = (
    make_source("orders", {"id": "int", "amount": "double", "status": "text"}),
    make_model(
        "fct",
        "select id, sum(amount) as total, max(case when status = 'a' then 1 end) as kind "
        'from "dev"."raw"."orders" group by id',
        [SOURCE],
    ),
)


@pytest.fixture(scope="module")
def lineage() -> Lineage:
    return lineage_of(*NODES)


@pytest.fixture(params=sorted(COLUMNS))
def layout(request: pytest.FixtureRequest, tmp_path: Path) -> Layout:
    folder = tmp_path / request.param
    folder.mkdir(parents=True)
    copy(folder / "dbt.nodes.parquet", "unique_id varchar")
    copy(folder / "dbt.node_columns.parquet", COLUMNS[request.param], DECLARED[request.param])
    (found,) = layouts_in(tmp_path)
    return found


def copy(path: Path, columns: str, *rows: str) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"create table t ({columns})")
        for row in rows:
            connection.execute(f"insert into t values {row}")
        connection.execute(f"copy t to '{path}' (format parquet)")


def read(path: Path, columns: str = "* exclude (ingested_at)") -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        return connection.execute(f"select {columns} from '{path}' order by all").fetchall()


def test_edges_are_written_as_dbt_writes_them(layout: Layout, lineage: Lineage) -> None:
    written = write_index(lineage, layout)
    assert read(layout.lineage_file) == OURS
    names = EDGES["info_schema/v1" if layout.is_experimental else "index"]
    assert read(layout.lineage_file, names) == OURS
    assert written.files == (layout.lineage_file, layout.columns_file)


def test_only_what_is_missing_is_added(layout: Layout, lineage: Lineage) -> None:
    write_index(lineage, layout)
    node = layout.column["node"]
    found = read(layout.columns_file, f"{node}, column_name, column_index")
    assert [row for row in found if row[0] == MART] == [
        (MART, "ID", 0),  # the position that dbt's own row lacked
        (MART, "kind", 2),
        (MART, "total", 1),
    ]
    assert write_index(lineage, layout).files == (layout.lineage_file,)


def test_what_dbt_says_of_a_node_is_kept_unless_asked(layout: Layout, lineage: Lineage) -> None:
    columns = ", ".join(f"{name} varchar" for name in layout.edge.values())
    theirs = (SOURCE, "amount", MART, "total", "copy")
    copy(
        layout.lineage_file,
        f"{columns}, ingested_at timestamptz",
        f"{theirs!r}"[:-1] + ", '2026-01-01 00:00:00Z')",
    )
    assert write_index(lineage, layout).kept == 1
    assert read(layout.lineage_file) == [theirs]
    assert write_index(lineage, layout).kept == 1, "a second time they are still dbt's"
    write_index(lineage, layout, overwrite=True)
    assert read(layout.lineage_file) == OURS


def test_a_build_imports_what_dbt_says_of_a_node(layout: Layout, tmp_path: Path) -> None:
    columns = ", ".join(f"{name} varchar" for name in layout.edge.values())
    theirs = (SOURCE, "status", MART, "total", "mod")
    copy(
        layout.lineage_file,
        f"{columns}, ingested_at timestamptz",
        f"{theirs!r}"[:-1] + ", '2026-01-01 00:00:00Z')",
    )
    (tmp_path / "manifest.json").write_text(json.dumps(make_manifest(*NODES)), encoding="utf-8")
    flags = ["--project-dir", str(tmp_path), "--target-path", str(tmp_path), "--no-explorer"]
    assert run_cli(["build", *flags]) == 0
    (claimed,) = read_rows(tmp_path / "lineage_post" / "imports" / "dbt_index").edges
    assert (claimed.from_column, claimed.to_node, claimed.to_column) == ("status", MART, "total")
    assert read(layout.lineage_file) == [theirs]


def test_our_own_edges_are_replaced_by_a_second_build(layout: Layout, lineage: Lineage) -> None:
    write_index(lineage, layout)
    smaller = lineage_of(
        make_source("orders", {"id": "int"}),
        make_model("fct", 'select id from "dev"."raw"."orders"', [SOURCE]),
    )
    assert write_index(smaller, layout).kept == 0
    assert read(layout.lineage_file) == [OURS[1]]


def test_a_folder_that_dbt_did_not_make_is_never_made(tmp_path: Path) -> None:
    assert layouts_in(tmp_path) == []
    (tmp_path / "index").mkdir()
    assert layouts_in(tmp_path) == [], "an empty folder is of something else"


def test_names_with_quotes_are_text(layout: Layout) -> None:
    name = "o'brien\"; drop"
    model = make_model(
        "fct",
        f'select 1 as id, id as "{name.replace(chr(34), chr(34) * 2)}" from "dev"."raw"."orders"',
        [SOURCE],
    )
    write_index(lineage_of(make_source("orders", {"id": "int"}), model), layout)
    assert read(layout.lineage_file) == [(SOURCE, "id", MART, name, "copy")]
