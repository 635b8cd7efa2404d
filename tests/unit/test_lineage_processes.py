from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lineage_post.artifacts import Project, project_from_manifest_dict
from lineage_post.lineage import pool
from lineage_post.lineage.worker import Worker
from lineage_post.options import Options

from .lineages import lineage_of
from .manifests import make_manifest, make_model, make_source


def chain(length: int) -> list[dict[str, Any]]:
    """Layers of four models, each reading two of the layer before, one by a hard-coded name."""
    nodes = [make_source("orders", {"id": "int"})]
    for i in range(length):
        for j in range(4):
            name, first = f"m{i}_{j}", f"dev.main.m{i - 1}_{j}" if i else "dev.raw.orders"
            second = f"dev.main.m{i - 1}_{(j + 1) % 4}" if i else "dev.raw.orders"
            sql = f"select a.*, b.id as id_{i}_{j} from {first} as a join {second} as b using (id)"
            parents = [f"model.shop.m{i - 1}_{j}"] if i else ["source.shop.raw.orders"]
            nodes.append(make_model(name, sql, parents))
    return nodes


CATALOG = {"source.shop.raw.orders": {"id": "int", "amount": "double"}}


def test_two_processes_give_the_same_bytes_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "WORTH_PROCESSES", 0)
    one = lineage_of(*chain(4), catalog=CATALOG, options=Options(processes=1))
    two = lineage_of(*chain(4), catalog=CATALOG, options=Options(processes=2))
    assert one.to_dict() == two.to_dict()
    assert one.notes == two.notes


def test_a_small_project_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> Any:
        raise AssertionError("a process was started")

    monkeypatch.setattr(pool, "Worker", refuse)
    lineage_of(*chain(2), catalog=CATALOG, options=Options(processes=2))


class Dying(Worker):
    """A worker whose process ends before it answers."""

    def trace(self, chunk: Any) -> Any:
        self._process.kill()
        return super().trace(chunk)


class Missing(Worker):
    """A machine that starts no processes."""

    def __init__(self, *arguments: Any) -> None:
        raise OSError("no more processes")


@pytest.mark.parametrize("kind", [Dying, Missing])
def test_when_processes_fail_this_one_does_all(
    monkeypatch: pytest.MonkeyPatch, kind: type[Worker]
) -> None:
    monkeypatch.setattr(pool, "WORTH_PROCESSES", 0)
    monkeypatch.setattr(pool, "Worker", kind)
    lineage = lineage_of(*chain(2), catalog=CATALOG, options=Options(processes=2))
    expected = lineage_of(*chain(2), catalog=CATALOG, options=Options(processes=1))
    assert lineage.to_dict() == expected.to_dict()


def test_a_script_without_a_guard_is_not_run_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import lineage_post.lineage.pool as pool\n"
        "from lineage_post.lineage import trace_project\n"
        "from lineage_post.options import Options\n"
        "from tests.unit.test_lineage_processes import project\n"
        "pool.WORTH_PROCESSES = 0\n"
        "print(len(trace_project(project(), options=Options(processes=2)).nodes))\n",
        encoding="utf-8",
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert done.stdout == "9\n", done.stderr


def project() -> Project:
    return project_from_manifest_dict(make_manifest(*chain(2)))
