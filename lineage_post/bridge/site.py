"""The docs site of ``dbt docs serve``, which copies dbt's own page over a decorated one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lineage_post.publish.docs import SERVED


class _Page(os.PathLike[str]):
    """The decorated page, where one was kept when it is asked for; else dbt's own."""

    def __init__(self, original: str) -> None:
        self.original = original

    def __fspath__(self) -> str:
        # dbt docs serve has gone to the target folder before it copies the page.
        return str(SERVED) if SERVED.is_file() else str(self.original)


def forget_page(target_path: Path) -> None:
    """Leaves ``dbt docs serve`` to dbt's own page, where the docs are not to be decorated."""
    (target_path / SERVED).unlink(missing_ok=True)


def serve_decorated() -> None:
    """Lets ``dbt docs serve`` copy the kept page."""
    from importlib import import_module

    serve: Any = import_module("dbt.task.docs.serve")
    if not isinstance(serve.DOCS_INDEX_FILE_PATH, _Page):
        serve.DOCS_INDEX_FILE_PATH = _Page(serve.DOCS_INDEX_FILE_PATH)
