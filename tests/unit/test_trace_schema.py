"""How a name in SQL finds a relation of the schema, and a name its column."""

from __future__ import annotations

import pytest

from lineage_post.errors import OptionError
from lineage_post.trace import SchemaIndex, trace
from lineage_post.trace.dialects import ADAPTER_DIALECTS, dialect_of, rules_of
from lineage_post.trace.schema_index import ABSENT, AMBIGUOUS, Names, split_name


def index_with(*names: tuple[str, ...], dialect: str = "duckdb") -> SchemaIndex:
    index = SchemaIndex(dialect)
    for parts in names:
        index.add(parts, {"id": "int"})
    return index


def key(index: SchemaIndex, *parts: str) -> str | None:
    entry = index.find(parts)
    return None if entry is None else entry.key


def test_a_full_name_is_found_exactly_before_it_is_found_without_case() -> None:
    index = index_with(("db", "s", "t"), ("db", "s", "T"))
    assert key(index, "db", "s", "T") == "db.s.T"
    assert key(index_with(("DB", "S", "T")), "db", "s", "t") == "DB.S.T"


def test_a_short_name_finds_a_relation_only_if_it_is_the_only_one() -> None:
    assert key(index_with(("raw", "orders")), "orders") == "raw.orders"
    assert key(index_with(("raw", "orders"), ("mart", "orders")), "orders") is None


def test_a_longer_name_finds_a_relation_that_was_given_with_fewer_parts() -> None:
    assert key(index_with(("orders",)), "db", "raw", "orders") == "orders"
    assert key(index_with(("mart", "orders")), "db", "raw", "orders") is None


def test_adding_a_relation_again_replaces_its_columns() -> None:
    index = index_with(("raw", "orders"))
    index.add(("raw", "orders"), {"sku": "text"}, key="model.shop.orders")
    found = index.find(("orders",))
    assert found is not None
    assert (found.key, found.columns) == ("model.shop.orders", ("sku",))


def test_an_incomplete_relation_stays_open_for_other_names() -> None:
    index = SchemaIndex("duckdb")
    index.add(("raw", "orders"), {"id": "int"}, complete=False)
    found = trace("select id, note from raw.orders", dialect="duckdb", schema=index)
    assert [e.source.column for e in found.edges] == ["id", "note"]
    star = trace("select * from raw.orders", dialect="duckdb", schema=index)
    assert star.open
    assert [o.name for o in star.outputs] == ["id"]


def test_names_are_exact_first_and_ambiguous_when_only_case_tells_them_apart() -> None:
    names = Names(("col", "COL"), rules_of("snowflake"))
    assert (names.position("col"), names.position("COL")) == (0, 1)
    assert names.position("Col") == AMBIGUOUS
    assert names.position("other") == ABSENT


def test_a_quoted_part_of_a_name_may_hold_dots() -> None:
    assert split_name('db."my.schema".[t 1]') == ("db", "my.schema", "t 1")


def test_every_adapter_has_a_dialect_that_exists() -> None:
    for adapter in ADAPTER_DIALECTS:
        assert rules_of(dialect_of(adapter)).name == ADAPTER_DIALECTS[adapter]


def test_an_unknown_adapter_is_told_the_known_ones() -> None:
    with pytest.raises(OptionError, match="snowflake"):
        dialect_of("abacus")


def test_reads_lists_every_relation_that_was_looked_up() -> None:
    found = trace("select a from s.t join u using (k)", dialect="postgres", schema={})
    assert found.reads == (("s", "t"), ("u",))
