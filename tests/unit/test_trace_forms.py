"""What a trace looks like from outside: JSON, scripts, commands, stops, steps, text."""

from __future__ import annotations

import json
from typing import Any

from lineage_post.trace import trace, trace_script
from lineage_post.trace.folding import conservative
from lineage_post.trace.steps import steps
from lineage_post.vocabulary import OpKind, Reason, State

SCHEMA = {
    "orders": {"id": "int", "amount": "int", "email": "text"},
    "main.public.customers": {"cid": "int", "country": "text"},
}


def traced(sql: str, **settings: Any) -> Any:
    return trace(sql, dialect="duckdb", schema=SCHEMA, **settings)


def test_the_json_form_has_the_documented_keys() -> None:
    form = json.loads(json.dumps(traced("select sum(o.amount) as revenue from orders o").to_dict()))
    assert list(form) == [
        "state", "reason", "detail", "open", "operation", "target", "outputs", "edges", "unknowns",
        "warnings",
    ]  # fmt: skip
    assert form["outputs"][0] == {
        "ordinal": 1, "name": "revenue", "state": "known", "reason": None,
        "detail": None, "expression": "sum(o.amount)", "steps": [],
    }  # fmt: skip
    assert form["edges"] == [
        {
            "to": "revenue", "to_ordinal": 1,
            "from": {"relation": "orders", "column": "amount", "field": None},
            "type": "DIRECT", "subtype": "AGGREGATION", "masking": False, "certainty": "exact",
            "expression": "sum(o.amount)", "ops": [{"name": "SUM", "kind": "sql_function"}],
        }
    ]  # fmt: skip


def test_no_edges_of_a_constant_differ_from_no_edges_of_a_failure() -> None:
    assert traced("select 1 as one").state is State.KNOWN
    failed = traced("select from where")
    assert (failed.state, failed.reason) == (State.UNKNOWN, Reason.PARSE_ERROR)


def test_text_and_operations_can_be_told_apart_from_edges() -> None:
    found = traced("select amount + 1 as a from orders", expressions=False)
    assert found.outputs[0].expression is None
    assert [op.name for op in found.edges[0].ops] == ["+"]


def test_operations_are_those_on_the_path_of_each_edge() -> None:
    found = traced("select md5(lower(email)) || id as k from orders")
    ops = {e.source.column: [op.name for op in e.ops] for e in found.edges}
    assert ops == {"email": ["LOWER", "MD5", "||"], "id": ["||"]}
    assert {e.source.column: e.masking for e in found.edges} == {"email": True, "id": False}


def test_the_text_is_that_of_the_first_expression_on_the_way_in() -> None:
    found = traced("with c as (select amount * 2 as dbl from orders) select dbl as d from c")
    assert found.outputs[0].expression == "amount * 2"


def test_a_script_keeps_the_statements_beside_a_fault() -> None:
    traces = trace_script("select id from orders; select from where; select amount from orders",
                          dialect="duckdb", schema=SCHEMA)  # fmt: skip
    assert [t.reason for t in traces] == [None, Reason.PARSE_ERROR, None]


def test_a_command_closes_over_the_relation_that_an_argument_names() -> None:
    commands = {"enrich": {"outputs": ["segment"]}}
    found = traced("select segment from enrich('main.public.customers')", commands=commands)
    assert {e.source.column for e in found.edges} == {"cid", "country"}
    assert {op.kind for e in found.edges for op in e.ops} == {OpKind.COMMAND}


def test_a_narrower_contract_gives_a_narrower_cone_and_a_warning() -> None:
    commands = {"enrich": {"inputs": ["cid"], "outputs": ["segment"]}}
    found = traced("select segment from enrich('main.public.customers')", commands=commands)
    assert {e.source.column for e in found.edges} == {"cid"}
    assert found.warnings == ("enrich: no declared input covers country",)


def test_an_undeclared_function_is_assumed_and_an_undeclared_table_function_unknown() -> None:
    scalar = traced("select my_udf(amount) as x from orders")
    assert [e.certainty.value for e in scalar.edges] == ["assumed"]
    assert traced("select x from my_table_udf(3)").state is State.UNKNOWN


def test_a_cte_that_is_an_ephemeral_is_read_as_its_relation() -> None:
    found = traced(
        "with __dbt__cte__e as (select id from orders where amount > 1) "
        "select id from __dbt__cte__e",
        stop_at={"__dbt__cte__e": "model.shop.e"},
    )
    assert [(e.source.relation, e.source.column) for e in found.edges] == [("model.shop.e", "id")]


def test_the_conservative_reading_leaves_no_dataset_level_edge() -> None:
    found = conservative(traced("select id from orders where amount > 1"))
    assert {(e.to, e.source.column) for e in found.edges} == {("id", "id"), ("id", "amount")}


def test_the_steps_tell_each_column_after_each_stage() -> None:
    stages = steps(
        "with c as (select id, amount * 2 as dbl from orders where amount > 1) "
        "select id, sum(dbl) as total from c group by id",
        dialect="duckdb",
        schema=SCHEMA,
    )
    assert [(s.scope, s.kind) for s in stages] == [
        ("c", "scan"), ("c", "filter"), ("c", "project"), ("final", "scan"), ("final", "aggregate"),
        ("final", "project"),
    ]  # fmt: skip
    total = stages[-1].columns[-1]
    assert [(a.source.column, a.subtype.value) for a in total.annotations] == [
        ("amount", "AGGREGATION")
    ]


def test_the_same_text_gives_the_same_trace() -> None:
    sql = (
        "select distinct o.id, c.country from orders o, main.public.customers c where o.id = c.cid"
    )
    assert traced(sql) == traced(sql)
