"""The two forms of an incremental model: what its first build reads, and what later builds read.

``dbt compile`` gives one of them, by whether the table was there and by ``--full-refresh``. Rows of
both forms stand in the table, so that its lineage is what either of them reads: of a manifest of
each form both are put together, and an edge that one of them alone has says so (case UK-08). Of one
manifest it is at least said which form it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from lineage_post.artifacts import Node
from lineage_post.lineage.project import Lineage
from lineage_post.lineage.record import packed_node
from lineage_post.values import Edge, NodeLineage
from lineage_post.vocabulary import State

INCREMENTAL, FULL_REFRESH, BOTH = "incremental", "full_refresh", "both"
#: How people are told of a form.
FORMS = {
    INCREMENTAL: "as later builds run it",
    FULL_REFRESH: "as its first build runs it",
    BOTH: "of its first build and of later ones",
}

_BRANCH = re.compile(
    r"\{%-?\s*if\s+is_incremental\(\)\s*-?%\}(.*?)\{%-?\s*(?:else|elif|endif)\b", re.DOTALL
)
_JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
#: A piece of text shorter than this may stand anywhere in a statement.
_TELLING = 6


def compiled_mode(node: Node) -> str | None:
    """Which form a model's compiled SQL is of; None where it has one form, or where its Jinja
    does not tell. The text of an ``if is_incremental()`` branch is either in it or not."""
    if node.materialized != "incremental" or not node.compiled_code:
        return None
    compiled = _plain(node.compiled_code)
    pieces = [
        piece
        for branch in _BRANCH.findall(node.raw_code)
        for piece in map(_plain, _JINJA.split(branch))
        if len(piece) >= _TELLING
    ]
    if not pieces:
        return None
    return INCREMENTAL if all(piece in compiled for piece in pieces) else FULL_REFRESH


def has_modes(node: Node | None) -> bool:
    """Whether the first build of a node may read something else than later ones."""
    return node is not None and node.materialized == "incremental" and (
        "is_incremental" in node.raw_code
    )  # fmt: skip


def mode_of(lineage: Lineage, unique_id: str) -> str | None:
    """``incremental``, ``full_refresh`` or ``both``: the forms that a node's lineage is of."""
    if unique_id in lineage.modes:
        return BOTH
    node = lineage.project.nodes.get(unique_id)
    return compiled_mode(node) if node is not None else None


def single_forms(lineage: Lineage, unique_ids: Iterable[str]) -> dict[str, str]:
    """The form of each incremental model among these of which one form alone is at hand."""
    nodes = ((u, lineage.project.nodes.get(u)) for u in sorted(set(unique_ids)))
    forms = ((u, mode_of(lineage, u)) for u, node in nodes if has_modes(node))
    return {unique_id: form for unique_id, form in forms if form in (INCREMENTAL, FULL_REFRESH)}


def forms_of(then: Node | None, now: Node | None) -> tuple[str, str] | None:
    """The forms of a model in two states of a project, where they differ: what then differs in its
    SQL may be of the form alone."""
    if then is None or now is None:
        return None
    one, other = compiled_mode(then), compiled_mode(now)
    return (one, other) if one and other and one != other else None


def with_other_mode(
    lineage: Lineage, other: Lineage, *, forms: tuple[str, str] | None = None
) -> Lineage:
    """``lineage`` with what ``other``, of the same project compiled in the other mode, has beside
    it. Only incremental models that are there in another form are touched: ``forms`` of those
    whose SQL differs, where the caller knows them, else what the SQL tells."""
    nodes, modes = dict(lineage.nodes), dict(lineage.modes)
    for unique_id, node in lineage.project.nodes.items():
        twin = other.project.nodes.get(unique_id)
        if not has_modes(node) or twin is None or twin.raw_code != node.raw_code:
            continue
        own, its = compiled_mode(node), compiled_mode(twin)
        if forms is not None and node.compiled_code != twin.compiled_code:
            own, its = forms
        if None not in (own, its) and own != its and unique_id in other.nodes:
            first, second = nodes[unique_id], other.nodes[unique_id]
            nodes[unique_id] = _united(first, second)
            modes[unique_id] = _marks(first, second, own or "", its or "")
    return replace(lineage, nodes=nodes, modes=modes)


def _marks(first: NodeLineage, second: NodeLineage, own: str, its: str) -> Mapping[Edge, str]:
    """The edges that one form alone has, with that form; how they are computed is no difference."""
    ones, others = _keys(first), _keys(second)
    return {
        **{edge: own for key, edge in ones.items() if key not in others},
        **{edge: its for key, edge in others.items() if key not in ones},
    }


def _united(first: NodeLineage, second: NodeLineage) -> NodeLineage:
    present = {(column.name or "").casefold() for column in first.columns}
    columns = [
        *first.columns,
        *(c for c in second.columns if (c.name or "").casefold() not in present),
    ]
    ones = _keys(first)
    edges = [*first.edges, *(edge for key, edge in _keys(second).items() if key not in ones)]
    worse = max(first, second, key=lambda n: list(State).index(n.state))
    return packed_node(
        first.unique_id,
        columns,
        edges,
        state=worse.state,
        reason=worse.reason,
        detail=worse.detail,
        operation=first.operation,
        inputs=(*first.inputs, *second.inputs),
    )


def _keys(node: NodeLineage) -> dict[tuple[str, ...], Edge]:
    return {edge.sort_key: edge for edge in node.edges}


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
