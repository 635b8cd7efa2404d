"""Nodes without SQL to trace: sources, seeds, Python models, what was not compiled, consumers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from lineage_post.artifacts import Node, Project
from lineage_post.lineage.contracts import contract_edges, contract_of
from lineage_post.lineage.record import packed_node
from lineage_post.schema import Columns, Learned
from lineage_post.values import ColumnLineage, Edge, NodeLineage, Note
from lineage_post.vocabulary import Reason, State, Subtype

ColumnsOf = Callable[[str], Iterable[str]]


def leaf(node: Node, columns: Columns, used: Iterable[str]) -> NodeLineage:
    """A source or seed: the columns that are listed, and those only its readers speak of."""
    is_open = columns.learned is Learned.NOWHERE
    return packed_node(
        node.unique_id,
        [*_listed(columns.types, State.KNOWN, None), *_inferred(columns, used)],
        [],
        state=State.PARTIAL if is_open else State.KNOWN,
        reason=Reason.SCHEMA_MISSING if is_open else None,
        detail="neither a catalog nor YAML lists its columns" if is_open else None,
        operation=node.resource_type,
    )


def twin(node: Node, builder: str, columns: Columns) -> NodeLineage:
    """A source over a relation that another node builds: each column is that node's column."""
    return packed_node(
        node.unique_id,
        _listed(columns.types, State.KNOWN, None),
        [
            Edge(builder, name, None, node.unique_id, name, Subtype.IDENTITY)
            for name in columns.types
        ],
        state=State.KNOWN if columns.complete else State.PARTIAL,
        reason=None if columns.complete else Reason.SCHEMA_MISSING,
        operation=node.resource_type,
        inputs=[builder],
    )


def unknown(node: Node, columns: Columns, used: Iterable[str], reason: Reason) -> NodeLineage:
    """A node whose lineage cannot be known; the nodes it depends on stay its inputs."""
    listed = [
        *_listed(columns.types, State.UNKNOWN, reason),
        *_inferred(columns, used, reason),
    ]
    return packed_node(
        node.unique_id,
        listed or [ColumnLineage(None, "*", None, State.UNKNOWN, reason)],
        [],
        state=State.UNKNOWN,
        reason=reason,
        detail=_DETAILS.get(reason),
        operation=node.language if node.language != "sql" else "select",
        inputs=node.depends_on,
    )


def declared(
    node: Node, project: Project, columns_of: ColumnsOf
) -> tuple[NodeLineage, list[Note]] | None:
    """A node that declares a contract of inputs and outputs; None if it does not."""
    parents = [project.nodes[p] for p in node.depends_on if p in project.nodes]
    contract = contract_of(node, parents, columns_of)
    if contract is None:
        return None
    covered = {name.casefold() for name, _ in contract.outputs}
    columns = [
        ColumnLineage(i, name, data_type, State.KNOWN, None)
        for i, (name, data_type) in enumerate(contract.outputs, 1)
    ]
    rest = [name for name in columns_of(node.unique_id) if name.casefold() not in covered]
    columns += [
        ColumnLineage(i, name, None, State.UNKNOWN, Reason.PYTHON_MODEL)
        for i, name in enumerate(rest, len(columns) + 1)
    ]
    lineage = packed_node(
        node.unique_id,
        columns,
        contract_edges(node, contract),
        state=State.PARTIAL if rest else State.KNOWN,
        reason=Reason.PYTHON_MODEL if rest else None,
        operation="command",
        inputs=node.depends_on,
    )
    return lineage, [Note(node.unique_id, "contract", text) for text in contract.warnings]


def consumer(node: Node, project: Project, columns_of: ColumnsOf) -> tuple[NodeLineage, list[Note]]:
    """An exposure. ``meta: lineage: columns: {fct_orders: [revenue]}`` names what it shows."""
    parents = [project.nodes[p] for p in node.depends_on if p in project.nodes]
    named = _named_columns(node)
    edges: list[Edge] = []
    notes: list[Note] = []
    if named:
        shown = {**node.meta, "lineage": {"inputs": named, "outputs": []}}
        contract = contract_of(_with_meta(node, shown), parents, columns_of)
        assert contract is not None
        edges = [
            Edge(parent, column, None, node.unique_id, column, Subtype.IDENTITY)
            for parent, column in contract.inputs
        ]
        notes = [
            Note(node.unique_id, "contract", text)
            for text in contract.warnings
            if not text.startswith("no declared input")
        ]
    names = dict.fromkeys(edge.to_column for edge in edges if edge.to_column)
    lineage = packed_node(
        node.unique_id,
        [ColumnLineage(i, name, None, State.KNOWN, None) for i, name in enumerate(names, 1)],
        edges,
        state=State.KNOWN if edges else State.UNKNOWN,
        reason=None if edges else Reason.NOT_IN_SQL,
        detail=None if edges else "meta: lineage: columns does not name the columns it shows",
        operation=node.resource_type,
        inputs=node.depends_on,
    )
    return lineage, notes


def external(unique_id: str, used: Iterable[str]) -> NodeLineage:
    """A relation no node of the project is: its columns are inferred from use."""
    return packed_node(
        unique_id,
        [
            ColumnLineage(i, name, None, State.UNKNOWN, Reason.EXTERNAL)
            for i, name in enumerate(sorted(set(used)), 1)
        ],
        [],
        state=State.UNKNOWN,
        reason=Reason.EXTERNAL,
        detail="no node of the project is this relation",
        operation="external",
    )


def reason_of(node: Node, project: Project) -> Reason:
    """Why a node has no SQL to trace."""
    if node.language != "sql":
        return Reason.PYTHON_MODEL
    if node.package_name in project.external_packages and not node.raw_code:
        return Reason.EXTERNAL
    return Reason.NOT_COMPILED


_DETAILS = {
    Reason.PYTHON_MODEL: "the model is Python; a contract in meta: lineage can say what it reads",
    Reason.NOT_COMPILED: "the manifest has no compiled SQL of it",
    Reason.EXTERNAL: "another project owns it, and its manifest was not given",
}


def _listed(
    types: Mapping[str, str | None], state: State, reason: Reason | None
) -> list[ColumnLineage]:
    return [
        ColumnLineage(i, name, data_type or None, state, reason)
        for i, (name, data_type) in enumerate(types.items(), 1)
    ]


def _inferred(
    columns: Columns, used: Iterable[str], reason: Reason | None = None
) -> list[ColumnLineage]:
    present = {name.casefold() for name in columns.types}
    more = sorted({name for name in used if name.casefold() not in present})
    state = State.UNKNOWN if reason else State.KNOWN
    return [
        ColumnLineage(i, name, None, state, reason, detail="inferred from use")
        for i, name in enumerate(more, len(present) + 1)
    ]


def _named_columns(node: Node) -> object:
    lineage = node.meta.get("lineage")
    return lineage.get("columns") if isinstance(lineage, Mapping) else None


def _with_meta(node: Node, meta: Mapping[str, object]) -> Node:
    return replace(node, meta=meta)
