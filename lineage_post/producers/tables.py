"""Rows of a JSON, JSON lines, CSV or Parquet file, as dicts."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lineage_post.errors import ArtifactError, LineageError


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file, by its ending. Raises ArtifactError naming the file and what is wrong."""
    kind = path.suffix.lower()
    readers = {
        ".csv": _csv,
        ".parquet": _parquet,
        ".json": _json,
        ".jsonl": _json,
        ".ndjson": _json,
    }
    if kind not in readers:
        raise ArtifactError(
            f"{path}: {kind or 'no ending'} is not known", hint=f"Use {', '.join(readers)}."
        )
    try:
        yield from readers[kind](path)
    except FileNotFoundError:
        raise ArtifactError(f"{path}: there is no such file", hint="Name another file.") from None
    except (OSError, ValueError, csv.Error, RecursionError) as error:
        raise ArtifactError(f"{path}: not readable: {error}", hint="Export it again.") from error


def _csv(path: Path) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(100_000_000)  # an access history has whole JSON documents in its cells
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from csv.DictReader(file)


def _parquet(path: Path) -> Iterator[dict[str, Any]]:
    try:
        import duckdb
    except ImportError:
        raise LineageError(f"{path}: duckdb reads Parquet", hint="pip install duckdb") from None
    with duckdb.connect(":memory:") as connection:
        connection.execute("set timezone = 'UTC'")
        try:
            found = connection.execute("select * from read_parquet(?)", [str(path)])
        except duckdb.Error as error:
            raise ValueError(str(error).splitlines()[0]) from error
        names = [column[0] for column in found.description or ()]
        while batch := found.fetchmany(1000):
            yield from (dict(zip(names, row, strict=True)) for row in batch)


def _json(path: Path) -> Iterator[dict[str, Any]]:
    """One array, one object, or an object a line."""
    text = path.read_text("utf-8-sig")
    try:
        document = json.loads(text)
    except ValueError:
        yield from _json_lines(text)
        return
    for row in document if isinstance(document, list) else [document]:
        yield _object(row)


def _json_lines(text: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from error
            yield _object(row)


def _object(row: Any) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise ValueError(f"{type(row).__name__} where an object should be")
    return row
