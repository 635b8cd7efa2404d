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


@pytest.fixture
def other_checksums(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if this dbt hashed a file in another way than the one that built, as 1.12 and 2 do."""
    from dbt.artifacts.resources.base import FileHash

    known = FileHash.from_contents

    def hashed(contents: str, name: str = "sha256") -> FileHash:
        return known(f"in another way: {contents}", name)

    monkeypatch.setattr(FileHash, "from_contents", hashed)


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


def test_it_does_not_matter_how_dbt_hashes_a_file(
    project: ContractProject, no_python: None, other_checksums: None
) -> None:
    asked = ("ok_country_only", "ok_amount_derives", "hash_derives_from_pii")
    result = project.dbt("test", "--no-partial-parse", "--store-failures", "--select", *asked)
    found = outcomes(result)
    assert found == {asked[0]: "pass", asked[1]: "pass", asked[2]: "fail"}
    assert project.stored(asked[2])[0][-1] == "it comes from stg_users.email"


def test_a_line_end_is_of_the_definition_since_a_comment_ends_there(
    project: ContractProject, no_python: None
) -> None:
    """dbt 1.12 and 2 hash the file without it, and see no change unless all is parsed."""
    project.append("models/stg_users.sql", "-- where\namount > 0\n")
    project.dbt("parse")
    file = project.folder / "models/stg_users.sql"
    file.write_text(file.read_text(encoding="utf-8").replace("-- where\n", "-- where "), "utf-8")
    result = project.dbt("test", "--no-partial-parse", "--select", "ok_country_only")
    assert outcomes(result) == {"ok_country_only": "fail"}


OF_A_SNAPSHOT = """
snapshots:
  - name: users_over_time
    relation: ref('{relation}')
    config: {{strategy: check, unique_key: country, check_cols: all}}
    columns:
      - name: country
        data_tests:
          - lineage_post.derives_from:
              name: of_a_snapshot
              arguments:
                columns: [raw_users.country]
"""


def test_another_definition_of_a_snapshot_fails_too(
    project: ContractProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("models/more.yml", OF_A_SNAPSHOT.format(relation="stg_users"))
    built = project.dbt("build", "--select", "users_over_time")
    assert outcomes(built) == {"of_a_snapshot": "pass"}
    monkeypatch.setattr(plugin._Current, "attach", lambda self: None)
    assert outcomes(project.dbt("test", "--select", "of_a_snapshot")) == {"of_a_snapshot": "pass"}
    project.write("models/more.yml", OF_A_SNAPSHOT.format(relation="mart_countries"))
    assert outcomes(project.dbt("test", "--select", "of_a_snapshot")) == {"of_a_snapshot": "fail"}
