from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lineage_post.lineage.unit as unit
from lineage_post.artifacts import project_from_manifest_dict, read_catalog, stitch
from lineage_post.errors import ArtifactError, OptionError
from lineage_post.lineage import Lineage, load, trace_project
from lineage_post.lineage.order import levels
from lineage_post.options import Options
from lineage_post.vocabulary import Reason, State

from .conftest import Shop
from .lineages import edges_of, lineage_of, states_of
from .manifests import make_manifest, make_model, make_source

ORDERS = make_source("orders", {"id": "integer", "amount": "double"})
STG = make_model(
    "stg", "select id as order_id, amount from dev.raw.orders", ["source.shop.raw.orders"]
)


def test_models_are_traced_from_their_parents_without_a_catalog(shop_lineage: Lineage) -> None:
    assert edges_of(shop_lineage.nodes["model.shop.stg_orders"]) == {
        "raw_orders.id -> order_id IDENTITY",
        "raw_orders.customer_id -> customer_id IDENTITY",
        "raw_orders.amount -> amount IDENTITY",
        "raw_orders.status -> status IDENTITY",
        "raw_orders.updated_at -> updated_at TRANSFORMATION",
    }


def test_ephemeral_models_are_nodes_of_their_own(shop_lineage: Lineage) -> None:
    assert edges_of(shop_lineage.nodes["model.shop.eph2"]) == {
        "eph.order_id -> order_id IDENTITY",
        "eph.amount -> amount2 TRANSFORMATION",
    }
    assert "stg_orders.status -> * FILTER" in edges_of(shop_lineage.nodes["model.shop.eph"])
    assert shop_lineage.nodes["model.shop.fct"].inputs == (
        "model.shop.eph2",
        "model.shop.stg_orders",
    )


def test_an_ephemeral_model_that_was_not_compiled_is_read_where_it_is_inlined(shop: Shop) -> None:
    project = shop.project()
    expected = trace_project(project).nodes
    document = json.loads(shop.manifest.read_text(encoding="utf-8"))
    for name in ("eph", "eph2"):
        document["nodes"][f"model.shop.{name}"]["compiled_code"] = None
    found = trace_project(project_from_manifest_dict(document)).nodes
    for name in ("eph", "eph2", "fct"):
        unique_id = f"model.shop.{name}"
        assert edges_of(found[unique_id]) == edges_of(expected[unique_id])


def test_an_incremental_model_reads_its_own_table(shop_lineage: Lineage) -> None:
    inc = shop_lineage.nodes["model.shop.inc"]
    assert inc.state is State.KNOWN
    assert "model.shop.inc" in inc.inputs
    assert "inc.order_id -> * FILTER" in edges_of(inc)


def test_a_star_over_its_own_table_is_read_from_the_traced_columns() -> None:
    sql = "select * from dev.main.stg union all select * from dev.main.inc"
    lineage = lineage_of(
        ORDERS, STG, make_model("inc", sql, ["model.shop.stg"], materialized="incremental")
    )
    inc = lineage.nodes["model.shop.inc"]
    assert "stg.amount -> amount IDENTITY" in edges_of(inc)


def test_versions_are_told_apart_by_their_relations(shop_lineage: Lineage) -> None:
    assert edges_of(shop_lineage.nodes["model.shop.uses"]) == {
        "v2.order_id -> order_id IDENTITY",
        "v1.order_id -> * JOIN",
        "v2.order_id -> * JOIN",
    }


def test_a_python_model_is_unknown_and_keeps_its_parents(shop_lineage: Lineage) -> None:
    guess = shop_lineage.nodes["model.shop.guess"]
    assert (guess.state, guess.reason) == (State.UNKNOWN, Reason.PYTHON_MODEL)
    assert states_of(guess) == {"guess": "unknown(python_model)"}
    assert guess.inputs == ("model.shop.fct",) and list(guess.edges) == []


def test_a_contract_connects_each_declared_input_to_each_declared_output(
    shop_lineage: Lineage,
) -> None:
    score = shop_lineage.nodes["model.shop.score"]
    assert edges_of(score) == {
        "fct.order_id -> score TRANSFORMATION",
        "fct.amount2 -> score TRANSFORMATION",
    }
    assert {op.kind.value for edge in score.edges for op in edge.ops} == {"command"}
    assert states_of(score) == {"score": "known", "comment": "unknown(python_model)"}


