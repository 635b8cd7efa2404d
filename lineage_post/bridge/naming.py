"""What the view of unused columns has to know of the project: who names which column in YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lineage_post.bridge.say import describe, detail

if TYPE_CHECKING:
    from lineage_post.bridge.bridge import Bridge

#: The longest text that a view may have, where there is such a limit.
MOST_TEXT = 900_000
_WITHOUT_LIMIT = frozenset({"duckdb", "postgres"})


def rows(bridge: Bridge, settings: Mapping[str, Any]) -> dict[str, Any]:
    """``rows`` of node, names and readers, the two between bars: ``|id|status|``; or ``problem``,
    why nothing can be said. Never raises."""
    try:
        return _rows(bridge, settings)
    except Exception as error:
        detail(f"the names of columns in YAML: {describe(error)}")
        return {"problem": f"not checked: {describe(error)}", "rows": []}


def _rows(bridge: Bridge, settings: Mapping[str, Any]) -> dict[str, Any]:
    from lineage_post.artifacts import project_from_manifest
    from lineage_post.consumers.naming import named_columns
    from lineage_post.lineage.project import OWN_PACKAGE
    from lineage_post.options import options_in_dbt

    options = options_in_dbt(settings)
    project = project_from_manifest(bridge.manifest)
    macros = {key: str(macro.macro_sql) for key, macro in bridge.manifest.macros.items()}
    named = named_columns(project, macros, (OWN_PACKAGE, *options.exclude_packages))
    found = [
        {"node": n.unique_id, "names": _barred(sorted(n.words)), "readers": _barred(n.readers),
         "count": len(n.readers)}
        for n in named
    ]  # fmt: skip
    size = sum(len(str(value)) for row in found for value in row.values())
    if size > MOST_TEXT and project.adapter_type not in _WITHOUT_LIMIT:
        return {"problem": "not checked: too large for a view; see lineage-post unused",
                "rows": []}  # fmt: skip
    return {"problem": None, "rows": found}


def _barred(names: Any) -> str:
    return f"|{'|'.join(names)}|"
