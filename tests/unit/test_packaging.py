"""The wheel holds both halves, the console script and the plugin that dbt looks for."""

from __future__ import annotations

import os
import pkgutil
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lineage_post import __version__

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel unpacked into a folder, as pip would put it into site-packages."""
    folder = tmp_path_factory.mktemp("site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(installed: Path, *command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(installed), "PYTHONSAFEPATH": "1"}
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, env=environment, capture_output=True, text=True
    )


def files_of(part: str) -> set[str]:
    paths = [ROOT / part] if (ROOT / part).is_file() else (ROOT / part).rglob("*")
    return {path.relative_to(ROOT).as_posix() for path in paths if path.is_file()}


def test_the_wheel_is_named_after_the_version_of_both_halves(wheel: Path) -> None:
    assert wheel.name.startswith(f"dbt_lineage_post-{__version__}-py3-none-any")
    text = (ROOT / "dbt_project.yml").read_text(encoding="utf-8")
    assert f'version: "{__version__}"' in text


def test_the_wheel_holds_the_dbt_package_to_the_file(installed: Path) -> None:
    package = installed / "lineage_post/_dbt_package"
    shipped = {p.relative_to(package).as_posix() for p in package.rglob("*") if p.is_file()}
    assert shipped == files_of("dbt_project.yml") | files_of("macros") | files_of("models")


def test_the_wheel_holds_code_types_and_page_assets_and_nothing_else(installed: Path) -> None:
    top = {path.name for path in installed.iterdir()}
    assert top == {
        "lineage_post",
        "dbt_lineage_post.py",
        f"dbt_lineage_post-{__version__}.dist-info",
    }
    assert (installed / "lineage_post/py.typed").is_file()
    ours = {p for p in files_of("lineage_post") if "__pycache__" not in p}
    sources = {p for p in ours if p.startswith("lineage_post/explorer/page/")}
    assert sources and not any((installed / path).exists() for path in sources)
    assert all((installed / path).is_file() for path in ours - sources)


def test_the_wheel_holds_the_built_explorer(installed: Path) -> None:
    page = installed / "lineage_post/explorer/static"
    assert {p.name for p in page.iterdir()} >= {"index.html", "app.js", "app.css"}


def test_the_metadata_say_what_users_need(installed: Path) -> None:
    metadata = (installed / f"dbt_lineage_post-{__version__}.dist-info/METADATA").read_text("utf-8")
    assert "License-Expression: Apache-2.0" in metadata
    assert "Requires-Python: >=3.10" in metadata
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:")]
    without_extras = [line for line in required if "extra ==" not in line]
    assert not any("dbt" in line for line in without_extras), "dbt is an extra, not a requirement"
    assert any(re.search(r"sqlglot<[\d.]+,>=30", line) for line in without_extras)


def test_dbt_finds_the_plugin_in_the_wheel_and_in_the_editable_install(installed: Path) -> None:
    names = {module.name for module in pkgutil.iter_modules([str(installed)])}
    assert "dbt_lineage_post" in names
    assert "dbt_lineage_post" in {module.name for module in pkgutil.iter_modules()}


def test_the_installed_package_sets_a_project_up_from_its_own_files(
    installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: shop\nprofile: shop\n", encoding="utf-8")
    done = run(installed, "-m", "lineage_post", "init", "--yes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    copied = {
        path.relative_to(tmp_path / "lineage_post_package").as_posix()
        for path in (tmp_path / "lineage_post_package").rglob("*")
        if path.is_file()
    }
    assert copied == files_of("dbt_project.yml") | files_of("macros") | files_of("models")


def test_importing_the_package_does_not_load_sqlglot(installed: Path, tmp_path: Path) -> None:
    code = "import lineage_post, sys; print('sqlglot' in sys.modules, lineage_post.__file__)"
    done = run(installed, "-c", code, cwd=tmp_path)
    loaded, path = done.stdout.split()
    assert loaded == "False" and path.startswith(str(installed))
