"""The predicate: a condition over the model's columns, and nothing else."""

from __future__ import annotations

import pytest

from lineage_post.provenance.predicate import checked
from lineage_post.provenance.refusal import Refusal

COLUMNS = ("order_id", "Status", "amount", "placed_at")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("order_id = 42", '"order_id" = 42'),
        ("ORDER_ID in (1, 2) and status = 'a;--'", '"order_id" IN (1, 2) AND "Status" = \'a;--\''),
        ("orders.amount between -1 and 1.5e3", '"amount" BETWEEN -1 AND 1.5e3'),
        ("placed_at >= date '2024-01-01'", "\"placed_at\" >= CAST('2024-01-01' AS DATE)"),
        (
            "lower(status) like 'a%' or amount is null",
            'LOWER("Status") LIKE \'a%\' OR "amount" IS NULL',
        ),
        ("true", "TRUE"),
        ("order_id = 1 /* ; drop table orders */", '"order_id" = 1 /* ; drop table orders */'),
    ],
)
def test_a_condition_over_columns_is_taken(text: str, expected: str) -> None:
    assert checked(text, COLUMNS, "duckdb", names=["orders"]).sql("duckdb") == expected


@pytest.mark.parametrize(
    "text",
    [
        "order_id = 1; drop table orders",
        "order_id in (select order_id from refunds)",
        "exists (select 1)",
        "order_id = 1 union select 1",
        "nosuch = 1",
        "customers.order_id = 1",
        "read_csv('/etc/passwd') is not null",
        "pg_sleep(10) is null",
        "nextval('s') > 0",
        "random() < 0.5",
        "sum(amount) > 1",
        "row_number() over () = 1",
        "order_id = $1",
        "order_id = ?",
        "current_user = 'x'",
        "42",
        "'x'",
        "",
        "order_id = ",
        "copy orders to 'x'",
        "order_id = '1'::evil",
        "order_id = cast('pg_class' as regclass)",
        "order_id between 1 and (select 2)",
        "status in unnest(['a'])",
        "order_id = any(select 1)",
        "order_id = (values (1))",
        "case when (select 1) = 1 then true end",
        "order_id = {{ this }}",
        "{% set x = 1 %} true",
        "order_id = :name",
        "order_id = @@version",
        "order_id = %(name)s",
        "order_id = 1) or (1 = 1",
        "order_id = 1 limit 1",
        "order_id = 1 order by 1",
        "true from orders",
        "order_id as x",
        "x := 1",
        "status ~ '(a+)+$'",
        "repeat(status, 1000000000) is null",
        "(" * 3000 + "order_id = 1" + ")" * 3000,
        "*",
    ],
)
@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "snowflake", "bigquery"])
def test_anything_else_is_refused(text: str, dialect: str) -> None:
    with pytest.raises(Refusal):
        checked(text, COLUMNS, dialect, names=["orders"])
