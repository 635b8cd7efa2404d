"""From a target folder to lineage, without dbt and without a warehouse."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from lineage_post.artifacts import (
    read_catalog,
    read_kept,
    read_seed_headers,
    require_compiled_sql,
)
from lineage_post.artifacts.changed_files import stale_reason
from lineage_post.cache import Cache
from lineage_post.lineage.project import Lineage
from lineage_post.lineage.run import ENGINE, trace_project
from lineage_post.options import Options, gather_options, project_variables

#: Where traces are kept, below the target folder.
CACHE_FOLDER = Path("lineage_post", "cache")


def load(target_dir: Path | str = "target", *, options: Options | None = None) -> Lineage:
    """The lineage of the artifacts in dbt's target folder.

    The catalog is optional. Without ``options`` they are those of the environment and of the
    dbt_project.yml beside the folder, as the command line has them. Files that have changed since
    the manifest was written are a UserWarning. Raises ArtifactError and OptionError naming the file
    and what to do next.
    """
    target = Path(target_dir)
    folder = _project_dir(target)
    if options is None:
        variables = project_variables(folder) if folder else {}
        options = gather_options(environ=os.environ, variables=variables)
    manifest = target / "manifest.json"
    kept = target / CACHE_FOLDER if options.cache else None
    project = read_kept(manifest, kept)
    require_compiled_sql(project, where=str(manifest))
    catalog_path = target / "catalog.json"
    catalog = read_catalog(catalog_path) if catalog_path.exists() else {}
    cache = Cache.open(kept, ENGINE) if kept else None
    stale = stale_reason(project, folder, str(manifest)) if folder else None
    if stale is not None:
        warnings.warn(f"{stale}: run dbt compile first", stacklevel=2)
    headers = read_seed_headers(project, project_dir=folder)
    lineage = trace_project(
        project, catalog=catalog, options=options, seed_headers=headers, cache=cache
    )
    if cache is not None:
        cache.save()
    return lineage.within(folder)


def _project_dir(target: Path) -> Path | None:
    parent = target.resolve().parent
    return parent if (parent / "dbt_project.yml").exists() else None
