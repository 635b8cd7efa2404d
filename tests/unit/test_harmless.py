"""Statements that move no column are known and empty; those that do, or may, are not."""

from __future__ import annotations

import pytest

from lineage_post.trace import trace
from lineage_post.vocabulary import Reason, State

HARMLESS = (
    ("postgres", "vacuum t"), ("postgres", "create user u"), ("postgres", "drop publication p"),
    ("postgres", "create domain d as text check (value ~ 'x')"), ("postgres", "create type c"),
    ("postgres", "create unique index i on t (a)"), ("postgres", "explain select a from t"),
    ("mysql", "create fulltext index i on t (a)"),
    ("clickhouse", "truncate table if exists t sync"), ("clickhouse", "system reload models"),
    ("snowflake", "create or replace masking policy p as (v varchar) returns varchar -> v"),
    ("snowflake", "create or replace file format f type = csv"), ("snowflake", "put file:///x @s"),
    ("bigquery", "create row access policy p on t filter using (x)"),
    ("bigquery", "create or replace aggregate function f(a float64) returns float64 as (sum(a))"),
    ("tsql", "create login l with password = 'x'"), ("teradata", "collect statistics on t"),
    ("duckdb", "load spatial"), ("redshift", "create library l language plpythonu from 's3://x'"),
)  # fmt: skip
MOVING = (
    ("snowflake", "create stream s on table t"), ("snowflake", "create task x as select 1"),
    ("mysql", "create trigger x after insert on t for each row insert into u values (new.a)"),
    ("postgres", "create foreign table t (a int) server s"), ("bigquery", "call p()"),
    ("bigquery", "load data into t from files (format = 'CSV', uris = ['gs://x'])"),
    ("clickhouse", "alter table t replace partition 1 from u"), ("postgres", "copy t from '/x'"),
    ("postgres", "explain analyze insert into t select a from u"), ("redshift", "unload ('x') to 's3://x'"),
)  # fmt: skip


@pytest.mark.parametrize(("dialect", "sql"), HARMLESS)
def test_what_moves_no_column_is_known(dialect: str, sql: str) -> None:
    found = trace(sql, dialect=dialect, schema={})
    assert (found.state, found.edges, found.unknowns) == (State.KNOWN, (), ())


@pytest.mark.parametrize(("dialect", "sql"), MOVING)
def test_what_may_move_one_is_told(dialect: str, sql: str) -> None:
    found = trace(sql, dialect=dialect, schema={})
    assert (found.state, found.reason) == (State.UNKNOWN, Reason.UNSUPPORTED_SYNTAX)
