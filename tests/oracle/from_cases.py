"""Which cases DuckDB can run, and how."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

import sqlglot

from tests.cases.notation import edges_of, name_parts
from tests.cases.reading import Case
from tests.oracle.claims import Claim, claims_of_edges
from tests.oracle.database import table_key

_QUERIES = (None, "select")


@dataclass(frozen=True, slots=True)
class Runnable:
    """A case as DuckDB runs it: ``schema`` has table keys and types of ``dialect``."""

    case: Case
    sql: str
    schema: dict[str, dict[str, str]]
    dialect: str

    def explained(self) -> set[Claim]:
        """The claims that the case says are never seen, and those that need not be there."""
        edges = [edge for line in self.case.suspect for edge in edges_of(line)]
        edges += self.case.expected.accept
        return set(claims_of_edges(edges, self.case.expected.outputs, self.schema))


def runnable_cases(cases: Iterable[Case]) -> list[Runnable]:
    """One form of every case that the oracle judges: DuckDB's own before a translation."""
    chosen = []
    for _, variants in groupby(cases, key=lambda case: case.id):
        found = sorted(filter(_is_judged, variants), key=lambda case: case.dialect != "duckdb")
        if found:
            chosen.append(_runnable(found[0]))
    return chosen


def _is_judged(case: Case) -> bool:
    """Queries over declared tables whose whole answer is known; the others have nothing to run."""
    expected = case.expected
    return (
        not case.oracle
        and bool(case.schema)
        and len(case.statements) == 1
        and expected.operation in _QUERIES
        and expected.target is None
        and not expected.unknown
        and not any(edge.assumed for edge in expected.edges)
        and not case.arguments.keys() & {"stop_at", "commands"}
    )


def _runnable(case: Case) -> Runnable:
    schema = {
        table_key(name_parts(table)): {name: text or "integer" for name, text in columns.items()}
        for table, columns in case.schema.items()
    }
    if case.duckdb:
        return Runnable(case, case.duckdb, schema, case.dialect)
    if case.dialect == "duckdb":
        return Runnable(case, case.sql, schema, "duckdb")
    level = sqlglot.ErrorLevel.RAISE
    translated = sqlglot.transpile(
        case.sql, read=case.dialect, write="duckdb", unsupported_level=level
    )
    return Runnable(case, translated[0], schema, case.dialect)
