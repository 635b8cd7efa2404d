"""What hooks write: statements beside a node's own SQL, as edges of the relation they write to.

An edge of a hook has an op such as ``post-hook update`` of kind ``command``, which tells it from
what the node's own SQL does. A hook that changes the very table it belongs to makes columns that
depend on themselves: a feedback, since the table is stored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from lineage_post.artifacts import Hook, Node, Project
from lineage_post.artifacts.hooks import called_macros, has_writes
from lineage_post.lineage import untraced
from lineage_post.lineage.project import Lineage
from lineage_post.lineage.record import packed_node
from lineage_post.lineage.task import Settings
from lineage_post.relations import Relations, external_id, without_temporary
from lineage_post.schema import Columns, ProjectIndex
from lineage_post.trace import trace_script
from lineage_post.trace.result import Op, Trace, TraceEdge
from lineage_post.trace.schema_index import split_name
from lineage_post.values import ColumnLineage, Edge, NodeLineage
from lineage_post.vocabulary import OpKind, Reason, State, Subtype

_JINJA = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)
_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_CALL = re.compile(r"(ref|source)\s*\(([^()]*)\)")
_OWN_PARTS = {"this.schema": 1, "this.database": 0, "this.identifier": 2, "this.name": 2,
              "this.table": 2}  # fmt: skip
_TARGET = re.compile(r"(?i)\b(?:into|overwrite|from|update|table)\s+([\w$.\"`\[\]]+)")
_HOOK = re.compile(r"(?:pre-hook|post-hook|on-run-start|on-run-end) ")


@dataclass(frozen=True, slots=True)
class Written:
    """What one statement of a hook does to a relation."""

    owner: str
    target: str
    edges: tuple[Edge, ...]
    columns: tuple[str, ...]
    inputs: frozenset[str]


@dataclass(frozen=True, slots=True)
class Untold:
    """A hook that writes, and of which it is not known what."""

    owner: str
    reason: Reason
    detail: str


def is_of_hook(edge: Edge) -> bool:
    """Whether an edge is of a hook's statement."""
    return any(op.kind is OpKind.COMMAND and _HOOK.match(op.name) for op in edge.ops)


def writing_hooks(project: Project) -> Iterator[tuple[Node, Hook]]:
    """The hooks that write to relations, by their text or by that of a macro they call."""
    for node in project.nodes.values():
        for hook in node.hooks:
            if has_writes(hook.code or hook.raw_code) or (
                hook.code is None and called_macros(hook.raw_code) & project.writing_macros
            ):
                yield node, hook


def writers_to(project: Project, nodes: Collection[str]) -> Iterator[str]:
    """The nodes outside of ``nodes`` with a hook that names the relation of one of them, or what a
    hook of one of them writes to."""
    relations = (project.nodes[n].relation for n in nodes if n in project.nodes)
    wanted = {relation.identifier.casefold() for relation in relations if relation is not None}
    codes = [
        (node, hook.code or rendered(hook.raw_code, node, project) or "")
        for node, hook in writing_hooks(project)
    ]
    wanted.update(
        split_name(name)[-1].casefold()
        for node, code in codes
        if node.unique_id in nodes
        for name in _TARGET.findall(code)
    )
    for node, code in codes:
        words = {word.casefold() for word in re.findall(r"[\w$]+", code)}
        if node.unique_id not in nodes and not wanted.isdisjoint(words):
            yield node.unique_id


def with_hooks(
    lineage: Lineage,
    relations: Relations,
    columns: Mapping[str, Columns],
    settings: Settings,
    names: list[tuple[tuple[str, ...], str]],
) -> Lineage:
    """The lineage with what its hooks write; the same one where no hook writes."""
    hooks = list(writing_hooks(lineage.project))
    if not hooks:
        return lineage
    tracer = _Tracer(lineage.project, relations, columns, settings, names)
    nodes = dict(lineage.nodes)
    for node, hook in hooks:
        for found in tracer.found(node, hook):
            if isinstance(found, Untold):
                _remark(nodes, found)
            else:
                _add(nodes, found)
    return replace(lineage, nodes={key: nodes[key] for key in sorted(nodes)})


