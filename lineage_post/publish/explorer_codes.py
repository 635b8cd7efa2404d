"""The numbers that the explorer's page knows: kinds, states, marks and the codes of edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lineage_post.graph.cycles import MATERIALIZED
from lineage_post.publish import words
from lineage_post.vocabulary import Certainty, OpKind, Reason, State, Subtype

if TYPE_CHECKING:
    from lineage_post.artifacts import Node
    from lineage_post.lineage import Edge

SUBTYPES, STATES, REASONS = tuple(Subtype), tuple(State), tuple(Reason)
_NUMBERS = {subtype: i for i, subtype in enumerate(SUBTYPES)}
#: Added to the number of an edge's subtype.
MASKED, ASSUMED, COMMAND = 16, 32, 64
#: Marks of a node: stored, read by no other relation, without a name, and on a cycle of a kind.
MATERIAL, OUTPUT, RESTRICTED, ERROR_CYCLE, FEEDBACK = 1, 2, 4, 8, 16
NATIVE = "native:"
KINDS = ("source", "derived", "command", "native", "consumer")
CONSUMERS = frozenset({"exposure", "metric", "semantic_model", "saved_query"})
#: Why a page says nothing of a node, though the project has it.
NOT_SELECTED, EXCLUDED = "not_selected", "excluded"
#: The reasons that the page tells, counted from 1: the vocabulary's, then those of a page alone.
TOLD = (
    *((str(reason), words.REASONS[reason]) for reason in REASONS),
    (NOT_SELECTED, "it was not selected for this page"),
    (EXCLUDED, "its package is not published"),
)


def code(edge: Edge) -> int:
    """The number of the subtype, with the marks of the edge added."""
    number = _NUMBERS[edge.subtype] | (MASKED if edge.masking else 0)
    if edge.certainty is Certainty.ASSUMED:
        number |= ASSUMED
    for op in edge.ops:
        if op.kind is OpKind.COMMAND:
            return number | COMMAND
    return number


def commands_of(edge: Edge) -> list[str]:
    """The names of the commands that the value of an edge passes."""
    return [op.name for op in edge.ops if op.kind is OpKind.COMMAND]


def packed(edges: Iterable[tuple[int, int, int]]) -> list[list[int]]:
    """Edges (target, source, code) as three lists: targets as steps, sources from the target."""
    ordered = sorted(set(edges))
    targets = [target for target, _, _ in ordered]
    steps = [b - a for a, b in zip([0, *targets], targets, strict=False)]
    return [steps, [t - s for t, s, _ in ordered], [c for _, _, c in ordered]]


def state_code(state: State, reason: Reason | str | None) -> int:
    """The number of a state, and ten times that of its reason, counted from 1."""
    names = [name for name, _ in TOLD]
    return STATES.index(state) + (10 * (names.index(str(reason)) + 1) if reason else 0)


def kind_of(unique_id: str, node: Node | None) -> str:
    """What a node is, as its colour tells it."""
    if unique_id.startswith(NATIVE):
        return "native"
    if node is None or node.resource_type in ("source", "seed"):
        return "source"
    if node.resource_type in CONSUMERS:
        return "consumer"
    return "command" if node.language != "sql" else "derived"


def is_material(node: Node | None) -> bool:
    """Whether a node is stored."""
    if node is None:
        return False
    return node.resource_type in ("seed", "snapshot") or node.materialized in MATERIALIZED
