"""The bundle of a figure: complete, the same each time, and not to be changed unseen."""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lineage_post.bridge.results import MOST_RUNS, keep_results, kept_results
from tests.governance.conftest import Call, Crm


@pytest.fixture
def bundle(crm: Crm, cli: Call) -> Path:
    path = crm.folder / "evidence.zip"
    code, out, _ = cli(crm, "evidence", "city_contacts.contacts", "--out", str(path))
    assert code == 0 and "content sha256" in out
    return path


def read(path: Path, name: str = "evidence.json") -> str:
    with zipfile.ZipFile(path) as archive:
        return archive.read(name).decode("utf-8")


def test_a_bundle_has_each_step_with_its_sql_its_build_and_its_versions(bundle: Path) -> None:
    document = json.loads(read(bundle))
    steps = {step["unique_id"].split(".", 2)[-1]: step for step in document["steps"]}
    assert list(steps) == ["raw_users", "stg_users", "dim_users", "city_contacts"]
    assert document["complete"] and document["not_known"] == []
    last = steps["city_contacts"]
    assert last["columns"][0]["expression"] == "string_agg(contact, ',')"
    assert {e["subtype"] for e in last["rows_decided_by"]} == {"FILTER", "GROUP_BY"}
    assert last["refresh"]["status"] == "success" and last["refresh"]["is_this_definition"]
    assert last["inputs"] == [
        {
            "node": "model.crm.dim_users",
            "version": last["refresh"]["run_id"],
            "kind": "refresh",
        }
    ]
    assert "string_agg" in read(bundle, last["sql_file"])
    assert "string_agg" in read(bundle, "evidence.md")


def test_the_tables_tell_more_of_a_build_than_a_run_does(crm: Crm, cli: Call) -> None:
    rows = crm.folder / "refreshes.csv"
    crm.query(f"copy (from lineage_refreshes) to '{rows}' (header)")
    path = crm.folder / "evidence.zip"
    cli(crm, "evidence", "fct_orders.amount", "--out", str(path), "--refreshes", str(rows))
    last = json.loads(read(path))["steps"][-1]
    assert last["refresh"]["said_by"] == "lineage_refreshes"
    assert last["refresh"]["build_mode"] == "first"
    assert last["refresh"]["is_this_definition"] is True
    assert {i["node"] for i in last["inputs"]} >= {"model.crm.stg_orders"}
    assert all(i["version"] for i in last["inputs"] if i["kind"] == "refresh")


def test_the_tables_are_read_from_the_warehouse_itself(crm: Crm, cli: Call) -> None:
    path = crm.folder / "evidence.zip"
    code, _, _ = cli(
        crm, "evidence", "fct_orders.amount", "--out", str(path), "--from-warehouse",
        "--profiles-dir", str(crm.folder),
    )  # fmt: skip
    assert code == 0
    assert json.loads(read(path))["steps"][-1]["refresh"]["said_by"] == "lineage_refreshes"


def test_tests_come_with_their_last_results(crm: Crm, cli: Call) -> None:
    build = crm.folder / "build.json"
    build.write_bytes((crm.folder / "target" / "run_results.json").read_bytes())
    crm.dbt("test", "--select", "dim_users")
    results = crm.folder / "target" / "run_results.json"
    path = crm.folder / "evidence.zip"
    code, _, err = cli(
        crm, "evidence", "dim_users.contact", "--out", str(path), "--compiled-from-disk",
        "--run-results", str(build), "--run-results", str(results),
    )  # fmt: skip
    assert code == 0, err
    document = json.loads(read(path))
    tests = {(t["test"], t["of"]): t["result"] for t in document["tests"]}
    runs = {run["command"]: run["invocation_id"] for run in document["runs"]}
    last = tests["unique", "model.crm.dim_users"]
    assert (last["status"], last["failures"], last["run_id"]) == ("pass", 0, runs["test"])
    assert tests["unique", "model.crm.stg_users"]["run_id"] == runs["build"]
    assert document["steps"][-1]["refresh"]["status"] == "success"


def test_commands_that_overwrite_the_results_take_none_away(crm: Crm, cli: Call) -> None:
    crm.dbt("test", "--select", "dim_users")
    crm.dbt("docs", "generate", "--select", "package:crm")
    crm.dbt("compile", "--select", "package:crm")
    path = crm.folder / "evidence.zip"
    code, _, err = cli(crm, "evidence", "dim_users.contact", "--out", str(path))
    assert code == 0, err
    document = json.loads(read(path))
    assert {run["command"] for run in document["runs"]} >= {"build", "test"}
    assert document["steps"][-1]["refresh"]["status"] == "success"
    tests = {(t["test"], t["of"]): t["result"] for t in document["tests"]}
    assert tests["unique", "model.crm.dim_users"]["status"] == "pass"


