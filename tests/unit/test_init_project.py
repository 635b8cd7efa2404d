"""What `init` plans for projects of several shapes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from lineage_post import __version__
from lineage_post.errors import LineageError
from lineage_post.init_project import HOOK, PACKAGE_DIRECTORY, Plan, plan_init, write_plan
from lineage_post.options import Options, gather_options

PROJECT = """\
# Our shop.
name: shop
profile: shop

models:
  shop:
    +materialized: view   # cheap
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "dbt_project.yml").write_text(PROJECT, encoding="utf-8")
    return tmp_path


def init(project: Path, **how: object) -> Plan:
    plan = plan_init(project, **how)  # type: ignore[arg-type]
    write_plan(project, plan)
    return plan


def load(path: Path) -> dict[str, object]:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(document, dict)
    return document


def test_a_fresh_project_gets_package_hook_and_vars(project: Path) -> None:
    init(project)
    assert load(project / "packages.yml") == {"packages": [{"local": PACKAGE_DIRECTORY}]}
    document = load(project / "dbt_project.yml")
    assert document["on-run-end"] == [HOOK]
    assert load(project / PACKAGE_DIRECTORY / "dbt_project.yml")["name"] == "lineage_post"


def test_the_vars_block_holds_every_option_with_its_default_and_a_comment(project: Path) -> None:
    init(project)
    block = load(project / "dbt_project.yml")["vars"]["lineage_post"]  # type: ignore[index]
    assert gather_options(variables=block) == Options()
    assert set(block) == set(Options.__dataclass_fields__)
    lines = (project / "dbt_project.yml").read_text(encoding="utf-8").splitlines()
    for name in block:
        at = next(i for i, line in enumerate(lines) if line.startswith(f"    {name}:"))
        assert lines[at - 1].lstrip().startswith("# "), name


def test_running_it_twice_changes_nothing(project: Path) -> None:
    assert init(project).changes
    assert plan_init(project) == Plan(())
    assert plan_init(project, upgrade=True) == Plan(())


def test_what_the_user_wrote_stays_as_it_was(project: Path) -> None:
    init(project)
    assert (project / "dbt_project.yml").read_text(encoding="utf-8").startswith(PROJECT)


def test_planning_writes_nothing(project: Path) -> None:
    plan_init(project)
    assert [path.name for path in project.iterdir()] == ["dbt_project.yml"]


def test_the_diff_shows_what_is_added(project: Path) -> None:
    change = next(c for c in plan_init(project).changes if c.path == "dbt_project.yml")
    assert f'+  - "{HOOK}"' in change.diff().splitlines()
    assert not change.is_of_the_package


def test_a_git_entry_takes_the_place_of_the_copy(project: Path) -> None:
    init(project, git="https://git.example.com/data/dbt-lineage-post.git")
    entry = load(project / "packages.yml")["packages"]
    assert entry == [
        {
            "git": "https://git.example.com/data/dbt-lineage-post.git",
            "revision": f"v{__version__}",
        }
    ]
    assert not (project / PACKAGE_DIRECTORY).exists()
    assert plan_init(project, git="https://git.example.com/data/dbt-lineage-post.git") == Plan(())


def test_packages_stay_in_dependencies_yml_where_they_are_kept_there(project: Path) -> None:
    (project / "dependencies.yml").write_text(
        "packages:\n  - package: dbt-labs/dbt_utils\n    version: 1.3.0\n", encoding="utf-8"
    )
    init(project)
    assert not (project / "packages.yml").exists()
    assert load(project / "dependencies.yml")["packages"][-1] == {"local": PACKAGE_DIRECTORY}  # type: ignore[index]


def test_a_local_entry_that_leads_to_the_package_is_enough(project: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/dbt_project.yml").write_text("name: lineage_post\n", encoding="utf-8")
    (project / "packages.yml").write_text("packages:\n  - local: elsewhere\n", encoding="utf-8")
    assert "packages.yml" not in {change.path for change in plan_init(project).changes}


def test_an_older_copy_is_noted_and_refreshed_only_by_upgrade(project: Path) -> None:
    init(project)
    package = project / PACKAGE_DIRECTORY
    (package / "macros/gone.sql").write_text("-- of an older version\n", encoding="utf-8")
    (package / "dbt_project.yml").write_text("name: lineage_post\n", encoding="utf-8")
    plan = plan_init(project)
    assert plan.changes == () and "--upgrade" in plan.notes[0]
    init(project, upgrade=True)
    assert not (package / "macros/gone.sql").exists()
    assert plan_init(project) == Plan(())


def test_a_folder_that_is_no_dbt_project_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LineageError, match=r"no dbt_project\.yml"):
        plan_init(tmp_path)
