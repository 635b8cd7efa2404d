"""The YAML of exposures, read by dbt itself: it means what it says, and survives a change."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from lineage_post.artifacts import read_manifest
from lineage_post.publish.exposures import ExposureSpec
from lineage_post.publish.exposures_yaml import exposures_yaml, is_ours, jinja_literal
from tests.unit.test_markdown import HOSTILE

FILES = {
    "dbt_project.yml": "name: shop\nprofile: shop\nversion: '1.0'\n",
    "profiles.yml": "shop:\n  target: dev\n  outputs:\n    dev: {type: duckdb, path: x.duckdb}\n",
    "seeds/raw.csv": "id\n1\n",
    "models/stg.sql": "select * from {{ ref('raw') }}\n",
    "models/fct.sql": "select 1 as id\n",
    "models/price_v1.sql": "select 1 as p\n",
    "models/price_v2.sql": "select 1 as p\n",
    "models/schema.yml": """
sources:
  - {name: web, schema: main, tables: [{name: visits}]}
models:
  - {name: price, latest_version: 2, versions: [{v: 1}, {v: 2}]}
""",
}
EXPOSURES = "models/lineage_post_exposures.yml"
FEEDING = (
    "model.shop.fct",
    "model.shop.price.v1",
    "model.shop.stg",
    "seed.shop.raw",
    "source.shop.web.visits",
)
RUN = "import sys; from dbt.cli.main import dbtRunner; r = dbtRunner().invoke(sys.argv[1:]);"
RUN += "sys.exit(0 if r.success else str(r.exception or r.result))"


def specs() -> list[ExposureSpec]:
    """One for each hostile name; what they depend on is the same."""
    return [
        ExposureSpec(
            name=f"lineage_fct__{i}",
            label="fct.revenue",
            type="analysis",
            description="| Column |\n|---|\n| `a` |\n\nmore: &#123;&#123; 7&#42;7 &#125;&#125;",
            depends_on=FEEDING,
            owner_name="shop",
            owner_email=None,
            meta={"node": "model.shop.fct", "column": name},
        )
        for i, name in enumerate(HOSTILE)
    ]


def dbt(project: Path, *arguments: str) -> dict[str, Any]:
    """Runs dbt, and returns the exposures of the manifest it wrote."""
    command = [sys.executable, "-c", RUN, "parse", "--profiles-dir", ".", *arguments]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    manifest = json.loads((project / "target/manifest.json").read_text(encoding="utf-8"))
    exposures: dict[str, Any] = manifest["exposures"]
    return exposures


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose YAML of exposures was written from its own manifest."""
    folder = tmp_path_factory.mktemp("shop")
    for name, content in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    dbt(folder)
    text = exposures_yaml(specs(), read_manifest(folder / "target/manifest.json"))
    (folder / EXPOSURES).write_text(text, encoding="utf-8", newline="\n")
    return folder


@pytest.mark.dbt
def test_dbt_reads_every_string_back_as_it_was(project: Path) -> None:
    exposures = dbt(project)
    assert len(exposures) == len(HOSTILE)
    for spec in specs():
        entry = exposures[f"exposure.shop.{spec.name}"]
        assert entry["meta"] == dict(spec.meta)
        assert entry["label"] == spec.label
        assert entry["description"].strip() == spec.description
        assert entry["tags"] == ["lineage_post"]
        assert entry["owner"]["name"] == "shop"
        assert sorted(entry["depends_on"]["nodes"]) == list(FEEDING)


@pytest.mark.dbt
@pytest.mark.parametrize("partial", ["--partial-parse", "--no-partial-parse"])
def test_a_vanished_model_is_left_out_and_dbt_goes_on(project: Path, partial: str) -> None:
    model = project / "models/stg.sql"
    text = model.read_text(encoding="utf-8")
    model.unlink()
    try:
        exposures = dbt(project, partial)
    finally:
        model.write_text(text, encoding="utf-8")
    depends_on = exposures["exposure.shop.lineage_fct__0"]["depends_on"]["nodes"]
    assert sorted(depends_on) == [node for node in FEEDING if node != "model.shop.stg"]


@pytest.mark.dbt
def test_one_var_turns_them_all_off(project: Path) -> None:
    assert dbt(project, "--vars", "lineage_post_exposures: false") == {}


def test_the_same_exposures_give_the_same_bytes(project: Path) -> None:
    read = read_manifest(project / "target/manifest.json")
    assert exposures_yaml(specs(), read) == exposures_yaml(specs(), read)
    assert exposures_yaml(specs(), read) == (project / EXPOSURES).read_text(encoding="utf-8")


def test_a_file_of_the_user_s_is_told_from_ours(project: Path, tmp_path: Path) -> None:
    assert is_ours(project / EXPOSURES)
    assert not is_ours(project / "models/schema.yml")
    assert not is_ours(tmp_path / "none.yml")


def test_without_exposures_the_file_is_an_empty_list(project: Path) -> None:
    text = exposures_yaml([], read_manifest(project / "target/manifest.json"))
    assert yaml.safe_load(text) == {"version": 2, "exposures": []}


@pytest.mark.parametrize("name", ["plain", "a'b", "50 % {x}"])
def test_a_string_without_a_brace_pair_is_written_as_it_is(name: str) -> None:
    assert jinja_literal(name) == name
