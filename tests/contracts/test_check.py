"""``lineage-post check``: the same contracts from the manifest, in every format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.contracts.contract_project import ContractProject

pytestmark = pytest.mark.dbt
Check = Callable[..., tuple[int, str, str]]

#: What SARIF 2.1.0 asks for of the parts that are written here, and what GitHub asks for beyond.
SARIF = json.loads(Path(__file__).with_name("sarif_subset.json").read_text(encoding="utf-8"))


@pytest.fixture
def check(project: ContractProject, capsys: pytest.CaptureFixture[str]) -> Check:
    """Runs the command on the project as the build left it: (exit code, stdout, stderr)."""
    from lineage_post.cli import run

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["check", "--project-dir", str(project.folder), *arguments])
        streams = capsys.readouterr()
        return code, streams.out, streams.err

    return call


def by_test(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {entry["test"].split(".")[2]: entry for entry in document["contracts"]}


def test_check_finds_what_the_tests_of_the_build_find(check: Check) -> None:
    code, out, _ = check("--output", "json")
    assert code == 1
    found = by_test(json.loads(out))
    outcomes = {name: entry["outcome"] for name, entry in found.items()}
    assert {n for n, outcome in outcomes.items() if outcome == "pass"} == {
        name for name in outcomes if name.startswith("ok_")
    }
    assert outcomes["only_warns"] == "warn" and outcomes["cannot_be_proven"] == "fail"
    (finding,) = found["hash_derives_from_pii"]["findings"]
    assert finding["path"] == "stg_users.email -> mart_users.email_hash (transformation, masked)"
    assert finding["steps"][0] == {"unique_id": "model.broken.stg_users", "column": "email"}


def test_each_finding_names_the_line_of_its_test(check: Check, project: ContractProject) -> None:
    _, out, _ = check("--output", "json")
    lines = (project.folder / "models" / "schema.yml").read_text().splitlines()
    for name, entry in by_test(json.loads(out)).items():
        assert entry["file"] == "models/schema.yml"
        near = lines[entry["line"] - 1 : entry["line"] + 2]
        assert any(f"name: {name}" in line for line in near), (name, entry["line"])


def test_what_is_selected_alone_is_held(check: Check) -> None:
    code, out, _ = check("--select", "mart_countries")
    assert code == 0 and "4 contracts, 4 hold" in out
    code, out, said = check("--select", "mart_users", "--exclude", "mart_users")
    assert (code, out) == (2, "") and "nothing is selected" in said


def test_a_warning_counts_only_when_asked(check: Check) -> None:
    others = ("--select", "only_warns")
    assert check(*others)[0] == 0
    code, out, _ = check(*others, "--warn-error")
    assert code == 1 and "it comes from stg_users.email" in out


def test_githubs_annotations_are_one_line_each_and_escaped(check: Check) -> None:
    code, out, _ = check("--output", "github")
    assert code == 1
    listed = out.strip().splitlines()
    assert all(line.startswith(("::error file=", "::warning file=")) for line in listed)
    (doubled,) = [line for line in listed if "mart_users.doubled::" in line]
    assert doubled.startswith("::error file=models/schema.yml,line=")
    assert "title=is_identity_of model.broken.mart_users.doubled::" in doubled


def test_sarif_is_what_code_scanning_reads(check: Check) -> None:
    code, out, _ = check("--output", "sarif")
    assert code == 1
    log = json.loads(out)
    jsonschema.validate(log, SARIF)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    assert {result["level"] for result in run["results"]} == {"error", "warning"}


def test_a_manifest_without_compiled_sql_is_refused(check: Check, project: ContractProject) -> None:
    project.dbt("parse")
    code, _, err = check()
    assert code == 2 and "compile" in err


def test_a_manifest_older_than_the_models_is_refused(
    check: Check, project: ContractProject
) -> None:
    project.append("models/mart_users.sql", "-- changed\n")
    code, _, err = check()
    assert code == 2 and "models/mart_users.sql changed since" in err and "dbt compile" in err
    manifest = project.folder / "target" / "manifest.json"
    assert check("--manifest", str(manifest))[0] == 1
