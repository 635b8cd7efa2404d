"""What differs between two states, and how bad it is."""

from __future__ import annotations

from typing import Any

import pytest

from lineage_post.diff import Diff, DiffKind, Level, diff_of
from lineage_post.diff.document import diff_to_dict, selection_of
from lineage_post.diff.wording import broken_places
from lineage_post.lineage import Lineage
from lineage_post.publish.github import MAX_CHARACTERS, comment

from .lineages import lineage_of
from .manifests import make_model, make_source

SOURCE = make_source("orders", {"id": "int", "total": "double", "status": "text"})
RAW = "source.shop.raw.orders"


def stg(sql: str = "select id, total as amount, status from dev.raw.orders", **more: Any) -> Any:
    return make_model("stg", sql, [RAW], **more)


def fct(sql: str = "select id, amount from dev.main.stg", **more: Any) -> Any:
    return make_model("fct", sql, ["model.shop.stg"], **more)


def diff(before: list[Any], after: list[Any]) -> Diff:
    return diff_of(lineage_of(SOURCE, *before), lineage_of(SOURCE, *after))


def told(found: Diff) -> set[str]:
    """``stg.amount column_renamed value changed``."""
    return {
        " ".join(
            filter(None, [f"{c.unique_id.rsplit('.', 1)[-1]}.{c.column or '*'}", c.kind.value,
                          c.after if c.kind is DiffKind.COLUMN_RENAMED else None, c.level.value])
        )
        for c in found.changes
    }  # fmt: skip


STAR = fct("select * from dev.main.stg")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([stg()], [stg("select id, total as amount, status /* now */\nfrom  dev.raw.orders")],
         set()),
        ([stg()], [stg("with o as (select * from dev.raw.orders), p as (select id, total as t, "
                       "status from o) select id, t as amount, status from p")], set()),
        ([stg(), fct()], [stg("select id, total as amount, status, 1 as one from dev.raw.orders"),
                          fct()],
         {"stg.one column_added compatible"}),
        ([stg(), fct()], [stg("select id, total as value, status from dev.raw.orders"),
                          fct("select id, value as amount from dev.main.stg")],
         {"stg.amount column_renamed value changed"}),
        ([stg(), fct()], [stg("select id, total as value, status from dev.raw.orders"), fct()],
         {"stg.amount column_renamed value breaking"}),
        ([stg(), STAR], [stg("select id, total as value, status from dev.raw.orders"), STAR],
         {"stg.amount column_renamed value changed", "fct.amount column_renamed value breaking"}),
        ([stg(), fct()], [stg("select id, total as amount from dev.raw.orders"), fct()],
         {"stg.status column_removed changed"}),
        ([stg(), fct()], [stg("select id, total * 2 as amount, status from dev.raw.orders"), fct()],
         {"stg.amount column_rederived changed"}),
        ([stg(), fct()], [stg(), fct("select id, amount from dev.main.stg where status = 'x'")],
         {"fct.* filter_changed changed"}),
        ([stg(), fct("select id, amount from dev.main.stg where amount > 1")],
         [stg(), fct("select id, amount from dev.main.stg where amount > 2")],
         {"fct.* filter_changed changed"}),
        ([stg(), fct("select a.id, a.amount from dev.main.stg a join dev.main.stg b using (id)")],
         [stg(), fct("select a.id, a.amount from dev.main.stg a left join dev.main.stg b "
                     "using (id)")],
         {"fct.* join_changed changed"}),
        ([stg(), fct("select id, sum(amount) as amount from dev.main.stg group by 1")],
         [stg(), fct("select id, sum(amount) as amount from dev.main.stg group by id, status")],
         {"fct.* grain_changed changed"}),
        ([stg(), fct()], [stg(), fct("select distinct id, amount from dev.main.stg")],
         {"fct.* grain_changed changed"}),
        ([stg(), fct()], [stg(), fct("select id, amount from dev.main.stg limit 5")],
         {"fct.* limit_changed changed"}),
        ([stg(), fct()], [stg(), fct("select (((")], {"fct.* unknown unknown"}),
        ([stg(), fct()], [stg(), fct(materialized="table")], {"fct.* config_changed changed"}),
        ([stg(), fct()], [stg()], {"fct.* node_removed breaking"}),
        ([stg()], [stg(), fct()], {"fct.* node_added compatible"}),
        ([stg(), fct("with k as (select 1 as one) select id, one from dev.main.stg, k")],
         [stg(), fct("with k as (select 2 as one) select id, one from dev.main.stg, k")],
         {"fct.one column_rederived changed"}),
    ],
)  # fmt: skip
def test_each_change_is_told_once_where_it_was_made(
    before: list[Any], after: list[Any], expected: set[str]
) -> None:
    assert told(diff(before, after)) == expected


