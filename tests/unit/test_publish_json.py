"""Documents on disk: whole, readable, and known for what they are of."""

from __future__ import annotations

import json as stdlib_json
from pathlib import Path
from typing import Any

import pytest

from lineage_post.artifacts import Project
from lineage_post.lineage import Lineage
from lineage_post.options import Options
from lineage_post.publish import json

from .lineages import lineage_of
from .manifests import make_model

PROJECT = Project("shop", "duckdb", {}, invocation_id="run-1", generated_at="2026-01-01T00:00:00Z")

LINEAGE = Lineage(PROJECT, {})


def document(**more: Any) -> dict[str, Any]:
    return {"metadata": json.metadata_of(PROJECT, Options()), "nodes": [], **more}


def test_a_document_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    content = document(nodes=[{"unique_id": "ü\n\x1b"}, {"unique_id": "b"}], more=[1])
    json.write_document(tmp_path / "new/lineage.json", content)
    assert json.read_document(tmp_path / "new/lineage.json") == content
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["lineage.json"]


def test_a_name_without_utf8_does_not_stop_the_write(tmp_path: Path) -> None:
    json.write_document(tmp_path / "x.json", document(nodes=[{"unique_id": "\udc80"}]))
    assert stdlib_json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["nodes"]


def test_metadata_are_read_without_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "lineage.json"
    json.write_document(path, document(nodes=[{"unique_id": "a"}]))
    assert json.read_metadata(path) == document()["metadata"] | {
        "generated_at": (json.read_metadata(path) or {})["generated_at"]
    }


@pytest.mark.parametrize("text", [None, "", "{", "[]", "{\n", '{\n "metadata": 1\n}'])
def test_a_file_that_is_no_document_has_no_metadata(text: str | None, tmp_path: Path) -> None:
    path = tmp_path / "lineage.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert json.read_metadata(path) is None


@pytest.mark.parametrize(
    "change, why",
    [
        ({}, None),
        ({"tool_version": "0.0.1"}, "version 0.0.1"),
        ({"lineage_digest": "0", "manifest_generated_at": "2025"}, "since the manifest of 2025"),
        ({"lineage_digest": None}, "the lineage has changed"),
        ({"invocation_id": "run-0", "manifest_generated_at": "2025"}, None),
        ({"options": {}}, "another exposures, exposures_limit"),
    ],
)
def test_a_document_of_another_run_or_option_is_stale(
    change: dict[str, Any], why: str | None
) -> None:
    metadata = json.document(LINEAGE, Options())["metadata"]
    found = json.staleness({**metadata, **change}, LINEAGE, Options())
    assert found is None if why is None else why in (found or "")


def test_a_node_whose_name_has_no_utf8_has_a_digest_too() -> None:
    lineages = [
        lineage_of(make_model("a", "select 1 as b", unique_id=f"model.shop.a{tail}"))
        for tail in ("\ud800", "\ud801")
    ]
    assert len({json.digest_of(lineage) for lineage in lineages}) == 2


def test_an_option_that_only_changes_speed_makes_nothing_stale() -> None:
    metadata = json.document(LINEAGE, Options(processes=7, cache=False))["metadata"]
    assert json.staleness(metadata, LINEAGE, Options()) is None


def known(checksum: str) -> dict[str, Any]:
    return {"unique_id": "model.a", "reason": None, "checksum": checksum, "edges": [1]}


def lost(checksum: str) -> dict[str, Any]:
    return {"unique_id": "model.a", "reason": "not_compiled", "checksum": checksum, "edges": []}


def test_what_is_carried_over_names_the_build_it_is_of() -> None:
    first = document(nodes=[known("1")])
    second = document(nodes=[lost("1")])
    assert json.carry_over(second, first) == ["model.a"]
    origin = second["nodes"][0]["carried_over_from"]
    assert origin["invocation_id"] == "run-1" and second["nodes"][0]["edges"] == [1]
    third = document(nodes=[lost("1")])
    json.carry_over(third, second)
    assert third["nodes"][0]["carried_over_from"] == origin, "it stays the build that traced it"


@pytest.mark.parametrize("earlier", [None, {}, {"nodes": [known("other")]}, {"nodes": [lost("1")]}])
def test_nothing_is_carried_over_from_another_definition_or_from_nothing(earlier: Any) -> None:
    content = document(nodes=[lost("1")])
    assert json.carry_over(content, earlier) == []
    assert content["nodes"] == [lost("1")]