def test_an_exposure_shows_the_columns_it_names(shop_lineage: Lineage) -> None:
    assert edges_of(shop_lineage.nodes["exposure.shop.dash"]) == {
        "fct.order_id -> order_id IDENTITY",
        "fct.amount2 -> amount2 IDENTITY",
    }
    notebook = shop_lineage.nodes["exposure.shop.notebook"]
    assert (notebook.state, notebook.inputs) == (State.UNKNOWN, ("model.shop.fct",))


def test_a_hard_coded_name_finds_the_model_and_else_an_external_relation(
    shop_lineage: Lineage,
) -> None:
    node = shop_lineage.nodes["model.shop.hard_coded"]
    assert node.inputs == ("external.shop.main.notes", "model.shop.fct")
    assert "fct.amount2 -> amount2 IDENTITY" in edges_of(node)
    notes = shop_lineage.nodes["external.shop.main.notes"]
    assert (notes.state, notes.reason) == (State.UNKNOWN, Reason.EXTERNAL)
    assert [c.name for c in notes.columns] == ["note", "order_id"]


def test_a_source_that_is_a_model_s_table_takes_its_columns_from_the_model(
    shop_lineage: Lineage,
) -> None:
    source = shop_lineage.nodes["source.shop.app.orders_table"]
    assert "stg_orders.status -> status IDENTITY" in edges_of(source)
    reader = shop_lineage.nodes["model.shop.from_source"]
    assert "orders_table.status -> status IDENTITY" in edges_of(reader)


def test_columns_that_only_readers_speak_of_are_inferred(shop_lineage: Lineage) -> None:
    events = shop_lineage.nodes["source.shop.app.events"]
    assert {c.name: c.detail for c in events.columns} == {
        "event_id": None,
        "kind": "inferred from use",
        "order_id": "inferred from use",
    }


def test_no_temporary_relation_is_ever_a_node(shop_lineage: Lineage) -> None:
    assert not [unique_id for unique_id in shop_lineage.nodes if "__dbt_" in unique_id]


def test_a_model_that_was_not_compiled_keeps_its_columns_as_unknown() -> None:
    model = make_model("m", None, ["model.shop.stg"])
    lineage = lineage_of(ORDERS, STG, model, catalog={"model.shop.m": {"a": "int"}})
    node = lineage.nodes["model.shop.m"]
    assert (node.state, node.reason) == (State.UNKNOWN, Reason.NOT_COMPILED)
    assert states_of(node) == {"a": "unknown(not_compiled)"}
    assert node.inputs == ("model.shop.stg",)


def test_sql_that_no_parser_takes_is_unknown_for_that_model_alone() -> None:
    broken = make_model("bad", "select from where (", ["model.shop.stg"])
    lineage = lineage_of(ORDERS, STG, broken, catalog={"model.shop.bad": {"x": "int"}})
    node = lineage.nodes["model.shop.bad"]
    assert (node.state, node.reason) == (State.UNKNOWN, Reason.PARSE_ERROR)
    assert states_of(node) == {"x": "unknown(parse_error)"}
    assert node.inputs == ("model.shop.stg",)
    assert lineage.nodes["model.shop.stg"].state is State.KNOWN


def test_a_fault_of_ours_is_a_state_of_that_node_and_is_not_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = unit.trace

    def faulty(sql: str, **settings: Any) -> Any:
        if "order_id" in sql:
            raise ZeroDivisionError("boom")
        return real(sql, **settings)

    monkeypatch.setattr(unit, "trace", faulty)
    from lineage_post.cache import Cache

    cache = Cache()
    node = lineage_of(ORDERS, STG, cache=cache).nodes["model.shop.stg"]
    assert (node.state, node.reason) == (State.UNKNOWN, Reason.INTERNAL_ERROR)
    assert node.detail == "ZeroDivisionError: boom"
    assert len(cache) == 0


def test_unnamed_expressions_take_the_name_their_position_has_in_the_catalog() -> None:
    sql = "select id, sum(amount) from dev.raw.orders group by id"
    model = make_model("m", sql, ["source.shop.raw.orders"])
    catalog = {"model.shop.m": {"id": "INTEGER", "sum(amount)": "DOUBLE"}}
    node = lineage_of(ORDERS, model, catalog=catalog).nodes["model.shop.m"]
    assert [(c.name, c.data_type) for c in node.columns] == [
        ("id", "INTEGER"),
        ("sum(amount)", "DOUBLE"),
    ]
    assert "orders.amount -> sum(amount) AGGREGATION" in edges_of(node)


