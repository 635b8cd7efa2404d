"""Everything that depends on a column, and what of it each one needs."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lineage_post.consumers import Places, Use, Uses, Where
from lineage_post.graph import Column
from lineage_post.impact.change import BREAKS, HOW, HOWS, BreaksOn, Dependent, How
from lineage_post.impact.simulate import Retracer, Verdict
from lineage_post.lineage import Edge, Lineage
from lineage_post.lineage.hooks import is_of_hook, writing_hooks
from lineage_post.vocabulary import Subtype

BY_NAME = (BreaksOn.RENAME, BreaksOn.REMOVE)
#: What an entry is of: whose, which column, and a consumer's role.
Key = tuple[str, "str | None", "str | None"]


@dataclass(slots=True)
class Entry:
    """A dependent in the making."""

    kind: str
    uses: Column
    path: tuple[Column, ...]
    how: set[How] = field(default_factory=set)
    breaks: set[BreaksOn] = field(default_factory=set)
    expression: str | None = None
    use: Use | None = None
    is_hook: bool = False


class Walk:
    """The dependents of one column, nearest first: ``Walk(lineage, uses, retracer, start)``.

    ``named`` are the columns that carry the name on by a star, the start first. ``typed`` are those
    whose type follows that of the start.
    """

    def __init__(self, lineage: Lineage, uses: Uses, retracer: Retracer, start: Column) -> None:
        self.lineage = lineage
        self.uses = uses
        self.retracer = retracer
        self.start = start
        self.entries: dict[Key, Entry] = {}
        self.named: dict[Column, tuple[Column, ...]] = {start: (start,)}
        self.typed: set[Column] = {start}
        self._find_named()
        self._find_columns()
        self._find_rows()

    def dependents(self, places: Places, *, texts: bool = False) -> Iterator[Dependent]:
        """The dependents with the place that each one speaks of the column, in order.

        With ``texts`` instead the descriptions that speak of a column whose name changes.
        """
        for (unique_id, column, role), entry in self.entries.items():
            is_text = entry.use is not None and entry.use.is_text
            if is_text is not texts or (texts and entry.uses not in self.named):
                continue
            where = self._where(places, unique_id, column, entry)
            yield Dependent(
                unique_id=unique_id,
                kind=entry.kind,
                name=display_name(self.lineage, unique_id),
                column=column,
                how=tuple(how for how in HOWS if how in entry.how),
                breaks_on=tuple(b for b in BREAKS if b in entry.breaks),
                uses=entry.uses,
                path=entry.path,
                role=role,
                expression=entry.expression,
                file=where.file,
                line=where.line,
            )

    def affected(self) -> dict[str, bool]:
        """The nodes that have a part of the column, and whether its name reaches them."""
        found = {node: False for node, _, role in self.entries if role is None}
        found.update((node, True) for node, _ in self.named)
        return found

    def _find_named(self) -> None:
        queue = deque([self.start])
        while queue:
            column = queue.popleft()
            for reader in self._readers(column[0]):
                for name in self._passes(reader, column):
                    if (reader, name) not in self.named:
                        self.named[reader, name] = (*self.named[column], (reader, name))
                        queue.append((reader, name))

    def _passes(self, reader: str, column: Column) -> Iterable[str]:
        if self._is_twin(reader, column[0]):
            return (column[1] or "",)
        return sorted(self._verdict(reader, column).passes)

    def _is_twin(self, reader: str, node: str) -> bool:
        """Whether a source is the very table that a model builds."""
        return reader.startswith("source.") and self.retracer.relations.builder(reader) == node

    def _verdict(self, reader: str, column: Column) -> Verdict:
        return self.retracer.verdict(reader, column)

    def _readers(self, node: str) -> list[str]:
        return sorted(self.lineage.graph.readers(node))

    def _find_columns(self) -> None:
        paths: dict[Column, tuple[Column, ...]] = {self.start: (self.start,)}
        queue = deque([self.start])
        while queue:
            column = queue.popleft()
            self._add_uses(column, paths[column])
            for edges in self._read(column):
                target = (edges[0].to_node, edges[0].to_column)
                if target == self.start:
                    continue
                path = (*paths[column], target)
                self._add_edges(column, target, edges, path)
                if target[1] is not None and target not in paths:
                    paths[target] = path
                    queue.append(target)
            if column in self.named:
                self._add_star_modifiers(column, paths[column])

    def _read(self, column: Column) -> list[list[Edge]]:
        groups: dict[Column, list[Edge]] = {}
        for edge in self.lineage.graph.edges_out_of(column[0], column[1] or ""):
            groups.setdefault((edge.to_node, edge.to_column), []).append(edge)
        return [groups[key] for key in sorted(groups, key=lambda k: (k[0], k[1] or ""))]

    def _add_edges(
        self, column: Column, target: Column, edges: list[Edge], path: tuple[Column, ...]
    ) -> None:
        entry = self._entry((*target, None), self._kind(target[0]), column, path)
        entry.how |= {HOW[edge.subtype] for edge in edges}
        entry.breaks.add(BreaksOn.REMOVE)
        entry.is_hook = entry.is_hook or any(map(is_of_hook, edges))
        # A hook's statement is not the node's own SQL, and nearly always names what it moves.
        if column in self.named and (entry.is_hook or self._is_by_name(target, column)):
            entry.breaks.add(BreaksOn.RENAME)
        computing = (e.expression for e in edges if e.subtype is not Subtype.IDENTITY)
        entry.expression = entry.expression or next((e for e in computing if e), None)
        if column in self.typed and any(_keeps_type(edge) for edge in edges):
            self.typed.add(target)

    def _is_by_name(self, target: Column, column: Column) -> bool:
        verdict = self._verdict(target[0], column)
        if not verdict.is_known:
            # Exposures and contracts of Python models name what they read.
            return not self._is_twin(target[0], column[0])
        return target[1] in verdict.named

    def _add_star_modifiers(self, column: Column, path: tuple[Column, ...]) -> None:
        for reader in self._readers(column[0]):
            verdict = self._verdict(reader, column)
            touched = {k[1] for k in self.entries if k[0] == reader and k[2] is None}
            if verdict.is_named and not (verdict.named & touched):
                entry = self._entry((reader, None, None), self._kind(reader), column, path)
                entry.how.add(How.STAR)
                entry.breaks |= set(BY_NAME)

    def _add_uses(self, column: Column, path: tuple[Column, ...]) -> None:
        listed = set()
        for use in self.uses.of(column[0], column[1] or ""):
            if use.kind == "data_test" and not self._reads(use.unique_id, column):
                continue
            listed.add(use.unique_id)
            self._add_use(use, column, path)
        for test in self.uses.singular_tests(column[0]):
            has_word = (column[1] or "").casefold() in (test.compiled_code or "").casefold()
            if test.unique_id in listed or not has_word:
                continue
            if self._verdict(test.unique_id, column).is_named:
                name = test.details.get("test")
                role = f"data test {name}" if name else "data test in SQL"
                use = Use(test.unique_id, "data_test", column[0], column[1] or "", role)
                self._add_use(use, column, path)

    def _reads(self, test: str, column: Column) -> bool:
        """Whether a data test speaks of the column. A contract of this package does by its
        arguments: its SQL reads the lineage, not the column."""
        node = self.lineage.project.nodes.get(test)
        if node is not None and node.details.get("namespace") == "lineage_post":
            return True
        verdict = self._verdict(test, column)
        return verdict.is_named or not verdict.is_known

    def _add_use(self, use: Use, column: Column, path: tuple[Column, ...]) -> None:
        key = (use.unique_id, column[1] if use.unique_id == column[0] else None, use.role)
        entry = self._entry(key, use.kind, column, path)
        entry.use = entry.use or use
        entry.how.add(How.YAML if use.through is None else How.CONSUMER)
        if use.is_text:
            return
        entry.breaks.add(BreaksOn.REMOVE)
        if use.through is None and column in self.named:
            entry.breaks.add(BreaksOn.RENAME)
        if use.kind == "contract" and column in self.typed:
            entry.breaks.add(BreaksOn.RETYPE)

    def _find_rows(self) -> None:
        """Readers of nodes whose rows the column decides, as long as they have no other part."""
        rows = [(key, e) for key, e in self.entries.items() if key[1] is None and key[2] is None]
        queue = deque((key[0], entry.path) for key, entry in rows)
        seen = {node for node, _ in queue}
        touched = {node for node, _, role in self.entries if role is None}
        while queue:
            node, path = queue.popleft()
            for reader in self._readers(node):
                if reader not in seen:
                    seen.add(reader)
                    way = (*path, (reader, None))
                    queue.append((reader, way))
                    if reader not in touched and reader != self.start[0]:
                        entry = self._entry(
                            (reader, None, None), self._kind(reader), (node, None), way
                        )
                        entry.how.add(How.ROWS)

    def _entry(self, key: Key, kind: str, uses: Column, path: tuple[Column, ...]) -> Entry:
        if key not in self.entries:
            self.entries[key] = Entry(kind, uses, path)
        return self.entries[key]

    def _kind(self, unique_id: str) -> str:
        node = self.lineage.project.nodes.get(unique_id)
        return node.resource_type if node is not None else "external"

    def _where(self, places: Places, unique_id: str, column: str | None, entry: Entry) -> Where:
        names = [name for name in (entry.uses[1], column) if name]
        found = self._in_hook(places, names) if entry.is_hook else None
        if found is not None:
            return found
        node = self.lineage.project.nodes.get(unique_id)
        if node is None:
            return Where("", None)
        if entry.use is not None:
            return places.of_use(entry.use)
        if node.resource_type in ("exposure", "source"):
            return places.of_node(node, names[0] if names else node.name)
        return places.in_sql(node, *names)

    def _in_hook(self, places: Places, names: list[str]) -> Where | None:
        """The hook that has the name: in its node's SQL or YAML, or in dbt_project.yml."""
        for owner, hook in writing_hooks(self.lineage.project):
            for name in names:
                if re.search(rf"(?i)(?<![\w$]){re.escape(name)}(?![\w$])", hook.raw_code):
                    return places.in_hook(owner, hook.raw_code, name)
        return None


def display_name(lineage: Lineage, unique_id: str) -> str:
    """``fct_orders``, ``ver.v2`` for a version, ``web.sessions`` for a source's table."""
    node = lineage.project.nodes.get(unique_id)
    if node is None:
        return unique_id.removeprefix("external.")
    if node.resource_type == "source":
        return f"{node.details.get('source_name')}.{node.name}"
    return f"{node.name}.v{node.version}" if node.version is not None else node.name


def _keeps_type(edge: Edge) -> bool:
    """Whether the target's type follows the source's; a cast on the outside ends that."""
    if HOW[edge.subtype] is not How.VALUE:
        return False
    text = (edge.expression or "").strip().casefold()
    return not text.startswith(("cast(", "try_cast(", "count(")) and "::" not in text[-24:]
