"""What a change of a column breaks: by its name, by its being there, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from lineage_post.errors import SelectionError
from lineage_post.impact import Analysis, Change, ChangeKind, Impact
from lineage_post.impact.document import impact_to_dict
from lineage_post.lineage import Lineage

from .lineages import lineage_of
from .manifests import make_model, make_source

SOURCE = make_source("orders", {"id": "int", "total": "double", "status": "text", "note": "text"})
RAW = "source.shop.raw.orders"
STG = make_model("stg", "select id as order_id, total as amount, status from dev.raw.orders", [RAW])


def model(name: str, sql: str, *parents: str, **more: Any) -> dict[str, Any]:
    return make_model(name, sql, [f"model.shop.{p}" for p in parents or ("stg",)], **more)


def impact(lineage: Lineage, kind: str, node: str, column: str, to: str | None = None) -> Impact:
    return Analysis(lineage).impact(Change(ChangeKind(kind), node, column, to))


def told(found: Impact) -> dict[str, list[str]]:
    """``fct.amount`` -> how it depends, of what breaks. Rows are ``fct.*``."""
    return {f"{d.name}.{d.role or d.column or '*'}": [h.value for h in d.how] for d in found.broken}


def rename(lineage: Lineage, column: str, node: str = "model.shop.stg") -> Impact:
    return impact(lineage, "rename", node, column, "renamed")


def test_a_physical_and_an_exposed_name_are_two_names() -> None:
    fct = model("fct", "select order_id, amount from dev.main.stg")
    lineage = lineage_of(SOURCE, STG, fct)
    assert told(rename(lineage, "total", RAW)) == {"stg.amount": ["value"]}
    assert told(rename(lineage, "amount")) == {"fct.amount": ["value"]}
    assert told(impact(lineage, "drop", RAW, "total")) == {
        "stg.amount": ["value"],
        "fct.amount": ["value"],
    }


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select order_id from dev.main.stg where amount > 0", {"fct.*": ["filter"]}),
        ("select order_id from dev.main.stg order by amount limit 3", {"fct.*": ["sort"]}),
        ("select count(*) as n from dev.main.stg group by amount", {"fct.*": ["group"]}),
        (
            "select sum(order_id) over (order by amount) as running from dev.main.stg",
            {"fct.running": ["window"]},
        ),
        (
            "select case when amount > 9 then order_id end as big from dev.main.stg",
            {"fct.big": ["conditional"]},
        ),
        ("select * from dev.main.stg where amount > 0", {"fct.*": ["filter"]}),
        ("select * exclude (amount) from dev.main.stg", {"fct.*": ["star modifier"]}),
        ("select a.order_id from dev.main.stg as a join dev.main.stg as b using (amount)",
         {"fct.*": ["join"]}),
        ("with s as (select * from dev.main.stg) select s.amount + 1 as more from s",
         {"fct.more": ["value"]}),
        ("select order_id from dev.main.stg", {}),
        ("select * from dev.main.stg", {}),
    ],
)  # fmt: skip
def test_a_rename_breaks_what_has_the_name(sql: str, expected: dict[str, list[str]]) -> None:
    assert told(rename(lineage_of(SOURCE, STG, model("fct", sql)), "amount")) == expected


def test_a_name_passes_on_by_a_star_and_breaks_what_uses_it_there() -> None:
    star = model("star", "select *, 1 as one from dev.main.stg")
    more = model("more", "select * from dev.main.star", "star")
    fct = model("fct", "select amount * 2 as double from dev.main.more", "more")
    end = model("end", "select double from dev.main.fct", "fct")
    found = rename(lineage_of(SOURCE, STG, star, more, fct, end), "amount")
    assert told(found) == {"fct.double": ["value"]}
    assert found.passes == (("model.shop.star", "amount"), ("model.shop.more", "amount"))
    (broken,) = found.broken
    assert [column for _, column in broken.path] == ["amount", "amount", "amount", "double"]
    assert {d.name for d in found.other} == {"star", "more", "end"}


def test_a_natural_join_that_loses_its_key_is_broken() -> None:
    other = model("other", "select order_id as o, amount from dev.main.stg")
    fct = model("fct", "select o from dev.main.stg natural join dev.main.other", "stg", "other")
    found = rename(lineage_of(SOURCE, STG, other, fct), "amount")
    assert told(found)["fct.*"] == ["join"]


def test_a_name_that_another_relation_has_too_is_not_silently_taken_from_there() -> None:
    fct = model("fct", "select order_id, (select note) as n from dev.main.stg, dev.raw.orders")
    fct["depends_on"]["nodes"].append(RAW)
    assert told(rename(lineage_of(SOURCE, STG, fct), "note", RAW)) == {"fct.n": ["value"]}


def test_an_unused_column_breaks_nothing() -> None:
    lineage = lineage_of(SOURCE, STG, model("fct", "select order_id from dev.main.stg"))
    for kind in ("rename", "drop", "retype"):
        found = impact(lineage, kind, RAW, "note", "text2")
        assert (found.dependents, found.possible) == ((), ())


def test_what_is_beyond_an_unknown_is_possibly_affected_and_counted_apart() -> None:
    m1 = model("m1", "select amount from dev.main.stg")
    m2 = model("m2", "select (((", "m1")
    known = model("known", "select order_id from dev.main.stg")
    board = {
        "unique_id": "exposure.shop.board", "resource_type": "exposure", "name": "board",
        "package_name": "shop", "depends_on": {"nodes": ["model.shop.m2"]},
        "original_file_path": "models/e.yml",
    }  # fmt: skip
    found = impact(lineage_of(SOURCE, STG, m1, m2, known, board), "drop", RAW, "total")
    assert [p.name for p in found.possible] == ["board", "m2"], "IM-05"
    assert {p.because for p in found.possible} == {"model.shop.m2"}
    assert {d.name for d in found.dependents} == {"stg", "m1"}
    document = impact_to_dict(found, lineage_of(SOURCE, STG, m1, m2, known, board))
    assert document["summary"] == {
        "breaks": {"model": 2},
        "may_break": {},
        "depends": {},
        "possibly_affected": {"exposure": 1, "model": 1},
    }


def test_readers_of_a_version_are_found_by_its_relation() -> None:
    v1 = model("ver", "select amount from dev.main.stg", version=1, latest_version=1)
    v1.update(unique_id="model.shop.ver.v1", alias="ver_v1", relation_name='"dev"."main"."ver_v1"')
    reader = make_model("reader", "select amount from dev.main.ver_v1", ["model.shop.ver.v1"])
    found = rename(lineage_of(SOURCE, STG, v1, reader), "amount", "model.shop.ver.v1")
    assert told(found) == {"reader.amount": ["value"]}, "IM-03"


def test_a_retype_breaks_the_contracts_that_the_type_reaches() -> None:
    columns = {"amount": {"name": "amount", "data_type": "double"}}
    contract = {"contract": {"enforced": True}, "materialized": "table"}
    same = model("same", "select amount from dev.main.stg", columns=columns, config=contract)
    cast = model("cast", "select cast(amount as double) as amount from dev.main.stg",
                 columns=columns, config=contract)  # fmt: skip
    found = impact(lineage_of(SOURCE, STG, same, cast), "retype", RAW, "total")
    assert told(found) == {"same.contract": ["by name in YAML"]}


def test_a_rename_needs_a_free_name() -> None:
    with pytest.raises(SelectionError, match="has a column 'status' already"):
        impact(lineage_of(SOURCE, STG), "rename", "model.shop.stg", "amount", "STATUS")


def test_an_incremental_model_that_reads_its_own_column_has_the_name_too() -> None:
    sql = ("select order_id, amount from dev.main.stg "
           "where amount > (select max(amount) from dev.main.inc)")  # fmt: skip
    inc = model("inc", sql, materialized="incremental")
    assert told(rename(lineage_of(SOURCE, STG, inc), "amount", "model.shop.inc")) == {
        "inc.*": ["filter"]
    }


def test_lines_are_those_of_the_code() -> None:
    fct = model("fct", "select 1", raw_code="-- amount\nselect\n    amount\nfrom {{ ref('stg') }}")
    fct["compiled_code"] = "select amount from dev.main.stg"
    (broken,) = rename(lineage_of(SOURCE, STG, fct), "amount").broken
    assert (broken.file, broken.line) == ("models/fct.sql", 3)


class TestDomain:
    FCT = model(
        "fct",
        "select case when status = 'x' then 0 else amount end as revenue, order_id, amount "
        "from dev.main.stg",
    )
    OPEN = model("open_orders", "select order_id, amount from dev.main.stg where status = 'open'")
    SUMS = model("sums", "select sum(amount) as total from dev.main.open_orders", "open_orders")
    ALSO = model("also", "select order_id from dev.main.fct", "fct")

    def test_it_answers_in_two_groups(self) -> None:
        lineage = lineage_of(SOURCE, STG, self.FCT, self.OPEN, self.SUMS, self.ALSO)
        found = Analysis(lineage).domain("model.shop.stg", "status")
        values = {f"{m.node.rsplit('.', 1)[-1]}.{m.column}" for m in found.values}
        rows = {f"{m.node.rsplit('.', 1)[-1]}.{m.column}" for m in found.rows}
        assert values == {"fct.revenue", "sums.total"}
        assert rows == {"open_orders.order_id", "open_orders.amount"}

    def test_an_outer_join_fills_with_nulls(self) -> None:
        joined = model(
            "joined",
            "select s.order_id, o.amount from dev.main.stg as s "
            "left join dev.main.open_orders as o using (order_id)",
            "stg",
            "open_orders",
        )
        found = Analysis(lineage_of(SOURCE, STG, self.OPEN, joined)).domain(
            "model.shop.stg", "status"
        )
        assert ("model.shop.joined", "amount") in {(m.node, m.column) for m in found.values}


def moved(column: str, *nodes: Any) -> tuple[set[str], set[str]]:
    """Outputs whose values can move by a new value in a column of the source, and whose rows."""
    domain = Analysis(lineage_of(*nodes)).domain("source.shop.raw.orders", column)

    def short(found: Any) -> set[str]:
        return {f"{m.node.rsplit('.', 1)[-1]}.{m.column}" for m in found}

    return short(domain.values), short(domain.rows)


FILTERED = "with x as (select id, count(*) as n from dev.raw.orders where status = 'x' group by id)"


@pytest.mark.parametrize(
    ("sql", "values", "rows"),
    [
        # A count that stands behind another expression, or beside other values.
        (f"{FILTERED} select id, n + 1 as k from x", {"m.k"}, {"m.id"}),
        (f"{FILTERED} select o.id, x.n + o.amount as k from dev.raw.orders as o join x using (id)",
         {"m.k"}, {"m.id"}),
        # What an outer join fills with nulls, of what it does not.
        (f"{FILTERED} select c.cid, x.id as found from dev.raw.people as c "
         "left join x on x.id = c.cid", {"m.found"}, {"m.cid"}),
        (f"{FILTERED} select c.cid, x.id as found from x right join dev.raw.people as c "
         "on x.id = c.cid", {"m.found"}, {"m.cid"}),
        ("select o.id, c.cid from dev.raw.orders as o left join dev.raw.people as c "
         "on c.cid = o.id where o.status = 'x'", set(), {"m.id", "m.cid"}),
    ],
)  # fmt: skip
def test_values_that_hang_on_the_number_of_rows_move_with_them(
    sql: str, values: set[str], rows: set[str]
) -> None:
    orders = make_source("orders", {"id": "int", "amount": "double", "status": "text"})
    people = make_source("people", {"cid": "int"})
    parents = ["source.shop.raw.orders", "source.shop.raw.people"]
    assert moved("status", orders, people, make_model("m", sql, parents)) == (values, rows)


@pytest.mark.parametrize(
    ("join", "values"),
    [
        ("dev.raw.orders as o left join dev.main.m as m", {"r.amount"}),
        ("dev.main.m as m left join dev.raw.orders as o", set()),
        ("dev.main.m as m right join dev.raw.orders as o", {"r.amount"}),
        ("dev.main.m as m full join dev.raw.orders as o", {"r.amount"}),
        ("dev.main.m as m join dev.raw.orders as o", set()),
    ],
)
def test_rows_that_are_gone_leave_nulls_on_one_side_of_an_outer_join(
    join: str, values: set[str]
) -> None:
    orders = make_source("orders", {"id": "int", "amount": "double", "status": "text"})
    parents = ["source.shop.raw.orders"]
    kept = make_model("m", "select id, amount from dev.raw.orders where status = 'x'", parents)
    sql = f"select m.amount, o.id from {join} on o.id = m.id"
    reader = make_model("r", sql, ["model.shop.m", *parents])
    found, _ = moved("status", orders, kept, reader)
    assert {v for v in found if v.startswith("r.")} == values


@pytest.mark.parametrize(
    ("column", "node", "named"),
    [("amount", "model.shop.stg", True), ("amount", "model.shop.fct", True), ("note", RAW, False)],
    ids=["its argument", "the column it is on", "neither"],
)
def test_a_contract_of_this_package_stores_names_though_its_sql_reads_no_column(
    column: str, node: str, named: bool
) -> None:
    contract = make_model("derives", "select * from dev.main.violations", ["model.shop.fct"])
    contract |= {
        "unique_id": "test.shop.derives",
        "resource_type": "test",
        "column_name": "amount",
        "attached_node": "model.shop.fct",
        "test_metadata": {
            "name": "derives_from",
            "namespace": "lineage_post",
            "kwargs": {"column_name": "amount", "columns": ["stg.amount"]},
        },
    }
    fct = model("fct", "select order_id, amount from dev.main.stg")
    lineage = lineage_of(SOURCE, STG, fct, contract)
    for found in (rename(lineage, column, node), impact(lineage, "drop", node, column)):
        assert ("test.shop.derives" in {d.unique_id for d in found.broken}) is named


@pytest.mark.parametrize("said", ["stg.Net.Amount", 'stg."Net.Amount"', "stg.[Net.Amount]"])
def test_a_contract_names_a_column_that_has_dots(said: str) -> None:
    source = make_source("orders", {"id": "int", "Net.Amount": "double"})
    stg = model("stg", 'select id, "Net.Amount" from dev.raw.orders')
    fct = model("fct", 'select id, "Net.Amount" as net from dev.main.stg')
    contract = make_model("derives", "select * from dev.main.violations", ["model.shop.fct"])
    contract |= {
        "unique_id": "test.shop.derives",
        "resource_type": "test",
        "column_name": "net",
        "attached_node": "model.shop.fct",
        "test_metadata": {
            "name": "derives_from",
            "namespace": "lineage_post",
            "kwargs": {"column_name": "net", "columns": [said]},
        },
    }
    found = impact(lineage_of(source, stg, fct, contract), "drop", "model.shop.stg", "Net.Amount")
    assert "test.shop.derives" in {d.unique_id for d in found.broken}
