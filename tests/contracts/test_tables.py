"""Without the Python side in dbt's process: the tables are asked, and without them tests fail."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lineage_post.bridge import plugin
from tests.contracts.contract_project import ContractProject, outcomes
from tests.dbt.dbt_project import Result

pytestmark = pytest.mark.dbt
OURS = ("--exclude", "package:lineage_post")


@pytest.fixture
def no_python(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if the Python package were not installed beside dbt: nothing is put into ``graph``."""
    monkeypatch.setattr(plugin._Current, "attach", lambda self: None)
    yield


#: Contracts of each kind and outcome; all of them take minutes.
SOME = (
    "ok_hash_is_masked", "contact_is_not_masked", "hash_derives_from_pii", "only_warns",
    "amount_is_not_aggregated", "doubled_is_no_copy", "label_also_from_email",
    "influenced_by_email", "ok_countries_fresh", "cannot_be_proven", "no_such_column",
)  # fmt: skip


def test_the_tables_give_the_same_outcomes(
    broken: tuple[ContractProject, Result], no_python: None
) -> None:
    project, first = broken
    result = project.dbt("test", "--store-failures", "--select", *SOME)
    known = outcomes(first)
    assert outcomes(result) == {name: known[name] for name in SOME}
    assert project.stored("hash_derives_from_pii") == [
        (
            "does_not_derive_from",
            "model.broken.mart_users",
            "email_hash",
            "stg_users.email -> mart_users.email_hash (transformation, masked)",
            "it comes from stg_users.email",
        )
    ]


@pytest.mark.long
def test_the_tables_give_the_same_outcomes_of_all_contracts(
    broken: tuple[ContractProject, Result], no_python: None
) -> None:
    project, first = broken
    assert outcomes(project.dbt("test", *OURS)) == outcomes(first)


def test_without_tables_every_contract_fails_with_what_to_do(
    project: ContractProject, no_python: None
) -> None:
    project.database.execute("drop schema main_lineage cascade")
    result = project.dbt("test", "--store-failures", *OURS)
    found = outcomes(result)
    assert {s for n, s in found.items() if n != "only_warns"} == {"fail"}, found
    assert found["only_warns"] == "warn"
    ((_, _, _, _, because),) = project.stored("ok_hash_is_masked")
    assert "there is no table lineage_column_edges" in because and "Install" in because


def test_a_definition_that_is_not_recorded_yet_fails(
    project: ContractProject, no_python: None
) -> None:
    project.append("models/stg_users.sql", "where amount > 0\n")
    asked = ("ok_country_only", "ok_amount_derives", "ok_hash_is_masked")
    found = outcomes(project.dbt("test", "--store-failures", "--select", *asked))
    assert found["ok_country_only"] == found["ok_amount_derives"] == "fail"
    assert found["ok_hash_is_masked"] == "pass", "what lies beyond the mask does not matter to it"
    ((*_, because),) = project.stored("ok_country_only")
    assert "recorded of stg_users is of another definition" in because
