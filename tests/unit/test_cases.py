"""Every case of tests/cases, in each of its dialects."""

from __future__ import annotations

import pytest

from lineage_post.trace import trace, trace_script
from tests.cases.comparing import differences
from tests.cases.reading import Case, all_cases


def named(case: Case) -> str:
    return f"{case.topic}-{case.id}-{case.dialect}"


@pytest.mark.parametrize("case", all_cases(), ids=named)
def test_the_trace_of_a_case_is_exactly_its_expected_lineage(case: Case) -> None:
    if len(case.statements) > 1:
        traces = trace_script(case.sql, dialect=case.dialect, schema=case.schema, **case.arguments)
    else:
        traces = (trace(case.sql, dialect=case.dialect, schema=case.schema, **case.arguments),)
    assert len(traces) == len(case.statements)
    wrong = [
        line
        for expected, answer in zip(case.statements, traces, strict=True)
        for line in differences(expected, answer)
    ]
    assert not wrong, f"{case.title}\n\n{case.sql}\n  " + "\n  ".join(wrong)


def test_there_are_at_least_300_cases_in_all_dialects() -> None:
    cases = all_cases()
    dialects = {case.dialect for case in cases}
    assert len({case.id for case in cases}) >= 300
    assert dialects >= {
        "duckdb", "postgres", "snowflake", "bigquery", "databricks", "spark", "redshift", "tsql",
        "fabric", "trino", "athena", "clickhouse", "mysql", "oracle",
    }  # fmt: skip
