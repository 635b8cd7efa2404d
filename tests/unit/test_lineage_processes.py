from __future__ import annotations

from concurrent.futures.process import BrokenProcessPool
from typing import Any

import pytest

from lineage_post.lineage import pool
from lineage_post.options import Options

from .lineages import lineage_of
from .manifests import make_model, make_source


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

    monkeypatch.setattr(pool, "_started", refuse)
    lineage_of(*chain(2), catalog=CATALOG, options=Options(processes=2))


@pytest.mark.parametrize("fault", [BrokenProcessPool("died"), OSError("no more processes")])
def test_when_processes_fail_one_does_all(
    monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    class Broken:
        def submit(self, *arguments: Any) -> Any:
            raise fault

        def shutdown(self, **how: Any) -> None:
            pass

    monkeypatch.setattr(pool, "WORTH_PROCESSES", 0)
    monkeypatch.setattr(pool, "_started", lambda *arguments: Broken())
    lineage = lineage_of(*chain(2), catalog=CATALOG, options=Options(processes=2))
    expected = lineage_of(*chain(2), catalog=CATALOG, options=Options(processes=1))
    assert lineage.to_dict() == expected.to_dict()


def test_a_machine_that_cannot_start_processes_is_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(**how: Any) -> Any:
        raise OSError("no semaphores")

    monkeypatch.setattr(pool, "WORTH_PROCESSES", 0)
    monkeypatch.setattr(pool, "ProcessPoolExecutor", refuse)
    lineage = lineage_of(*chain(1), catalog=CATALOG, options=Options(processes=2))
    assert lineage.coverage().nodes.known == 4
