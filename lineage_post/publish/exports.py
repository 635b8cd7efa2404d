"""The edges of a lineage in the forms of other tools: CSV, Parquet, GraphML, Mermaid, DOT."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lineage_post.errors import LineageError
from lineage_post.lineage import Lineage
from lineage_post.lineage.project import EDGE_KEYS
from lineage_post.publish.json import edge_to_dict, metadata_of
from lineage_post.values import Edge
from lineage_post.vocabulary import EdgeType

#: The columns of the CSV and Parquet forms, in order.
COLUMNS = EDGE_KEYS
_Column = tuple[str, "str | None"]
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def rows(edges: Iterable[Edge]) -> Iterator[tuple[Any, ...]]:
    """An edge a row, as COLUMNS names it; ``ops`` are ``NAME:kind``, joined by a blank."""
    for e in edges:
        yield (
            e.from_node,
            e.from_column,
            e.from_field,
            e.to_node,
            e.to_column,
            e.type.value,
            e.subtype.value,
            e.masking,
            e.certainty.value,
            e.expression,
            " ".join(f"{op.name}:{op.kind}" for op in e.ops),
        )


def as_csv(lineage: Lineage, edges: Sequence[Edge]) -> str:
    """CSV with a header; true and false in lower case, nothing for null."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows(edges):
        writer.writerow([str(v).lower() if isinstance(v, bool) else _cell(v) for v in row])
    return file.getvalue()


def _cell(value: str | None) -> str | None:
    """A value that no spreadsheet takes for a formula."""
    return f"'{value}" if value and value[0] in "=+-@\t\r" else value


def write_parquet(lineage: Lineage, edges: Sequence[Edge], path: Path) -> None:
    """Writes a Parquet file. Raises LineageError where duckdb is not installed."""
    try:
        import duckdb
    except ImportError:
        raise LineageError(
            "duckdb is needed to write Parquet.", hint="pip install duckdb"
        ) from None
    types = ["boolean" if name == "masking" else "varchar" for name in COLUMNS]
    with duckdb.connect(":memory:") as connection:
        listed = ", ".join(f"{name} {kind}" for name, kind in zip(COLUMNS, types, strict=True))
        connection.execute(f"create table edges ({listed})")
        found = list(rows(edges))
        if found:
            places = ", ".join(f"unnest(?::{kind}[])" for kind in types)
            columns = [list(column) for column in zip(*found, strict=True)]
            connection.execute(f"insert into edges select {places}", columns)
        shown = str(path).replace("'", "''")
        connection.execute(f"copy edges to '{shown}' (format parquet, compression zstd)")


def as_graphml(lineage: Lineage, edges: Sequence[Edge]) -> str:
    """GraphML: a node for each column, and for the rows of a node that something decides."""
    import networkx

    graph = networkx.MultiDiGraph()
    for e in edges:
        for unique_id, name in _ends(e):
            graph.add_node(
                _key(unique_id, name),
                unique_id=_printable(unique_id),
                column=_printable(name or ""),
                kind="column" if name else "rows",
            )
    for e in edges:
        source, target = _ends(e)
        graph.add_edge(
            _key(*source),
            _key(*target),
            type=e.type.value,
            subtype=e.subtype.value,
            masking=e.masking,
            certainty=e.certainty.value,
            expression=_printable(e.expression or ""),
        )
    return "\n".join(networkx.generate_graphml(graph)) + "\n"


def as_mermaid(lineage: Lineage, edges: Sequence[Edge]) -> str:
    """A Mermaid flowchart: a box for each node with its columns, dotted where it is indirect."""
    columns = _columns(edges)
    numbers: dict[_Column, str] = {}
    lines = ["flowchart LR"]
    for position, (unique_id, names) in enumerate(columns.items()):
        lines.append(f"  subgraph n{position}[{_mermaid(_name(lineage, unique_id))}]")
        for name in names:
            numbers[unique_id, name] = f"c{len(numbers)}"
            label = _mermaid(name if name is not None else "rows")
            lines.append(f"    {numbers[unique_id, name]}[{label}]")
        lines.append("  end")
    for (source, target), subtypes in _drawn(edges).items():
        arrow = "-->" if any(e.type is EdgeType.DIRECT for e in subtypes) else "-.->"
        label = _mermaid(", ".join(dict.fromkeys(_word(e) for e in subtypes)))
        lines.append(f"  {numbers[source]} {arrow}|{label}| {numbers[target]}")
    return "\n".join(lines) + "\n"


