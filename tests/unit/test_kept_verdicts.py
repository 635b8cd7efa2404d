"""What is kept of how readers use a name: the same answer, and only while nothing has changed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage_post.impact import Analysis, Change, ChangeKind, simulate
from lineage_post.impact.document import impact_to_dict
from lineage_post.impact.kept import FILE

from .lineages import lineage_of
from .manifests import make_manifest, make_model, make_source

SOURCE = make_source("orders", {"id": "int", "total": "double"})
STG = make_model("stg", "select id, total from dev.raw.orders", ["source.shop.raw.orders"])
STAR = make_model("star", "select * from dev.main.stg", ["model.shop.stg"])
#: Needs the name in a row alone, which is no column of its own.
FILTERED = make_model("filtered", "select id from dev.main.stg where total > 0", ["model.shop.stg"])
DROP = Change(ChangeKind.DROP, "model.shop.stg", "total", None)


def answer(folder: Path | None, *nodes: Any) -> dict[str, Any]:
    analysis = Analysis(lineage_of(SOURCE, STG, *(nodes or (STAR, FILTERED))), kept=folder)
    found = impact_to_dict(analysis.impact(DROP), analysis.lineage)
    analysis.save()
    return found


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The SQL that is traced once more."""
    traced: list[str] = []
    trace: Callable[..., Any] = simulate.trace

    def noted(sql: str, **more: Any) -> Any:
        traced.append(sql)
        return trace(sql, **more)

    monkeypatch.setattr(simulate, "trace", noted)
    return traced


def test_a_second_answer_is_the_same_and_traces_nothing(tmp_path: Path, traced: list[str]) -> None:
    first = answer(tmp_path)
    assert first == answer(None) and traced
    traced.clear()
    assert answer(tmp_path) == first and not traced


def test_a_reader_that_changed_is_traced_again(tmp_path: Path, traced: list[str]) -> None:
    answer(tmp_path)
    traced.clear()
    changed = make_model("star", "select id from dev.main.stg", ["model.shop.stg"])
    assert answer(tmp_path, changed, FILTERED) == answer(None, changed, FILTERED)
    assert {sql for sql in traced if "where" not in sql} == {"select id from dev.main.stg"}


@pytest.mark.parametrize("content", [b"", b"[]", b'{"engine": "another", "verdicts": {"a": 1}}'])
def test_a_file_that_is_not_ours_is_as_good_as_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    assert answer(tmp_path) == answer(None)
    assert json.loads((tmp_path / FILE).read_bytes())["verdicts"]


def test_a_command_that_finds_all_of_it_kept_does_not_import_sqlglot(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    manifest = make_manifest(SOURCE, STG, STAR, FILTERED)
    (target / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    code = (
        "import sys; from lineage_post.cli import run; "
        f"run(['impact', '--drop', 'stg.total', '--project-dir', {str(tmp_path)!r}]); "
        "sys.exit('sqlglot' in sys.modules)"
    )
    ran = [subprocess.run([sys.executable, "-c", code]).returncode for _ in range(2)]
    assert ran == [1, 0]
