"""The docs site of ``dbt docs serve``, which copies dbt's own page over a decorated one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

#: Below ``target/``; ``dbt docs serve`` has gone there before it copies the page.
KEPT = Path("lineage_post") / "index.html"


class _Page(os.PathLike[str]):
    """The decorated page, where one was kept when it is asked for; else dbt's own."""

    def __init__(self, original: str) -> None:
        self.original = original

    def __fspath__(self) -> str:
        return str(KEPT) if KEPT.is_file() else str(self.original)


def keep_page(target_path: Path) -> None:
    """Keeps a copy of the decorated page for a later ``dbt docs serve``."""
    page = target_path / "index.html"
    if page.is_file():
        kept = target_path / KEPT
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, kept)


def serve_decorated() -> None:
    """Lets ``dbt docs serve`` copy the kept page."""
    from importlib import import_module

    serve: Any = import_module("dbt.task.docs.serve")
    if not isinstance(serve.DOCS_INDEX_FILE_PATH, _Page):
        serve.DOCS_INDEX_FILE_PATH = _Page(serve.DOCS_INDEX_FILE_PATH)
