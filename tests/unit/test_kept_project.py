"""What is kept of a large manifest: the same project, until the manifest changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lineage_post.artifacts import Project, kept, read_kept, read_manifest
from lineage_post.errors import ArtifactError

from .conftest import Shop
from .manifests import make_manifest, make_model

VERSIONS = sorted((Path(__file__).parents[1] / "artifacts").glob("dbt_*.json"))


@pytest.fixture(autouse=True)
def small_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MIN_BYTES", 0)


def manifest_of(folder: Path, *, code: str = "select 1 as a") -> Path:
    path = folder / "manifest.json"
    path.write_text(json.dumps(make_manifest(make_model("m", code))), encoding="utf-8")
    return path


def codes(project: Project) -> list[str | None]:
    return [node.compiled_code for node in project.nodes.values()]


@pytest.mark.parametrize("manifest", VERSIONS, ids=lambda path: path.stem)
def test_the_kept_project_is_the_one_that_was_read(manifest: Path, tmp_path: Path) -> None:
    read = read_manifest(manifest)
    assert read_kept(manifest, tmp_path) == read
    assert repr(read_kept(manifest, tmp_path)) == repr(read)
    assert (tmp_path / kept.FILE).stat().st_size < manifest.stat().st_size


def test_so_is_that_of_a_project_with_everything(shop: Shop, tmp_path: Path) -> None:
    manifest = shop.manifest
    first, again = read_kept(manifest, tmp_path), read_kept(manifest, tmp_path)
    assert repr(first) == repr(again) == repr(read_manifest(manifest))


def test_a_manifest_is_not_parsed_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = manifest_of(tmp_path)
    project = read_kept(manifest, tmp_path)
    monkeypatch.setattr(kept, "project_of_manifest", None)
    assert read_kept(manifest, tmp_path) == project


def test_another_manifest_is(tmp_path: Path) -> None:
    read_kept(manifest_of(tmp_path), tmp_path)
    changed = manifest_of(tmp_path, code="select 2 as b")
    assert codes(read_kept(changed, tmp_path)) == ["select 2 as b"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-40],
        lambda data: data.replace(b"select 1", b"select 7"),
        lambda data: data.split(b"\n", 1)[0] + b"\n[]",
        lambda data: data.split(b"\n", 1)[0] + b'\n{"nodes": {"a": {"no_such_field": 1}}}',
        lambda data: b"\xff\xfe" + data,
        lambda data: b"",
    ],
    ids=["cut", "changed", "no object", "unknown field", "no text", "empty"],
)
def test_a_damaged_file_is_as_good_as_none(
    damage: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    manifest = manifest_of(tmp_path)
    project = read_kept(manifest, tmp_path)
    file = tmp_path / kept.FILE
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert read_kept(manifest, tmp_path) == project
    assert file.read_bytes() == whole


def test_nothing_is_kept_where_nothing_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = manifest_of(tmp_path)
    read_kept(manifest, None)
    monkeypatch.setattr(kept, "MIN_BYTES", 1_000_000)
    read_kept(manifest, tmp_path)
    assert not (tmp_path / kept.FILE).exists()


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file stands here", encoding="utf-8")
    assert read_kept(manifest_of(tmp_path), tmp_path / "folder").nodes


def test_a_manifest_that_is_none_is_an_error_and_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    with pytest.raises(ArtifactError, match="there is no manifest"):
        read_kept(path, tmp_path)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(ArtifactError, match="not a dbt manifest"):
        read_kept(path, tmp_path)
    assert not (tmp_path / kept.FILE).exists()
