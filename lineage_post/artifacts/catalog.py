"""catalog.json: the columns the warehouse itself reports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lineage_post.artifacts.access import mapping, read_json, take
from lineage_post.artifacts.model import CatalogTable, RelationName

CATALOG_HINT = "Run dbt docs generate, or name the file with --catalog."


def read_catalog(path: Path) -> dict[str, CatalogTable]:
    """The tables of a catalog file by unique_id. Raises ArtifactError naming the file."""
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
    return {str(take(c, "name") or name): str(take(c, "type") or "") for name, c in listed}


def _relation(table: Any) -> RelationName | None:
    metadata = take(table, "metadata") or {}
    name = take(metadata, "name")
    if not name:
        return None
    return RelationName(take(metadata, "database"), take(metadata, "schema"), str(name))