def test_a_stale_catalog_is_said_to_be_stale_and_the_sql_is_believed() -> None:
    catalog = {"model.shop.stg": {"order_id": "int", "legacy": "text"}}
    lineage = lineage_of(ORDERS, STG, catalog=catalog)
    assert [c.name for c in lineage.nodes["model.shop.stg"].columns] == ["order_id", "amount"]
    [note] = lineage.notes
    assert (note.unique_id, note.kind) == ("model.shop.stg", "stale_catalog")
    assert "amount" in note.message and "legacy" in note.message


def test_a_column_an_incremental_table_keeps_is_not_in_the_sql() -> None:
    model = make_model("inc", "select id from dev.raw.orders", ["source.shop.raw.orders"])
    model["config"]["materialized"] = "incremental"
    catalog = {"model.shop.inc": {"id": "int", "old": "text"}}
    node = lineage_of(ORDERS, model, catalog=catalog).nodes["model.shop.inc"]
    assert states_of(node) == {"id": "known", "old": "unknown(not_in_sql)"}
    assert node.state is State.PARTIAL


def test_a_star_over_an_undescribed_source_leaves_the_rest_partial() -> None:
    model = make_model("m", "select *, 1 as one from dev.raw.blank", ["source.shop.raw.blank"])
    node = lineage_of(make_source("blank"), model).nodes["model.shop.m"]
    assert node.state is State.PARTIAL
    assert states_of(node) == {"one": "known", "*": "unknown(star_unexpanded)"}


def starred(sql: str, table: list[str], **more: Any) -> Any:
    source = make_source("blank", more.pop("declared", None))
    model = make_model("m", sql, ["source.shop.raw.blank", "source.shop.raw.orders"], **more)
    catalog = {"model.shop.m": dict.fromkeys(table, "int")}
    return lineage_of(source, ORDERS, model, catalog=catalog)


def test_a_star_over_an_undescribed_source_is_told_by_the_table_it_built() -> None:
    lineage = starred("select *, 1 as one from dev.raw.blank", ["a", "b", "one"])
    node = lineage.nodes["model.shop.m"]
    assert node.state is State.KNOWN
    assert edges_of(node) == {"blank.a -> a IDENTITY", "blank.b -> b IDENTITY"}
    assert {e.certainty.value for e in node.edges} == {"assumed"}
    source = lineage.nodes["source.shop.raw.blank"]
    assert [(c.name, c.detail) for c in source.columns] == [
        ("a", "inferred from use"),
        ("b", "inferred from use"),
    ]


def test_declared_columns_of_such_a_star_stay_exact() -> None:
    lineage = starred("select * from dev.raw.blank", ["a", "b"], declared={"b": "int"})
    certainties = {e.to_column: e.certainty.value for e in lineage.nodes["model.shop.m"].edges}
    assert certainties == {"a": "assumed", "b": "exact"}


@pytest.mark.parametrize(
    ("sql", "table", "more"),
    [
        ("select *, 1 as one from dev.raw.blank", ["one", "a"], {}),
        ("select *, 1 as one from dev.raw.blank", ["a"], {}),
        ("select *, 1 as one from dev.raw.blank", ["a", "one"], {"materialized": "incremental"}),
        ("select * from dev.raw.blank join dev.raw.other using (id)", ["id", "a"], {}),
    ],
)
def test_a_table_that_does_not_fit_tells_nothing_of_the_star(
    sql: str, table: list[str], more: dict[str, Any]
) -> None:
    node = starred(sql, table, **more).nodes["model.shop.m"]
    assert node.state is not State.KNOWN
    assert states_of(node)["a"] == "unknown(star_unexpanded)"


def test_a_deferred_parent_is_found_under_its_other_name() -> None:
    deferred = {"database": "prod", "schema": "core", "alias": "stg"}
    stg = {**STG, "defer_relation": deferred}
    reader = make_model("m", 'select order_id from "prod"."core"."stg"', ["model.shop.stg"])
    node = lineage_of(ORDERS, stg, reader).nodes["model.shop.m"]
    assert edges_of(node) == {"stg.order_id -> order_id IDENTITY"}


