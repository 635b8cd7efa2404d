"""Compiled SQL: whether a manifest has any, and reading it from ``target/compiled`` instead."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from lineage_post.artifacts.model import Node, Project
from lineage_post.errors import ArtifactError

COMPILE_HINT = (
    "dbt test, run-operation, ls and parse leave compiled SQL out: run dbt compile or dbt docs "
    "generate last, or pass --compiled-from-disk, which has no snapshots."
)


def require_compiled_sql(project: Project, *, where: str) -> None:
    """Raises ArtifactError when not one of the SQL models is compiled (case UK-01).

    An empty graph would else replace a full one. ``where`` is the manifest's name in the message.
    """
    models = [node for node in project.nodes.values() if _is_sql_model(node)]
    if models and not any(node.compiled_code for node in models):
        raise ArtifactError(
            f"{where}: none of its {len(models)} models has compiled SQL", hint=COMPILE_HINT
        )


def uncompiled(project: Project) -> list[str]:
    """The project's own SQL models without compiled SQL: ``dbt run -s one`` leaves others so."""
    return sorted(
        node.unique_id
        for node in project.nodes.values()
        if _is_sql_model(node) and not node.compiled_code and node.package_name == project.name
    )


def read_compiled(project: Project, *, project_dir: Path, target_dir: Path) -> Project:
    """The project with missing compiled SQL taken from ``target/compiled/<package>/<path>``.

    dbt writes no checksum beside a compiled file, so a match is established from both ends: the
    model's own file must still be what the manifest has of it, and the compiled file must be at
    least as new as all that went into it: the model's file, the files of the project's macros it
    calls, and those of the ephemeral models it inlines. What does not match stays not compiled.
    """
    found: dict[str, str] = {}
    for node in project.nodes.values():
        if node.compiled_code is None and _is_sql_model(node):
            code = _matching_code(project, node, project_dir, target_dir)
            if code is not None:
                found[node.unique_id] = code
    return project.with_compiled(found)


def _is_sql_model(node: Node) -> bool:
    return (
        node.resource_type == "model"
        and node.language == "sql"
        and bool(node.raw_code or node.compiled_code)
    )


def _matching_code(project: Project, node: Node, project_dir: Path, target: Path) -> str | None:
    source = _root(project, node.package_name, project_dir) / node.path
    compiled = target / "compiled" / node.package_name / node.path
    try:
        if not _is_as_parsed(source, node):
            return None
        if compiled.stat().st_mtime < _newest(_inputs(project, node, project_dir)):
            return None
        return compiled.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _is_as_parsed(path: Path, node: Node) -> bool:
    """Whether dbt would parse the file anew, or takes it for what the manifest has.

    dbt hashes a file without the white space around it; from 1.12 on, and in dbt 2, with each run
    of white space in it as one blank. Then it keeps the text it knows.
    """
    text = path.read_bytes().decode("utf-8").strip()
    return text == node.raw_code or _digest(" ".join(text.split())) == node.checksum


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _newest(paths: Iterable[Path]) -> float:
    return max(path.stat().st_mtime for path in paths)


def _inputs(project: Project, node: Node, project_dir: Path) -> Iterator[Path]:
    yield _root(project, node.package_name, project_dir) / node.path
    for macro in node.macros:
        path = project.macro_paths.get(macro)
        if path:
            yield _root(project, macro.split(".")[1], project_dir) / path
    for parent in node.depends_on:
        other = project.nodes.get(parent)
        if other is not None and other.is_ephemeral:
            yield from _inputs(project, other, project_dir)


def _root(project: Project, package: str, project_dir: Path) -> Path:
    return project_dir if package == project.name else project_dir / "dbt_packages" / package
