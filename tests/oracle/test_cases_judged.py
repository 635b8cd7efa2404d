"""The cases' own answers judged by running them on DuckDB, and the oracle put to the test."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from lineage_post.vocabulary import Subtype
from tests.cases.reading import all_cases
from tests.oracle.check import Checked, check
from tests.oracle.claims import claims_of_case, claims_of_edges
from tests.oracle.from_cases import Runnable, runnable_cases
from tests.oracle.judge import judge

TRIALS = 4
MORE_FOR_SUSPECTS = 48
FORMS = runnable_cases(all_cases())
#: Of the edges of one kind, so many in a hundred must be missed when they are deleted. A sort that
#: only orders what it sorts by, or a condition that is also the value, leaves nothing to see. The
#: copies that are not noticed decide rows as well: UNION, UNPIVOT, DISTINCT ON, recursion.
NOTICED = {
    Subtype.IDENTITY: 88, Subtype.TRANSFORMATION: 85, Subtype.AGGREGATION: 90, Subtype.FILTER: 85,
    Subtype.JOIN: 85, Subtype.GROUP_BY: 50, Subtype.WINDOW: 75, Subtype.CONDITIONAL: 80,
    Subtype.SORT: 40,
}  # fmt: skip


@cache
def checked(number: int) -> Checked:
    form = FORMS[number]
    claims = claims_of_case(form.case.expected, form.schema)
    return check(
        form.sql,
        form.schema,
        claims,
        trials=TRIALS,
        more=MORE_FOR_SUSPECTS,
        explained=form.explained(),
        dialect=form.dialect,
    )


def named(number: int) -> str:
    return f"{FORMS[number].case.topic}-{FORMS[number].case.id}"


@pytest.mark.parametrize("number", range(len(FORMS)), ids=named)
def test_the_execution_of_a_case_agrees_with_its_expected_lineage(number: int) -> None:
    form, result = FORMS[number], checked(number)
    assert not result.verdict.misses, f"{form.sql}\n\n{result.report()}"
    unexplained = [str(claim) for claim in result.verdict.suspects if claim not in form.explained()]
    assert not unexplained, f"{form.sql}\nnever seen: {unexplained}"


def test_most_cases_are_judged() -> None:
    assert len(FORMS) >= 250


def test_the_oracle_notices_when_an_edge_is_deleted() -> None:
    deleted: Counter[Subtype] = Counter()
    noticed: Counter[Subtype] = Counter()
    for number, form in enumerate(FORMS):
        for kind, is_noticed in deletions(form, checked(number)):
            deleted[kind] += 1
            noticed[kind] += is_noticed
    table = [f"{kind:15} {noticed[kind]:4} of {deleted[kind]:4} noticed" for kind in Subtype]
    print("\n".join(table))
    short = [k for k in Subtype if noticed[k] * 100 < NOTICED[k] * deleted[k]]
    assert not short, "\n".join(table)


def deletions(form: Runnable, result: Checked) -> list[tuple[Subtype, bool]]:
    """Each edge of a case deleted alone: its kind, and whether a miss was found."""
    expected = form.case.expected
    answers = []
    for edge in expected.edges:
        gone = claims_of_edges([edge], expected.outputs, form.schema)
        verdict = judge(result.seen, result.claims.without(gone))
        answers.append((sorted(edge.subtypes)[0], bool(verdict.misses)))
    return answers