def test_what_an_open_star_does_not_list_is_not_called_gone() -> None:
    source = {**SOURCE, "columns": {}}
    star = make_model("star", "select * from dev.raw.orders", [RAW])
    known = lineage_of(SOURCE, star, catalog={RAW: {"id": "int", "total": "double"}})
    assert diff_of(known, lineage_of(source, star)).changes == ()
    assert diff_of(lineage_of(source, star), known).changes == ()


def test_a_seed_with_other_data_moves_what_is_built_from_it() -> None:
    def seed(checksum: str) -> Any:
        columns = {"id": {"name": "id"}}
        return make_model("raw", None, resource_type="seed", unique_id="seed.shop.raw",
                          checksum={"name": "sha256", "checksum": checksum},
                          columns=columns)  # fmt: skip

    model = make_model("m", "select count(id) as n from dev.main.raw", ["seed.shop.raw"])
    found = diff([seed("a"), model], [seed("b"), model])
    assert told(found) == {"raw.* data_changed changed"}
    assert ("model.shop.m", "n") in {(m.node, m.column) for m in found.changes[0].affected}


def test_two_columns_of_one_expression_make_a_rename_ambiguous() -> None:
    after = stg("select id, total as a, total as b, status from dev.raw.orders")
    found = diff(
        [stg(), fct("select id from dev.main.stg")], [after, fct("select id from dev.main.stg")]
    )
    assert told(found) == {
        "stg.amount column_removed changed",
        "stg.a column_added compatible",
        "stg.b column_added compatible",
    }, "IM-01"  # fmt: skip
    removed = next(c for c in found.changes if c.kind is DiffKind.COLUMN_REMOVED)
    assert removed.candidates == ("a", "b")


def test_other_databases_are_no_difference() -> None:
    """Production's artifacts name other databases and schemas than those of a pull request."""
    source = {**SOURCE, "database": "prod", "relation_name": '"prod"."raw"."orders"'}
    model = make_model("stg", 'select id, total as amount from "prod"."raw"."orders"', [RAW],
                       database="prod", relation_name='"prod"."main"."stg"')  # fmt: skip
    here = make_model("stg", 'select id, total as amount from "dev"."raw"."orders"', [RAW])
    assert diff_of(lineage_of(source, model), lineage_of(SOURCE, here)).changes == ()


def test_what_is_still_used_breaks_with_file_and_line() -> None:
    after = stg("select id, total as value, status from dev.raw.orders")
    (change,) = diff([stg(), fct()], [after, fct()]).changes
    (broken,) = change.broken
    assert (broken.unique_id, broken.file) == ("model.shop.fct", "models/fct.sql")
    assert change.because == "it is still used"


def test_a_place_that_breaks_with_several_columns_is_told_once() -> None:
    readers = fct("select amount as a, amount + 1 as b from dev.main.stg")
    after = stg("select id, total as value, status from dev.raw.orders")
    change = diff([stg(), readers], [after, readers]).changes[0]
    assert [d.column for d in change.broken] == ["a", "b"]
    assert [columns for _, columns in broken_places(change)] == ["a, b"]


def test_a_removed_output_breaks_readers_outside() -> None:
    (public,) = diff([stg(access="public"), fct()],
                     [stg("select id, total as amount from dev.raw.orders", access="public"),
                      fct()]).changes  # fmt: skip
    assert (public.level, public.because) == (Level.BREAKING, "the model is public")
    (leaf,) = diff([stg()], [stg("select id, status from dev.raw.orders")]).changes
    assert leaf.level is Level.BREAKING


