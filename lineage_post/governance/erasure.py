"""Erasing a value: every column derived from it, the tables in order, and what nobody can know.

The order is that of the builds, parents first. A build that reads a table where the rows still are
brings them back, and a table whose parents are clean can be built anew at any time. Since the
parents' rows are gone by the time their readers' turn comes, the keys are looked up before all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from lineage_post.artifacts import Node
from lineage_post.governance.classification import Column
from lineage_post.governance.flow import value_edges
from lineage_post.governance.gaps import Gap, gaps_of
from lineage_post.governance.keys import Keys, Locator, RowKey
from lineage_post.lineage import Edge, Lineage
from lineage_post.vocabulary import Certainty, EdgeType, Subtype, Word


class Action(Word):
    """What has to be done with a relation."""

    DELETE = "delete rows"
    DELETE_AT_ORIGIN = "delete rows at the origin"
    EDIT_FILE = "edit the file, then dbt seed"
    REBUILD = "rebuild"
    DELETE_OR_FULL_REFRESH = "delete rows, or full refresh"
    REFRESH = "refresh"
    NOTHING = "nothing is stored"
    ASK = "ask its owner"


@dataclass(frozen=True, slots=True)
class Derived:
    """A column whose value is computed from the subject; ``path`` leads there from it.

    ``subtypes`` are those of the last step. ``is_masked`` says that every way passes a mask: a
    hash is still personal data where it can be matched. ``certainty`` is that of the best way.
    """

    column: Column
    path: tuple[Column, ...]
    subtypes: tuple[Subtype, ...]
    is_masked: bool
    certainty: Certainty
    #: Every step copies the value, so that rows are found by the value itself.
    is_copy: bool = False


@dataclass(frozen=True, slots=True)
class Influenced:
    """A node in which the subject decides rows, branches or windows, and no value comes from it.

    ``columns`` are those it decides, empty where it decides rows.
    """

    unique_id: str
    columns: tuple[str, ...]
    how: tuple[Subtype, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One relation in the order of erasing; ``notes`` say what stays, or what to mind."""

    number: int
    unique_id: str
    relation: str | None
    action: Action
    columns: tuple[Derived, ...]
    locators: tuple[Locator, ...]
    keys: tuple[RowKey, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Erasure:
    """Everything about erasing ``subjects``; ``upstream`` is where their values come from."""

    subjects: tuple[Column, ...]
    upstream: tuple[Column, ...]
    derived: tuple[Derived, ...]
    indirect: tuple[Influenced, ...]
    steps: tuple[Step, ...]
    gaps: tuple[Gap, ...]


def erasure_of(lineage: Lineage, subjects: Collection[Column]) -> Erasure:
    """What it takes to erase the values of some columns."""
    starts = tuple(sorted(set(subjects)))
    derived = _derived(lineage, starts)
    values = {d.column for d in derived}
    return Erasure(
        subjects=starts,
        upstream=_upstream(lineage, starts),
        derived=tuple(sorted(derived, key=lambda d: (len(d.path), d.column))),
        indirect=_influenced(lineage, starts, {node for node, _ in values}),
        steps=_steps(lineage, derived),
        gaps=tuple(g for g in gaps_of(lineage, values)),
    )


def _derived(lineage: Lineage, starts: Sequence[Column]) -> list[Derived]:
    """The subjects and all columns their values reach: unmasked ways first, then exact ones."""
    found = {
        column: Derived(column, (column,), (), False, Certainty.EXACT, True) for column in starts
    }
    for masked in (False, True):
        for assumed in (False, True):
            _spread(lineage, found, masked=masked, assumed=assumed)
    return list(found.values())


def _spread(lineage: Lineage, found: dict[Column, Derived], *, masked: bool, assumed: bool) -> None:
    queue = sorted(found, key=lambda c: len(found[c].path))
    for column in queue:
        for target, edges in value_edges(lineage, column):
            usable = [e for e in edges if _is_usable(e, masked=masked, assumed=assumed)]
            if target in found or not usable:
                continue
            before = found[column]
            found[target] = Derived(
                target,
                (*before.path, target),
                _subtypes(edges),
                before.is_masked or all(e.masking for e in usable),
                _worse(before.certainty, usable),
                before.is_copy and any(_is_copy(edge) for edge in usable),
            )
            queue.append(target)


def _is_usable(edge: Edge, *, masked: bool, assumed: bool) -> bool:
    return (masked or not edge.masking) and (assumed or edge.certainty is Certainty.EXACT)


def _is_copy(edge: Edge) -> bool:
    return edge.subtype is Subtype.IDENTITY and edge.from_field is None and not edge.masking


def _worse(before: Certainty, edges: Iterable[Edge]) -> Certainty:
    is_exact = any(edge.certainty is Certainty.EXACT for edge in edges)
    return before if is_exact else Certainty.ASSUMED


def _subtypes(edges: Iterable[Edge]) -> tuple[Subtype, ...]:
    found = {edge.subtype for edge in edges}
    return tuple(subtype for subtype in Subtype if subtype in found)


def _upstream(lineage: Lineage, starts: Sequence[Column]) -> tuple[Column, ...]:
    steps = [step for start in starts for step in lineage.graph.upstream(*start)]
    return tuple(sorted({(s.node, s.column) for s in steps if s.column is not None} - {*starts}))


def _influenced(
    lineage: Lineage, starts: Sequence[Column], nodes: Collection[str]
) -> tuple[Influenced, ...]:
    """By node: what the subject and its derived columns decide without giving it a value."""
    found: dict[str, tuple[set[str], set[Subtype]]] = {}
    for start in starts:
        for step in lineage.graph.downstream(*start, indirect=True):
            kinds = {e.subtype for e in step.edges if e.type is EdgeType.INDIRECT}
            if step.is_value or not (kinds or step.edges):
                continue
            columns, how = found.setdefault(step.node, (set(), set()))
            how.update(kinds)
            if step.column is not None:
                columns.add(step.column)
    return tuple(
        Influenced(node, tuple(sorted(columns)), tuple(s for s in Subtype if s in how))
        for node, (columns, how) in sorted(found.items())
        if node not in nodes or columns or how
    )


def _steps(lineage: Lineage, derived: Sequence[Derived]) -> tuple[Step, ...]:
    by_node: dict[str, list[Derived]] = {}
    for one in derived:
        by_node.setdefault(one.column[0], []).append(one)
    keys = Keys(lineage)
    anchors = {a for d in derived if len(d.path) == 1 for a in keys.anchors(d.column[0])}
    locators = [keys.locators(anchor) for anchor in sorted(anchors)]
    return tuple(
        _step(
            lineage,
            number,
            unique_id,
            sorted(by_node[unique_id], key=lambda d: d.column),
            [one for found in locators for one in found.get(unique_id, ())],
            keys.of(unique_id),
        )
        for number, unique_id in enumerate(build_order(lineage, by_node), 1)
    )


def _step(
    lineage: Lineage,
    number: int,
    unique_id: str,
    columns: Sequence[Derived],
    locators: Sequence[Locator],
    keys: tuple[RowKey, ...],
) -> Step:
    node = lineage.project.nodes.get(unique_id)
    action = action_of(node)
    copies = [Locator(d.column, d.path[0], d.path) for d in columns if d.is_copy]
    return Step(
        number,
        unique_id,
        node.relation_name if node is not None else unique_id.partition(".")[2],
        action,
        tuple(columns),
        tuple(dict.fromkeys([*locators, *copies])),
        keys,
        tuple(_notes(node, action, bool(locators or copies))),
    )


def action_of(node: Node | None) -> Action:
    """What erasing means for a node, by how it is built."""
    if node is None:
        return Action.ASK
    by_type = {
        "source": Action.DELETE_AT_ORIGIN,
        "seed": Action.EDIT_FILE,
        "snapshot": Action.DELETE,
    }
    by_materialization = {
        "table": Action.REBUILD,
        "view": Action.NOTHING,
        "ephemeral": Action.NOTHING,
        "incremental": Action.DELETE_OR_FULL_REFRESH,
        "materialized_view": Action.REFRESH,
        "dynamic_table": Action.REFRESH,
    }
    if node.resource_type == "model":
        return by_materialization.get(node.materialized or "", Action.REBUILD)
    return by_type.get(node.resource_type, Action.ASK)


def _notes(node: Node | None, action: Action, is_found: bool) -> list[str]:
    notes = []
    if action is Action.DELETE_AT_ORIGIN:
        notes.append("not built by dbt: its loader may bring the rows back")
    elif action is Action.EDIT_FILE:
        notes.append("the file's history in version control keeps them")
    elif action is Action.DELETE:
        notes.append("a snapshot keeps every old version: no build takes them out")
    elif action is Action.DELETE_OR_FULL_REFRESH and node is not None:
        notes.append("an ordinary run keeps the rows of earlier runs")
        if node.config.get("full_refresh") is False:
            notes.append("full_refresh is false: rows must be deleted")
    elif action is Action.ASK:
        notes.append("made or kept outside this project")
    if not is_found and action in (Action.DELETE, Action.DELETE_OR_FULL_REFRESH):
        notes.append("no key of the subject reaches it: its rows cannot be found by one")
    return notes


def build_order(lineage: Lineage, nodes: Collection[str]) -> list[str]:
    """The nodes, each after those it reads, however far up; by name within a rank.

    A cycle is cut where it closes: what feeds back has to be erased twice.
    """
    ranks: dict[str, int] = {}
    stack = [(node, False) for node in sorted(nodes, reverse=True)]
    open_: set[str] = set()
    while stack:
        node, is_left = stack.pop()
        parents = lineage.nodes[node].inputs if node in lineage.nodes else ()
        if is_left:
            ranks[node] = max((ranks.get(p, -1) + 1 for p in parents if p != node), default=0)
        elif node not in open_:
            open_.add(node)
            stack.append((node, True))
            stack += [(parent, False) for parent in parents if parent not in open_]
    return sorted(nodes, key=lambda node: (ranks[node], node))
