"""How the tests are dealt to workers: a project that dbt builds is built by one of them."""

from __future__ import annotations

from typing import Any

import pytest

#: Folders whose tests share projects of a whole session; a second worker would build them again.
TOGETHER = ("tests/contracts", "tests/dbt", "tests/governance", "tests/integration")


ANY_WAREHOUSE = "any_warehouse: no warehouse has a part in it; on Postgres it is long"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", ANY_WAREHOUSE)


def share_of(nodeid: str) -> str:
    """What one worker runs as a whole: a folder of ``TOGETHER``, else a file."""
    file = nodeid.split("::", 1)[0]
    return next((folder for folder in TOGETHER if file.startswith(folder + "/")), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Folders and files as collected: those of tests/unit, quick ones, come last and fill up."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return share_of(nodeid)

    # Else a file of one test would be last, however long that is.
    config.option.loadscopereorder = False
    return Scheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What a warehouse has no part in runs on DuckDB, and on Postgres in `make test-long`."""
    for item in items:
        if item.get_closest_marker("any_warehouse") and item.get_closest_marker("postgres"):
            item.add_marker(pytest.mark.long)
