"""The queries and schemas of TPC-H and TPC-DS, from the extension packages, without a network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import duckdb


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark's tables ({table: {column: type}}) and its queries, in order."""

    name: str
    schema: dict[str, dict[str, str]]
    queries: tuple[str, ...]


@cache
def tpch() -> Benchmark:
    """TPC-H: 8 tables, 22 queries."""
    return _benchmark("tpch", "dbgen")


@cache
def tpcds() -> Benchmark:
    """TPC-DS: 24 tables, 99 queries."""
    return _benchmark("tpcds", "dsdgen")


def tables_of(benchmark: Benchmark, query: str) -> dict[str, dict[str, str]]:
    """The part of the schema whose tables the query names."""
    return {name: columns for name, columns in benchmark.schema.items() if name in query.lower()}


def _benchmark(name: str, maker: str) -> Benchmark:
    connection = duckdb.connect()
    connection.execute(f"load '{_extension(name)}'")
    connection.execute(f"call {maker}(sf = 0)")
    tables = connection.execute("select table_name from duckdb_tables() order by 1").fetchall()
    schema = {
        table: {row[0]: row[1] for row in connection.execute(f"describe {table}").fetchall()}
        for (table,) in tables
    }
    queries = connection.execute(f"select query from {name}_queries() order by query_nr").fetchall()
    connection.close()
    return Benchmark(name, schema, tuple(query for (query,) in queries))


def _extension(name: str) -> Path:
    spec = find_spec(f"duckdb_extension_{name}")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"duckdb-extension-{name} is not installed")
    home = Path(spec.submodule_search_locations[0])
    return home / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
