"""USING as ON: the merged column stays what the kind of join makes of it."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from tests.oracle.using import using_as_on

COLUMNS = {"d": ["k", "g"], "b": ["k", "v"], "q": ["k"]}
JOINED = "select k as k from d right join b using (k) group by 1"


def columns_of(source: exp.Expression) -> list[str] | None:
    return COLUMNS.get(source.alias_or_name)


@pytest.mark.parametrize("sql", (JOINED, f"select q.k from d, ({JOINED}) as q"))
def test_the_merged_column_of_a_right_join_is_that_of_the_right(sql: str) -> None:
    written = using_as_on(sqlglot.parse_one(sql, dialect="duckdb"), columns_of).sql("duckdb")
    assert "SELECT b.k__b AS k FROM d RIGHT JOIN" in written
    assert "USING" not in written
