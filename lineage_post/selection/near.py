"""What a selector that matches nothing may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from lineage_post.artifacts import Project
from lineage_post.selection.syntax import Selector

#: More names than these are not compared: a warning must not cost more than the answer.
_MOST = 20_000
_NAMED = frozenset({"exposure", "metric", "saved_query", "semantic_model", "unit_test"})


def near_selectors(selector: Selector, project: Project) -> list[str]:
    """Up to three selectors with a value near to this one's: ``tag:pii`` for ``tag:pi``."""
    values = sorted({value for value in _values(selector.method, project) if value})[:_MOST]
    prefix = "" if selector.method == "fqn" else f"{selector.method}:"
    return [prefix + near for near in get_close_matches(selector.value, values, n=3, cutoff=0.6)]


def _values(method: str, project: Project) -> Iterable[str]:
    nodes = project.nodes.values()
    if method == "fqn":
        kinds = ("model", "seed", "snapshot")
        return (node.name for node in nodes if node.resource_type in kinds)
    if method == "tag":
        return (tag for node in nodes for tag in node.tags)
    if method == "source":
        sources = [node for node in nodes if node.resource_type == "source"]
        names = {str(node.details.get("source_name") or "") for node in sources}
        return [*names, *(f"{n.details.get('source_name')}.{n.name}" for n in sources)]
    if method == "package":
        return (node.package_name for node in nodes)
    if method == "group":
        return (node.group or "" for node in nodes)
    if method == "path":
        return (node.path for node in nodes)
    if method in _NAMED:
        return (node.name for node in nodes if node.resource_type == method)
    return ()