def test_a_bare_name_is_never_taken_for_a_node() -> None:
    reader = make_model("m", "select order_id from stg", ["model.shop.stg"])
    node = lineage_of(ORDERS, STG, reader).nodes["model.shop.m"]
    assert node.inputs == ("external.stg",)


def test_injected_public_models_have_external_columns_inferred_from_use() -> None:
    stub = make_model("dim", None, package="core", raw_code="")
    reader = make_model("m", "select id from dev.main.dim", ["model.core.dim"])
    lineage = lineage_of(stub, reader)
    dim = lineage.nodes["model.core.dim"]
    assert (dim.state, dim.reason) == (State.UNKNOWN, Reason.EXTERNAL)
    assert states_of(dim) == {"id": "unknown(external)"}


def test_an_upstream_manifest_continues_the_lineage_into_the_other_project() -> None:
    stub = make_model("dim", None, package="core", raw_code="")
    reader = make_model("m", "select * from dev.main.dim", ["model.core.dim"])
    ours = project_from_manifest_dict(make_manifest(stub, reader))
    dim = make_model("dim", "select id from dev.core.seeded", ["seed.other.s"], package="core")
    theirs = project_from_manifest_dict(make_manifest(dim, project="core"))
    nodes = trace_project(stitch(ours, theirs)).nodes
    assert edges_of(nodes["model.shop.m"]) == {"dim.id -> id IDENTITY"}
    # The grandparent is in neither manifest: an external relation, not an error (MP-03).
    assert edges_of(nodes["model.core.dim"]) == {"seeded.id -> id IDENTITY"}
    assert nodes["external.dev.core.seeded"].reason is Reason.EXTERNAL


def test_models_that_read_each_other_s_tables_come_to_an_end() -> None:
    a = make_model("a", "select order_id, x from dev.main.stg join dev.main.b using (order_id)")
    a["depends_on"]["nodes"] = ["model.shop.stg"]
    b = make_model("b", "select order_id, 1 as x from dev.main.a", ["model.shop.a"])
    lineage = lineage_of(ORDERS, STG, a, b)
    assert "b.x -> x IDENTITY" in edges_of(lineage.nodes["model.shop.a"])
    assert "a.order_id -> order_id IDENTITY" in edges_of(lineage.nodes["model.shop.b"])


def test_levels_put_parents_first_and_cut_a_cycle_at_its_first_name() -> None:
    needs = {"d": ["c"], "c": ["b", "e"], "b": ["c"], "a": [], "e": ["a", "gone"], "z": ["z"]}
    assert levels(needs) == [["a", "z"], ["e"], ["b"], ["c"], ["d"]]


def test_the_same_lineage_has_the_same_fingerprint_in_every_run(shop: Shop) -> None:
    def run() -> dict[str, str]:
        lineage = trace_project(shop.project())
        return {unique_id: node.fingerprint for unique_id, node in lineage.nodes.items()}

    first = run()
    assert first == run()
    assert len(set(first.values())) == len(first)


@pytest.mark.parametrize(
    "sql",
    [
        "select id as order_id, amount + 1 as amount from dev.raw.orders",
        "select id as order_id, amount from dev.raw.orders where id > 1",
        "select id as order_identifier, amount from dev.raw.orders",
        "select amount, id as order_id from dev.raw.orders",
    ],
)
def test_another_lineage_has_another_fingerprint(sql: str) -> None:
    before = lineage_of(ORDERS, STG).nodes["model.shop.stg"]
    after = lineage_of(ORDERS, {**STG, "compiled_code": sql}).nodes["model.shop.stg"]
    assert before.fingerprint != after.fingerprint


def test_a_comment_changes_no_fingerprint() -> None:
    before = lineage_of(ORDERS, STG).nodes["model.shop.stg"]
    sql = f"-- a remark\n{STG['compiled_code']}"
    after = lineage_of(ORDERS, {**STG, "compiled_code": sql}).nodes["model.shop.stg"]
    assert before.fingerprint == after.fingerprint


def test_expressions_can_be_left_out() -> None:
    model = make_model("m", "select amount * 2 as double from dev.raw.orders")
    told = lineage_of(ORDERS, model).nodes["model.shop.m"]
    silent = lineage_of(ORDERS, model, options=Options(expressions=False, processes=1))
    assert [e.expression for e in told.edges] == ["amount * 2"]
    assert [e.expression for e in silent.nodes["model.shop.m"].edges] == [None]


