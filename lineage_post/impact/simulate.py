"""What a reader makes of a renamed column: its SQL is traced once more, with another name in it.

No search for words and no guess: where the second trace resolves what the first did, a reader takes
the column by a star, and hands the new name on; where it does not, the reader's SQL has the name.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from lineage_post.artifacts import Node
from lineage_post.graph import Column
from lineage_post.impact.kept import KeptVerdicts, key_of
from lineage_post.lineage import Lineage
from lineage_post.lineage.task import Settings, Task
from lineage_post.schema import NO_COLUMNS, Columns, Learned, ProjectIndex
from lineage_post.trace import trace
from lineage_post.trace.dialects import dialect_of
from lineage_post.trace.result import Trace, TraceEdge
from lineage_post.vocabulary import State

#: A name no project has, so that a verdict does not hang on the new name that was asked for.
UNLIKELY = "lineage_post_renamed"
#: Relation, column, field, the output's position, subtype: an edge, comparable between traces.
Link = tuple[str, "str | None", str, "int | None", str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reader does with a column's name.

    ``is_named``: its SQL has the name. ``named`` are its outputs that need it (None: its rows),
    ``passes`` the outputs that take the column's name through a star.
    """

    is_named: bool
    named: frozenset[str | None] = frozenset()
    passes: frozenset[str] = frozenset()
    is_known: bool = True

    def to_list(self) -> list[Any]:
        """As JSON has it; None, of ``named``, goes first."""
        named = sorted(self.named, key=lambda name: (name is not None, name or ""))
        return [self.is_named, named, sorted(self.passes), self.is_known]

    @classmethod
    def from_list(cls, values: Any) -> Verdict | None:
        """What ``to_list`` gave; None for anything else."""
        if not isinstance(values, list) or len(values) != len(fields(cls)):
            return None
        is_named, named, passes, is_known = values
        if not isinstance(named, list) or not isinstance(passes, list):
            return None
        if not all(
            isinstance(name, str) for name in (*passes, *(n for n in named if n is not None))
        ):
            return None
        return cls(bool(is_named), frozenset(named), frozenset(passes), bool(is_known))


#: Of a reader without SQL, or whose SQL cannot be read.
UNTOLD = Verdict(False, is_known=False)


