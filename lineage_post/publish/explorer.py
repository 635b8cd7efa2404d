"""Writes the explorer: one static page, and its data in files that a script element can load.

A browser reads nothing beside a page opened from disk but scripts, so each file of data is a
script that hands over one text, gzip in base64. The same files work from any host.
"""

from __future__ import annotations

import base64
import gzip
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineage_post import fast_json
from lineage_post.policy import INCOMPLETE
from lineage_post.publish.explorer_claims import Claimed, built_by, imported_claims
from lineage_post.publish.explorer_core import Core
from lineage_post.publish.explorer_details import CHUNK, Details
from lineage_post.publish.explorer_semantic import with_semantic_layer
from lineage_post.publish.run import Run, time_of
from lineage_post.publish.text_file import write_text
from lineage_post.publish.why_sql import why_templates

if TYPE_CHECKING:
    from lineage_post.lineage import Lineage
    from lineage_post.policy import View

#: Below ``target/``.
DIRECTORY = Path("lineage_post") / "explorer"
PAGE = ("index.html", "app.js", "app.css")
#: What the docs panel loads, to know whether there is an explorer to link to.
HERE = "here.js"
NOT_BUILT = (
    "the explorer was not built into this install ({why}). Install a release of dbt-lineage-post, "
    "or install it from its sources where Node.js 20 or newer and the npm registry can be had."
)


def why_not_built() -> str | None:
    """Why the page is missing from this install, as a warning; None where it is there."""
    built = _built()
    if all(built.joinpath(name).is_file() for name in PAGE):
        return None
    told = built.joinpath("NOT_BUILT.txt")
    why = told.read_text(encoding="utf-8").strip() if told.is_file() else "it has no built page"
    return NOT_BUILT.format(why=why)


@dataclass(frozen=True, slots=True)
class Beside:
    """What the page shows beside the lineage itself.

    ``target_path`` is where the docs site is looked for, ``project_dir`` where the files of the
    models are, ``claimed`` what other producers say. ``why`` is the answer of ``why_templates``,
    which takes time; without it the page has the command in the place of the SQL. ``served`` turns
    on what needs a server, ``is_incomplete`` says that nodes were left out.
    """

    target_path: Path | None = None
    project_dir: Path | None = None
    claimed: Claimed = field(default_factory=Claimed)
    why: Mapping[str, Any] | None = None
    served: bool = False
    is_incomplete: bool = False


def write_explorer(lineage: Lineage, folder: Path, beside: Beside | None = None) -> Path | None:
    """Writes page and data into ``folder``, and returns it; None where the page was not built."""
    if why_not_built() is not None:
        return None
    beside = beside or Beside()
    core = Core(with_semantic_layer(lineage), beside.claimed)
    details = Details(core)
    why = beside.why or why_templates(lineage, most=0)
    parts = {number: found for number, found in details.why(why["models"]) if any(found)}
    document = core.document(
        chunk=CHUNK,
        served=beside.served,
        incomplete=INCOMPLETE if beside.is_incomplete else None,
        docs=_docs(beside.target_path, folder),
        files=_files(beside.project_dir, folder),
        repository=_repository(lineage.options.repository),
        why={"placeholder": why["placeholder"], "functions": why["functions"], "chunks": [*parts]},
    )
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "data", ignore_errors=True)
    _write(folder, "core", document)
    _write(folder, "indirect", core.indirect())
    for number, nodes, sql in details.chunks():
        _write(folder, f"d{number}", nodes)
        _write(folder, f"s{number}", sql)
    for number, found in parts.items():
        _write(folder, f"w{number}", found)
    for name in PAGE:
        write_text(folder / name, _built().joinpath(name).read_text(encoding="utf-8"))
    write_text(folder / HERE, "window.lineagePostExplorer = true;\n")
    return folder


def claimed_of(target_path: Path, lineage: Lineage, run: Run | None = None) -> Claimed:
    """What imports and the run of a target folder say of its lineage.

    How old a claim is, is told as of the manifest, so that the same files give the same page.
    """
    now = time_of(lineage.project.generated_at)
    found = imported_claims(target_path, lineage.options, now)
    built = built_by(run)
    nodes = {u: (*built.get(u, ()), *found.nodes.get(u, ())) for u in {*built, *found.nodes}}
    return replace(found, nodes=nodes)


def claims_for(view: View, target_path: Path) -> Claimed:
    """What imports claim, as far as a viewer may see both ends of it."""
    found = claimed_of(target_path, view.lineage)
    return found.within(view.named) if view.viewer.is_limited else found


def _built() -> Any:
    return resources.files("lineage_post").joinpath("explorer", "static")


def _write(folder: Path, name: str, value: Any) -> None:
    packed = gzip.compress(fast_json.dumps(value), compresslevel=6, mtime=0)
    encoded = base64.b64encode(packed).decode("ascii")
    write_text(folder / "data" / f"{name}.js", f'lineagePost("{name}","{encoded}")\n')


def _docs(target_path: Path | None, folder: Path) -> str | None:
    """The docs site beside the explorer, as the page links to it."""
    for name in ("index.html", "static_index.html"):
        if target_path is not None and (target_path / name).is_file():
            return Path(os.path.relpath(target_path / name, folder)).as_posix()
    return None


def _files(project_dir: Path | None, folder: Path) -> str | None:
    """Where the project's files are, seen from the page; it links to them when opened from disk."""
    try:
        return Path(os.path.relpath(project_dir, folder)).as_posix() if project_dir else None
    except ValueError:  # On another drive.
        return None


def _repository(url: str | None) -> str | None:
    """The template of a file's page in the repository: the option, with ``{path}`` at its end."""
    if not url or not url.lower().startswith(("https://", "http://")):
        return None
    return url if "{path}" in url else f"{url.rstrip('/')}/{{path}}"