def test_a_changed_filter_moves_rows_and_what_counts_over_them() -> None:
    total = make_model(
        "total", "select sum(amount) as total, max(1) as one from dev.main.fct", ["model.shop.fct"]
    )
    changed = fct("select id, amount from dev.main.stg where status = 'x'")
    (change,) = diff([stg(), fct(), total], [stg(), changed, total]).changes
    assert ("model.shop.total", "total") in {(m.node, m.column) for m in change.affected}
    assert {(m.node, m.column) for m in change.rows} >= {
        ("model.shop.fct", "id"),
        ("model.shop.fct", "amount"),
    }


def test_only_what_is_affected_is_selected() -> None:
    other = make_model("other", "select id from dev.main.stg", ["model.shop.stg"])
    after = stg("select id, total * 2 as amount, status from dev.raw.orders")
    nodes = [fct(), other]
    lineage = lineage_of(SOURCE, after, *nodes)
    found = diff_of(lineage_of(SOURCE, stg(), *nodes), lineage)
    assert selection_of(found, lineage.project) == ["fct", "stg"]


def test_a_comment_is_markdown_whose_names_cannot_break_it() -> None:
    name = '"a|b </details><script>"'
    lineages = lineages_of(name)
    found = diff_of(*lineages)
    text = comment(found, lineages, ["stg"])
    assert "<script>" not in text and "a|b" not in text
    assert text.count("<details>") == text.count("</details>")
    assert "dbt build --select stg" in text


def lineages_of(name: str) -> tuple[Lineage, Lineage]:
    after = stg(f"select id, total as amount, status, 1 as {name} from dev.raw.orders")
    return lineage_of(SOURCE, stg()), lineage_of(SOURCE, after)


def test_a_comment_fits_into_what_github_takes() -> None:
    many = ", ".join(f"total * {i} as column_with_a_long_name_{i}" for i in range(900))
    less = ", ".join(f"total + {i} as column_with_a_long_name_{i}" for i in range(900))
    before = lineage_of(SOURCE, stg(f"select {many} from dev.raw.orders"))
    after = lineage_of(SOURCE, stg(f"select {less} from dev.raw.orders"))
    text = comment(diff_of(before, after), (before, after), [])
    assert len(text) < 65_536 and len(text) > MAX_CHARACTERS // 2
    assert "more than a comment can hold" in text


def test_the_document_has_stable_keys() -> None:
    found = diff([stg(), fct()], [stg("select id from dev.raw.orders"), fct()])
    document = diff_to_dict(found)
    assert list(document) == ["summary", "changes", "impacted"]
    assert document["summary"] == {"breaking": 1, "unknown": 0, "changed": 1, "compatible": 0}
    assert list(document["changes"][0]) == [
        "kind", "unique_id", "column", "level", "because", "before", "after", "candidates", "file",
        "line", "broken", "may_break", "affected", "consumers", "possibly_affected",
        "build_modes", "is_same_code",
    ]  # fmt: skip


JOINED = "select o.id from dev.raw.orders as o join dev.raw.orders as p"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("select id from dev.raw.orders where id > 0 and total > 1",
         "select id from dev.raw.orders where (total > 1) and id > 0"),
        (f"{JOINED} on o.id = p.id and p.id > 0", f"{JOINED} on p.id > 0 and o.id = p.id"),
        ("select id + total as x from dev.raw.orders",
         "select (id + total) as x from dev.raw.orders"),
        ("select id from dev.raw.orders where not (id > 0 and total > 1)",
         "select id from dev.raw.orders where (not (id > 0 and total > 1))"),
    ],
)  # fmt: skip
def test_the_order_of_conditions_and_parentheses_around_them_are_no_change(
    before: str, after: str
) -> None:
    assert told(diff([stg(before)], [stg(after)])) == set()


def test_a_byte_order_mark_is_no_change() -> None:
    text = "select id, amount from dev.main.stg where amount > 0"
    assert not diff([stg(), fct(text)], [stg(), fct(f"\ufeff{text}")]).changes


