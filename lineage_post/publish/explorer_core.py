"""The graph that the explorer's page loads first, as small as it can be: numbers, not names.

Nodes are numbered in the order of their ids, columns through all nodes. Every column name stands
once, edges are sorted by target and written as differences, so that gzip finds little left to do.
What is read only when asked for (descriptions, SQL, operations) is in publish.explorer_details.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lineage_post import __version__
from lineage_post.graph import CycleKind
from lineage_post.publish import words
from lineage_post.publish.explorer_claims import Claimed
from lineage_post.publish.explorer_codes import (
    COMMAND,
    ERROR_CYCLE,
    EXCLUDED,
    FEEDBACK,
    KINDS,
    MASKED,
    MATERIAL,
    NATIVE,
    NOT_SELECTED,
    OUTPUT,
    RESTRICTED,
    SUBTYPES,
    TOLD,
    code,
    commands_of,
    is_material,
    kind_of,
    packed,
    state_code,
)
from lineage_post.vocabulary import EdgeType, Reason, State, Subtype

if TYPE_CHECKING:
    from lineage_post.lineage import Edge, Lineage


class Core:
    """The numbering of one lineage and the document made of it: ``Core(lineage).document()``."""

    def __init__(self, lineage: Lineage, claimed: Claimed | None = None) -> None:
        self.lineage = lineage
        self.claimed = claimed or Claimed()
        shown = {u for u in lineage.nodes if lineage.is_published(u)}
        read = {e.from_node for u in shown for e in lineage.nodes[u].edges}
        inputs = {i for u in shown for i in lineage.nodes[u].inputs}
        named = {n for c in self.claimed.edges for n in (c.from_node, c.to_node)}
        real = sorted(shown | read | inputs | named)
        #: After all that dbt knows come the raw places below sources, each named after its source.
        self.ids: list[str] = real + [NATIVE + u for u in real if self._native(u)]
        self.number = {unique_id: i for i, unique_id in enumerate(self.ids)}
        self.columns: list[Sequence[str]] = [self._columns(u, u in shown, read) for u in self.ids]
        self.column: dict[tuple[str, str], int] = {}
        for unique_id, names in zip(self.ids, self.columns, strict=True):
            for name in names:
                self.column[unique_id, name] = len(self.column)
        self.shown = shown

    def _columns(self, unique_id: str, is_shown: bool, read: set[str]) -> Sequence[str]:
        """The columns of a node; of one that is not published only those that its readers name."""
        known = list(self.lineage.graph.columns(unique_id)) if is_shown else []
        if not is_shown and unique_id in read:
            known = sorted(self._read_columns.get(unique_id, ()))
        return list(dict.fromkeys([*known, *sorted(self._claimed_columns.get(unique_id, ()))]))

    def _native(self, unique_id: str) -> dict[str, Any]:
        """Where the data of a source or seed really are, if that is known."""
        node = self.lineage.project.nodes.get(unique_id)
        is_raw = node is not None and node.resource_type in ("source", "seed")
        return dict(node.native) if node is not None and is_raw else {}

    @cached_property
    def _claimed_columns(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for claim in self.claimed.edges:
            found.setdefault(claim.from_node, set()).add(claim.from_column)
            found.setdefault(claim.to_node, set()).add(claim.to_column)
        return found

    @cached_property
    def _read_columns(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for unique_id, node in self.lineage.nodes.items():
            if self.lineage.is_published(unique_id):
                for edge in node.edges:
                    found.setdefault(edge.from_node, set()).add(edge.from_column)
        return found

    def document(self, **more: Any) -> dict[str, Any]:
        """The core; ``more`` adds keys, such as where the docs are."""
        project = self.lineage.project
        names = sorted({name for columns in self.columns for name in columns})
        position = {name: i for i, name in enumerate(names)}
        return {
            "version": __version__,
            "project": project.name,
            "adapter": project.adapter_type,
            "generated": project.generated_at,
            "ids": self.ids,
            "labels": [self._label(unique_id) for unique_id in self.ids],
            "kinds": "".join(str(KINDS.index(self.kind(u))) for u in self.ids),
            "marks": [self._marks(u) for u in self.ids],
            "states": [self._state(u) for u in self.ids],
            "counts": [len(columns) for columns in self.columns],
            "names": names,
            "columns": [position[name] for columns in self.columns for name in columns],
            "gaps": list(self._gaps()),
            "edges": packed(self._value_edges()),
            "tables": [self._tables(u) for u in self.ids],
            "cycles": list(self._cycles()),
            **self._claims(),
            **self._commands(),
            "reasons": [list(told) for told in TOLD],
            "subtypes": [words.SUBTYPES[s] for s in SUBTYPES],
            "none": words.NO_SOURCE,
            **more,
        }

    def indirect(self) -> dict[str, Any]:
        """The indirect edges: into columns, packed as the others, and into the rows of nodes."""
        rows = [
            (self.number[e.to_node], self.column[e.from_node, e.from_column], code(e))
            for e in self._edges()
            if e.to_column is None
        ]
        return {"edges": packed(self._indirect_edges()), "rows": packed(rows)}

    def _label(self, unique_id: str) -> str | int:
        if unique_id.startswith(NATIVE):
            return str(self._native(unique_id.removeprefix(NATIVE)).get("location") or "raw data")
        label = words.label(self.lineage.project, unique_id)
        return 0 if label == unique_id.rsplit(".", 1)[-1] else label

    def kind(self, unique_id: str) -> str:
        """What a node is, as its colour tells it."""
        return kind_of(unique_id, self.lineage.project.nodes.get(unique_id))

    def _marks(self, unique_id: str) -> int:
        node = self.lineage.project.nodes.get(unique_id)
        marks = MATERIAL if is_material(node) else 0
        if unique_id.startswith("restricted."):
            marks |= RESTRICTED
        if self._is_output(unique_id):
            marks |= OUTPUT
        return marks | self._cycle_marks.get(unique_id, 0)

    def _is_output(self, unique_id: str) -> bool:
        if self.kind(unique_id) in ("native", "source"):
            return False
        readers = self.lineage.graph.readers(unique_id)
        return not any(r != unique_id and r in self.shown for r in readers)

    @cached_property
    def _cycle_marks(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for cycle in self.lineage.graph.cycles:
            mark = ERROR_CYCLE if cycle.kind is CycleKind.ERROR else FEEDBACK
            for unique_id, _ in cycle.columns:
                found[unique_id] = found.get(unique_id, 0) | mark
        return found

    def _state(self, unique_id: str) -> int:
        """The state and its reason; what is left out of a page is not made outside the project."""
        if unique_id.startswith(NATIVE):
            return state_code(State.KNOWN, None)
        if unique_id in self.shown:
            node = self.lineage.nodes[unique_id]
            return state_code(node.state, node.reason)
        known = self.lineage.project.nodes.get(unique_id)
        if known is None or known.package_name in self.lineage.project.external_packages:
            return state_code(State.UNKNOWN, Reason.EXTERNAL)
        is_excluded = not self.lineage.is_published(unique_id)
        return state_code(State.UNKNOWN, EXCLUDED if is_excluded else NOT_SELECTED)

    def _gaps(self) -> Iterator[list[int]]:
        """``[column, state]`` of what is not known."""
        for unique_id in self.ids:
            if unique_id in self.shown:
                for column in self.lineage.nodes[unique_id].columns:
                    if column.is_column and column.name and column.state is not State.KNOWN:
                        number = self.column[unique_id, column.name]
                        yield [number, state_code(column.state, column.reason)]

    def _edges(self) -> Iterator[Edge]:
        for unique_id in self.ids:
            if unique_id in self.shown:
                yield from self.lineage.nodes[unique_id].edges

    def _ends(self, type_: EdgeType) -> Iterator[tuple[int, int, int]]:
        for edge in self._edges():
            if edge.type is type_ and edge.to_column is not None:
                source = self.column[edge.from_node, edge.from_column]
                yield self.column[edge.to_node, edge.to_column], source, code(edge)

    def _value_edges(self) -> Iterator[tuple[int, int, int]]:
        return self._ends(EdgeType.DIRECT)

    def _indirect_edges(self) -> Iterator[tuple[int, int, int]]:
        return self._ends(EdgeType.INDIRECT)

    def _tables(self, unique_id: str) -> list[int]:
        """What a node reads: three times the number of the input, plus what is known of it."""
        if unique_id not in self.shown:
            return []
        node = self.lineage.nodes[unique_id]
        flows = {e.from_node for e in node.edges if e.to_column is not None}
        told = {e.from_node for e in node.edges}
        found = []
        for parent in sorted({*node.inputs, *told}):
            flow = 0 if parent in flows else 1 if node.state is State.KNOWN else 2
            found.append(3 * self.number[parent] + flow)
        if NATIVE + unique_id in self.number:
            found.append(3 * self.number[NATIVE + unique_id])
        return found

    def _claims(self) -> dict[str, Any]:
        """Edges of other producers: ``[target, source, code, producer, 1 if stale, seen]``."""
        producers = sorted({claim.producer for claim in self.claimed.edges})
        edges = [
            [
                self.column[c.to_node, c.to_column],
                self.column[c.from_node, c.from_column],
                SUBTYPES.index(Subtype(c.subtype))
                | (MASKED if c.masking else 0)
                | (COMMAND if c.has_command else 0),
                producers.index(c.producer),
                int(c.is_stale),
                c.seen,
            ]
            for c in self.claimed.edges
        ]
        return {"producers": producers, "claims": edges}

    def _commands(self) -> dict[str, Any]:
        """Commands that stand on value edges, ``[name, contract]``, and where each stands:
        ``[target, source, command]``. A Python model is a node, and not among them."""
        found = [
            (self.column[e.to_node, e.to_column], self.column[e.from_node, e.from_column], name)
            for e in self._edges()
            if e.to_column is not None and code(e) & COMMAND and e.type is EdgeType.DIRECT
            for name in commands_of(e)
            if self.kind(e.to_node) != "command"
        ]
        names = sorted({name for _, _, name in found})
        declared = self.lineage.options.commands
        return {
            "commands": [[name, declared.get(name)] for name in names],
            "through": sorted({(t, s, names.index(name)) for t, s, name in found}),
        }

    def _cycles(self) -> Iterator[list[Any]]:
        for cycle in self.lineage.graph.cycles:
            nodes = sorted({self.number[n] for n, _ in cycle.columns if n in self.number})
            yield [int(cycle.kind is CycleKind.ERROR), nodes]
