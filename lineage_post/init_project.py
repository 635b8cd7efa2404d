"""Sets a user's dbt project up: the dbt package beside it, the hook line and the vars block.

Everything is planned first, as texts before and after, so that the caller can show the difference
and ask. A project that is set up gives an empty plan.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Any

import yaml

from lineage_post import __version__
from lineage_post.errors import LineageError
from lineage_post.options import Options
from lineage_post.yaml_lines import add_list_item, add_mapping_entry, read_yaml

PACKAGE_DIRECTORY = "lineage_post_package"
HOOK = "{{ lineage_post.publish(results) }}"
_PACKAGE_PARTS = ("dbt_project.yml", "macros", "models")


@dataclass(frozen=True, slots=True)
class Change:
    """One file to write, or to delete where ``after`` is None. ``path`` is below the project."""

    path: str
    before: str | None
    after: str | None

    @property
    def is_of_the_package(self) -> bool:
        return self.path.startswith(f"{PACKAGE_DIRECTORY}/")

    def diff(self) -> str:
        """The change as a unified diff."""
        lines = difflib.unified_diff(
            (self.before or "").splitlines(),
            (self.after or "").splitlines(),
            fromfile=self.path if self.before is not None else "/dev/null",
            tofile=self.path if self.after is not None else "/dev/null",
            lineterm="",
        )
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Plan:
    """What ``init`` would change, and what it found that the user should know."""

    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()


def plan_init(project_dir: Path, *, git: str | None = None, upgrade: bool = False) -> Plan:
    """The changes that set the project up; none where it already is. Raises LineageError.

    ``git`` is the URL of a repository to take the dbt package from instead of a copy.
    """
    project_file = project_dir / "dbt_project.yml"
    if not project_file.is_file():
        raise LineageError(
            f"There is no dbt_project.yml in {project_dir}.",
            hint="Run this in a dbt project, or name one with --project-dir.",
        )
    changes: list[Change] = []
    notes: list[str] = []
    if git is None:
        changes += _package_changes(project_dir, upgrade=upgrade, notes=notes)
    changes += _text_change(project_dir, _packages_file(project_dir), git)
    changes += _project_change(project_file)
    return Plan(tuple(changes), tuple(notes))


def write_plan(project_dir: Path, plan: Plan) -> None:
    """Writes what was planned."""
    for change in plan.changes:
        target = project_dir / change.path
        if change.after is None:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("w", encoding="utf-8", newline="") as file:
            file.write(change.after)


def dbt_package_files() -> dict[str, str]:
    """The dbt package's own files by path: those in the wheel, or the working tree's."""
    here = Path(__file__).parent
    root = here / "_dbt_package" if (here / "_dbt_package").is_dir() else here.parent
    paths: list[Path] = []
    for part in _PACKAGE_PARTS:
        path = root / part
        paths += [path] if path.is_file() else sorted(path.rglob("*"))
    files = {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in paths
        if path.is_file()
    }
    if "dbt_project.yml" not in files:
        raise LineageError(
            f"The dbt package's files are not in {root}.", hint="Install dbt-lineage-post again."
        )
    return files


def options_block() -> list[str]:
    """Every option with its default and a comment, as lines of YAML below ``lineage_post:``."""
    lines = ["lineage_post:"]
    for name, comment, default in _described_options():
        lines += [f"  # {line}" for line in comment]
        lines.append(f"  {name}: {_as_yaml(default)}")
    return lines


def _package_changes(project_dir: Path, *, upgrade: bool, notes: list[str]) -> Iterator[Change]:
    directory = project_dir / PACKAGE_DIRECTORY
    files = {f"{PACKAGE_DIRECTORY}/{path}": text for path, text in dbt_package_files().items()}
    present = {
        path.relative_to(project_dir).as_posix(): _read(path)
        for part in _PACKAGE_PARTS
        for path in sorted([directory / part, *(directory / part).rglob("*")])
        if path.is_file()
    }
    if present and present != files and not upgrade:
        notes.append(
            f"{PACKAGE_DIRECTORY}/ is not that of version {__version__}: "
            "`lineage-post init --upgrade` refreshes it."
        )
        return
    for path in sorted(files.keys() | present.keys()):
        if files.get(path) != present.get(path):
            yield Change(path, present.get(path), files.get(path))


def _packages_file(project_dir: Path) -> Path:
    """packages.yml, or dependencies.yml where that has the packages: dbt takes only one of them."""
    dependencies = project_dir / "dependencies.yml"
    if dependencies.is_file() and read_yaml(_read(dependencies), where="dependencies.yml").get(
        "packages"
    ):
        return dependencies
    return project_dir / "packages.yml"


def _text_change(project_dir: Path, path: Path, git: str | None) -> Iterator[Change]:
    before = _read(path) if path.is_file() else None
    document = read_yaml(before or "", where=path.name)
    if any(_is_ours(entry, project_dir) for entry in document.get("packages") or ()):
        return
    entry: dict[str, str] = (
        {"local": PACKAGE_DIRECTORY} if git is None else {"git": git, "revision": f"v{__version__}"}
    )
    lines = [
        f"{'- ' if index == 0 else '  '}{key}: {_as_yaml(value)}"
        for index, (key, value) in enumerate(entry.items())
    ]
    after = add_list_item(before or "", "packages", entry, lines, where=path.name)
    yield Change(path.name, before, after)


def _is_ours(entry: Any, project_dir: Path) -> bool:
    """Whether an entry of packages.yml is this package, from wherever it comes."""
    if not isinstance(entry, Mapping):
        return False
    if "local" in entry:
        local = str(entry["local"]).rstrip("/")
        if Path(local).name == PACKAGE_DIRECTORY:
            return True
        project_file = project_dir / local / "dbt_project.yml"
        return project_file.is_file() and (
            read_yaml(_read(project_file), where=str(project_file)).get("name") == "lineage_post"
        )
    name = str(entry.get("git") or entry.get("package") or "").lower().removesuffix(".git")
    return name.rstrip("/").endswith(("lineage-post", "lineage_post"))


def _project_change(path: Path) -> Iterator[Change]:
    before = after = _read(path)
    where = path.name
    document = read_yaml(before, where=where)
    hooks = document.get("on-run-end")
    if "lineage_post.publish(" not in str(hooks):
        line = f'- "{HOOK}"'
        after = add_list_item(after, "on-run-end", HOOK, [line], where=where)
    if "lineage_post" not in (document.get("vars") or {}):
        defaults = {name: _plain(default) for name, _, default in _described_options()}
        after = add_mapping_entry(
            after, "vars", "lineage_post", defaults, options_block(), where=where
        )
    if after != before:
        yield Change(where, before, after)


def _described_options() -> Iterator[tuple[str, list[str], Any]]:
    """(name, comment, default) of each option, in the order in which Options declares them."""
    comments: dict[str, list[str]] = {}
    pending: list[str] = []
    for line in inspect.getsource(Options).splitlines():
        stripped = line.strip()
        if stripped.startswith("#:"):
            pending.append(stripped.removeprefix("#:").strip())
        elif pending:
            comments[stripped.split(":", 1)[0]] = pending
            pending = []
    for option in fields(Options):
        factory = option.default_factory
        default = option.default if factory is MISSING else factory()
        yield option.name, comments.get(option.name, []), default


def _as_yaml(value: Any) -> str:
    text = yaml.safe_dump(_plain(value), default_flow_style=True, width=10_000)
    return text.removesuffix("\n...\n").strip()


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def _read(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()
