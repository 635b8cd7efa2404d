"""The differences between two states, node by node, parents first.

A column that a parent renamed counts as the same column in what reads it, so a change is told where
it was made, and not again in every reader.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from lineage_post.artifacts import Node
from lineage_post.diff.change import DiffKind, Found
from lineage_post.diff.definition import Clause, Definition, NameBefore
from lineage_post.diff.sides import Side
from lineage_post.lineage.hooks import is_of_hook
from lineage_post.lineage.order import levels
from lineage_post.vocabulary import State, Subtype

COMPARED = frozenset({"model", "snapshot", "seed", "source"})
CLAUSES = {
    "filter": DiffKind.FILTER_CHANGED,
    "join": DiffKind.JOIN_CHANGED,
    "grain": DiffKind.GRAIN_CHANGED,
    "limit": DiffKind.LIMIT_CHANGED,
}
_SUBTYPES = {"filter": Subtype.FILTER, "join": Subtype.JOIN, "grain": Subtype.GROUP_BY}


class Comparison:
    """``Comparison(before, after).differences()``.

    ``types`` are the nodes of which both sides learned types in the same way.
    """

    def __init__(self, before: Side, after: Side, typed: frozenset[str] | None = None) -> None:
        self.before = before
        self.after = after
        self.typed = typed
        #: (node, name after) -> name before.
        self.renamed: dict[tuple[str, str], str] = {}

    def differences(self) -> list[Found]:
        found: list[Found] = []
        for unique_id in self._order():
            then = self.before.lineage.project.nodes.get(unique_id)
            now = self.after.lineage.project.nodes.get(unique_id)
            if then is None:
                found.append(Found(DiffKind.NODE_ADDED, unique_id))
            elif now is None:
                found.append(Found(DiffKind.NODE_REMOVED, unique_id))
            else:
                found += self._of_node(unique_id, then, now)
        return found

    def _order(self) -> list[str]:
        nodes = {}
        for side in (self.before, self.after):
            for unique_id, lineage in side.lineage.nodes.items():
                node = side.lineage.project.nodes.get(unique_id)
                is_ours = side.lineage.is_published(unique_id)
                if node is not None and node.resource_type in COMPARED and is_ours:
                    nodes[unique_id] = set(lineage.inputs) - {unique_id}
        needs = {key: parents & nodes.keys() for key, parents in nodes.items()}
        return [unique_id for level in levels(needs) for unique_id in sorted(level)]

    def _of_node(self, unique_id: str, then: Node, now: Node) -> Iterator[Found]:
        yield from self._settings(unique_id, then, now)
        yield from self._statement(unique_id, then, now)
        if not self._is_same_lineage(unique_id):
            yield from self._hooks(unique_id)

    def _hooks(self, unique_id: str) -> Iterator[Found]:
        """What hooks write into the node, theirs or those of others, column by column."""
        old = self._written(self.before, unique_id, lambda node, name: name.casefold())
        new = self._written(self.after, unique_id, self._name_before)
        for column in sorted({*old, *new}, key=lambda c: c or ""):
            gone, came = old.get(column, set()), new.get(column, set())
            if gone != came:
                kind = DiffKind.COLUMN_REDERIVED if column else DiffKind.FILTER_CHANGED
                texts = (_texts(gone - came), _texts(came - gone))
                yield Found(kind, unique_id, column, *texts)

    def _written(
        self, side: Side, unique_id: str, name_before: NameBefore
    ) -> dict[str | None, set[tuple[str, ...]]]:
        """The edges of hooks by the column they write; a name that changed counts as the old one,
        and the text that has it not at all."""
        renamed = {(node, before) for (node, _), before in self.renamed.items()}
        found: dict[str | None, set[tuple[str, ...]]] = {}
        for edge in side.lineage.nodes[unique_id].edges:
            if is_of_hook(edge):
                name = name_before(edge.from_node, edge.from_column)
                is_same = (edge.from_node, name) not in renamed
                text = (edge.expression or edge.from_column) if is_same else ""
                key = (edge.from_node, name, edge.subtype.value, text)
                found.setdefault(edge.to_column, set()).add(key)
        return found

    def _statement(self, unique_id: str, then: Node, now: Node) -> Iterator[Found]:
        if now.resource_type == "seed" and then.checksum != now.checksum:
            yield Found(DiffKind.DATA_CHANGED, unique_id)
        is_same_code = self.before.sql(unique_id) == self.after.sql(unique_id)
        has_sql = unique_id in self.before.tasks and unique_id in self.after.tasks
        if is_same_code and not (has_sql and self._has_renamed_parent(unique_id)):
            if self._is_same_lineage(unique_id):
                return
            # What it computes is the same; a star may hand on other columns than before.
            yield from self._names(unique_id, None, None)
            return
        old = self.before.definition(unique_id, lambda node, name: name)
        new = self.after.definition(unique_id, self._name_before)
        if self._is_untold(unique_id, old, new):
            yield Found(DiffKind.UNKNOWN, unique_id)
            return
        yield from self._names(unique_id, old, new)
        if old is not None and new is not None:
            yield from self._clauses(unique_id, old, new)

    def _is_same_lineage(self, unique_id: str) -> bool:
        """Whether both sides have the same columns, types and edges: then no name differs."""
        one, other = (side.lineage.nodes[unique_id] for side in (self.before, self.after))
        return one.fingerprint == other.fingerprint

    def _has_renamed_parent(self, unique_id: str) -> bool:
        parents = {node for node, _ in self.renamed}
        return not parents.isdisjoint(self.after.lineage.nodes[unique_id].inputs)

    def _is_untold(self, unique_id: str, old: Definition | None, new: Definition | None) -> bool:
        if unique_id not in self.before.tasks and unique_id not in self.after.tasks:
            node = self.after.lineage.project.nodes[unique_id]
            return node.resource_type == "model"
        states = [side.lineage.nodes[unique_id].state for side in (self.before, self.after)]
        return old is None or new is None or State.UNKNOWN in states

    def _name_before(self, node: str, name: str) -> str:
        return self.renamed.get((node, name.casefold()), name.casefold())

    def _settings(self, unique_id: str, then: Node, now: Node) -> Iterator[Found]:
        old, new = self.before.settings(then), self.after.settings(now)
        for key in sorted({*old, *new}):
            if old.get(key) != new.get(key):
                yield Found(
                    DiffKind.CONFIG_CHANGED, unique_id, None,
                    f"{key}: {old.get(key)}", f"{key}: {new.get(key)}",
                )  # fmt: skip

    def _names(
        self, unique_id: str, old: Definition | None, new: Definition | None
    ) -> Iterator[Found]:
        then = {name.casefold(): name for name in self.before.columns(unique_id)}
        now = {name.casefold(): name for name in self.after.columns(unique_id)}
        # What an open side does not list, it may have all the same.
        gone = [n for n in then if n not in now and not self.after.is_open(unique_id)]
        added = [n for n in now if n not in then and not self.before.is_open(unique_id)]
        pairs = self._pairs(gone, added, old, new)
        for name in gone:
            candidates = pairs.get(name, [])
            if len(candidates) == 1 and self._is_only(candidates[0], pairs):
                self.renamed[unique_id, candidates[0]] = name
                to = now[candidates[0]]
                yield Found(DiffKind.COLUMN_RENAMED, unique_id, then[name], then[name], to)
            else:
                text = old.texts.get(name) if old is not None else None
                named = tuple(now[c] for c in candidates)
                yield Found(DiffKind.COLUMN_REMOVED, unique_id, then[name], text, None, named)
        for name in added:
            if (unique_id, name) not in self.renamed:
                text = new.texts.get(name) if new is not None else None
                named = tuple(then[g] for g in gone if name in pairs.get(g, ()))
                yield Found(DiffKind.COLUMN_ADDED, unique_id, now[name], None, text, named)
        for name in now:
            yield from self._column(unique_id, then.get(name), now[name], old, new)

    def _pairs(
        self, gone: list[str], added: list[str], old: Definition | None, new: Definition | None
    ) -> dict[str, list[str]]:
        """Added columns with the very expression of one that is gone."""
        if old is None or new is None:
            return {}
        return {
            name: [other for other in added if new.columns.get(other) == old.columns.get(name)]
            for name in gone
        }

    def _is_only(self, name: str, pairs: dict[str, list[str]]) -> bool:
        return sum(name in candidates for candidates in pairs.values()) == 1

    def _column(
        self,
        unique_id: str,
        then: str | None,
        now: str,
        old: Definition | None,
        new: Definition | None,
    ) -> Iterator[Found]:
        name = now.casefold()
        if then is None:
            then = self.renamed.get((unique_id, name))
        if then is None:
            return
        if self.typed is None or unique_id in self.typed:
            was, is_now = _type(self.before, unique_id, then), _type(self.after, unique_id, now)
            if was and is_now and _folded(was) != _folded(is_now):
                yield Found(DiffKind.COLUMN_RETYPED, unique_id, now, was, is_now)
        if old is None or new is None or then.casefold() != name:
            return
        if old.columns.get(name) != new.columns.get(name):
            texts = _differing(old.texts.get(name), new.texts.get(name))
            if texts is None:
                texts = self._inner(unique_id, then, now)
            yield Found(DiffKind.COLUMN_REDERIVED, unique_id, now, *texts)

    def _clauses(self, unique_id: str, old: Definition, new: Definition) -> Iterator[Found]:
        then = Counter((c.kind, c.meaning) for c in old.clauses)
        now = Counter((c.kind, c.meaning) for c in new.clauses)
        for kind, found in CLAUSES.items():
            gone = [c.sql for c in old.clauses if c.kind == kind and _more(then, now, c)]
            came = [c.sql for c in new.clauses if c.kind == kind and _more(now, then, c)]
            if gone or came:
                texts = self._inner(unique_id, None, None, _SUBTYPES.get(kind))
                if None in texts:
                    texts = ("; ".join(gone) or None, "; ".join(came) or None)
                yield Found(found, unique_id, None, *texts)

    def _inner(
        self, unique_id: str, then: str | None, now: str | None, subtype: Subtype | None = None
    ) -> tuple[str | None, str | None]:
        """What the user's own SQL has on one side only."""
        old = self.before.expressions(unique_id, then, subtype)
        new = self.after.expressions(unique_id, now, subtype)
        gone = "; ".join(text for text in old if text not in new)
        came = "; ".join(text for text in new if text not in old)
        return gone or None, came or None


def _differing(then: str | None, now: str | None) -> tuple[str | None, str | None] | None:
    return (then, now) if then != now else None


def _texts(edges: set[tuple[str, ...]]) -> str | None:
    return "; ".join(sorted({edge[-1] for edge in edges if edge[-1]})) or None


def _more(one: Counter[tuple[str, str]], other: Counter[tuple[str, str]], clause: Clause) -> bool:
    key = (clause.kind, clause.meaning)
    return one[key] > other[key]


def _type(side: Side, unique_id: str, name: str) -> str | None:
    column = side.lineage.nodes[unique_id].column(name)
    return column.data_type if column is not None else None


def _folded(data_type: str) -> str:
    return "".join(data_type.split()).casefold()
