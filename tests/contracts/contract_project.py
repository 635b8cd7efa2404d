"""The dbt project of broken contracts, and its tests' failing rows."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tests.dbt.dbt_project import DbtProject, Result

HERE = Path(__file__).parent
SOURCES = ("models", "seeds", "dbt_project.yml", "packages.yml")
AUDIT = "dbt_test__audit"


class ContractProject(DbtProject):
    """Each test of it has a name of its own, by which its failing rows are found."""

    def restore_files(self) -> None:
        for name in SOURCES:
            source, goal = HERE / "project" / name, self.folder / name
            if source.is_dir():
                shutil.rmtree(goal, ignore_errors=True)
                shutil.copytree(source, goal)
            else:
                shutil.copy2(source, goal)

    def stored(self, test: str) -> list[tuple[Any, ...]]:
        """The failing rows that ``--store-failures`` kept of a test."""
        columns = "contract, unique_id, column_name, path, because"
        return self.query(f"select {columns} from {self.schema}_{AUDIT}.{test} order by 3, 4, 5")


def outcomes(result: Result) -> dict[str, str]:
    """The status of each test, by its name."""
    return {
        unique_id.split(".")[2]: status
        for unique_id, status in result.statuses().items()
        if unique_id.startswith("test.broken.")
    }
