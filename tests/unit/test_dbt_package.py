"""What the files of the dbt package must not have, so that dbt 2 reads them as dbt 1 does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "macros").rglob("*.sql"), *(ROOT / "models").rglob("*.sql")])
#: What dbt 2 reads where a list of paths is empty.
DEFAULTS = {
    "test-paths": "tests",
    "seed-paths": "seeds",
    "snapshot-paths": "snapshots",
    "analysis-paths": "analyses",
    "asset-paths": "assets",
}


_LOOP = re.compile(r"\{%-?\s*for [^%]+? in ([^%]+?) if ([^%]+?)-?%\}(.*?)\{%-?\s*endfor", re.DOTALL)


@pytest.mark.parametrize("key", DEFAULTS)
def test_a_folder_of_the_repository_is_none_of_the_package(key: str) -> None:
    project = yaml.safe_load((ROOT / "dbt_project.yml").read_text(encoding="utf-8"))
    for folder in project[key] or [DEFAULTS[key]]:
        assert not (ROOT / folder).exists()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_loop_is_to_be_ended_by_what_it_does(file: Path) -> None:
    """The Jinja of dbt 2 asks the condition of a loop for all items before the first turn."""
    text = file.read_text(encoding="utf-8")
    for items, condition, body in _LOOP.findall(text):
        changed = re.findall(r"do (\w+)(?:\.\w+)?\.(?:append|extend|update)\(", body)
        assert not items.startswith("range("), condition
        assert not set(re.findall(r"\w+", condition)) & set(changed), condition