class _Tracer:
    def __init__(
        self,
        project: Project,
        relations: Relations,
        columns: Mapping[str, Columns],
        settings: Settings,
        names: list[tuple[tuple[str, ...], str]],
    ) -> None:
        self.project = project
        self.relations = relations
        self.columns = columns
        self.settings = settings
        self.index = ProjectIndex(settings.dialect, names)

    def found(self, node: Node, hook: Hook) -> Iterator[Written | Untold]:
        """What each statement of a hook writes."""
        code = hook.code or rendered(hook.raw_code, node, self.project)
        if code is None:
            detail = f"a {hook.kind} writes, and its Jinja is rendered only when dbt runs it"
            yield Untold(node.unique_id, Reason.NOT_COMPILED, detail)
            return
        for traced in self._traces(code):
            if traced.state is State.UNKNOWN and not traced.edges:
                reason = traced.reason or Reason.INTERNAL_ERROR
                yield Untold(node.unique_id, reason, f"a {hook.kind}: {traced.detail}")
            elif (
                traced.target is not None
                and traced.edges
                and not _is_temporary(code, traced.target)
            ):
                yield self._written(node, hook, traced)

    def _traces(self, code: str) -> tuple[Trace, ...]:
        """Traced twice: first to see which relations are meant, then with their columns."""
        first = self._trace(code)
        for traced in first:
            for parts in (*traced.reads, *([split_name(traced.target)] if traced.target else ())):
                self._show(self.index.key_of(parts))
            self._show(traced.target)
        return self._trace(code)

    def _show(self, key: str | None) -> None:
        if key is not None and key in self.columns:
            self.index.show(key, self.columns[key])

    def _trace(self, code: str) -> tuple[Trace, ...]:
        return trace_script(
            code,
            dialect=self.settings.dialect,
            schema=self.index,
            commands=self.settings.commands,
            masking_functions=self.settings.masking_functions,
            expressions=self.settings.expressions,
        )

    def _written(self, node: Node, hook: Hook, traced: Trace) -> Written:
        target = self._id(traced.target or "")
        of = "" if target == node.unique_id or node.resource_type == "operation" else node.name
        name = f"{hook.kind} {traced.operation}{f' of {of}' if of else ''}"
        op = Op(name, OpKind.COMMAND)
        listed = self.columns[target].types if target in self.columns else {}
        spelled = {column.casefold(): column for column in listed}
        edges = tuple(
            Edge(
                self._id(edge.source.relation),
                edge.source.column,
                edge.source.field,
                target,
                edge.to if edge.to is None else spelled.get(edge.to.casefold(), edge.to),
                edge.subtype,
                edge.masking,
                edge.certainty,
                edge.expression,
                (*edge.ops, op),
            )
            for edge in _effects(traced)
        )
        written = (spelled.get(o.name.casefold(), o.name) for o in traced.outputs)
        return Written(
            node.unique_id,
            target,
            edges,
            tuple(dict.fromkeys(written)),
            frozenset(edge.from_node for edge in edges),
        )

    def _id(self, name: str) -> str:
        if name in self.project.nodes or self.index.by_key(name) is not None:
            return name
        parts = self._full(split_name(name))
        return self.index.key_of(parts) or external_id(without_temporary(parts))

    def _full(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        """``schema.table`` is of the database that dbt is connected to: nearly all are."""
        return (self.database, *parts) if len(parts) == 2 and self.database else parts

    @cached_property
    def database(self) -> str | None:
        found = Counter(
            node.relation.database
            for node in self.project.nodes.values()
            if node.resource_type == "model" and node.relation and node.relation.database
        )
        return found.most_common(1)[0][0] if found else None


def rendered(sql: str, node: Node, project: Project) -> str | None:
    """A hook's SQL with ``this``, ``ref`` and ``source`` in it resolved; None with other Jinja."""
    text = _COMMENT.sub("", sql)
    missing = False

    def put(found: re.Match[str]) -> str:
        nonlocal missing
        name = _value(found.group(1), node, project)
        missing = missing or name is None
        return name or ""

    text = _JINJA.sub(put, text)
    return None if missing or "{%" in text or "{{" in text else text


def _value(expression: str, node: Node, project: Project) -> str | None:
    if expression == "this":
        return node.relation_name
    if expression in _OWN_PARTS and node.relation is not None:
        relation = node.relation
        return (relation.database, relation.schema, relation.identifier)[_OWN_PARTS[expression]]
    call = _CALL.fullmatch(expression)
    if call is None:
        return None
    arguments = [a.strip() for a in call.group(2).split(",")]
    names = [a.strip("'\"") for a in arguments if "=" not in a]
    version = next((a.split("=")[1].strip("'\" ") for a in arguments if "=" in a), None)
    found = _referred(call.group(1), names, version, node, project)
    return found.relation_name if found is not None else None


def _referred(
    kind: str, names: list[str], version: str | None, node: Node, project: Project
) -> Node | None:
    near = [project.nodes[p] for p in node.depends_on if p in project.nodes]
    for other in (*near, *project.nodes.values()):
        if kind == "source":
            is_meant = [other.details.get("source_name"), other.name] == names
        else:
            is_meant = (
                other.resource_type in ("model", "seed", "snapshot")
                and other.name == names[-1]
                and (len(names) == 1 or other.package_name == names[0])
                and (version is None or other.version == version)
            )
        if is_meant:
            return other
    return None


def _is_temporary(code: str, target: str) -> bool:
    name = re.escape(split_name(target)[-1])
    made = rf"(?i)create\s+(?:or\s+replace\s+)?(?:local\s+)?temp\w*\s+table\s+[\w\".`]*{name}"
    return re.search(made, code) is not None


def _add(nodes: dict[str, NodeLineage], written: Written) -> None:
    """Puts the edges of a statement to those of the relation it writes."""
    for unique_id in sorted({written.target, *written.inputs} - nodes.keys()):
        used = [e.from_column for e in written.edges if e.from_node == unique_id]
        nodes[unique_id] = untraced.external(unique_id, used)
    before = nodes[written.target]
    present = {(column.name or "").casefold() for column in before.columns}
    is_external = before.reason is Reason.EXTERNAL
    more = [name for name in written.columns if name.casefold() not in present]
    first = max((c.ordinal for c in before.columns if c.ordinal is not None), default=0) + 1
    added = [
        ColumnLineage(
            i,
            name,
            None,
            State.PARTIAL if is_external else State.KNOWN,
            Reason.EXTERNAL if is_external else None,
            detail="written by a hook",
        )
        for i, name in enumerate(more, first)
    ]
    nodes[written.target] = _with(
        before,
        columns=[*before.columns, *added],
        edges=[*before.edges, *(edge for edge in written.edges if edge not in before.edges)],
        inputs={*before.inputs, *written.inputs},
    )


def _effects(traced: Trace) -> Iterator[TraceEdge]:
    """The edges of a statement as those of a table that stays: what an update's condition reads
    decides which values change, and no row of the table."""
    for edge in traced.edges:
        if edge.to is not None or traced.operation != "update" or not traced.outputs:
            yield edge
            continue
        for output in traced.outputs:
            yield edge._replace(
                to=output.name, to_ordinal=output.ordinal, subtype=Subtype.CONDITIONAL
            )


def _remark(nodes: dict[str, NodeLineage], untold: Untold) -> None:
    """Says of a node that a hook of it does something which is not known."""
    before = nodes.get(untold.owner)
    if before is None:
        return
    row = ColumnLineage(None, None, None, State.UNKNOWN, untold.reason, detail=untold.detail)
    is_known = before.state is State.KNOWN
    nodes[untold.owner] = _with(
        before,
        columns=[*before.columns, row],
        state=State.PARTIAL if is_known else before.state,
        reason=untold.reason if is_known else before.reason,
        detail=untold.detail if is_known else before.detail,
    )


def _with(before: NodeLineage, **changes: object) -> NodeLineage:
    kept: dict[str, object] = {
        "columns": before.columns,
        "edges": before.edges,
        "state": before.state,
        "reason": before.reason,
        "detail": before.detail,
        "operation": before.operation,
        "inputs": before.inputs,
        **changes,
    }
    return packed_node(before.unique_id, **kept)  # type: ignore[arg-type]
