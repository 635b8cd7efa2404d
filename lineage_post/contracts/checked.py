"""The contracts of a project, each held against its lineage, with file and line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lineage_post.consumers.yaml_places import Places
from lineage_post.contracts.contract import column_of
from lineage_post.contracts.declared import ContractTest, Outcome
from lineage_post.contracts.evaluate import Evaluator
from lineage_post.contracts.finding import Finding


@dataclass(frozen=True, slots=True)
class Check:
    """A test and what it found. ``line`` counts from 1, None where it is not known."""

    test: ContractTest
    column: str | None
    findings: tuple[Finding, ...]
    outcome: Outcome
    file: str
    line: int | None

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Checked:
    """All contracts, by file and name."""

    checks: tuple[Check, ...]

    def count(self, outcome: Outcome) -> int:
        return sum(check.outcome is outcome for check in self.checks)


def checked(evaluator: Evaluator, tests: Iterable[ContractTest], places: Places) -> Checked:
    """What each test finds, and where it stands."""
    return Checked(tuple(_check(evaluator, test, places) for test in tests))


def _check(evaluator: Evaluator, test: ContractTest, places: Places) -> Check:
    arguments = dict(test.test.details.get("kwargs") or {})
    if test.test.details.get("column"):
        arguments["column_name"] = test.test.details["column"]
    findings = evaluator.findings(test.kind, test.attached, arguments)
    where = places.of_test(test.test)
    return Check(
        test,
        column_of(arguments),
        findings,
        test.outcome(len(findings)),
        where.file,
        where.line,
    )
