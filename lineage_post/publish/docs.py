"""Decorates what ``dbt docs generate`` wrote: descriptions, exposures and both pages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineage_post.errors import ArtifactError
from lineage_post.publish.docs_data import panel_data
from lineage_post.publish.docs_manifest import patch_manifest
from lineage_post.publish.docs_page import static_page, with_panel, without_panel
from lineage_post.publish.exposures import ExposureSpec
from lineage_post.publish.text_file import write_text
from lineage_post.publish.why_sql import why_templates

if TYPE_CHECKING:
    from lineage_post.lineage import Lineage
    from lineage_post.options import Options

#: Below ``target/``: the decorated page as `dbt docs serve` is to show it.
SERVED = Path("lineage_post") / "index.html"


@dataclass(frozen=True, slots=True)
class Decorated:
    """Which files of the target folder were decorated."""

    files: tuple[Path, ...]


def decorate(
    target_path: Path,
    lineage: Lineage,
    *,
    exposures: Sequence[ExposureSpec] = (),
    options: Options | None = None,
    why: Mapping[str, Any] | None = None,
) -> Decorated:
    """Adds the lineage to ``manifest.json``, ``index.html`` and ``static_index.html``, once.

    However often it runs, the result is that of one run; files that are not there are left out.
    ``why`` is the answer of ``why_templates``, where it is at hand already.
    A copy of the page is kept for `dbt docs serve`, which overwrites ``index.html`` with it.
    Raises ArtifactError where the manifest cannot be read.
    """
    if options is not None and options != lineage.options:
        lineage = replace(lineage, options=options)
    manifest_path = target_path / "manifest.json"
    manifest = _read_json(manifest_path)
    patch_manifest(manifest, lineage, exposures)
    manifest_text = json.dumps(manifest)
    write_text(manifest_path, manifest_text)
    data = {**panel_data(lineage), "why": why or why_templates(lineage)}
    pages = _pages(target_path, data, manifest_text)
    for path, html in pages.items():
        write_text(path, html)
    if target_path / "index.html" in pages:
        write_text(target_path / SERVED, pages[target_path / "index.html"])
    return Decorated((manifest_path, *pages))


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
