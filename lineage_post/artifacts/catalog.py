"""catalog.json: the columns the warehouse itself reports."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import Any

from lineage_post.artifacts.access import mapping, read_json, take
from lineage_post.artifacts.model import CatalogTable, RelationName

CATALOG_HINT = "Run dbt docs generate, or name the file with --catalog."


def read_catalog(path: Path) -> dict[str, CatalogTable]:
    """The tables of a catalog file by unique_id. Raises ArtifactError naming the file."""
    try:
        state = path.stat()
    except OSError:
        return catalog_from_dict(read_json(path, what="catalog", hint=CATALOG_HINT))
    return dict(_read(path.resolve(), (state.st_mtime_ns, state.st_size)))


@lru_cache(maxsize=2)
def _read(path: Path, state: tuple[int, int]) -> dict[str, CatalogTable]:
    """The tables of a file in this state: one command may want them of both sides it compares."""
    return catalog_from_dict(read_json(path, what="catalog", hint=CATALOG_HINT))


def catalog_from_dict(document: Mapping[str, Any]) -> dict[str, CatalogTable]:
    """The tables of a parsed catalog by unique_id; ones without columns are left out."""
    tables: dict[str, CatalogTable] = {}
    for section in ("nodes", "sources"):
        for unique_id, table in mapping(document.get(section)).items():
            columns = _columns(take(table, "columns"))
            if columns:
                tables[unique_id] = CatalogTable(unique_id, columns, _relation(table))
    return tables


def _columns(columns: Any) -> dict[str, str]:
    listed = sorted(mapping(columns).items(), key=lambda item: int(take(item[1], "index") or 0))
    # A large project has a hundred thousand of them, nearly all with one of a few types.
    return {str(take(c, "name") or name): intern(str(take(c, "type") or "")) for name, c in listed}


def _relation(table: Any) -> RelationName | None:
    metadata = take(table, "metadata") or {}
    name = take(metadata, "name")
    if not name:
        return None
    return RelationName(take(metadata, "database"), take(metadata, "schema"), str(name))
