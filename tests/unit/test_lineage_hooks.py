"""What hooks write is lineage of the relation they write to."""

from __future__ import annotations

from typing import Any

import pytest

from lineage_post.graph import CycleKind
from lineage_post.impact import Analysis, BreaksOn, Change, ChangeKind
from lineage_post.lineage import Lineage, trace_project
from lineage_post.vocabulary import Reason, State

from .lineages import edges_of, lineage_of
from .manifests import make_model, make_source

RAW = make_source("orders", {"id": "int", "amount": "double"})
FCT = "model.shop.fct"


def fct(*post: str, pre: str | None = None, **more: Any) -> dict[str, Any]:
    config = {"materialized": "table", "post-hook": [{"sql": sql, "index": 1} for sql in post]}
    config["pre-hook"] = [pre] if pre else []
    return make_model("fct", "select id, amount from dev.raw.orders", ["source.shop.raw.orders"],
                      materialized="table", config=config, **more)  # fmt: skip


def operation(sql: str, *parents: str, **more: Any) -> dict[str, Any]:
    return {
        "unique_id": "operation.shop.shop-on-run-end-0",
        "resource_type": "operation",
        "name": "shop-on-run-end-0",
        "package_name": "shop",
        "tags": ["on-run-end"],
        "raw_code": sql,
        "original_file_path": "./dbt_project.yml",
        "depends_on": {"nodes": list(parents), "macros": []},
        "config": {},
        **more,
    }


def ops(lineage: Lineage, node: str) -> set[str]:
    edges = lineage.nodes[node].edges
    return {op.name for edge in edges for op in edge.ops if op.kind.value == "command"}


def test_a_hook_that_changes_its_own_table_is_a_feedback() -> None:
    lineage = lineage_of(RAW, fct("update {{ this }} set amount = amount * 1.1 where id > 3"))
    assert {"fct.amount -> amount TRANSFORMATION", "orders.amount -> amount IDENTITY"} <= edges_of(
        lineage.nodes[FCT]
    )
    assert ops(lineage, FCT) == {"post-hook update"}
    # Its condition decides which amounts change, and neither a row nor another column.
    told = edges_of(lineage.nodes[FCT])
    assert {e for e in told if e.startswith("fct.id")} == {"fct.id -> amount CONDITIONAL"}
    kinds = {cycle.kind for cycle in lineage.graph.cycles}
    assert kinds == {CycleKind.FEEDBACK}


@pytest.mark.parametrize(
    ("statement", "operation_name", "target", "edges"),
    [
        ("insert into dev.audit.log (n, total) select id, amount from {{ this }}",
         "post-hook insert of fct", "external.dev.audit.log",
         {"fct.id -> n IDENTITY", "fct.amount -> total IDENTITY"}),
        ("delete from {{ this }} where id in (select id from {{ source('raw', 'orders') }})",
         "post-hook delete", FCT, {"fct.id -> * FILTER", "orders.id -> * FILTER"}),
        ("merge into {{ this }} t using {{ ref('other') }} o on t.id = o.id"
         " when matched then update set amount = o.total",
         "post-hook merge", FCT, {"other.total -> amount IDENTITY", "other.id -> * JOIN"}),
        ("create table audit.copy_of as select id from {{ this }}",
         "post-hook create_table of fct", "external.dev.audit.copy_of",
         {"fct.id -> id IDENTITY"}),
    ],
)  # fmt: skip
def test_each_statement_is_a_writer(
    statement: str, operation_name: str, target: str, edges: set[str]
) -> None:
    other = make_model("other", "select id, amount as total from dev.raw.orders",
                       ["source.shop.raw.orders"])  # fmt: skip
    lineage = lineage_of(RAW, fct(statement), other)
    found = lineage.nodes[target]
    assert edges <= edges_of(found)
    assert any(name.startswith(operation_name[:16]) for name in ops(lineage, target))


def test_the_end_of_a_run_may_write_to_what_its_start_reads() -> None:
    sql = "insert into dev.raw.orders select id, amount from {{ ref('fct') }}"
    lineage = lineage_of(RAW, fct(), operation(sql, FCT))
    source = lineage.nodes["source.shop.raw.orders"]
    assert edges_of(source) == {"fct.id -> id IDENTITY", "fct.amount -> amount IDENTITY"}
    assert ops(lineage, source.unique_id) == {"on-run-end insert"}
    assert {c.kind for c in lineage.graph.cycles} == {CycleKind.FEEDBACK}