def as_dot(lineage: Lineage, edges: Sequence[Edge]) -> str:
    """A graph for Graphviz: a cluster for each node, dashed where it is indirect."""
    columns = _columns(edges)
    numbers: dict[_Column, str] = {}
    lines = ["digraph lineage {", "  rankdir=LR;", "  node [shape=box];"]
    for position, (unique_id, names) in enumerate(columns.items()):
        lines.append(f"  subgraph cluster_{position} {{")
        lines.append(f"    label={_dot(_name(lineage, unique_id))};")
        for name in names:
            numbers[unique_id, name] = f"c{len(numbers)}"
            label = _dot(name if name is not None else "rows")
            lines.append(f"    {numbers[unique_id, name]} [label={label}];")
        lines.append("  }")
    for (source, target), subtypes in _drawn(edges).items():
        style = "solid" if any(e.type is EdgeType.DIRECT for e in subtypes) else "dashed"
        label = _dot(", ".join(dict.fromkeys(_word(e) for e in subtypes)))
        lines.append(f"  {numbers[source]} -> {numbers[target]} [style={style}, label={label}];")
    return "\n".join([*lines, "}"]) + "\n"


def as_json(lineage: Lineage, edges: Sequence[Edge]) -> str:
    """One document with ``metadata`` and ``edges``, an edge a line."""
    metadata = json.dumps(metadata_of(lineage.project, lineage.options))
    found = [json.dumps(edge_to_dict(edge), ensure_ascii=False) for edge in edges]
    listed = ",".join(f"\n  {line}" for line in found)
    return f'{{\n "metadata": {metadata},\n "edges": [{listed}\n ]\n}}\n'


#: The forms that are text.
FORMS: dict[str, Callable[[Lineage, Sequence[Edge]], str]] = {
    "json": as_json,
    "csv": as_csv,
    "graphml": as_graphml,
    "mermaid": as_mermaid,
    "dot": as_dot,
}


def _ends(edge: Edge) -> tuple[_Column, _Column]:
    return (edge.from_node, edge.from_column), (edge.to_node, edge.to_column)


def _columns(edges: Iterable[Edge]) -> dict[str, list[str | None]]:
    found: dict[str, dict[str | None, None]] = {}
    for e in edges:
        for unique_id, name in _ends(e):
            found.setdefault(unique_id, {}).setdefault(name)
    return {unique_id: list(names) for unique_id, names in found.items()}


def _drawn(edges: Iterable[Edge]) -> dict[tuple[_Column, _Column], list[Edge]]:
    found: dict[tuple[_Column, _Column], list[Edge]] = {}
    for e in edges:
        found.setdefault(_ends(e), []).append(e)
    return found


def _word(edge: Edge) -> str:
    return edge.subtype.value.lower().replace("_", " ")


def _name(lineage: Lineage, unique_id: str) -> str:
    node = lineage.project.nodes.get(unique_id)
    return node.label_or_name if node is not None else unique_id


def _key(unique_id: str, column: str | None) -> str:
    return _printable(f"{unique_id}:{column or ''}")


def _printable(text: str) -> str:
    """Text that XML can hold."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text).encode("utf-8", "replace").decode()


def _mermaid(text: str) -> str:
    """A label: Mermaid knows entities by number alone, and ends a label at a quote or a line."""
    return '"' + re.sub(r"[^\w .:/-]", lambda c: f"#{ord(c[0])};", text) + '"'


def _dot(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{_CONTROL.sub(" ", escaped)}"'
