"""The databases of these tests: small tables, and TPC-H and TPC-DS from DuckDB's extensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import yaml

HERE = Path(__file__).parent
Row = Sequence[Any]


@dataclass(frozen=True)
class Case:
    """A query and what holds for it."""

    name: str
    sql: str
    monotone: bool = False
    refused: tuple[str, int] | None = None


def cases() -> list[Case]:
    listed = yaml.safe_load((HERE / "cases.yml").read_text(encoding="utf-8"))
    return [
        Case(
            name,
            case["sql"],
            case.get("monotone", False),
            tuple(case["refused"]) if "refused" in case else None,
        )
        for name, case in listed.items()
    ]


def small() -> duckdb.DuckDBPyConnection:
    """The tables of ``tables.sql``."""
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    connection.execute((HERE / "tables.sql").read_text(encoding="utf-8"))
    return connection


def tpc(which: str, scale: float = 0.01) -> duckdb.DuckDBPyConnection:
    """TPC-H (``h``) or TPC-DS (``ds``) data, generated offline, in 2 GB of memory."""
    module = import_module(f"duckdb_extension_tpc{which}")
    [extension] = Path(str(module.__file__)).parent.rglob(f"tpc{which}.duckdb_extension")
    connection = duckdb.connect(config={"allow_unsigned_extensions": True})
    connection.execute("set threads = 2; set memory_limit = '2GB'")
    connection.execute(f"load '{extension}'")
    connection.execute(f"call {'dbgen' if which == 'h' else 'dsdgen'}(sf = {scale})")
    return connection


def tpc_queries(connection: duckdb.DuckDBPyConnection, which: str) -> dict[int, str]:
    rows = connection.execute(f"from tpc{which}_queries()").fetchall()
    return {int(number): str(sql).strip().rstrip(";") for number, sql in rows}


def schema_of(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str | None]]:
    """Columns and types of the tables of ``main``."""
    found: dict[str, dict[str, str | None]] = {}
    for table, column, data_type in connection.execute(
        "select table_name, column_name, data_type from information_schema.columns"
        " where table_schema = 'main' order by table_name, ordinal_position"
    ).fetchall():
        found.setdefault(table, {})[column] = data_type
    return found
