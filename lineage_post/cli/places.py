"""Where the project and its artifacts are: --project-dir and --target-path, with dbt's meaning."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import update_wrapper
from pathlib import Path
from typing import Any, TypeVar

import click

from lineage_post.errors import LineageError
from lineage_post.yaml_lines import read_yaml

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Places:
    """The folder of dbt_project.yml and the folder of dbt's artifacts."""

    project_dir: Path
    target_path: Path

    @property
    def output_dir(self) -> Path:
        """Where this tool keeps its own files."""
        return self.target_path / "lineage_post"

    def shown(self, path: Path) -> str:
        """A path as the user would type it: relative to where they are, when it is below."""
        try:
            return path.relative_to(Path.cwd()).as_posix()
        except ValueError:
            return str(path)

    def project_yml(self) -> dict[str, Any]:
        """dbt_project.yml, empty where there is none: artifacts alone are enough to read."""
        path = self.project_dir / "dbt_project.yml"
        if not path.is_file():
            return {}
        return read_yaml(path.read_text(encoding="utf-8"), where=self.shown(path))


def place_options(command: Command) -> Command:
    """Adds the two flags. They work before and after the command's name, as dbt's do."""

    def with_places(project_dir: str | None, target_path: str | None, **rest: Any) -> Any:
        context = click.get_current_context()
        outer = (context.parent.obj if context.parent else None) or (None, None)
        context.obj = (project_dir or outer[0], target_path or outer[1])
        if isinstance(context.command, click.Group):
            return command(**rest)
        return command(places=_places(*context.obj), **rest)

    options = (
        click.option("--project-dir", help="Folder of dbt_project.yml; default: here or above."),
        click.option("--target-path", help="Folder of dbt's artifacts; default: target."),
    )
    wrapped = update_wrapper(with_places, command)
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[return-value]


def _places(project_dir: str | None, target_path: str | None) -> Places:
    root = _project_dir(project_dir or os.environ.get("DBT_PROJECT_DIR"))
    target = target_path or os.environ.get("DBT_TARGET_PATH")
    if target:
        # dbt resolves a relative target path against the project.
        return Places(root, root / target)
    configured = Places(root, root).project_yml().get("target-path")
    has_value = isinstance(configured, str) and "{{" not in configured
    return Places(root, root / (configured if has_value and configured else "target"))


def _project_dir(given: str | None) -> Path:
    if given:
        path = Path(given).expanduser().resolve()
        if not path.is_dir():
            raise LineageError(
                f"{given}: there is no such folder", hint="Name the dbt project with --project-dir."
            )
        return path
    here = Path.cwd()
    return next((p for p in (here, *here.parents) if (p / "dbt_project.yml").is_file()), here)
