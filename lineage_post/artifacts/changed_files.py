"""Files whose text is not that of the manifest: an answer from it is of what they were before."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath

from lineage_post.artifacts.model import Node, Project

_YAML = (".yml", ".yaml")
#: dbt 1.12 takes the last three too, where the project's flags allow them.
_CODE = (".sql", ".py", ".sql.j2", ".sql.jinja2", ".sql.jinja")
_WITH_FILES = frozenset({"model", "snapshot", "test"})


def changed_files(project: Project, project_dir: Path) -> list[str]:
    """The SQL and Python files of the project's own models, snapshots and singular tests that have
    another text than the manifest, or are gone, sorted. None where the folder has no file of them:
    artifacts alone are enough to read."""
    written_at = _timestamp(project.generated_at)
    own = [
        node
        for node in project.nodes.values()
        if node.resource_type in _WITH_FILES
        and node.package_name == project.name
        and node.path.endswith(_CODE)
    ]
    states = [(node.path, _is_changed(project_dir / node.path, node, written_at)) for node in own]
    if all(state is None for _, state in states):
        return []
    return sorted({path for path, state in states if state is not False})


def newer_yaml(project: Project, project_dir: Path) -> list[str]:
    """The project's own YAML files that were written after the manifest, sorted.

    The manifest keeps no checksum of them, so that they may have changed is all that can be said:
    those that it was read from, new ones beside these or beside models, and dbt_project.yml. None
    where every file is newer, as a checkout leaves them: then their times tell nothing.
    """
    written_at = _timestamp(project.generated_at)
    own = [node for node in project.nodes.values() if node.package_name == project.name]
    known = {str(PurePosixPath(node.path)) for node in own if node.path}
    if written_at is None or not any(_is_older(project_dir / path, written_at) for path in known):
        return []
    yaml = {path for path in known if path.endswith(_YAML)}
    yaml.update(node.patch_path.partition("://")[2] for node in own if node.patch_path)
    # Beside dbt_project.yml, of which hooks are, stands what is in no manifest.
    folders = {str(PurePosixPath(path).parent) for path in (*known, *yaml)} - {"."}
    listed = {*yaml, *_yaml_in(project_dir, folders), "dbt_project.yml"}
    return sorted(p for p in listed if p and _is_newer(project_dir / p, written_at))


def _yaml_in(project_dir: Path, folders: Iterable[str]) -> Iterator[str]:
    for folder in folders:
        try:
            names = os.listdir(project_dir / folder)
        except OSError:
            continue
        yield from (str(PurePosixPath(folder, name)) for name in names if name.endswith(_YAML))


def _is_older(file: Path, moment: float) -> bool:
    try:
        return file.stat().st_mtime < moment
    except OSError:
        return False


def _is_newer(file: Path, moment: float) -> bool:
    try:
        return file.stat().st_mtime > moment
    except OSError:
        return False


def stale_reason(project: Project, project_dir: Path, manifest: str) -> str | None:
    """Why an answer from the manifest may be of what the files were before; None if it is not."""
    changed = changed_files(project, project_dir)
    if changed:
        return said_of_changed(changed, manifest)
    newer = newer_yaml(project, project_dir)
    return said_of_changed(newer, manifest, verb="may have changed") if newer else None


def said_of_changed(paths: list[str], manifest: str, *, verb: str = "changed") -> str:
    """``models/a.sql and 2 more changed since target/manifest.json was written``."""
    more = f" and {len(paths) - 1} more" if paths[1:] else ""
    return f"{paths[0]}{more} {verb} since {manifest} was written"


def _is_changed(file: Path, node: Node, written_at: float | None) -> bool | None:
    """None where there is no such file. Most are not read: what is older than the manifest and of
    the same size is taken to be the same."""
    try:
        found = file.stat()
        # dbt strips a file's text, which mostly takes one line break.
        spare = found.st_size - len(node.raw_code.encode("utf-8", "surrogatepass"))
        if written_at is not None and found.st_mtime < written_at and spare in (0, 1):
            return False
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        return False
    if text.strip() == node.raw_code:
        return False
    now, then = " ".join(text.split()), " ".join(node.raw_code.split())
    # A file may have several snapshots.
    return then not in now if node.resource_type == "snapshot" else then != now


def _timestamp(text: str | None) -> float | None:
    try:
        found = datetime.fromisoformat((text or "").replace("Z", "+00:00"))
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()
