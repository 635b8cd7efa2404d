"""A run-operation of ours leaves what dbt's last command left."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lineage_post.bridge import operations
from lineage_post.errors import LineageError


@pytest.mark.parametrize(
    ("code", "said", "hint"),
    [
        (0, "lineage_post: retired", None),
        (1, "12:00 lineage_post: nobody claims nothing", None),
        (1, "Runtime Error", "dbt deps"),
    ],
)
def test_the_manifest_with_its_sql_is_there_afterwards(
    code: int, said: str, hint: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text("with SQL", encoding="utf-8")

    def dbt(command: list[str], project_dir: Path) -> subprocess.CompletedProcess[str]:
        for name in ("manifest.json", "run_results.json"):
            (tmp_path / name).write_text("without", encoding="utf-8")
        assert "--write-json" in command, "what the hook's part of dbt needs"
        return subprocess.CompletedProcess(command, code, said, "")

    monkeypatch.setattr(operations, "_run_dbt", dbt)
    if code == 0:
        assert operations.run_operation(tmp_path, "purge", {}, target_path=tmp_path) == "retired"
    else:
        with pytest.raises(LineageError) as refused:
            operations.run_operation(tmp_path, "purge", {}, target_path=tmp_path)
        assert said.rpartition(": ")[2] in refused.value.message
        assert (refused.value.hint or "").startswith(hint or "")
        assert bool(refused.value.hint) is bool(hint)
    assert manifest.read_text(encoding="utf-8") == "with SQL"
    assert (tmp_path / "run_results.json").exists(), "there was none before"
