from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lineage_post.lineage.unit as unit
from lineage_post import cache as cache_module
from lineage_post.cache import Cache
from lineage_post.lineage import ENGINE, Lineage
from lineage_post.options import Options

from .lineages import lineage_of
from .manifests import make_model, make_source

ORDERS = make_source("orders")
CATALOG = {"source.shop.raw.orders": {"id": "int", "amount": "double"}}
A = make_model("a", "select id, amount from dev.raw.orders", ["source.shop.raw.orders"])
B = make_model("b", "select * from dev.main.a", ["model.shop.a"])
C = make_model("c", "select amount from dev.raw.orders", ["source.shop.raw.orders"])


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The SQL of all that was really traced, as it happens."""
    seen: list[str] = []
    real = unit.trace

    def watched(sql: str, **settings: Any) -> Any:
        seen.append(sql)
        return real(sql, **settings)

    monkeypatch.setattr(unit, "trace", watched)
    yield seen


def run(cache: Cache, *nodes: Any, **more: Any) -> Lineage:
    return lineage_of(*(nodes or (ORDERS, A, B, C)), cache=cache, **{"catalog": CATALOG, **more})


def reopened(folder: Path, first: Cache | None = None) -> Cache:
    if first is not None:
        assert first.save()
    return Cache.open(folder, ENGINE)


def warm(folder: Path) -> Cache:
    cache = Cache.open(folder, ENGINE)
    run(cache)
    return reopened(folder, cache)


def test_an_unchanged_project_traces_nothing_and_answers_the_same(
    tmp_path: Path, traced: list[str]
) -> None:
    cold = Cache.open(tmp_path, ENGINE)
    first = run(cold)
    assert len(traced) == 3
    second = run(reopened(tmp_path, cold))
    assert len(traced) == 3
    assert second.to_dict() == first.to_dict()
    assert second.notes == first.notes and second.coverage() == first.coverage()


def test_a_changed_model_and_what_sees_its_columns_are_traced_again(
    tmp_path: Path, traced: list[str]
) -> None:
    cache = warm(tmp_path)
    traced.clear()
    sql = "select id, amount, 1 as more from dev.raw.orders"
    lineage = run(cache, ORDERS, {**A, "compiled_code": sql}, B, C)
    assert traced == [sql, B["compiled_code"]]
    assert "more" in [c.name for c in lineage.nodes["model.shop.b"].columns]


def test_readers_are_left_alone_when_a_change_shows_them_the_same_columns(
    tmp_path: Path, traced: list[str]
) -> None:
    cache = warm(tmp_path)
    traced.clear()
    sql = "select id, amount from dev.raw.orders where id > 0"
    run(cache, ORDERS, {**A, "compiled_code": sql}, B, C)
    assert traced == [sql]


def test_a_column_that_the_catalog_gains_is_noticed(tmp_path: Path, traced: list[str]) -> None:
    cache = warm(tmp_path)
    traced.clear()
    run(cache, catalog={"source.shop.raw.orders": {"id": "int", "amount": "double", "x": "int"}})
    assert traced == [A["compiled_code"], C["compiled_code"]]


def test_a_relation_that_becomes_a_node_is_noticed(tmp_path: Path, traced: list[str]) -> None:
    reader = make_model("r", "select id from dev.main.later")
    cache = Cache.open(tmp_path, ENGINE)
    first = run(cache, reader)
    assert first.nodes["model.shop.r"].inputs == ("external.dev.main.later",)
    later = make_model("later", "select 1 as id")
    second = run(reopened(tmp_path, cache), reader, later)
    assert second.nodes["model.shop.r"].inputs == ("model.shop.later",)


def test_a_node_that_comes_elsewhere_traces_itself_alone(tmp_path: Path, traced: list[str]) -> None:
    cache = warm(tmp_path)
    traced.clear()
    new = make_model("new", "select 1 as one")
    run(cache, ORDERS, A, B, C, new)
    assert traced == ["select 1 as one"]
    run(reopened(tmp_path, cache), ORDERS, A, B, C, new)
    assert traced == ["select 1 as one"]


def test_two_targets_are_kept_side_by_side(tmp_path: Path, traced: list[str]) -> None:
    other = {"source.shop.raw.orders": {"id": "text", "amount": "text"}}
    cache = warm(tmp_path)
    run(cache, catalog=other)
    cache = reopened(tmp_path, cache)
    traced.clear()
    run(cache)
    run(cache, catalog=other)
    assert traced == []


@pytest.mark.parametrize(
    "options",
    [
        Options(processes=1, expressions=False),
        Options(processes=1, masking_functions=("scramble",)),
        Options(processes=1, dialect="postgres"),
        Options(processes=1, commands={"f": {"inputs": ["x"], "outputs": ["y"]}}),
    ],
)
def test_other_options_are_other_traces(
    tmp_path: Path, traced: list[str], options: Options
) -> None:
    cache = warm(tmp_path)
    traced.clear()
    run(cache, options=options)
    assert len(traced) == 3


def test_another_engine_s_file_is_not_used(tmp_path: Path) -> None:
    assert len(warm(tmp_path)) == 3
    assert len(Cache.open(tmp_path, "another engine")) == 0


def damaged(data: bytes) -> dict[str, bytes]:
    head, _, body = data.partition(b"\n")
    info = json.loads(head)
    index = body[: info["index"]]

    def resealed(index: bytes) -> bytes:
        crc = zlib.crc32(body[info["index"] :], zlib.crc32(index))
        new = {**info, "index": len(index), "crc": crc}
        return json.dumps(new).encode() + b"\n" + index + body[info["index"] :]

    return {
        "empty": b"",
        "cut": data[: len(data) // 2],
        "a bit flipped": data[:-10] + bytes([data[-10] ^ 1]) + data[-9:],
        "foreign": b"SQLite format 3\x00" + data,
        "head is no object": b"[]\n" + body,
        "no index": resealed(b"null"),
        "rows of wrong length": resealed(b'[["k",0,[[1,2,3]]]]'),
        "wrong types": resealed(index.replace(b'"known"', b'"hacked"')),
        "deep": resealed(b"[" * 100_000),
        "pickle": b"cos\nsystem\n(S'true'\ntR.",
    }


@pytest.mark.parametrize("kind", list(damaged(b'{"index": 0}\n')))
def test_a_corrupt_or_hostile_file_is_as_good_as_none(
    tmp_path: Path, traced: list[str], kind: str
) -> None:
    warm(tmp_path)
    path = tmp_path / "traces.bin"
    path.write_bytes(damaged(path.read_bytes())[kind])
    cache = Cache.open(tmp_path, ENGINE)
    assert len(cache) == 0
    traced.clear()
    run(cache)
    assert len(traced) == 3
    assert len(reopened(tmp_path, cache)) == 3


def test_saving_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warm(tmp_path)
    before = (tmp_path / "traces.bin").read_bytes()
    cache = Cache.open(tmp_path, ENGINE)
    run(cache, make_model("x", "select 1 as one"))

    def refuse(source: str, target: str) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    assert not cache.save()
    assert (tmp_path / "traces.bin").read_bytes() == before
    assert os.listdir(tmp_path) == ["traces.bin"]


def test_nothing_new_is_nothing_to_write(tmp_path: Path) -> None:
    cache = warm(tmp_path)
    run(cache)
    assert not cache.save()


def test_what_is_long_unused_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "MAX_UNUSED_RUNS", 2)
    cache = warm(tmp_path)
    sizes = []
    for i in range(4):
        run(cache, make_model("x", f"select {i} as one"))
        cache = reopened(tmp_path, cache)
        sizes.append(len(cache))
    assert sizes == [4, 5, 3, 3]


def test_the_file_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "MAX_BYTES", 450)
    assert 0 < len(warm(tmp_path)) < 3
