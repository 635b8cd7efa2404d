"""A value that only the order of tied rows decides is no influence."""

from __future__ import annotations

import pytest

from tests.oracle.check import claims_of_query, screen
from tests.oracle.generator import SCHEMA
from tests.oracle.ties import with_random_ties

#: Found by the fuzzer: what sorts for the first window decides among ties of the second.
TIED = (
    "select (max(q1.g) over (partition by q1.k order by g, q1.g rows between 1 preceding and "
    "current row))::int as k, (lag(e) over (partition by q1.k order by q3.k, (arr)[1] rows "
    "between 1 preceding and current row))::int as w, e as v from d as q1 cross join "
    "unnest(q1.arr) as q2(e) inner join a as q3 on q1.k = q3.k qualify (lag(g) over (order by "
    "q3.k, case when q3.s like '%b%' then v else q1.g end rows between 1 preceding and "
    "current row))::int = 1 order by 3 desc, 1, 2, 3 limit 3 "
).strip()


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("select lag(a) over (order by b) from t", "ORDER BY b, RANDOM()"),
        ("select first(a order by b) from t", "ORDER BY b, RANDOM()"),
        ("select sum(a) over (order by b rows 1 preceding) from t", "ORDER BY b, RANDOM()"),
        ("select rank() over (order by b) from t", None),
        ("select sum(a) over (order by b) from t order by a", None),
    ],
)
def test_a_random_key_is_the_last_where_rows_come_one_by_one(sql: str, text: str | None) -> None:
    found = with_random_ties(sql)
    assert text is None if found is None else text is not None and text in found


def test_the_order_of_tied_rows_is_no_miss() -> None:
    schema = {table: dict(columns) for table, columns in SCHEMA.items()}
    found = screen(TIED, schema, claims_of_query(TIED, schema), seed=len(TIED), trials=4)
    assert found.seen.counts["tie"] == 1
    assert not found.verdict.misses
