"""Reads the case files: see README.md beside them for the keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.cases.notation import ExpectedEdge, columns_of, edges_of

HERE = Path(__file__).parent
_STATEMENT_KEYS = {
    "outputs", "edges", "accept", "unknown", "open", "state", "operation", "target",
    "expressions", "ops",
}  # fmt: skip
_CASE_KEYS = _STATEMENT_KEYS | {
    "id", "title", "dialect", "schema", "sql", "statements", "commands", "masking_functions",
    "stop_at", "note", "source", "suspect", "oracle", "duckdb",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Expected:
    """The right answer for one statement."""

    outputs: tuple[str, ...]
    edges: tuple[ExpectedEdge, ...]
    accept: tuple[ExpectedEdge, ...]
    unknown: Mapping[str, tuple[str, ...]]
    is_open: bool
    state: str | None
    operation: str | None
    target: str | None
    expressions: Mapping[str, str]
    ops: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Case:
    """One case in one dialect."""

    id: str
    title: str
    topic: str
    dialect: str
    schema: Mapping[str, Mapping[str, str | None]]
    sql: str
    statements: tuple[Expected, ...]
    arguments: Mapping[str, Any]
    suspect: Mapping[str, str]
    oracle: str | None
    duckdb: str | None

    @property
    def expected(self) -> Expected:
        return self.statements[0]


@cache
def all_cases() -> tuple[Case, ...]:
    """Every case of every file, once for each of its dialects, in the order of the files."""
    cases = tuple(case for path in sorted(HERE.glob("*.yml")) for case in _cases_of(path))
    ids = [f"{case.id}/{case.dialect}" for case in cases]
    twice = {name for name in ids if ids.count(name) > 1} if len(set(ids)) < len(ids) else set()
    if twice:
        raise ValueError(f"ids used twice: {sorted(twice)}")
    return cases


def _cases_of(path: Path) -> Iterator[Case]:
    for entry in yaml.safe_load(path.read_text(encoding="utf-8")) or ():
        try:
            yield from _cases_of_entry(path.stem, entry)
        except (KeyError, ValueError, TypeError) as fault:
            raise ValueError(f"{path.name}, case {entry.get('id')}: {fault}") from fault


def _cases_of_entry(topic: str, entry: Mapping[str, Any]) -> Iterator[Case]:
    if strange := set(entry) - _CASE_KEYS:
        raise ValueError(f"unknown keys {sorted(strange)}")
    dialects = entry["dialect"] if isinstance(entry["dialect"], list) else [entry["dialect"]]
    for dialect in dialects:
        yield Case(
            id=entry["id"],
            title=entry["title"],
            topic=topic,
            dialect=dialect,
            schema={name: columns_of(text) for name, text in (entry.get("schema") or {}).items()},
            sql=entry["sql"],
            statements=tuple(_expected(one) for one in entry.get("statements", (entry,))),
            arguments={
                key: entry[key]
                for key in ("commands", "masking_functions", "stop_at")
                if key in entry
            },
            suspect=entry.get("suspect") or {},
            oracle=entry.get("oracle"),
            duckdb=entry.get("duckdb"),
        )


def _expected(entry: Mapping[str, Any]) -> Expected:
    if strange := [name for name in entry.get("outputs") or () if not isinstance(name, str)]:
        raise ValueError(f"outputs must be texts, not {strange}: quote them")
    return Expected(
        outputs=tuple(entry.get("outputs") or ()),
        edges=edges_of(entry.get("edges") or ""),
        accept=edges_of(entry.get("accept") or ""),
        unknown={
            column: tuple(reasons.split("|"))
            for column, reasons in (entry.get("unknown") or {}).items()
        },
        is_open=entry.get("open", False),
        state=entry.get("state"),
        operation=entry.get("operation"),
        target=entry.get("target"),
        expressions=entry.get("expressions") or {},
        ops={edge: tuple(names) for edge, names in (entry.get("ops") or {}).items()},
    )
