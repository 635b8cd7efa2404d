"""What the differences do: which outputs they move, whom they break, and how bad that is."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

from lineage_post.artifacts import Node
from lineage_post.diff.change import Diff, DiffKind, Found, Level, NodeChange
from lineage_post.diff.sides import Side
from lineage_post.graph import Column
from lineage_post.impact import (
    Analysis,
    BreaksOn,
    Change,
    ChangeKind,
    Dependent,
    Doubt,
    How,
    Moved,
    Possible,
)
from lineage_post.impact.possible import possible_of
from lineage_post.impact.retype import doubts_of
from lineage_post.impact.walk import display_name
from lineage_post.lineage.modes import forms_of
from lineage_post.vocabulary import Reason, State

ROWS = frozenset(
    {
        DiffKind.FILTER_CHANGED,
        DiffKind.JOIN_CHANGED,
        DiffKind.GRAIN_CHANGED,
        DiffKind.LIMIT_CHANGED,
        DiffKind.CONFIG_CHANGED,
        DiffKind.DATA_CHANGED,
    }
)
#: Where in the SQL to look for what changed.
WORDS = {
    DiffKind.FILTER_CHANGED: ("where", "having", "qualify"),
    DiffKind.JOIN_CHANGED: ("join", "from"),
    DiffKind.GRAIN_CHANGED: ("group", "distinct", "union"),
    DiffKind.LIMIT_CHANGED: ("limit",),
}
GONE = frozenset({DiffKind.COLUMN_REMOVED, DiffKind.COLUMN_RENAMED})
BUILT = frozenset({"model", "snapshot", "seed"})
SEMANTIC = frozenset({"semantic_model", "metric", "saved_query"})


class Effects:
    """``Effects(before, after).diff(differences)``; analyses of the two sides' lineages."""

    def __init__(self, before: Analysis, after: Analysis, sides: tuple[Side, Side]) -> None:
        self.before = before
        self.after = after
        self.sides = sides
        self._raw_uses: set[tuple[str, str, str, str]] | None = None

    def diff(self, differences: Iterable[Found]) -> Diff:
        changes = tuple(self._change(found) for found in differences)
        impacted = {node for change in changes for node in self._impacted(change)}
        kept = (n for n in impacted if self._is_built(n))
        return Diff(changes, tuple(sorted(kept)))

    def _change(self, found: Found) -> NodeChange:
        is_retyped = found.kind is DiffKind.COLUMN_RETYPED
        broken, doubtful = self._retyped(found) if is_retyped else (self._broken(found), ())
        level, because = self._level(found, broken)
        if doubtful and level is Level.CHANGED:
            level, because = Level.UNKNOWN, "SQL that reads it may not take the new type"
        change = NodeChange(
            found.kind, found.unique_id, found.column, level, because,
            found.before, found.after, found.candidates, broken, doubtful,
        )  # fmt: skip
        return self._placed(self._with_affected(self._with_forms(change)))

    def _with_forms(self, change: NodeChange) -> NodeChange:
        then, now = (side.lineage.project.nodes.get(change.unique_id) for side in self.sides)
        forms = forms_of(then, now)
        if then is None or now is None or forms is None:
            return change
        return replace(change, forms=forms, is_same_code=then.raw_code == now.raw_code)

    def _level(self, found: Found, broken: tuple[Dependent, ...]) -> tuple[Level, str]:
        if found.kind in (DiffKind.COLUMN_ADDED, DiffKind.NODE_ADDED):
            return Level.COMPATIBLE, "nothing reads it yet"
        if found.kind is DiffKind.UNKNOWN:
            return Level.UNKNOWN, "the code differs, and what it does to columns is not known"
        if found.kind in GONE or found.kind in (DiffKind.NODE_REMOVED, DiffKind.COLUMN_RETYPED):
            if broken:
                return Level.BREAKING, "it is still used"
            seen = self._seen_by(found.unique_id)
            if seen is not None:
                return Level.BREAKING, seen
            return Level.CHANGED, "what used it changes along with it"
        if found.kind is DiffKind.CONFIG_CHANGED:
            return Level.CHANGED, "it is built in another way"
        return Level.CHANGED, "values or rows may differ"

    def _seen_by(self, unique_id: str) -> str | None:
        """Why others may read the node, whom the project does not know; None if none may."""
        before = self.before.lineage
        node = before.project.nodes[unique_id]
        contract = node.config.get("contract")
        if node.access == "public":
            return "the model is public"
        if isinstance(contract, dict) and contract.get("enforced"):
            return "the model has a contract"
        readers = [before.project.nodes.get(c) for c in before.children.get(unique_id, ())]
        kinds = {reader.resource_type for reader in readers if reader is not None}
        shown = [n for n in before.graph.readers(unique_id) if n.startswith("exposure.")]
        if any(before.nodes[exposure].state is State.UNKNOWN for exposure in shown):
            return "an exposure shows the model, and does not say which columns"
        if node.resource_type in BUILT and not kinds & {"model", "snapshot"}:
            return "no model reads it: its readers are outside"
        return None

    def _broken(self, found: Found) -> tuple[Dependent, ...]:
        """Dependents that still have the name of what is gone."""
        if found.kind is DiffKind.NODE_REMOVED:
            return tuple(self._readers_left(found.unique_id))
        if found.kind not in GONE:
            return ()
        change = Change(ChangeKind.DROP, found.unique_id, found.column or "")
        dependents = self.before.impact(change).dependents
        by_name = (d for d in dependents if BreaksOn.RENAME in d.breaks_on)
        return tuple(d for d in by_name if self._still_broken(d))

    def _retyped(self, found: Found) -> tuple[tuple[Dependent, ...], tuple[Doubt, ...]]:
        """What stores a column's type before, and whose SQL of today may not take the new one."""
        change = Change(ChangeKind.RETYPE, found.unique_id, found.column or "")
        impact = self.after.impact(change)
        doubts = doubts_of(
            self.after.lineage,
            found.start,
            found.after or "",
            impact.dependents,
            was=found.before,
        )
        return impact.broken, doubts.may_break

    def _readers_left(self, unique_id: str) -> Iterator[Dependent]:
        """The nodes whose SQL still reads a node that is gone."""
        before, after = self.sides
        start: Column = (unique_id, None)
        for reader in before.lineage.graph.readers(unique_id):
            node = after.lineage.project.nodes.get(reader)
            is_kept = reader in before.tasks and before.sql(reader) == after.sql(reader)
            if node is not None and is_kept and reader != unique_id:
                where = self.after.places.in_sql(node, unique_id.rsplit(".", 1)[-1])
                yield Dependent(
                    reader, node.resource_type, display_name(after.lineage, reader), None,
                    (How.ROWS,), (BreaksOn.REMOVE,), start, (start, (reader, None)),
                    file=where.file, line=where.line,
                )  # fmt: skip

    def _still_broken(self, dependent: Dependent) -> bool:
        before, after = self.sides
        owner = after.lineage.project.nodes.get(dependent.unique_id)
        node, name = dependent.uses
        present = {c.casefold() for c in after.columns(node)}
        if owner is None or (name or "").casefold() in present:
            return False
        if dependent.role is not None:
            return self._is_stored(dependent, owner)
        if owner.resource_type == "exposure":
            was = before.lineage.project.nodes[dependent.unique_id]
            return owner.meta.get("lineage") == was.meta.get("lineage")
        if before.sql(dependent.unique_id) == after.sql(dependent.unique_id):
            return True
        then = before.lineage.nodes[dependent.unique_id]
        now = after.lineage.nodes[dependent.unique_id]
        return then.state is State.KNOWN and now.reason is Reason.UNRESOLVED_COLUMN

    def _is_stored(self, dependent: Dependent, owner: Node) -> bool:
        """Whether a consumer has the name still: in YAML, or in the SQL of a test."""
        if self._raw_uses is None:
            uses = self.after.uses.stored()
            self._raw_uses = {(u.unique_id, u.role, u.node, u.column.casefold()) for u in uses}
        node, name = dependent.uses
        key = (dependent.unique_id, dependent.role or "", node, (name or "").casefold())
        if key in self._raw_uses:
            return True
        before, after = self.sides
        is_sql = owner.resource_type == "test"
        return is_sql and before.sql(owner.unique_id) == after.sql(owner.unique_id)

    def _with_affected(self, change: NodeChange) -> NodeChange:
        if change.kind is DiffKind.UNKNOWN:
            return replace(change, possible=self._beyond(change.unique_id))
        if change.kind is DiffKind.COLUMN_RENAMED and change.after:
            walk = self.after.walk((change.unique_id, change.after))
            return replace(change, possible=possible_of(walk) if change.broken else ())
        if change.kind in (DiffKind.COLUMN_REDERIVED, DiffKind.COLUMN_RETYPED):
            start = (change.unique_id, change.column)
        elif change.kind in ROWS:
            start = (change.unique_id, None)
        else:
            return change
        found = self.after.domain(*start)
        possible = possible_of(self.after.walk(start)) if start[1] is not None else ()
        return replace(
            change,
            affected=found.values,
            rows=found.rows,
            consumers=self._consumers(start, [*found.values, *found.rows]),
            possible=possible,
        )

    def _consumers(self, start: tuple[str, str | None], moved: list[Moved]) -> tuple[str, ...]:
        """Exposures and what the semantic layer has of affected columns."""
        lineage = self.after.lineage
        columns = {(m.node, m.column) for m in moved}
        if start[1] is not None:
            columns.add((start[0], start[1]))
        found = {node for node, _ in columns if node.startswith("exposure.")}
        for node, column in columns:
            uses = self.after.uses.of(node, column)
            found.update(use.unique_id for use in uses if use.kind in SEMANTIC)
        return tuple(sorted(n for n in found if lineage.is_published(n)))

    def _beyond(self, unique_id: str) -> tuple[Possible, ...]:
        """Everything downstream of a node of which nothing is known."""
        lineage = self.after.lineage
        seen = {unique_id}
        queue = deque([unique_id])
        while queue:
            for child in lineage.children.get(queue.popleft(), ()):
                if child not in seen and child in lineage.project.nodes:
                    seen.add(child)
                    queue.append(child)
        state = lineage.nodes[unique_id]
        reason = str(state.reason or Reason.UNSUPPORTED_SYNTAX)
        nodes = (lineage.project.nodes[n] for n in sorted(seen - {unique_id}))
        return tuple(
            Possible(n.unique_id, n.resource_type, n.name, unique_id, reason, (), n.path)
            for n in nodes
        )

    def _impacted(self, change: NodeChange) -> Iterable[str]:
        yield change.unique_id
        for moved in (*change.affected, *change.rows):
            yield moved.node
        yield from (dependent.unique_id for dependent in change.broken)
        yield from (possible.unique_id for possible in change.possible)
        if change.kind is DiffKind.COLUMN_RENAMED:
            # Their outputs stay, but their SQL has another name in it now.
            graph = self.after.lineage.graph
            for edge in graph.edges_out_of(change.unique_id, change.after or ""):
                yield edge.to_node

    def _is_built(self, unique_id: str) -> bool:
        node = self.after.lineage.project.nodes.get(unique_id)
        is_ours = self.after.lineage.is_published(unique_id)
        return node is not None and node.resource_type in BUILT and is_ours

    def _placed(self, change: NodeChange) -> NodeChange:
        analysis = self.after
        node = analysis.lineage.project.nodes.get(change.unique_id)
        if node is None:
            analysis = self.before
            node = analysis.lineage.project.nodes[change.unique_id]
        names = [change.after] if change.kind is DiffKind.COLUMN_RENAMED else [change.column]
        words = [*WORDS.get(change.kind, ()), *(name for name in names if name)]
        where = analysis.places.in_sql(node, *words)
        return replace(change, file=where.file, line=where.line)
