"""show tells of a name in YAML what it tells of one in SQL: that something depends on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lineage_post.cli import run

from .manifests import make_manifest, make_model, make_source

RAW = "source.shop.raw.orders"
SOURCE = make_source("orders", {"id": "int", "total": "double", "unused": "int"})


@pytest.fixture
def flags(tmp_path: Path) -> list[str]:
    """A model whose columns only settings, a contract and a test name."""
    columns = {name: {"name": name, "data_type": "int"} for name in ("id", "total")}
    fct = make_model(
        "fct",
        "select id, total, unused as spare from dev.raw.orders",
        [RAW],
        materialized="incremental",
        config={
            "materialized": "incremental",
            "unique_key": "id",
            "partition_by": {"field": "total"},
            "cluster_by": ["id"],
            "contract": {"enforced": True},
        },
        columns=columns,
    )
    test: dict[str, Any] = make_model(
        "not_null_fct_id",
        "select id from dev.main.fct where id is null",
        ["model.shop.fct"],
        unique_id="test.shop.not_null_fct_id.1",
        resource_type="test",
        attached_node="model.shop.fct",
        column_name="id",
        test_metadata={"name": "not_null", "kwargs": {"column_name": "id"}},
        original_file_path="models/m.yml",
    )
    target = tmp_path / "target"
    target.mkdir()
    manifest = json.dumps(make_manifest(SOURCE, fct, test))
    (target / "manifest.json").write_text(manifest, encoding="utf-8")
    return ["--project-dir", str(tmp_path)]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("fct.id", ["cluster_by", "unique_key", "contract", "data test not_null"]),
        ("fct.total", ["partition_by", "contract"]),
    ],
)
def test_a_name_in_yaml_is_told_beside_what_depends_on_the_data(
    column: str, expected: list[str], flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", column, *flags]) == 0
    out = capsys.readouterr().out
    assert "Nothing" not in out and "No value and no row in the project depends on it." in out
    assert f"named by: {', '.join(expected)}" in out
    run(["show", column, *flags, "--output", "json"])
    named = json.loads(capsys.readouterr().out)["named_by"]
    assert [use["role"] for use in named] == expected
    run(["show", f"+{column}", *flags])
    assert "named by" not in capsys.readouterr().out, "that is downstream"


def test_nothing_is_nothing(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    run(["show", "fct.spare", *flags])
    out = capsys.readouterr().out
    assert "Nothing in the project depends on it." in out and "named by" not in out