def test_only_some_nodes_can_be_asked_for_with_all_they_are_built_from(shop: Shop) -> None:
    lineage = trace_project(shop.project(), only=["model.shop.eph"])
    assert set(lineage.nodes) == {"model.shop.eph", "model.shop.stg_orders", "seed.shop.raw_orders"}


def test_an_unknown_adapter_is_an_error_before_any_work() -> None:
    with pytest.raises(OptionError, match="nosuchdb") as caught:
        lineage_of(ORDERS, STG, adapter_type="nosuchdb")
    assert "duckdb" in str(caught.value)
    assert lineage_of(ORDERS, STG, adapter_type="nosuchdb", options=Options(dialect="duckdb"))


def test_coverage_counts_models_and_snapshots_that_are_published(shop: Shop) -> None:
    lineage = trace_project(shop.project(), catalog=read_catalog(shop.target / "catalog.json"))
    coverage = lineage.coverage()
    assert (coverage.nodes.partial, coverage.nodes.unknown) == (1, 1)
    assert coverage.columns.unknown == 2
    assert coverage.nodes.total == 14
    hidden = trace_project(shop.project(), options=Options(exclude_packages=("shop",)))
    assert hidden.coverage().nodes.total == 0
    assert hidden.nodes.keys() == lineage.nodes.keys()
    assert [n["unique_id"] for n in hidden.to_dict()["nodes"]] == ["external.shop.main.notes"]


def test_unknowns_name_the_node_and_the_column(shop_lineage: Lineage) -> None:
    found = {(n.unique_id, c.name if c else None) for n, c in shop_lineage.unknowns()}
    assert ("model.shop.guess", None) in found and ("model.shop.guess", "guess") in found
    assert not any(unique_id == "model.shop.fct" for unique_id, _ in found)


def test_the_document_tells_a_constant_from_what_is_unknown() -> None:
    constant = make_model("c", "select 1 as one")
    broken = make_model("b", "select (")
    nodes = {n["unique_id"]: n for n in lineage_of(constant, broken).to_dict()["nodes"]}
    assert nodes["model.shop.c"]["state"] == "known" and nodes["model.shop.c"]["edges"] == []
    assert nodes["model.shop.b"]["state"] == "unknown"
    assert nodes["model.shop.b"]["reason"] == "parse_error" and nodes["model.shop.b"]["detail"]


def test_edges_are_sorted_and_typed(shop_lineage: Lineage) -> None:
    edges = list(shop_lineage.edges())
    assert [e.to_node for e in edges] == sorted(e.to_node for e in edges)
    assert {e.type.value for e in edges} == {"DIRECT", "INDIRECT"}


def test_load_reads_a_target_folder_and_keeps_its_traces(shop: Shop) -> None:
    first = load(shop.target)
    assert (shop.target / "lineage_post/cache/traces.bin").exists()
    again = load(str(shop.target))
    assert again.to_dict() == first.to_dict()


def test_load_of_an_empty_folder_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="there is no manifest"):
        load(tmp_path)


def test_what_a_contract_leaves_out_is_a_note_of_the_model() -> None:
    options = Options(processes=1, commands={"to_eur": {"inputs": ["amount"], "outputs": ["eur"]}})
    sql = "select to_eur(amount, id) as eur from dev.raw.orders"
    model = make_model("eur", sql, ["source.shop.raw.orders"])
    lineage = lineage_of(ORDERS, model, options=options)
    assert edges_of(lineage.nodes["model.shop.eur"]) == {"orders.amount -> eur TRANSFORMATION"}
    [note] = lineage.notes
    assert (note.unique_id, note.kind) == ("model.shop.eur", "contract")
    assert note.message == "to_eur: no declared input covers id"


def test_a_partial_column_says_what_it_hangs_on() -> None:
    sql = "select id, note from dev.raw.orders join dev.raw.unlisted on true"
    model = make_model("m", sql, ["source.shop.raw.orders"])
    catalog = {"source.shop.raw.orders": {"id": "integer", "amount": "double"}}
    node = lineage_of(ORDERS, model, catalog=catalog).nodes["model.shop.m"]
    column = next(c for c in node.columns if c.name == "note")
    assert column.state is State.PARTIAL
    assert column.detail is not None and "unlisted" in column.detail
