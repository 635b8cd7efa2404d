"""What is kept of how readers use a name: the same answer, and only while nothing has changed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from itertools import permutations
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


@pytest.mark.parametrize(
    "verdict",
    [None, 1, "abcd", [1], [1, 5, [], 1], [1, [[]], [], 1], [0, [1], [2], 0], [1, {}, "", 1]],
)
def test_a_verdict_that_is_none_of_ours_is_as_good_as_none(tmp_path: Path, verdict: Any) -> None:
    answer(tmp_path)
    kept = json.loads((tmp_path / FILE).read_bytes())
    kept["verdicts"] = dict.fromkeys(kept["verdicts"], verdict)
    (tmp_path / FILE).write_text(json.dumps(kept), encoding="utf-8")
    assert answer(tmp_path) == answer(None)


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


def other(columns: str) -> dict[str, Any]:
    return make_model("other", f"select {columns} from dev.raw.orders", [SOURCE["unique_id"]])


def hard(sql: str) -> dict[str, Any]:
    """A model that names ``other`` by a hard-coded name: dbt knows of no dependency."""
    return make_model("hard", sql, ["model.shop.stg"])


def test_a_verdict_does_not_hang_on_what_was_asked_before_it() -> None:
    joined = hard("select total, amount from dev.main.stg join dev.main.other using (id)")
    reader = make_model("reader", "select * from dev.main.other", ["model.shop.other"])
    lineage = lineage_of(SOURCE, STG, other("id, 1 as amount"), joined, reader)
    asked = [
        (unique_id, (f"model.shop.{node}", column))
        for unique_id in ("model.shop.hard", "model.shop.reader")
        for node, column in (("stg", "total"), ("other", "amount"), ("stg", "id"))
    ]
    alone = {one: simulate.Retracer(lineage).verdict(*one) for one in asked}
    assert alone[asked[1]].named == {"amount"}
    for order in permutations(asked, 3):
        together = simulate.Retracer(lineage)
        assert {one: together.verdict(*one) for one in order} == {one: alone[one] for one in order}


@pytest.mark.parametrize("columns", ["id as total", "id as b, total", "id"])
def test_a_verdict_is_of_what_a_hard_coded_name_stands_for_too(
    tmp_path: Path, traced: list[str], columns: str
) -> None:
    reader = hard("select total from dev.main.stg, dev.main.other")
    answer(tmp_path, other("id as a"), reader)
    traced.clear()
    assert answer(tmp_path, other(columns), reader) == answer(None, other(columns), reader)
    assert len(traced) == 4
