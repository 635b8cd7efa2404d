"""Each contract as a dbt test: broken ones fail with the path that breaks them, on both engines."""

from __future__ import annotations

import pytest

from lineage_post.bridge import contract_tracing
from tests.contracts.contract_project import ContractProject, outcomes
from tests.dbt.dbt_project import Result

pytestmark = pytest.mark.dbt
OURS = ("--exclude", "package:lineage_post")
TO_HASH = "stg_users.email -> mart_users.email_hash (transformation, masked)"
TO_CONTACT = "stg_users.email -> mart_users.contact (transformation)"
RAW_AMOUNT = "raw_users.amount -> stg_users.amount -> mart_users.amount"

#: Of each broken contract: the column, the path, and what is said.
BROKEN = {
    "amount_from_elsewhere": [("amount", RAW_AMOUNT, "it does not come from stg_users.country")],
    "amount_is_not_aggregated": [
        ("amount", RAW_AMOUNT, "raw_users.amount reaches it without an aggregation")
    ],
    "cannot_be_proven": [("email", "opaque.email -> beyond.email", "cannot be proven")],
    "contact_is_not_masked": [
        ("contact", TO_CONTACT, "stg_users.email (meta sensitive) reaches it unmasked")
    ],
    "contract_on_no_column": [("amuont", "", "Did you mean amount?")],
    "copy_is_not_known": [("*", "outside_copy.*", "is unknown (star_unexpanded)")],
    "doubled_is_no_copy": [
        ("doubled", "stg_users.amount -> mart_users.doubled (transformation)", "amount * 2")
    ],
    "hash_derives_from_pii": [("email_hash", TO_HASH, "it comes from stg_users.email (tag pii)")],
    "hash_is_of_a_contact": [("email_hash", TO_HASH, "(meta governance.kind=contact)")],
    "influenced_by_email": [
        (
            "begins_with_a",
            "stg_users.email -> mart_users.begins_with_a (conditional)",
            "it is influenced by stg_users.email",
        )
    ],
    "label_also_from_email": [
        (
            "label",
            "raw_users.email -> stg_users.email -> mart_users.label (transformation)",
            "it also comes from raw_users.email",
        )
    ],
    "no_pii_in_the_mart": [
        ("contact", TO_CONTACT, "tag pii"),
        ("email_hash", TO_HASH, "tag pii"),
        ("label", "stg_users.email -> mart_users.label (transformation)", "tag pii"),
    ],
    "nowhere_in_the_project": [("user_id", "", "'*.nowhere' names no column")],
    "no_such_column_in_a_pattern": [("user_id", "", "'stg_*.emial' names no column")],
    "no_such_value": [("email_hash", "", "has the meta key 'governance.kind=address'")],
    "share_is_only_in_part_aggregated": [
        (
            "share",
            "raw_users.amount -> stg_users.amount -> mart_users.share (aggregation)",
            "raw_users.amount reaches it without an aggregation",
        )
    ],
    "no_such_column": [("user_id", "", "has no column 'emial'. Did you mean email?")],
    "no_such_model": [("user_id", "", "for 'stg_usres.email'. Did you mean stg_users")],
    "no_such_tag": [("user_id", "", "has the tag 'pi'. Did you mean pii?")],
}
WARNED = {"only_warns": [("contact", TO_CONTACT, "it comes from stg_users.email")]}


def test_contracts_hold_or_fail_with_their_paths_in_the_build_itself(
    broken: tuple[ContractProject, Result],
) -> None:
    project, result = broken
    found = outcomes(result)
    assert {n for n, status in found.items() if status == "fail"} == BROKEN.keys()
    assert {n for n, status in found.items() if status == "warn"} == WARNED.keys()
    assert {n for n, status in found.items() if status == "pass"} == {
        n for n in found if n.startswith("ok_")
    }
    for name, rows in {**BROKEN, **WARNED}.items():
        stored = [row[2:] for row in project.stored(name)]
        assert [(c, p) for c, p, _ in stored] == sorted((c, p) for c, p, _ in rows), name
        for _, _, said in rows:
            assert any(said in because for _, _, because in stored), (name, stored)
    told = [line for line in result.ours if "(models/schema.yml)" in line]
    path = f"it comes from stg_users.email: {TO_CONTACT} (models/schema.yml)"
    assert any(f"does_not_derive_from of mart_users.contact: {path}" in line for line in told)


def test_the_same_is_found_by_dbt_test_alone_on_another_number_of_threads(
    broken: tuple[ContractProject, Result],
) -> None:
    project, first = broken
    threads = {8: "1", 1: "8"}[project.database.profile["threads"]]
    result = project.dbt("test", "--threads", threads, *OURS)
    assert outcomes(result) == outcomes(first)


def test_without_the_mask_both_fail_in_the_build_that_took_it_away(
    broken: tuple[ContractProject, Result],
) -> None:
    project, first = broken
    assert outcomes(first)["ok_hash_is_masked"] == "pass"
    assert outcomes(first)["hash_derives_from_pii"] == "fail"
    path = project.folder / "models" / "mart_users.sql"
    path.write_text(path.read_text().replace("md5(email) as", "email as"))
    result = project.dbt("build", "--select", "mart_users", "--store-failures")
    assert outcomes(result)["ok_hash_is_masked"] == "fail"
    assert outcomes(result)["hash_derives_from_pii"] == "fail"
    ((_, _, column, way, because),) = project.stored("ok_hash_is_masked")
    assert (column, way) == ("email_hash", "stg_users.email -> mart_users.email_hash")
    assert because == "stg_users.email (tag pii) reaches it unmasked"


