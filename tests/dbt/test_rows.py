"""Rows, what is new of them, and their SQL: without dbt and without a warehouse."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage_post.artifacts import Node, Project, RelationName
from lineage_post.lineage import ColumnLineage, Edge, Lineage, NodeLineage
from lineage_post.lineage.record import packed_node
from lineage_post.publish.definition import node_row, operation_of
from lineage_post.publish.fitting import fitting
from lineage_post.publish.load import MOST_BYTES, Literals, batches
from lineage_post.publish.prior import Prior, PriorRefresh, new_rows, removed_rows
from lineage_post.publish.rows import rows_of
from lineage_post.publish.run import Build, Run, git_revision, planned_run, trace_id
from lineage_post.publish.tables import Rows
from lineage_post.vocabulary import Reason, State, Status, Subtype

AT = datetime(2026, 1, 2, 3, 4, 5, 678901)


def node(unique_id: str, **settings: object) -> Node:
    kind, package, *_, name = unique_id.split(".")
    base = Node(
        unique_id=unique_id,
        name=name,
        resource_type=kind,
        package_name=package,
        path=f"models/{name}.sql",
        relation=RelationName("db", "main", name),
        materialized="table" if kind == "model" else None,
        raw_code=f"select * from {name}",
    )
    return replace(base, **settings)  # type: ignore[arg-type]


def known(unique_id: str, edges: tuple[Edge, ...] = (), *columns: str) -> NodeLineage:
    listed = [
        ColumnLineage(i, name, None, State.KNOWN, None) for i, name in enumerate(columns, start=1)
    ]
    return packed_node(unique_id, listed, edges, state=State.KNOWN, operation="select", inputs=())


def unknown(unique_id: str) -> NodeLineage:
    return packed_node(
        unique_id, (), (), state=State.UNKNOWN, reason=Reason.PARSE_ERROR, operation="select"
    )


SOURCE, EPHEMERAL, MODEL = "source.shop.app.t", "model.shop.e", "model.shop.m"
EDGE = Edge(EPHEMERAL, "a", None, MODEL, "b", Subtype.IDENTITY, expression="a")


def lineage(model: NodeLineage | None = None) -> Lineage:
    nodes = {
        SOURCE: node(SOURCE, raw_code=""),
        EPHEMERAL: node(EPHEMERAL, materialized="ephemeral", relation=None, depends_on=(SOURCE,)),
        MODEL: node(MODEL, depends_on=(EPHEMERAL,), compiled_code="select 1"),
        "exposure.shop.board": node("exposure.shop.board", depends_on=(MODEL,), relation=None),
    }
    traced = {
        SOURCE: known(SOURCE, (), "a"),
        EPHEMERAL: known(
            EPHEMERAL, (Edge(SOURCE, "a", None, EPHEMERAL, "a", Subtype.IDENTITY),), "a"
        ),
        MODEL: model or known(MODEL, (EDGE,), "b"),
        "exposure.shop.board": unknown("exposure.shop.board"),
    }
    return Lineage(project=Project("shop", "duckdb", nodes), nodes=traced)


def run(status: Status = Status.SUCCESS, run_id: str = "r1") -> Run:
    return Run(run_id, {MODEL: Build(MODEL, status, AT)}, recorded_at=AT)


def test_inputs_that_no_run_builds_are_derived_through_ephemeral_models() -> None:
    rows = rows_of(lineage(), run())
    assert {r.node: r.status for r in rows.refreshes} == {
        MODEL: "success",
        EPHEMERAL: "derived",
        SOURCE: "derived",
        "exposure.shop.board": "derived",
    }
    assert {r.refreshed_at for r in rows.refreshes} == {AT}


@pytest.mark.parametrize("status", [Status.ERROR, Status.SKIPPED])
def test_a_failed_attempt_has_no_lineage_and_no_derived_inputs(status: Status) -> None:
    rows = rows_of(lineage(), run(status))
    [refresh] = rows.refreshes
    assert (refresh.status, refresh.fingerprint, refresh.state) == (status.value, None, None)
    assert not rows.edges and not rows.columns


def test_a_sample_has_lineage_but_derives_nothing() -> None:
    rows = rows_of(lineage(), run(Status.SAMPLE))
    assert [r.status for r in rows.refreshes] == ["sample"]
    assert rows.edges


def test_excluded_packages_are_not_recorded() -> None:
    assert rows_of(lineage(), run(), exclude_packages=["shop"]) == Rows()


def test_every_row_stands_under_the_fingerprint_of_its_node() -> None:
    rows = rows_of(lineage(), run())
    by_node = {r.node: r.fingerprint for r in rows.refreshes}
    assert {e.fingerprint for e in rows.edges if e.to_node == MODEL} == {by_node[MODEL]}
    assert {c.fingerprint for c in rows.columns if c.node == SOURCE} == {by_node[SOURCE]}


def prior_of(rows: Rows, **changes: object) -> Prior:
    refreshes = tuple(
        PriorRefresh(
            r.node,
            r.producer,
            r.run_id,
            r.refreshed_at,
            r.status,
            r.definition_version,
            r.fingerprint,
            r.last_known_fingerprint,
            r.state,
        )
        for r in rows.refreshes
    )
    return Prior(
        refreshes=tuple(replace(r, **changes) for r in refreshes),  # type: ignore[arg-type]
        fingerprints=frozenset(r.fingerprint for r in rows.refreshes if r.fingerprint),
        definitions=frozenset((n.node, n.definition_version) for n in rows.nodes),
        keys=frozenset((r.run_id, r.node, r.producer) for r in rows.refreshes),
    )


def test_a_load_repeated_adds_nothing() -> None:
    rows = rows_of(lineage(), run())
    assert new_rows(rows, prior_of(rows)) == Rows()


def test_the_same_lineage_in_another_run_adds_refreshes_alone() -> None:
    first = rows_of(lineage(), run())
    added = new_rows(rows_of(lineage(), run(run_id="r2")), prior_of(first))
    assert (added.nodes, added.edges, added.columns) == ((), (), ())
    assert {r.column_derivations for r in added.refreshes} == {None}
    assert len(added.refreshes) == 4


def test_an_input_has_the_version_of_its_own_last_refresh() -> None:
    first = new_rows(rows_of(lineage(), run()), Prior())
    model = next(r for r in first.refreshes if r.node == MODEL)
    assert json.loads(model.inputs or "") == [
        {"node": EPHEMERAL, "version": "r1", "kind": "refresh"}
    ]


def test_a_refresh_without_known_lineage_carries_the_last_that_was() -> None:
    first = rows_of(lineage(), run())
    good = next(r.fingerprint for r in first.refreshes if r.node == MODEL)
    lost = lineage(unknown(MODEL))
    second = new_rows(rows_of(lost, run(run_id="r2")), prior_of(first))
    refresh = next(r for r in second.refreshes if r.node == MODEL)
    assert (refresh.state, refresh.last_known_fingerprint) == ("unknown", good)
    third = new_rows(rows_of(lost, run(run_id="r3")), prior_of(second))
    refresh = next(r for r in third.refreshes if r.node == MODEL)
    assert refresh.last_known_fingerprint == good


def test_only_own_nodes_that_are_gone_are_removed_and_only_once() -> None:
    rows = rows_of(lineage(), run())
    prior = prior_of(rows)
    known_nodes = {SOURCE, EPHEMERAL, "exposure.shop.board"}
    later = run(run_id="r2")
    [gone] = removed_rows(prior, later, known_nodes, {"shop"}, AT)
    assert (gone.node, gone.status) == (MODEL, "removed")
    assert removed_rows(prior, later, known_nodes, {"other"}, AT) == ()
    assert removed_rows(prior_of(rows, status="removed"), later, set(), {"shop"}, AT) == ()


def test_a_definition_version_tells_raw_and_compiled_sql_and_settings_apart() -> None:
    model = node(MODEL, compiled_code="select 1")
    first = node_row(MODEL, model).definition_version.split(".")
    for change in ({"raw_code": "x"}, {"compiled_code": "x"}, {"tags": ("pii",)}):
        other = node_row(MODEL, replace(model, **change)).definition_version.split(".")
        assert sum(a != b for a, b in zip(first, other, strict=True)) == 1


@pytest.mark.parametrize(
    ("settings", "mode", "adapter", "operation"),
    [
        ({"materialized": "view"}, None, "duckdb", "create_view"),
        ({"materialized": "table"}, None, "duckdb", "create_table_as"),
        ({"materialized": "incremental"}, "first", "duckdb", "create_table_as"),
        ({"materialized": "incremental"}, "incremental", "duckdb", "insert"),
        ({"materialized": "incremental"}, "incremental", "snowflake", "merge"),
        (
            {"materialized": "incremental", "config": {"unique_key": "id"}},
            "incremental",
            "postgres",
            "delete_insert",
        ),
        (
            {"materialized": "incremental", "config": {"incremental_strategy": "append"}},
            "incremental",
            "spark",
            "insert",
        ),
        ({"resource_type": "seed", "materialized": "seed"}, None, "duckdb", "seed"),
        ({"resource_type": "snapshot"}, "first", "duckdb", "snapshot"),
        ({"materialized": "made_by_a_package"}, None, "duckdb", None),
    ],
)
def test_the_operation_is_what_the_build_did(
    settings: dict[str, object], mode: str | None, adapter: str, operation: str | None
) -> None:
    assert operation_of(node(MODEL, **settings), mode, adapter) == operation


def test_what_is_planned_is_said_by_the_manifest() -> None:
    planned = planned_run(lineage().project, [MODEL])
    rows = rows_of(lineage(), planned)
    assert {(r.node, r.producer, r.status) for r in rows.refreshes} == {
        (MODEL, "manifest", "planned")
    }


def test_rows_come_before_the_refreshes_that_point_to_them() -> None:
    tables = [b.table for b in batches(rows_of(lineage(), run()), Literals("duckdb"), most_bytes=1)]
    assert tables == sorted(
        tables, key=["lineage_nodes", "lineage_edges", "lineage_columns", "lineage_refreshes"].index
    )
    assert tables.count("lineage_refreshes") == 4


@settings(deadline=None)
@given(st.text(), st.integers(50, 5000))
def test_any_text_survives_a_literal_and_batches_keep_their_size(text: str, size: int) -> None:
    rows = rows_of(lineage(known(MODEL, (EDGE._replace(expression=text),), "b")), run())
    found = list(batches(rows, Literals("duckdb"), most_bytes=size))
    assert sum(b.rows for b in found) == sum(len(t) for _, _, t in rows.tables())
    assert all(b.rows == 1 or len((b.parameter or "").encode()) <= size + 2 for b in found)
    stored = text.replace("\0", "\ufffd")
    assert duckdb.sql("select " + Literals("duckdb").text(text)).fetchall() == [(stored,)]
    edges = [b for b in found if b.table == "lineage_edges"]
    rows_read = [r for b in edges for r in duckdb.execute(b.source, [b.parameter]).fetchall()]
    assert stored in [row[10] for row in rows_read]


@pytest.mark.parametrize("adapter", ["duckdb", "postgres", "bigquery", "redshift", "athena"])
def test_what_is_longer_than_a_warehouse_takes_is_cut_and_json_stays_json(adapter: str) -> None:
    text = "é" * 2_000_000
    cut = fitting("expression", text, adapter)
    assert cut is not None and cut.endswith("é -- cut")
    assert len(cut.encode()) <= min(MOST_BYTES.get(adapter, 10**9), 100_000)
    derivations = {f"c{i}": {"sources": [{"node": "n"}], "expression": text} for i in range(9)}
    told = fitting("column_derivations", json.dumps(derivations), adapter)
    found = json.loads(told or "")
    assert found["c8"] == {"sources": [{"node": "n"}], "expression": None}
    inputs = [{"node": "n", "version": "v", "kind": "file", "path": text} for _ in range(9)]
    short = json.loads(fitting("inputs", json.dumps(inputs), adapter) or "")
    assert short[8] == {"node": "n", "version": "v", "kind": "file"}
    assert fitting("expression", "short", adapter) == "short"


@pytest.mark.parametrize(
    ("adapter", "literal"),
    [
        ("duckdb", "'it''s a \\ back\nslash'"),
        ("postgres", "'it''s a \\ back\nslash'"),
        ("trino", "'it''s a \\ back\nslash'"),
        ("bigquery", "'it\\'s a \\\\ back\\nslash'"),
        ("snowflake", "'it\\'s a \\\\ back\\nslash'"),
        ("databricks", "'it\\'s a \\\\ back\\nslash'"),
        ("spark", "'it\\'s a \\\\ back\\nslash'"),
        ("redshift", "'it\\'s a \\\\ back\\nslash'"),
    ],
)
def test_a_literal_is_escaped_as_its_warehouse_reads_it(adapter: str, literal: str) -> None:
    assert Literals(adapter).text("it's a \\ back\nslash") == literal


def test_other_values_are_literals_too() -> None:
    literals = Literals("duckdb", "timestamp")
    assert literals.row((None, True, 7, AT)) == (
        "(null, true, 7, cast('2026-01-02 03:04:05.678901' as timestamp))"
    )
    assert Literals("sqlserver").literal(False) == "0"
    assert Literals("duckdb").text("lone \ud800 surrogate") == "'lone \ufffd surrogate'"


def test_bigquery_never_gets_more_than_it_takes() -> None:
    wide = EDGE._replace(expression="x" * 300_000)
    edges = tuple(wide._replace(from_column=f"c{i}") for i in range(6))
    rows = rows_of(lineage(known(MODEL, edges, "b")), run())
    sizes = [len(b.source) for b in batches(rows, Literals("bigquery"), most_bytes=10**9)]
    assert max(sizes) < 1_000_000


def test_the_git_revision_is_read_without_git(tmp_path: Path) -> None:
    revision = "a" * 40
    git = tmp_path / ".git"
    (git / "refs/heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "refs/heads/main").write_text(revision + "\n")
    inside = tmp_path / "project"
    inside.mkdir()
    assert git_revision(inside) == revision
    (git / "refs/heads/main").unlink()
    (git / "packed-refs").write_text(f"# pack-refs\n{'b' * 40} refs/heads/main\n")
    assert git_revision(inside) == "b" * 40
    (git / "HEAD").write_text("c" * 40)
    assert git_revision(inside) == "c" * 40
    (git / "HEAD").write_text("damaged")
    assert git_revision(inside) is None


def test_a_trace_that_is_running_already_gives_its_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRACEPARENT", raising=False)
    assert trace_id("ab-cd") == "abcd"
    monkeypatch.setenv("TRACEPARENT", f"00-{'1' * 32}-{'2' * 16}-01")
    assert trace_id("ab-cd") == "1" * 32


def test_row_classes_have_the_columns_of_the_models() -> None:
    root = Path(__file__).parents[2] / "models" / "base"
    for table, row_class, _ in Rows().tables():
        sql = (root / f"{table}.sql").read_text()
        listed = re.findall(r"\('(\w+)', (?:dbt|lineage_post)\.", sql)
        assert tuple(listed) == row_class._fields
    assert node_row(MODEL, None)[0] == MODEL
