"""The files of a project as its authors have them: those of dbt's packages too."""

from __future__ import annotations

from pathlib import Path

from lineage_post.consumers.yaml_places import Read
from lineage_post.lineage import Lineage
from lineage_post.yaml_lines import read_yaml


def files_of(lineage: Lineage) -> Read:
    """Reads a file by its package and its path in there; nothing where no folder is known."""
    root, project = lineage.project_dir, lineage.project.name
    if root is None:
        return lambda package, path: None
    packages = root / _packages(root / "dbt_project.yml")

    def read(package: str, path: str) -> str | None:
        folder = root if package == project else packages / package
        try:
            return (folder / path).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return None

    return read


def _packages(project_yml: Path) -> str:
    """The folder where dbt puts packages. Raises LineageError for a file that is not YAML."""
    if not project_yml.is_file():
        return "dbt_packages"
    found = read_yaml(project_yml.read_text(encoding="utf-8"), where=project_yml.name)
    return str(found.get("packages-install-path") or "dbt_packages")
