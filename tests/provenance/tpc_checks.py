"""One TPC query examined: what the full run reports and what the small one asserts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from tests.provenance.checks import Examined, is_same
from tests.provenance.engines import Row


@dataclass
class Record:
    """What was found of one query; ``unwitnessed`` rows are reported to have no witness."""

    number: int
    rows: int = 0
    same: bool = False
    sufficient: int = 0
    necessary: int = 0
    examined: int = 0
    unwitnessed: int = 0
    claims: int = 0
    wrong_claims: int = 0
    error: str = ""

    @property
    def is_fine(self) -> bool:
        return (
            not self.error
            and self.same
            and self.sufficient == self.examined
            and self.necessary + self.unwitnessed == self.examined
            and not self.wrong_claims
        )


def examine(
    connection: duckdb.DuckDBPyConnection, number: int, sql: str, *, rows: int = 5
) -> Record:
    """A query, and up to ``rows`` of its rows."""
    record = Record(number)
    try:
        examined = Examined(connection, sql)
        record.rows, record.same = len(examined.original), examined.same_bag()
        for row in _some(examined.rows, rows):
            witnesses = examined.witnesses(row)
            record.examined += 1
            record.sufficient += examined.is_sufficient(row, witnesses)
            if not witnesses:
                record.unwitnessed += 1
            else:
                record.necessary += examined.is_necessary(row, witnesses)
        _claims(connection, sql, rows, record)
    except Exception as error:
        record.error = f"{type(error).__name__}: {str(error)[:200]}"
    return record


def _claims(connection: duckdb.DuckDBPyConnection, sql: str, rows: int, record: Record) -> None:
    celled = Examined(connection, sql, cells=True)
    if not celled.same_bag():
        record.error = "with cells the rows differ"
    for value, source in celled.claims(_some(celled.rows, rows)):
        record.claims += 1
        record.wrong_claims += not is_same(value, source)


def _some(rows: Sequence[Row], most: int) -> Sequence[Row]:
    return random.Random(5).sample(list(rows), min(most, len(rows)))
