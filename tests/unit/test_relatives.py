"""What ``show MODEL`` says of the nodes around it."""

from __future__ import annotations

from typing import Any

import pytest

from lineage_post.artifacts import project_from_manifest_dict
from lineage_post.cli.relatives import NAMED, relatives, said_of
from lineage_post.lineage import Lineage, trace_project

from .manifests import make_manifest, make_model


def lineage_of(*nodes: dict[str, Any]) -> Lineage:
    return trace_project(project_from_manifest_dict(make_manifest(*nodes)))


def chain() -> Lineage:
    """a -> b -> c -> an exposure; ``b`` reads ``z`` by a hard-coded name; a test is on ``b``."""
    exposure = {
        "unique_id": "exposure.shop.board",
        "resource_type": "exposure",
        "name": "board",
        "package_name": "shop",
        "depends_on": {"nodes": ["model.shop.c"]},
    }
    test = make_model("not_null_b", "select x from dev.main.b", ["model.shop.b"])
    test |= {"unique_id": "test.shop.not_null_b", "resource_type": "test"}
    return lineage_of(
        make_model("a", "select 1 as x"),
        make_model("z", "select 2 as y"),
        make_model("b", "select x, y from dev.main.a cross join dev.main.z", ["model.shop.a"]),
        make_model("c", "select x from dev.main.b", ["model.shop.b"]),
        test,
        exposure,
    )


@pytest.mark.parametrize(
    ("up", "down", "upstream", "downstream"),
    [
        (1, 1, ["model.shop.a", "model.shop.z"], ["model.shop.c"]),
        (0, None, [], ["model.shop.c", "exposure.shop.board"]),
        (None, 0, ["model.shop.a", "model.shop.z"], []),
    ],
    ids=["beside", "all down", "all up"],
)
def test_relatives_are_what_dbt_and_the_sql_say_nearest_first(
    up: int | None, down: int | None, upstream: list[str], downstream: list[str]
) -> None:
    found = relatives(chain(), "model.shop.b", up, down)
    assert (list(found["upstream"]), list(found["downstream"])) == (upstream, downstream)


def test_a_model_that_reads_itself_is_not_its_own_relative() -> None:
    again = make_model("m", "select x from dev.main.m", materialized="incremental")
    found = relatives(lineage_of(again), "model.shop.m", None, None)
    assert found == {"upstream": (), "downstream": ()}


def test_what_is_no_model_is_told_and_many_are_counted() -> None:
    lineage = chain()
    board = said_of(lineage, "feeds", ("model.shop.c", "exposure.shop.board"))
    assert "c[/]" in board and "(exposure)" in board
    many = said_of(lineage, "feeds", ("model.shop.c",) * (NAMED + 3))
    assert many.endswith("and 3 more[/]")
