"""A project of somebody's own: three lines, and its next build records lineage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.conftest import Shop

FILES = {
    "dbt_project.yml": """\
# Ours.
name: shop
profile: shop
on-run-end: "select 1"  # grants, one day
""",
    "profiles.yml": """\
shop:
  target: dev
  outputs:
    dev: {type: duckdb, path: shop.duckdb, schema: dev}
""",
    "seeds/people.csv": "id,email\n1,ada@example.com\n",
    "models/hashed.sql": "select id, md5(email) as email_hash from {{ ref('people') }}\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Shop:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Shop(tmp_path)


def test_three_lines_are_enough(
    project: Shop, lineage_post: Callable[..., tuple[int, str, str]]
) -> None:
    flags = ["--project-dir", str(project.folder)]
    code, out, _ = lineage_post("init", "--yes", *flags)
    assert code == 0 and "dbt deps" in out
    project.dbt("deps")
    built = project.dbt("build")
    assert "lineage_post:" in built.stdout, "one line says what was recorded"
    edges = project.query(
        "select from_column, to_column, subtype, masking from dev.lineage_column_edges"
        " where to_node = 'model.shop.hashed' order by 1 desc"
    )
    assert edges == [
        ("id", "id", "IDENTITY", False),
        ("email", "email_hash", "TRANSFORMATION", True),
    ]
    assert lineage_post("init", *flags)[1] == "Nothing to do: the project is set up.\n"


def test_nothing_is_written_without_a_yes(
    project: Shop, lineage_post: Callable[..., tuple[int, str, str]]
) -> None:
    before = {p: p.read_bytes() for p in project.folder.rglob("*") if p.is_file()}
    code, out, err = lineage_post("init", "--project-dir", str(project.folder))
    assert code == 2 and "--yes" in err
    assert "+vars:" in out and "lineage_post_package/" in out
    assert before == {p: p.read_bytes() for p in project.folder.rglob("*") if p.is_file()}
