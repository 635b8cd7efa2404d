"""dbt's artifacts, from files or live objects, as frozen nodes. Only here are versions known."""

from lineage_post.artifacts.catalog import catalog_from_dict, read_catalog
from lineage_post.artifacts.compiled import read_compiled, require_compiled_sql, uncompiled
from lineage_post.artifacts.kept import read_kept
from lineage_post.artifacts.manifest import (
    project_from_manifest,
    project_from_manifest_dict,
    read_manifest,
)
from lineage_post.artifacts.model import (
    CatalogTable,
    DeclaredColumn,
    Hook,
    InlinedCte,
    Node,
    NodeResult,
    Project,
    RelationName,
    RunResults,
)
from lineage_post.artifacts.run_results import read_run_results, run_results_from_dict
from lineage_post.artifacts.seeds import read_seed_headers
from lineage_post.artifacts.stitch import stitch

__all__ = [
    "CatalogTable",
    "DeclaredColumn",
    "Hook",
    "InlinedCte",
    "Node",
    "NodeResult",
    "Project",
    "RelationName",
    "RunResults",
    "catalog_from_dict",
    "project_from_manifest",
    "project_from_manifest_dict",
    "read_catalog",
    "read_compiled",
    "read_kept",
    "read_manifest",
    "read_run_results",
    "read_seed_headers",
    "require_compiled_sql",
    "run_results_from_dict",
    "stitch",
    "uncompiled",
]