class Retracer:
    """Verdicts on the readers of a lineage: ``Retracer(lineage).verdict(reader, (node, name))``.

    What was ``kept`` is not traced again; saving it is left to the caller.
    """

    def __init__(self, lineage: Lineage, kept: KeptVerdicts | None = None) -> None:
        project = lineage.project
        options = lineage.options
        self.lineage = lineage
        self.relations, self.tasks = lineage.relations, lineage.tasks
        dialect = options.dialect or dialect_of(project.adapter_type)
        self.settings = Settings(
            dialect, "", False, options.masking_functions, commands=options.commands
        )
        self._kept = kept or KeptVerdicts()
        self._shown: set[str] = set()
        self._verdicts: dict[tuple[str, Column], Verdict] = {}
        self._before: dict[str, Trace] = {}
        self._computed: dict[str, dict[str, tuple[str, ...]]] = {}

    @cached_property
    def names(self) -> list[tuple[tuple[str, ...], str]]:
        """All names that SQL may have for a relation, those of inlined models among them."""
        nodes = self.lineage.project.nodes.values()
        inlined = {((cte.name,), cte.unique_id) for node in nodes for cte in node.ctes}
        return [*self.relations.names(), *sorted(inlined)]

    @cached_property
    def index(self) -> ProjectIndex:
        return ProjectIndex(self.settings.dialect, self.names)

    def verdict(self, reader: str, column: Column) -> Verdict:
        """What the SQL of ``reader`` does with the column's name; not known without SQL."""
        key = (reader, column)
        if key not in self._verdicts:
            task = self.tasks.get(reader) or self._test(self.lineage.project.nodes.get(reader))
            self._verdicts[key] = self._known(task, column) if task is not None else UNTOLD
        return self._verdicts[key]

    def computed(self, node: str, column: str) -> tuple[str, ...]:
        """The SQL of a column: its expression, and those behind it on the way in. Of a node
        without SQL none."""
        if node not in self._computed:
            task = self.tasks.get(node)
            found: dict[str, tuple[str, ...]] = {}
            if task is not None:
                self._show(task, {})
                for output in self._trace(task, expressions=True).outputs:
                    texts = (output.expression, *output.steps)
                    found[output.name] = tuple(text for text in texts if text)
            self._computed[node] = found
        return self._computed[node].get(column, ())

    def _test(self, node: Node | None) -> Task | None:
        """A data test, whose SQL reads like that of a model."""
        if node is None or not node.compiled_code:
            return None
        stop_at = tuple(sorted((cte.name, cte.unique_id) for cte in node.ctes))
        parents = tuple((self.relations.builder(p), p) for p in node.depends_on)
        return Task(node.unique_id, node.compiled_code, stop_at, parents)

    def _known(self, task: Task, column: Column) -> Verdict:
        """What an earlier run found, or what this one does."""
        asked = self.relations.builder(column[0]), column[1]
        content = task.content_key(self.settings.digest())
        key = key_of(content, self._seen(task), self.lineage, (asked, self._names_digest))
        verdict = Verdict.from_list(self._kept.find(key))
        if verdict is None:
            verdict = self._judged(task, column)
            self._kept.add(key, verdict.to_list())
        return verdict

    @cached_property
    def _names_digest(self) -> str:
        return hashlib.sha256(repr(self.names).encode("utf-8", "surrogatepass")).hexdigest()

    def _judged(self, task: Task, column: Column) -> Verdict:
        key = self.relations.builder(column[0])
        if task.unique_id not in self._before:
            self._show(task, {})
            self._before[task.unique_id] = self._trace(task)
        before = self._before[task.unique_id]
        self._show(task, {key: {column[1] or "": UNLIKELY}})
        after = self._trace(task)
        if before.state is State.UNKNOWN and not before.edges:
            return UNTOLD
        return _compared(before, after, (key, column[1]))

    def _seen(self, task: Task) -> set[str]:
        """The relations that a statement may read: itself, and by a hard-coded name others too."""
        node = self.lineage.nodes.get(task.unique_id)
        read = map(self.relations.builder, node.inputs if node else ())
        own = {key for key, _ in task.parents} | {key for _, key in task.stop_at}
        return {task.unique_id, *own, *read}

    def _show(self, task: Task, renamed: Mapping[str, Mapping[str, str]]) -> None:
        seen = self._seen(task)
        # What an earlier question showed, renamed columns perhaps, is not to decide this one.
        for key in sorted(self._shown - seen):
            self.index.show(key, NO_COLUMNS)
        for key in sorted(seen):
            self.index.show(key, self._columns(key, renamed.get(key, {})))
        self._shown = seen

    def _columns(self, key: str, renamed: Mapping[str, str]) -> Columns:
        """The columns of a relation as its readers see them, some under another name. Those that
        only readers speak of are among them, so that the list counts as complete."""
        node = self.lineage.nodes.get(key)
        columns = [c for c in (node.columns if node else ()) if c.name is not None]
        names = {c.name: c.data_type for c in columns if c.is_column and c.name}
        types = {renamed.get(name, name): data_type for name, data_type in names.items()}
        is_open = not names or any(c.ordinal is None for c in columns)
        return Columns(types, Learned.TRACED, complete=not is_open)

    def _trace(self, task: Task, *, expressions: bool = False) -> Trace:
        return trace(
            task.sql,
            dialect=self.settings.dialect,
            schema=self.index,
            commands={**self.settings.commands, **task.commands},
            stop_at=dict(task.stop_at),
            expressions=expressions,
        )


def _compared(before: Trace, after: Trace, column: Column) -> Verdict:
    names = [output.name for output in before.outputs]
    later = [output.name for output in after.outputs]
    then, now = Counter(_links(before, column)), Counter(_links(after, (column[0], UNLIKELY)))
    if len(names) != len(later):
        # A star that left the column out by its name gives one column more.
        is_on = column[1] in names and column[1] not in later and UNLIKELY in later
        passes = frozenset([column[1]] if is_on and column[1] else [])
        lost = _by_name(before, after, column)
        return Verdict(True, frozenset(lost), passes)
    by_position = dict(enumerate(names, 1))
    passes = frozenset(_handed_on(names, later))
    lost = {by_position.get(link[3]) if link[3] else None for link in then - now}
    is_named = bool(lost) or then != now or _unknowns(before) != _unknowns(after)
    return Verdict(is_named, frozenset(lost), passes)


def _handed_on(names: list[str], later: list[str]) -> Iterator[str]:
    """The outputs that have another name now."""
    for old, new in zip(names, later, strict=True):
        if old != new and new.startswith(UNLIKELY):
            yield old


def _links(traced: Trace, column: Column) -> Iterator[Link]:
    """The edges of a trace, the column in question under one name in every trace."""
    for edge in traced.edges:
        source = (edge.source.relation, edge.source.column)
        relation, name = (column[0], UNLIKELY) if source == column else source
        yield relation, name, edge.source.field or "", edge.to_ordinal, edge.subtype.value


def _by_name(before: Trace, after: Trace, column: Column) -> set[str | None]:
    """Outputs, or rows, that lost an edge from the column; positions do not match any more."""
    then = {(e.to, e.subtype) for e in before.edges if _source(e) == column}
    now = {(e.to, e.subtype) for e in after.edges if _source(e) == (column[0], UNLIKELY)}
    return {to for to, _ in then - now if to != column[1]}


def _source(edge: TraceEdge) -> Column:
    return edge.source.relation, edge.source.column


def _unknowns(traced: Trace) -> Counter[tuple[str | None, str]]:
    return Counter((u.column, u.reason.value) for u in traced.unknowns)
