"""The columns of seeds, from the header of their CSV files, before any build made a table."""

from __future__ import annotations

import csv
from pathlib import Path

from lineage_post.artifacts.model import Node, Project
from lineage_post.artifacts.names import folded


def read_seed_headers(
    project: Project, *, project_dir: Path | None = None
) -> dict[str, tuple[str, ...]]:
    """Column names by the unique_id of each seed whose file is there, as the warehouse stores them.

    The file is looked for below ``project_dir``, or below the folder the manifest names.
    """
    headers = {}
    for node in project.nodes.values():
        if node.resource_type == "seed":
            names = _header(_path(project, node, project_dir), node)
            if names:
                headers[node.unique_id] = tuple(_stored(n, node, project) for n in names)
    return headers


def _path(project: Project, node: Node, project_dir: Path | None) -> Path:
    if project_dir is None:
        return Path(node.root_path or ".") / node.path
    if node.package_name == project.name:
        return project_dir / node.path
    return project_dir / "dbt_packages" / node.package_name / node.path


def _header(path: Path, node: Node) -> list[str]:
    delimiter = str(node.config.get("delimiter") or ",")
    try:
        # utf-8-sig: spreadsheets put a byte order mark in front of the first name.
        with path.open(encoding="utf-8-sig", newline="") as file:
            return next(csv.reader(file, delimiter=delimiter), [])
    except (OSError, ValueError, TypeError, csv.Error):
        return []


def _stored(name: str, node: Node, project: Project) -> str:
    return name if node.config.get("quote_columns") else folded(name, project.adapter_type)
