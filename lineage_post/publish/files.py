"""Rows in files, for a load that another process makes: one JSON object a line, a file a table."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from lineage_post import fast_json
from lineage_post.errors import ArtifactError
from lineage_post.publish.load import TIME
from lineage_post.publish.tables import Row, Rows
from lineage_post.publish.text_file import write_parts

#: Below ``target/``; the macros know it too.
DIRECTORY = Path("lineage_post") / "rows"
_TIMES = frozenset({"refreshed_at", "recorded_at"})


def write_rows(rows: Rows, target_path: Path) -> Path:
    """Writes a file for each table under ``target/lineage_post/rows``, and returns that folder."""
    return write_rows_to(rows, target_path / DIRECTORY)


def write_rows_to(rows: Rows, directory: Path) -> Path:
    """Writes a file for each table into a folder, and returns it."""
    for table, row_class, table_rows in rows.tables():
        columns = row_class._fields
        lines = [fast_json.dumps(dict(zip(columns, row)), default=_written) for row in table_rows]
        write_parts(directory / f"{table}.jsonl", [b"\n".join([*lines, b""])])
    return directory


def read_rows(directory: Path) -> Rows:
    """The rows that write_rows wrote. Raises ArtifactError naming the file and the line."""
    found: dict[str, tuple[Any, ...]] = {}
    for table, row_class, _ in Rows().tables():
        path = directory / f"{table}.jsonl"
        if not path.is_file():
            raise ArtifactError(
                f"{path}: there are no rows to load", hint="Run lineage-post build first."
            )
        found[table.removeprefix("lineage_")] = tuple(_rows(path, row_class))
    return Rows(**found)


def _rows(path: Path, row_class: type[Row]) -> Iterator[Row]:
    names = row_class._fields
    later = row_class._field_defaults
    # Not splitlines: JSON leaves separators such as U+2028 in a text as they are.
    for number, line in enumerate(path.read_bytes().rstrip(b"\n").split(b"\n"), start=1):
        if not line and number == 1:
            return
        try:
            # A column that came with a later version is not in the files of an earlier one.
            values = {**later, **fast_json.loads(line)}
            yield row_class(**{name: _value(name, values[name]) for name in names})
        except (KeyError, TypeError, ValueError) as error:
            raise ArtifactError(
                f"{path}, line {number}: not a row of {path.stem}: {error!r}",
                hint="Run lineage-post build again.",
            ) from error


def _written(time: datetime) -> str:
    return time.strftime(TIME)


def _value(name: str, value: Any) -> Any:
    return datetime.strptime(value, TIME) if name in _TIMES and value is not None else value
