"""Decorates what ``dbt docs generate`` wrote: descriptions, exposures and both pages."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineage_post.errors import ArtifactError
from lineage_post.options import Options
from lineage_post.publish.docs_data import panel_data
from lineage_post.publish.docs_manifest import patch_manifest
from lineage_post.publish.docs_page import has_panel, static_page, with_panel, without_panel
from lineage_post.publish.exposures import ExposureSpec

if TYPE_CHECKING:
    from lineage_post.lineage import Lineage

DEFAULTS = Options()


@dataclass(frozen=True, slots=True)
class Decorated:
    """Which files of the target folder were decorated."""

    files: tuple[Path, ...]


def decorate(
    target_path: Path,
    lineage: Lineage,
    *,
    exposures: Sequence[ExposureSpec] = (),
    options: Options = DEFAULTS,
) -> Decorated:
    """Adds the lineage to ``manifest.json``, ``index.html`` and ``static_index.html``, once.

    However often it runs, the result is that of one run; files that are not there are left out.
    Raises ArtifactError where the manifest cannot be read.
    """
    manifest_path = target_path / "manifest.json"
    manifest = _read_json(manifest_path)
    patch_manifest(manifest, lineage, exposures, options=options)
    manifest_text = json.dumps(manifest)
    write_text(manifest_path, manifest_text)
    pages = _pages(target_path, panel_data(lineage, options=options), manifest_text)
    for path, html in pages.items():
        write_text(path, html)
    return Decorated((manifest_path, *pages))


def decorated_index(target_path: Path) -> Path | None:
    """A copy of the decorated ``index.html`` for ``dbt docs serve``; None where there is none.

    dbt overwrites ``target/index.html`` with the page named by ``DOCS_INDEX_FILE_PATH`` when it
    serves, so that name has to point at this copy.
    """
    index = target_path / "index.html"
    if not index.is_file():
        return None
    html = _read(index)
    if not has_panel(html):
        return None
    copy = target_path / "lineage_post" / "docs_index.html"
    write_text(copy, html)
    return copy


def write_text(path: Path, text: str) -> None:
    """Writes the file whole or not at all: a reader never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(name, path.stat().st_mode & 0o777 if path.exists() else 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _pages(target_path: Path, data: dict[str, Any], manifest: str) -> dict[Path, str]:
    pages: dict[Path, str] = {}
    index, static = target_path / "index.html", target_path / "static_index.html"
    if index.is_file():
        pages[index] = with_panel(_read(index), data)
    if static.is_file():
        catalog = target_path / "catalog.json"
        inlined = None
        if index in pages and catalog.is_file():
            bare = without_panel(pages[index])
            inlined = static_page(bare, manifest=manifest, catalog=_read(catalog))
        pages[static] = with_panel(inlined or _read(static), data)
    return pages


def _read(path: Path) -> str:
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(_read(path))
    except (OSError, ValueError) as error:
        raise ArtifactError(
            f"{path} cannot be read: {error}", hint="Run `dbt docs generate` first."
        ) from error
    if not isinstance(found, dict):
        raise ArtifactError(f"{path} is not a manifest", hint="Run `dbt docs generate` again.")
    return found
