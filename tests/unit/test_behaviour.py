"""Cases from public reports: each test is named by the case it is of."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lineage_post.artifacts import catalog_from_dict, project_from_manifest_dict, read_manifest
from lineage_post.artifacts.stitch import stitch
from lineage_post.cli import run
from lineage_post.diff import DiffKind, diff_of
from lineage_post.errors import ArtifactError
from lineage_post.impact import Analysis, BreaksOn, Change, ChangeKind
from lineage_post.lineage import Lineage, trace_project
from lineage_post.options import Options
from lineage_post.publish.json import document
from lineage_post.selection import select, target_of
from lineage_post.vocabulary import Reason, State

from .lineages import edges_of, lineage_of
from .manifests import make_catalog, make_manifest, make_model, make_source

RAW = make_source("orders", {"id": "int", "amount": "double", "status": "text"})
SOURCE = "source.shop.raw.orders"
ADAPTERS = ("athena", "sqlserver", "synapse", "fabric", "databricks", "glue", "dremio", "vertica",
            "spark", "trino", "starrocks")  # fmt: skip


def rename(lineage: Lineage, node: str, column: str) -> Any:
    return Analysis(lineage).impact(Change(ChangeKind.RENAME, node, column, "renamed"))


def project_dir(tmp_path: Path, manifest: dict[str, Any], name: str = "shop") -> Path:
    folder = tmp_path / name
    (folder / "target").mkdir(parents=True)
    (folder / "dbt_project.yml").write_text("name: shop\n", encoding="utf-8")
    path = folder / "target" / "manifest.json"
    path.write_text(json.dumps(manifest), encoding="utf-8")
    return folder


class Done(NamedTuple):
    """What a command left: its exit code and its two streams."""

    exit_code: int
    stdout: str
    stderr: str


Call = Callable[..., Done]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def called(*args: str) -> Done:
        code = run(args)
        return Done(code, *capsys.readouterr())

    return called


def test_uk_03_unknown_is_not_a_constant() -> None:
    lineage = lineage_of(make_model("bad", "select (", []), make_model("one", "select 1 as x"))
    bad, one = lineage.nodes["model.shop.bad"], lineage.nodes["model.shop.one"]
    assert (bad.state, bad.reason, list(bad.edges)) == (State.UNKNOWN, Reason.PARSE_ERROR, [])
    assert (one.state, one.reason, list(one.edges)) == (State.KNOWN, None, [])
    told = {n["unique_id"]: (n["state"], n["reason"]) for n in lineage.to_dict()["nodes"]}
    assert told[bad.unique_id] != told[one.unique_id]


def test_uk_05_a_python_model_is_possibly_affected() -> None:
    score = make_model("score", None, [SOURCE], language="python", materialized="table",
                       raw_code="def model(dbt, session): return dbt.ref('orders')",
                       columns={"id": {"name": "id"}, "score": {"name": "score"}})  # fmt: skip
    lineage = lineage_of(RAW, score)
    node = lineage.nodes["model.shop.score"]
    assert (node.reason, node.inputs) == (Reason.PYTHON_MODEL, (SOURCE,))
    assert [p.unique_id for p in rename(lineage, SOURCE, "amount").possible] == ["model.shop.score"]


def test_in_07_names_that_dbt_makes_for_a_moment_are_no_nodes() -> None:
    sql = "select id from dev.main.m__dbt_tmp20240101 union all select id from dev.raw.orders"
    lineage = lineage_of(RAW, make_model("m", sql, [SOURCE], materialized="incremental"))
    assert sorted(lineage.nodes) == ["model.shop.m", SOURCE]
    assert edges_of(lineage.nodes["model.shop.m"]) == {
        "m.id -> id IDENTITY",
        "orders.id -> id IDENTITY",
    }


def test_im_03_a_version_keeps_its_id_and_its_readers() -> None:
    def version(number: int) -> dict[str, Any]:
        return make_model("ver", "select id from dev.raw.orders", [SOURCE],
                          unique_id=f"model.shop.ver.v{number}", version=number, latest_version=1,
                          alias=f"ver_v{number}", fqn=["shop", "ver", f"v{number}"],
                          relation_name=f'"dev"."main"."ver_v{number}"')  # fmt: skip

    reads = make_model("reads", "select id from dev.main.ver_v1", ["model.shop.ver.v1"])
    other = make_model("other", "select id from dev.main.ver_v2", ["model.shop.ver.v2"])
    lineage = lineage_of(RAW, version(1), version(2), reads, other)
    broken = rename(lineage, "model.shop.ver.v1", "id").broken
    assert [d.unique_id for d in broken] == ["model.shop.reads"]
    assert target_of("ver.id", lineage).node == "model.shop.ver.v1"


def test_ui_06_versions_have_labels_of_their_own_and_are_selected_by_them() -> None:
    models = [
        make_model("ver", "select 1 as id", unique_id=f"model.shop.ver.v{n}", version=n,
                   fqn=["shop", "ver", f"v{n}"], alias=f"ver_v{n}",
                   relation_name=f'"dev"."main"."ver_v{n}"')
        for n in (1, 2)
    ]  # fmt: skip
    lineage = lineage_of(*models)
    assert [n.label_or_name for n in lineage.project.nodes.values()] == ["ver.v1", "ver.v2"]
    for name in ("ver.v1", "ver_v1", "model.shop.ver.v1"):
        assert target_of(f"{name}.id", lineage).node == "model.shop.ver.v1"
    assert select(lineage, "ver.v1").whole == {"model.shop.ver.v1"}


def test_im_05_what_is_beyond_an_unknown_is_counted_apart() -> None:
    first = make_model("m1", "select id from dev.raw.orders", [SOURCE])
    second = make_model("m2", "select (", ["model.shop.m1"], alias="other_name",
                        relation_name='"dev"."main"."other_name"')  # fmt: skip
    board = {"unique_id": "exposure.shop.board", "resource_type": "exposure", "name": "board",
             "package_name": "shop", "depends_on": {"nodes": ["model.shop.m2"]}}  # fmt: skip
    impact = rename(lineage_of(RAW, first, second, board), SOURCE, "id")
    assert {p.unique_id for p in impact.possible} == {"model.shop.m2", "exposure.shop.board"}
    assert [d.unique_id for d in impact.dependents] == ["model.shop.m1"]


def test_im_01_a_rename_is_told_from_drop_and_add() -> None:
    def state(*columns: str) -> Lineage:
        listed = ", ".join(columns)
        return lineage_of(RAW, make_model("fct", f"select id, {listed} from dev.raw.orders",
                                          [SOURCE]))  # fmt: skip

    [change] = diff_of(state("amount * 2 as total"), state("amount * 2 as net")).changes
    assert (change.kind, change.before, change.after) == (DiffKind.COLUMN_RENAMED, "total", "net")


def test_mp_01_an_injected_model_is_stitched_or_inferred_from_its_use() -> None:
    injected = make_model("dim", None, package="core", raw_code="", compiled_code=None)
    reader = make_model("fct", "select d.key, d.name from dev.main.dim as d", ["model.core.dim"])
    alone = lineage_of(injected, reader)
    dim = alone.nodes["model.core.dim"]
    assert (dim.state, dim.reason) == (State.UNKNOWN, Reason.EXTERNAL)
    assert {c.name for c in dim.columns} == {"key", "name"}
    core = make_manifest(
        make_source("people", {"id": "int", "name": "text"}) | {"package_name": "core"},
        make_model("dim", "select id as key, name from dev.raw.people",
                   ["source.shop.raw.people"], package="core"),
        project="core",
    )  # fmt: skip
    project = project_from_manifest_dict(make_manifest(injected, reader))
    stitched = stitch(project, project_from_manifest_dict(core))
    lineage = trace_project(stitched, options=Options(processes=1))
    steps = {(s.node, s.column) for s in lineage.upstream("model.shop.fct", "key")}
    assert ("source.shop.raw.people", "id") in steps


def test_mp_03_a_grandparent_that_no_manifest_has_is_an_external_relation() -> None:
    seen = make_model("b", "select id from dev.main.a_seed", ["seed.a.a_seed"], package="b")
    reader = make_model("c", "select id from dev.main.b", ["model.b.b"], package="c")
    upstream = project_from_manifest_dict(make_manifest(seen, project="b"))
    injected = make_model("b", None, package="b", raw_code="")
    project = project_from_manifest_dict(make_manifest(injected, reader, project="c"))
    lineage = trace_project(stitch(project, upstream), options=Options(processes=1))
    assert lineage.nodes["external.dev.main.a_seed"].reason is Reason.EXTERNAL
    steps = {s.node for s in lineage.upstream("model.c.c", "id")}
    assert steps == {"model.b.b", "external.dev.main.a_seed"}


def test_cf_03_packages_that_are_left_out_still_serve_as_steps(call: Call, tmp_path: Path) -> None:
    tool = make_model("step", "select id from dev.raw.orders", [SOURCE], package="tool")
    last = make_model("last", "select id from dev.main.step", ["model.tool.step"])
    folder = project_dir(tmp_path, make_manifest(RAW, tool, last))
    flags = ("--project-dir", str(folder), "--exclude-packages", "tool")
    assert call("build", *flags).exit_code == 0
    written = json.loads((folder / "target/lineage_post/lineage.json").read_text("utf-8"))
    assert {n["unique_id"] for n in written["nodes"]} == {SOURCE, "model.shop.last"}
    shown = call("show", "+last.id", *flags, "--output", "json")
    assert "source.shop.raw.orders" in shown.stdout
    part = call("build", "--select", "last", "--exclude", "path:nowhere", *flags)
    assert part.exit_code == 0 and "matches nothing" in part.stderr


def test_cf_01_an_adapter_that_is_not_known_is_an_error_before_any_work(
    call: Call, tmp_path: Path
) -> None:
    folder = project_dir(tmp_path, make_manifest(RAW, adapter_type="nosuchdb"))
    done = call("build", "--project-dir", str(folder))
    assert done.exit_code == 2 and "nosuchdb" in done.stderr and "snowflake" in done.stderr
    assert call("build", "--project-dir", str(folder), "--dialect", "sqlserver").exit_code == 0


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_cf_01_each_adapter_has_a_dialect(adapter: str) -> None:
    lineage = lineage_of(RAW, make_model("m", "select id from dev.raw.orders", [SOURCE]),
                         adapter_type=adapter)  # fmt: skip
    assert edges_of(lineage.nodes["model.shop.m"]) == {"orders.id -> id IDENTITY"}


def test_pl_01_paths_of_a_manifest_made_on_windows() -> None:
    model = make_model("m", "select id from dev.raw.orders", [SOURCE],
                       original_file_path="models\\staging\\m.sql",
                       patch_path="shop://models\\schema.yml")  # fmt: skip
    lineage = lineage_of(RAW, model)
    node = lineage.project.nodes["model.shop.m"]
    assert (node.path, node.patch_path) == ("models/staging/m.sql", "shop://models/schema.yml")
    assert select(lineage, "path:models/staging").whole == {"model.shop.m"}
    assert rename(lineage, SOURCE, "id").broken[0].file == "models/staging/m.sql"


@pytest.mark.parametrize("name", ["My Projects", "caf\u00e9 shop", "x" * 100])
def test_pl_03_project_paths_of_all_kinds(call: Call, tmp_path: Path, name: str) -> None:
    model = make_model("m" * 120, "select id from dev.raw.orders", [SOURCE])
    folder = project_dir(tmp_path, make_manifest(RAW, model), name)
    for target in ("target", str(folder / "target")):
        done = call("build", "--project-dir", str(folder), "--target-path", target)
        assert done.exit_code == 0, done.stderr
        written = folder / "target/lineage_post/lineage.json"
        nodes = {n["unique_id"]: n for n in json.loads(written.read_text("utf-8"))["nodes"]}
        assert [e["from_node"] for e in nodes["model.shop." + "m" * 120]["edges"]] == [SOURCE]
        written.unlink()


def test_uk_01_a_manifest_without_sql_never_replaces_a_full_answer(
    call: Call, tmp_path: Path
) -> None:
    model = make_model("m", "select id from dev.raw.orders", [SOURCE])
    folder = project_dir(tmp_path, make_manifest(RAW, model))
    flags = ("--project-dir", str(folder))
    assert call("build", *flags).exit_code == 0
    before = (folder / "target/lineage_post/lineage.json").read_bytes()
    empty = make_model("m", None, [SOURCE])
    (folder / "target/manifest.json").write_text(json.dumps(make_manifest(RAW, empty)), "utf-8")
    done = call("build", *flags)
    assert done.exit_code == 2 and "dbt compile" in done.stderr
    assert (folder / "target/lineage_post/lineage.json").read_bytes() == before


def test_uk_06_a_document_says_what_it_is_of() -> None:
    lineage = lineage_of(RAW)
    metadata = document(lineage, Options(dialect="duckdb"))["metadata"]
    assert {"invocation_id", "generated_at", "tool_version", "options"} <= metadata.keys()
    assert metadata["invocation_id"] == "run-1"
    assert metadata["options"]["dialect"] == "duckdb"


def test_uk_06_what_was_written_for_other_inputs_is_said_to_be_stale(
    call: Call, tmp_path: Path
) -> None:
    model = make_model("m", "select id from dev.raw.orders", [SOURCE])
    manifest = make_manifest(RAW, model)
    flags = ("--project-dir", str(project_dir(tmp_path, manifest)))
    assert call("build", *flags).exit_code == 0
    assert "stale" not in call("show", "m.id", *flags).stderr
    assert "is stale" in call("show", "m.id", *flags, "--exclude-packages", "tool").stderr
    path = tmp_path / "shop/target/manifest.json"
    manifest["metadata"] |= {"invocation_id": "run-2", "generated_at": "2026-01-02T00:00:00Z"}
    path.write_text(json.dumps(manifest), "utf-8")
    assert "stale" not in call("show", "m.id", *flags).stderr, "dbt compile changed nothing"
    changed = make_model("m", "select status as id from dev.raw.orders", [SOURCE])
    path.write_text(json.dumps(make_manifest(RAW, changed)), "utf-8")
    assert "is stale" in call("show", "m.id", *flags).stderr
    assert call("build", *flags, "--select", "m").exit_code == 0
    assert "stale" not in call("show", "m.id", *flags).stderr, "a selection is not stale either"


def test_se_05_nothing_of_the_environment_is_published() -> None:
    secret = "s3cr3t"
    model = make_model("m", "select id from dev.raw.orders", [SOURCE])
    hook = f"insert into dev.audit.log (n) select id from {{{{ this }}}} -- {secret}"
    model["config"].update({"token": secret, "post-hook": [{"sql": hook}]})
    manifest = make_manifest(RAW, model)
    manifest["metadata"]["env"] = {"DBT_ENV_CUSTOM_ENV_KEY": secret}
    manifest["metadata"]["args"] = {"vars": secret}
    lineage = trace_project(project_from_manifest_dict(manifest), options=Options(processes=1))
    assert secret not in json.dumps(document(lineage, lineage.options))


def test_se_03_names_are_data(call: Call, tmp_path: Path) -> None:
    names = ["<svg onload=alert(1)>", "a'); drop table x; --", "{{ 7*7 }}"]
    listed = ", ".join(f'{i} as "{name}"' for i, name in enumerate(names))
    folder = project_dir(tmp_path, make_manifest(make_model("m", f"select {listed}")))
    shown = call("show", "m", "--project-dir", str(folder), "--output", "json")
    assert [c["name"] for c in json.loads(shown.stdout)["node"]["columns"]] == names


def test_a_file_that_is_no_manifest_is_named(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text("[1]", encoding="utf-8")
    with pytest.raises(ArtifactError, match=r"manifest\.json"):
        read_manifest(path)


@pytest.mark.parametrize("command", [["show"], ["impact", "--drop"], ["impact", "--domain"]])
def test_a_column_that_is_not_there_has_near_names(
    call: Call, tmp_path: Path, command: list[str]
) -> None:
    model = make_model("m", "select amount from dev.raw.orders", [SOURCE])
    folder = project_dir(tmp_path, make_manifest(RAW, model))
    done = call(*command, "m.amuont", "--project-dir", str(folder))
    assert done.exit_code == 2 and "amount" in done.stderr


def test_catalogs_are_read_with_their_order() -> None:
    tables = catalog_from_dict(make_catalog({"model.shop.m": {"b": "int", "a": "text"}}))
    assert list(tables["model.shop.m"].columns) == ["b", "a"]


def test_the_python_face_answers_changes() -> None:
    model = make_model("m", "select id, amount as total from dev.raw.orders where status = 'x'",
                       [SOURCE])  # fmt: skip
    lineage = lineage_of(RAW, model)
    renamed, dropped = lineage.impact(rename={"raw.orders.id": "key"}, drop="raw.orders.status")
    assert [(d.column, d.breaks_on) for d in renamed.broken] == [
        ("id", (BreaksOn.RENAME, BreaksOn.REMOVE))
    ]
    assert [d.column for d in dropped.broken] == [None]


def test_a_column_of_a_window_alone_says_what_decides_it(call: Call, tmp_path: Path) -> None:
    sql = "select row_number() over (order by id) as place, 1 as one, id from dev.raw.orders"
    model = make_model("m", sql, [SOURCE])
    folder = project_dir(tmp_path, make_manifest(RAW, model))
    lines = {line.split()[0]: line for line in call("show", "m", "--project-dir", str(folder))
             .stdout.splitlines() if line.strip()}  # fmt: skip
    assert lines["place"].rstrip().endswith("decided by raw.orders.id (window)")
    assert lines["id"].rstrip().endswith("raw.orders.id")
    assert lines["one"].rstrip().endswith("known"), "a constant comes from nothing"