LOG = """
{{ config(materialized='incremental') }}
select user_id, {{ 'md5(email)' if is_incremental() else 'email' }} as email
from {{ ref('stg_users') }}
"""
LOG_YAML = """
models:
  - name: mart_log
    columns:
      - name: email
        data_tests:
          - lineage_post.masked_from: {name: log_is_masked, arguments: {column_tags: [pii]}}
"""


def test_the_rows_of_an_incremental_models_first_build_count_in_later_ones(
    project: ContractProject,
) -> None:
    project.write("models/mart_log.sql", LOG)
    project.write("models/mart_log.yml", LOG_YAML)
    select = ("--select", "mart_log", "--store-failures")
    for _ in ("first", "later"):
        assert outcomes(project.dbt("build", *select)) == {"log_is_masked": "fail"}
    ((*_, because),) = project.stored("log_is_masked")
    assert because == "stg_users.email (tag pii) reaches it unmasked"
    project.write("models/mart_log.sql", LOG.replace("else 'email'", "else 'sha256(email)'"))
    assert outcomes(project.dbt("build", *select)) == {"log_is_masked": "pass"}
    project.remove("models/mart_log.yml")


def test_lineage_is_stale_once_the_definition_differs_from_what_was_built(
    project: ContractProject,
) -> None:
    project.append("models/mart_countries.sql", "having count(*) > 1\n")
    select = ("--select", "ok_countries_fresh", "--store-failures")
    assert outcomes(project.dbt("test", *select)) == {"ok_countries_fresh": "fail"}
    ((*_, because),) = project.stored("ok_countries_fresh")
    assert "another definition" in because
    rebuilt = project.dbt("build", "--select", "mart_countries")
    assert outcomes(rebuilt)["ok_countries_fresh"] == "pass"
    assert outcomes(project.dbt("test", *select)) == {"ok_countries_fresh": "pass"}


def test_nothing_is_fresh_where_no_hook_records_it(project: ContractProject) -> None:
    project.configure("vars: {lineage_post: {enabled: false}}\n")
    found = outcomes(project.dbt("build", "--select", "mart_countries", "mart_users"))
    assert found["ok_countries_fresh"] == "fail"
    # What needs no record is still held, and a broken one still fails.
    assert found["ok_hash_is_masked"] == "pass"
    assert found["hash_derives_from_pii"] == "fail"


def test_a_parent_that_cannot_be_compiled_or_parsed_leaves_nothing_proven(
    project: ContractProject,
) -> None:
    project.append("models/stg_users.sql", "{{ exceptions.raise_compiler_error('no') if execute }}")
    select = ("--select", "ok_hash_is_masked", "ok_country_only", "--store-failures")
    # What is not known behind a mask is not on the way of an unmasked value.
    expected = {"ok_hash_is_masked": "pass", "ok_country_only": "fail"}
    assert outcomes(project.dbt("test", *select)) == expected
    ((*_, because),) = project.stored("ok_country_only")
    assert "not_compiled" in because
    project.write("models/stg_users.sql", "select from from {{ ref('raw_users') }} where (")
    assert outcomes(project.dbt("test", *select)) == expected
    ((*_, because),) = project.stored("ok_country_only")
    assert "parse_error" in because


def test_a_python_model_on_the_way_leaves_nothing_proven(project: ContractProject) -> None:
    project.remove("models/stg_users.sql")
    project.write(
        "models/stg_users.py",
        "def model(dbt, session):\n    return dbt.ref('raw_users')\n",
    )
    select = ("--select", "ok_country_only", "--store-failures")
    assert outcomes(project.dbt("test", *select)) == {"ok_country_only": "fail"}
    ((*_, because),) = project.stored("ok_country_only")
    assert "python_model" in because


def test_a_fault_of_ours_is_a_failing_row(
    project: ContractProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken_trace(self: object, wanted: object) -> None:
        raise RuntimeError("it's \\ 'broken'\n{{ 7 * 7 }}")

    monkeypatch.setattr(contract_tracing.ContractTracer, "trace", broken_trace)
    select = ("--select", "ok_hash_is_masked", "--store-failures")
    assert outcomes(project.dbt("test", *select)) == {"ok_hash_is_masked": "fail"}
    ((*_, because),) = project.stored("ok_hash_is_masked")
    assert because == ("it could not be checked: RuntimeError: it's \\ 'broken' {{ 7 * 7 }}")


def test_a_wrong_argument_is_named(project: ContractProject) -> None:
    path = project.folder / "models" / "schema.yml"
    path.write_text(path.read_text().replace("require: any", "require: some"))
    select = ("--select", "ok_amount_from_any", "--store-failures")
    assert outcomes(project.dbt("test", *select)) == {"ok_amount_from_any": "fail"}
    ((*_, because),) = project.stored("ok_amount_from_any")
    assert because == "require is 'some'. It must be all or any"


def test_the_view_of_violations_is_empty_where_all_contracts_hold(
    broken: tuple[ContractProject, Result],
) -> None:
    project, _ = broken
    rows = project.table("lineage_contract_violations", "column_name, path")
    assert ("email_hash", TO_HASH) in rows and ("amuont", "") in rows
    path = project.folder / "models" / "schema.yml"
    path.write_text("models: []\n")
    assert project.dbt("run", "--select", "lineage_contract_violations").code == 0
    assert project.table("lineage_contract_violations") == []
