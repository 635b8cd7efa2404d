"""A value that only the order of tied rows decides is told from one that SQL decides."""

from __future__ import annotations

import duckdb
import pytest

from tests.oracle.ties import with_random_ties

QUERY = """
    select k, v, lag(v) over (partition by k order by o rows 1 preceding) as before,
           list(v order by o) over (partition by k order by v rows unbounded preceding) as listed
    from t
"""


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("select lag(a) over (order by b) from t", "ORDER BY b, RANDOM()"),
        ("select first(a order by b) from t", "ORDER BY b, RANDOM()"),
        ("select sum(a) over (order by b rows 1 preceding) from t", "ORDER BY b, RANDOM()"),
        ("select rank() over (order by b) from t", None),
        ("select sum(a) over (order by b) from t order by a", None),
        ("select from", None),
    ],
)
def test_a_random_key_comes_last_where_rows_are_taken_one_by_one(
    sql: str, text: str | None
) -> None:
    found = with_random_ties(sql)
    assert text is None if found is None else text is not None and text in found


@pytest.mark.parametrize(("order", "results"), [("v", 1), ("0", 2)])
def test_a_random_key_moves_rows_that_tie_and_no_others(order: str, results: int) -> None:
    with duckdb.connect() as db:
        db.execute(f"create table t as select 1 as k, v, {order} as o from range(6) as r(v)")
        sql = with_random_ties(QUERY)
        assert sql is not None
        found = {str(sorted(db.execute(sql).fetchall())) for _ in range(20)}
        assert min(len(found), 2) == results
        if results == 1:
            assert found == {str(sorted(db.execute(QUERY).fetchall()))}
