"""Column lineage for dbt Docs v2, in the Parquet files that dbt 2 writes and its page reads.

Two layouts are known: ``target/index/`` (``dbt.column_lineage.parquet`` and
``dbt.node_columns.parquet``; https://github.com/dbt-labs/dbt-core, crates/dbt-index-core) and the
newer ``target/info_schema/v1/``, which is experimental here: no dbt that writes it has been run.
A folder that is not there is never made. What dbt itself says of a node stays as it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lineage_post.errors import LineageError
from lineage_post.lineage import Lineage
from lineage_post.values import Edge
from lineage_post.vocabulary import EdgeType, Subtype

#: The key in a Parquet file's own metadata that lists the nodes whose edges are ours.
MARK = "lineage_post_nodes"
#: Resource types that the page has columns of.
TYPES = frozenset({"model", "source", "seed", "snapshot"})


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the files are, and what each of our columns is called in them."""

    folder: Path
    edge: Mapping[str, str]
    column: Mapping[str, str]
    is_experimental: bool = False

    @property
    def lineage_file(self) -> Path:
        return self.folder / "dbt.column_lineage.parquet"

    @property
    def columns_file(self) -> Path:
        return self.folder / "dbt.node_columns.parquet"


@dataclass(frozen=True, slots=True)
class Written:
    """The files that were written, and of how many nodes dbt's own edges were kept."""

    files: tuple[Path, ...] = ()
    kept: int = 0
    is_experimental: bool = False


def layouts_in(target: Path) -> list[Layout]:
    """The layouts whose folders dbt has made."""
    index = Layout(
        target / "index",
        {
            "from_node": "from_node_unique_id",
            "from_column": "from_column_name",
            "to_node": "to_node_unique_id",
            "to_column": "to_column_name",
            "kind": "lineage_kind",
        },
        {"node": "unique_id", "inferred": "inferred_type", "resolved": "data_type"},
    )
    newer = Layout(
        target / "info_schema" / "v1",
        {
            "from_node": "parent_node_unique_id",
            "from_column": "parent_column_name",
            "to_node": "child_node_unique_id",
            "to_column": "child_column_name",
            "kind": "evolution",
        },
        {"node": "node_unique_id", "inferred": "data_type_inferred"},
        is_experimental=True,
    )
    # The page itself asks for the nodes: a folder without them is of something else.
    return [x for x in (index, newer) if any(x.folder.glob("dbt.*.parquet"))]


def write_index(
    lineage: Lineage, layout: Layout, *, overwrite: bool = False, now: datetime | None = None
) -> Written:
    """Adds the column lineage of a project to the files of a layout.

    Nodes that dbt has edges of keep dbt's, unless ``overwrite``. Columns that are missing are
    added to the columns' file. Raises LineageError where duckdb, which writes Parquet, is not
    installed.
    """
    try:
        import duckdb
    except ImportError:
        raise LineageError(
            f"{layout.folder}: duckdb is needed to write dbt's Parquet files",
            hint="pip install duckdb",
        ) from None
    stamp = (now or datetime.now(timezone.utc)).astimezone(timezone.utc)
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        connection.execute("set timezone = 'UTC'")
        files = Files(connection, layout, stamp)
        kept = files.write_edges(lineage, overwrite=overwrite)
        written = [layout.lineage_file]
        if files.add_columns(lineage):
            written.append(layout.columns_file)
    return Written(tuple(written), kept, layout.is_experimental)