def test_a_condition_that_binds_otherwise_is_a_change() -> None:
    before = stg("select id from dev.raw.orders where (id > 0 or total > 1) and status = 'x'")
    after = stg("select id from dev.raw.orders where id > 0 or total > 1 and status = 'x'")
    assert told(diff([before], [after])) == {"stg.* filter_changed changed"}


def hooked(hook: str) -> Any:
    settings = {"materialized": "table", "post-hook": [{"sql": hook}]}
    return fct("select id, amount from dev.main.stg", config=settings)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("update {{ this }} set amount = id", "update {{ this }} set amount = id + 1",
         {"fct.amount column_rederived changed"}),
        ("update {{ this }} set amount = id", "update {{ this }} set amount = id where id > 0",
         {"fct.amount column_rederived changed"}),
        ("update {{ this }} set amount = id", "select 1", {"fct.amount column_rederived changed"}),
        ("update {{ this }} set amount = id", "update {{ this }} set amount =  id", set()),
        # What it writes to is another node.
        ("insert into dev.main.log (n) select id from {{ this }}",
         "insert into dev.main.log (n) select amount from {{ this }}",
         {"log.n column_rederived changed"}),
    ],
)  # fmt: skip
def test_what_a_hook_writes_is_compared_like_a_statement(
    before: str, after: str, expected: set[str]
) -> None:
    log = make_model("log", "select cast(null as int) as n")
    found = diff([stg(), hooked(before), log], [stg(), hooked(after), log])
    assert told(found) == expected


def test_a_name_that_changed_in_a_hook_too_is_told_once() -> None:
    renamed = stg("select id, total as value, status from dev.raw.orders")
    update = "update {{ this }} set amount = (select max(%s) from dev.main.stg)"
    after = make_model("fct", "select id, value as amount from dev.main.stg", ["model.shop.stg"],
                       config={"materialized": "table",
                               "post-hook": [{"sql": update % "value"}]})  # fmt: skip
    found = diff([stg(), hooked(update % "amount")], [renamed, after])
    assert told(found) == {"stg.amount column_renamed value changed"}


def test_a_node_that_is_gone_and_still_read_by_its_name_breaks_its_readers() -> None:
    found = diff([stg(), fct()], [fct()])
    [change] = found.changes
    assert (change.kind, change.level) == (DiffKind.NODE_REMOVED, Level.BREAKING)
    assert [(d.unique_id, d.line) for d in change.broken] == [("model.shop.fct", 1)]
    rewritten = fct("select id, total as amount from dev.raw.orders")
    levels = {c.unique_id: c.level for c in diff([stg(), fct()], [rewritten]).changes}
    assert levels["model.shop.stg"] is Level.CHANGED


def typed(data_type: str, fct_sql: str) -> Lineage:
    source = make_source("orders", {"id": "int", "total": data_type})
    return lineage_of(source, stg("select id, total as amount from dev.raw.orders"), fct(fct_sql))


@pytest.mark.parametrize(
    ("now", "fct_sql", "expected"),
    [
        ("varchar", "select sum(amount) as total from dev.main.stg", ["SUM over VARCHAR"]),
        ("varchar", "select id from dev.main.stg where amount > 3", ["> with VARCHAR"]),
        ("varchar", "select sum(cast(amount as int)) as total from dev.main.stg", []),
        ("bigint", "select sum(amount) as total from dev.main.stg", []),
    ],
)
def test_sql_that_may_not_take_another_type_is_told_in_every_form(
    now: str, fct_sql: str, expected: list[str]
) -> None:
    lineages = typed("int", fct_sql), typed(now, fct_sql)
    found = diff_of(*lineages)
    change = next(c for c in found.changes if c.column == "total")
    assert [d.because.upper() for d in change.may_break] == [e.upper() for e in expected]
    assert change.level is (Level.UNKNOWN if expected else Level.CHANGED)
    [document] = [c for c in diff_to_dict(found)["changes"] if c["unique_id"] == RAW
                  and c["column"] == "total"]  # fmt: skip
    assert [(d["name"], d["file"]) for d in document["may_break"]] == [
        ("fct", "models/fct.sql") for _ in expected
    ]
    assert ("may break" in comment(found, lineages, [])) is bool(expected)