def test_of_many_runs_the_last_ones_are_kept(tmp_path: Path) -> None:
    results = tmp_path / "run_results.json"
    for number in range(MOST_RUNS + 3):
        which = "docs" if number == 5 else "build"
        results.write_text(json.dumps({"results": [number], "args": {"which": which}}))
        os.utime(results, ns=(number, number))
        keep_results(tmp_path)
        keep_results(tmp_path)
    kept = [json.loads(path.read_text())["results"][0] for path in kept_results(tmp_path)]
    assert kept == [2, 3, 4, 6, 7, 8, 9, 10, 11, 12]


def test_the_same_artifacts_give_the_same_bytes_but_for_the_named_time(
    crm: Crm, cli: Call, bundle: Path
) -> None:
    other = crm.folder / "again.zip"
    cli(crm, "evidence", "city_contacts.contacts", "--out", str(other))
    with zipfile.ZipFile(bundle) as one, zipfile.ZipFile(other) as two:
        assert one.namelist() == two.namelist()
        for name in set(one.namelist()) - {"seal.json"}:
            assert one.read(name) == two.read(name)
    seals = [json.loads(read(p, "seal.json")) for p in (bundle, other)]
    for seal in seals:
        del seal["created_at"], seal["seal_sha256"]
    assert seals[0] == seals[1]


def test_nothing_of_the_environment_or_the_profile_is_in_it(bundle: Path, crm: Crm) -> None:
    with zipfile.ZipFile(bundle) as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist())
    assert b"hunter2" not in everything and b"SECRET" not in everything
    assert str(crm.folder).encode() not in everything and b"crm.duckdb" not in everything


def test_an_untouched_bundle_verifies_also_against_a_hash_kept_elsewhere(
    crm: Crm, cli: Call, bundle: Path
) -> None:
    code, out, _ = cli(crm, "evidence", "--verify", str(bundle))
    assert code == 0 and "nothing was changed" in out
    kept = re.findall(r"content sha256 ([0-9a-f]{64})", out)[0]
    assert cli(crm, "evidence", "--verify", str(bundle), "--sha256", kept)[0] == 0
    code, out, _ = cli(crm, "evidence", "--verify", str(bundle), "--sha256", "0" * 64)
    assert code == 1 and "the hash is not" in out


def changed(folder: Path) -> None:
    text = (folder / "evidence.json").read_text()
    (folder / "evidence.json").write_text(text.replace("string_agg", "string_agh"))


def added(folder: Path) -> None:
    (folder / "more.txt").write_text("x")


def missing(folder: Path) -> None:
    next((folder / "sql").iterdir()).unlink()


def redated(folder: Path) -> None:
    seal = json.loads((folder / "seal.json").read_text())
    (folder / "seal.json").write_text(json.dumps({**seal, "created_at": "2020-01-01T00:00:00Z"}))


@pytest.mark.parametrize(
    "tamper, said",
    [
        (changed, "evidence.json was changed"),
        (added, "more.txt was added"),
        (missing, "is missing"),
        (redated, "seal_sha256"),
    ],
)
def test_any_change_is_named_and_is_a_finding(
    crm: Crm, cli: Call, tamper: Callable[[Path], None], said: str
) -> None:
    folder = crm.folder / "evidence"
    assert cli(crm, "evidence", "city_contacts.contacts", "--out", str(folder))[0] == 0
    tamper(folder)
    code, out, _ = cli(crm, "evidence", "--verify", str(folder))
    assert code == 1 and said in out


@pytest.mark.parametrize("at", [0.05, 0.3, 0.6, 0.9])
def test_any_changed_byte_of_the_archive_is_found(
    crm: Crm, cli: Call, bundle: Path, at: float
) -> None:
    raw = bytearray(bundle.read_bytes())
    raw[int(len(raw) * at)] ^= 1
    bundle.write_bytes(raw)
    assert cli(crm, "evidence", "--verify", str(bundle))[0] in (1, 2)


def test_what_is_no_bundle_is_refused_with_its_name(crm: Crm, cli: Call) -> None:
    code, _, err = cli(crm, "evidence", "--verify", str(crm.folder / "dbt_project.yml"))
    assert code == 2 and "not a bundle" in err