class Files:
    """The Parquet files of one layout, through one connection to DuckDB."""

    def __init__(self, connection: Any, layout: Layout, stamp: datetime) -> None:
        self.connection = connection
        self.layout = layout
        self.stamp = stamp

    def write_edges(self, lineage: Lineage, *, overwrite: bool) -> int:
        """Writes dbt's edges and ours; gives back of how many nodes dbt's were kept."""
        names = self.layout.edge
        theirs = [] if overwrite else self._edges_of_dbt()
        have = {row[2] for row in theirs}
        ours = [row for row in edge_rows(lineage) if row[2] not in have]
        columns = ", ".join(f"{_quoted(n)} varchar not null" for n in names.values())
        self.connection.execute(f"create table edges ({columns}, ingested_at timestamptz not null)")
        rows = [(*row, stamp) for *row, stamp in theirs] + [(*row, self.stamp) for row in ours]
        self._insert("edges", [*["varchar"] * len(names), "timestamptz"], sorted(rows))
        self._copy("edges", self.layout.lineage_file, sorted({row[2] for row in ours}))
        return len(have)

    def _edges_of_dbt(self) -> list[tuple[Any, ...]]:
        path = self.layout.lineage_file
        if not path.is_file():
            return []
        ours = _marked(self.connection, path)
        listed = ", ".join(_quoted(name) for name in self.layout.edge.values())
        rows = self.connection.execute(
            f"select {listed}, ingested_at from read_parquet(?)", [str(path)]
        ).fetchall()
        return [row for row in rows if row[2] not in ours]

    def add_columns(self, lineage: Lineage) -> bool:
        """Adds the columns that are missing, and the position and type that a column lacks;
        whether there was anything to add."""
        path = self.layout.columns_file
        if not path.is_file():
            return False
        self.connection.execute("create table columns as from read_parquet(?)", [str(path)])
        described = self.connection.execute("describe columns").fetchall()
        types = {str(name): str(kind) for name, kind, *_ in described}
        rows = [
            tuple(self._value(name, kind, row) for name, kind in types.items())
            for row in column_rows(lineage)
        ]
        self.connection.execute("create table ours as from columns limit 0")
        self._insert("ours", list(types.values()), rows)
        if not self._complete(types):
            return False
        self._copy("columns", path, None)
        return True

    def _complete(self, types: Mapping[str, str]) -> int:
        """Brings ``ours`` into ``columns``; gives back how many rows that changed."""
        names = self.layout.column
        node = _quoted(names["node"])
        is_same = (
            f"columns.{node} = ours.{node} and lower(columns.column_name) = lower(ours.column_name)"
        )
        filled = [
            _quoted(name)
            for name in ("column_index", names["inferred"], names.get("resolved", ""))
            if name in types
        ]
        sets = ", ".join(f"{n} = coalesce(columns.{n}, ours.{n})" for n in filled)
        lacks = " or ".join(f"(columns.{n} is null and ours.{n} is not null)" for n in filled)
        updated = self.connection.execute(
            f"update columns set {sets} from ours where {is_same} and ({lacks})"
        ).fetchone()
        added = self.connection.execute(
            f"insert into columns from ours where not exists (from columns where {is_same})"
        ).fetchone()
        return int(updated[0]) + int(added[0])

    def _value(self, name: str, kind: str, row: Mapping[str, Any]) -> Any:
        """What one of the file's columns has of a row of ours; lists are never null in it."""
        by_name = {
            self.layout.column["node"]: row["node"],
            "column_name": row["name"],
            "column_index": row["index"],
            self.layout.column["inferred"]: row["type"],
            self.layout.column.get("resolved", ""): row["type"],
            "ingested_at": self.stamp,
        }
        return by_name.get(name, [] if kind.endswith("[]") else None)

    def _insert(self, table: str, types: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
        """A list a column and one statement: row by row takes minutes where this takes a second."""
        if rows:
            places = ", ".join(f"unnest(?::{kind}[])" for kind in types)
            columns = [list(column) for column in zip(*rows, strict=True)]
            self.connection.execute(f"insert into {table} select {places}", columns)

    def _copy(self, table: str, path: Path, nodes: list[str] | None) -> None:
        """Writes a file whole or not at all: the page may be reading the one that is there."""
        half = path.with_name(f"{path.name}.tmp")
        mark = "" if nodes is None else f", kv_metadata {{{MARK}: {_literal(json.dumps(nodes))}}}"
        self.connection.execute(
            f"copy {table} to {_literal(str(half))} (format parquet, compression zstd{mark})"
        )
        os.replace(half, path)


def marked_nodes(path: Path) -> frozenset[str]:
    """The nodes whose edges in a file are ours, not dbt's."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        return _marked(connection, path)


def _marked(connection: Any, path: Path) -> frozenset[str]:
    found = connection.execute(
        "select value from parquet_kv_metadata(?) where key = ?", [str(path), MARK.encode()]
    ).fetchone()
    return frozenset(json.loads(bytes(found[0]).decode())) if found else frozenset()


def edge_rows(lineage: Lineage) -> Iterator[tuple[str, str, str, str, str]]:
    """Edges as dbt has them: from node and column, to node and column, kind, sorted and once.

    ``copy`` is an identity, ``mod`` another value edge, ``scan`` an indirect one. Edges that touch
    whole rows have no target column there, and are left out.
    """
    found: dict[tuple[str, str, str, str], str] = {}
    for edge in lineage.edges():
        if edge.to_column is None or not _is_of_the_page(lineage, edge):
            continue
        key = (edge.from_node, edge.from_column, edge.to_node, edge.to_column)
        kind = _kind(edge)
        # One edge between two columns: a value says more than an influence, a change than a copy.
        found[key] = max(found.get(key, kind), kind, key=("scan", "copy", "mod").index)
    for key, kind in sorted(found.items()):
        yield (*key, kind)


def _is_of_the_page(lineage: Lineage, edge: Edge) -> bool:
    nodes = (lineage.project.nodes.get(n) for n in (edge.from_node, edge.to_node))
    if not lineage.is_published(edge.to_node):
        return False
    return all(node is not None and node.resource_type in TYPES for node in nodes)


def _kind(edge: Edge) -> str:
    if edge.subtype is Subtype.IDENTITY:
        return "copy"
    return "mod" if edge.type is EdgeType.DIRECT else "scan"


def column_rows(lineage: Lineage) -> Iterator[dict[str, Any]]:
    """Columns of the nodes the page knows: node, name, index (from 0), type."""
    for unique_id in sorted(lineage.nodes):
        node = lineage.project.nodes.get(unique_id)
        if node is None or node.resource_type not in TYPES or not lineage.is_published(unique_id):
            continue
        for column in lineage.nodes[unique_id].columns:
            if column.is_column and column.name and column.ordinal:
                yield {
                    "node": unique_id,
                    "name": column.name,
                    "index": column.ordinal - 1,
                    "type": column.data_type,
                }


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
