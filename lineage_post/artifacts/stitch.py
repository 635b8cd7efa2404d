"""Several projects as one: upstream nodes take the place of what stands in for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from lineage_post.artifacts.model import RELATION_TYPES, Node, Project


def stitch(project: Project, upstream: Project) -> Project:
    """``project`` with the nodes of ``upstream`` that it reads, and all they are built from.

    A node injected without its code is replaced by the upstream node of the same relation, else of
    the same id; a source over an upstream relation stays, and gets that node as its parent. A
    parent that neither project has stays away: what reads it reads an external relation.
    """
    by_relation = _by_relation(upstream)
    nodes = dict(project.nodes)
    wanted: list[str] = []
    for node in project.nodes.values():
        twin = _twin(node, upstream, by_relation)
        if twin is None:
            continue
        wanted.append(twin.unique_id)
        if node.resource_type == "source" and twin.unique_id != node.unique_id:
            nodes[node.unique_id] = replace(node, depends_on=(twin.unique_id,))
        elif twin.unique_id != node.unique_id:
            del nodes[node.unique_id]
            nodes = _renamed(nodes, node.unique_id, twin.unique_id)
    for unique_id in _with_ancestors(wanted, upstream.nodes):
        nodes[unique_id] = upstream.nodes[unique_id]
    return replace(
        project,
        nodes=nodes,
        external_packages=project.external_packages | {upstream.name} - {project.name},
    )


def _by_relation(upstream: Project) -> dict[tuple[str, ...], Node]:
    found: dict[tuple[str, ...], Node] = {}
    for node in upstream.nodes.values():
        if node.relation is not None and node.resource_type in ("model", "snapshot", "seed"):
            found[_folded(node)] = node
    return found


def _folded(node: Node) -> tuple[str, ...]:
    return tuple(part.casefold() for part in node.relation.parts) if node.relation else ()


def _twin(
    node: Node, upstream: Project, by_relation: Mapping[tuple[str, ...], Node]
) -> Node | None:
    if node.resource_type not in RELATION_TYPES or node.raw_code or node.compiled_code:
        return None
    if node.resource_type == "seed" and node.package_name != upstream.name:
        return None
    return by_relation.get(_folded(node)) or upstream.nodes.get(node.unique_id)


def _renamed(nodes: dict[str, Node], old: str, new: str) -> dict[str, Node]:
    return {
        unique_id: replace(node, depends_on=tuple(new if d == old else d for d in node.depends_on))
        if old in node.depends_on
        else node
        for unique_id, node in nodes.items()
    }


def _with_ancestors(wanted: Iterable[str], nodes: Mapping[str, Node]) -> list[str]:
    found: dict[str, None] = {}
    waiting = list(wanted)
    while waiting:
        unique_id = waiting.pop()
        if unique_id in nodes and unique_id not in found:
            found[unique_id] = None
            waiting.extend(nodes[unique_id].depends_on)
    return list(found)
