from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage_post.errors import OptionError
from lineage_post.options import (
    Options,
    gather_options,
    is_strict_in_dbt,
    options_in_dbt,
    project_variables,
    unknown_variables,
)
from lineage_post.vocabulary import ExposureMode


def test_without_settings_the_defaults_stand() -> None:
    assert gather_options() == Options()


def test_flags_go_before_the_environment_and_that_before_vars() -> None:
    variables = {"strict": True, "exposures": "leaf", "batch_bytes": 1}
    environ = {"LINEAGE_POST_EXPOSURES": "public", "LINEAGE_POST_BATCH_BYTES": "2", "HOME": "/"}
    options = gather_options(
        flags={"batch_bytes": 3, "dialect": None}, environ=environ, variables=variables
    )
    assert options.strict and options.dialect is None
    assert options.exposures is ExposureMode.PUBLIC
    assert options.batch_bytes == 3


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("STRICT", "true", True),
        ("STRICT", "0", False),
        ("PROCESSES", "4", 4),
        ("MASKING_FUNCTIONS", "scramble, pii_hash", ("scramble", "pii_hash")),
        ("COMMANDS", '{"f": {"inputs": ["a"]}}', {"f": {"inputs": ["a"]}}),
        ("DIALECT", "tsql", "tsql"),
        ("EXPOSURES", "none", ExposureMode.NONE),
        ("STRICT", "", False),
        ("EXPLORER", "skip", False),
    ],
)
def test_the_environment_holds_text_that_stands_for_each_kind_of_value(
    name: str, text: str, value: Any
) -> None:
    options = gather_options(environ={f"LINEAGE_POST_{name}": text})
    assert getattr(options, name.lower()) == value


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"nope": 1}, "there is no option 'nope'"),
        ({"strict": "yes"}, "true or false"),
        ({"exposures": "all"}, "one of leaf, public, marked, none"),
        ({"processes": -1}, "whole number"),
        ({"processes": True}, "whole number"),
        ({"exclude_packages": "dbt_utils"}, "list of names"),
        ({"commands": []}, "mapping"),
        ({"commands": {"f": 3}}, "the command f is 3"),
        ({"commands": {"f": {"input": ["x"]}}}, "no 'input'"),
        ({"commands": {"f": {"outputs": "x"}}}, "outputs of the command f"),
        ({"dialect": 1}, "a name"),
    ],
)
def test_a_wrong_value_is_refused_with_the_place_it_stands_in(
    values: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError) as caught:
        gather_options(variables=values)
    assert message in str(caught.value) and "vars: lineage_post" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"), [("STRICT", "maybe"), ("PROCESSES", "two"), ("COMMANDS", "{")]
)
def test_a_wrong_environment_variable_is_named(name: str, text: str) -> None:
    with pytest.raises(OptionError, match=f"LINEAGE_POST_{name}"):
        gather_options(environ={f"LINEAGE_POST_{name}": text})


def test_the_block_of_a_dbt_project_file_is_read(tmp_path: Path) -> None:
    text = "name: shop\nvars:\n  other: '{{ 1 }}'\n  lineage_post: {strict: true}\n"
    (tmp_path / "dbt_project.yml").write_text(text, encoding="utf-8")
    assert project_variables(tmp_path) == {"strict": True}


def test_the_vars_of_the_projects_own_name_go_before_those_of_all(tmp_path: Path) -> None:
    text = (
        "name: shop\nvars:\n  shop: {lineage_post: {strict: true}}\n  lineage_post: {docs: false}\n"
    )
    (tmp_path / "dbt_project.yml").write_text(text, encoding="utf-8")
    assert project_variables(tmp_path) == {"strict": True}


def test_an_option_with_a_slip_of_the_pen_is_named_with_its_near_name() -> None:
    with pytest.raises(OptionError, match="Did you mean exposures_limit"):
        gather_options(variables={"exposure_limit": 3})


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("LINEAGE_POST_EXPOSURE", "did you mean LINEAGE_POST_EXPOSURES?"),
        ("lineage_post_strict", "did you mean LINEAGE_POST_STRICT?"),
        ("LINEAGE_POST_WHATEVER", "is no option and does nothing"),
    ],
)
def test_a_variable_that_is_no_option_is_told(name: str, said: str) -> None:
    (told,) = unknown_variables({name: "1", "HOME": "/", "LINEAGE_POST_DOCS": "false"})
    assert name in told and told.endswith(said)


def test_tokens_are_no_options() -> None:
    assert unknown_variables({"LINEAGE_POST_TOKEN": "x", "LINEAGE_POST_SALES_TOKEN": "y"}) == []


@pytest.mark.parametrize(
    ("text", "variables", "expected"),
    [
        (None, {"strict": True}, True),
        (None, {"strict": "yes"}, False),
        ("true", {}, True),
        ("false", {"strict": True}, False),
    ],
)
def test_within_dbt_the_environment_goes_before_the_var(
    text: str | None, variables: dict[str, Any], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if text is not None:
        monkeypatch.setenv("LINEAGE_POST_STRICT", text)
    assert is_strict_in_dbt(variables) is expected
    if variables.get("strict") != "yes":
        assert options_in_dbt(variables).strict is expected


@pytest.mark.parametrize("text", ["name: shop\n", "vars: 1\n", "", "vars: {lineage_post: 1}\n"])
def test_a_project_without_the_block_has_no_settings(tmp_path: Path, text: str) -> None:
    (tmp_path / "dbt_project.yml").write_text(text, encoding="utf-8")
    assert project_variables(tmp_path) == {}
    assert project_variables(tmp_path / "elsewhere") == {}


def test_a_project_file_that_is_no_yaml_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("a: [", encoding="utf-8")
    with pytest.raises(OptionError, match="not readable"):
        project_variables(tmp_path)