def test_what_an_operation_compiled_to_goes_before_its_text() -> None:
    sql = "insert into dev.audit.runs select id from {{ log_table() }}"
    compiled = "insert into dev.audit.runs select id from dev.main.fct"
    lineage = lineage_of(RAW, fct(), operation(sql, FCT, compiled_code=compiled))
    assert edges_of(lineage.nodes["external.dev.audit.runs"]) == {"fct.id -> id IDENTITY"}


@pytest.mark.parametrize(
    ("hook", "macros", "reason"),
    [
        ("insert into {{ var('audit') }} select * from {{ this }}", {}, Reason.NOT_COMPILED),
        ("{{ audit(this) }}", {"audit": "insert into x select 1"}, Reason.NOT_COMPILED),
        ("insert into {{ this }} select (", {}, Reason.PARSE_ERROR),
        ("copy into {{ this }} from '@stage'", {}, Reason.UNSUPPORTED_SYNTAX),
    ],
)
def test_a_hook_that_writes_and_cannot_be_read_makes_its_node_partial(
    hook: str, macros: dict[str, str], reason: Reason
) -> None:
    found = {f"macro.shop.{n}": {"name": n, "macro_sql": sql} for n, sql in macros.items()}
    lineage = lineage_of(RAW, fct(hook), macros=found)
    node = lineage.nodes[FCT]
    assert (node.state, node.reason) == (State.PARTIAL, reason)
    assert "post-hook" in (node.detail or "")


@pytest.mark.parametrize(
    "hook",
    [
        "grant select, insert, update on {{ this }} to role reader",
        "{{ grant_all(this) }}",
        "-- insert into x\nanalyze {{ this }}",
        "create index on {{ this }} (id)",
        "create table if not exists main.notes (id int)",
        "insert into {{ this }} values (1, 2)",
    ],
)
def test_a_hook_that_moves_no_column_changes_nothing(hook: str) -> None:
    macros = {"macro.shop.grant_all": {"name": "grant_all", "macro_sql": "grant select on x"}}
    plain, hooked = lineage_of(RAW, fct()), lineage_of(RAW, fct(hook), macros=macros)
    assert {n: x.fingerprint for n, x in plain.nodes.items()} == {
        n: x.fingerprint for n, x in hooked.nodes.items()
    }


def test_a_table_a_script_needs_for_itself_is_read_through() -> None:
    hook = ("create temporary table fresh as select id, amount from dev.raw.orders;"
            "insert into dev.audit.log (n) select id from fresh")  # fmt: skip
    lineage = lineage_of(RAW, fct(hook))
    assert edges_of(lineage.nodes["external.dev.audit.log"]) == {"orders.id -> n IDENTITY"}
    assert not any("fresh" in node for node in lineage.nodes)


def test_a_partial_run_sees_the_hooks_that_write_to_its_nodes() -> None:
    log = make_model("log", "select 1 as n, 2 as m", materialized="table")
    whole = lineage_of(RAW, log, fct("insert into dev.main.log (n) select id from {{ this }}"))
    part = trace_project(whole.project, only=["model.shop.log"])
    assert part.nodes["model.shop.log"].fingerprint == whole.nodes["model.shop.log"].fingerprint
    assert ops(part, "model.shop.log") == {"post-hook insert of fct"}


def test_a_rename_breaks_the_hook_and_its_place_is_told() -> None:
    raw = "{{ config(\n  post_hook='insert into dev.audit.log (n) select id from {{ this }}'\n) }}"
    sql = "insert into dev.audit.log (n) select id from {{ this }}"
    lineage = lineage_of(RAW, fct(sql, raw_code=f"{raw}\nselect id, amount from x"))
    impact = Analysis(lineage).impact(Change(ChangeKind.RENAME, FCT, "id", "key"))
    [found] = impact.broken
    assert (found.unique_id, found.column) == ("external.dev.audit.log", "n")
    assert BreaksOn.RENAME in found.breaks_on
    assert (found.file, found.line) == ("models/fct.sql", 2)
