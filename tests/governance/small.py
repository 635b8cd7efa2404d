"""Small lineages whose source columns carry what the test is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.unit.manifests import make_source


def source(name: str, columns: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The source ``raw.<name>``; each column with its tags, meta, description and so on."""
    declared = {c: {"name": c, **more} for c, more in columns.items()}
    return {**make_source(name), "columns": declared}
