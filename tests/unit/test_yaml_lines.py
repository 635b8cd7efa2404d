"""Additions to a user's YAML: what is there stays as it is, to the byte."""

from __future__ import annotations

import pytest
import yaml

from lineage_post.errors import LineageError
from lineage_post.yaml_lines import CannotEditError, add_list_item, add_mapping_entry

HOOK = "{{ lineage_post.publish(results) }}"

LISTS = {
    "an empty file": ("", 'on-run-end:\n  - "HOOK"\n'),
    "no such key": ("name: shop\n\n\n", 'name: shop\n\non-run-end:\n  - "HOOK"\n'),
    "a scalar": (
        'on-run-end: "{{ grant() }}"  # rights\nname: shop\n',
        'on-run-end:\n  - "{{ grant() }}"\n  - "HOOK"\nname: shop\n',
    ),
    "a scalar with a hash in it": (
        "on-run-end: 'select ''#1'''\n",
        "on-run-end:\n  - 'select ''#1'''\n  - \"HOOK\"\n",
    ),
    "a block scalar": (
        "on-run-end: >\n  grant select\n  on all\nname: shop\n",
        'on-run-end:\n  - >\n    grant select\n    on all\n  - "HOOK"\nname: shop\n',
    ),
    "a block list": (
        "on-run-end:\n    # first\n    - a  # one\n    - b\n\n# the name\nname: shop\n",
        "on-run-end:\n    # first\n    - a  # one\n    - b\n"
        '    - "HOOK"\n\n# the name\nname: shop\n',
    ),
    "a block list at the margin": (
        "on-run-end:\n- a\n- b\nname: shop\n",
        'on-run-end:\n- a\n- b\n- "HOOK"\nname: shop\n',
    ),
    "a flow list": ("on-run-end: [a, b]  # two\n", 'on-run-end: [a, b, "HOOK"]  # two\n'),
    "an empty flow list": ("on-run-end: []\nx: 1\n", 'on-run-end:\n  - "HOOK"\nx: 1\n'),
    "a key without a value": ("on-run-end:\nx: 1\n", 'on-run-end:\n  - "HOOK"\nx: 1\n'),
    "windows line ends": (
        "x: 1\r\non-run-end:\r\n  - a\r\n",
        'x: 1\r\non-run-end:\r\n  - a\r\n  - "HOOK"\r\n',
    ),
}


@pytest.mark.parametrize("before, after", LISTS.values(), ids=LISTS.keys())
def test_an_item_is_put_at_the_end_of_a_list(before: str, after: str) -> None:
    line = f'- "{HOOK}"'
    edited = add_list_item(before, "on-run-end", HOOK, [line], where="dbt_project.yml")
    assert edited == after.replace("HOOK", HOOK)
    assert yaml.safe_load(edited)["on-run-end"][-1] == HOOK


MAPPINGS = {
    "no such key": ("name: shop\n", "name: shop\n\nvars:\n  ours:\n    a: 1\n"),
    "an empty mapping": ("vars: {}\nx: 1\n", "vars:\n  ours:\n    a: 1\nx: 1\n"),
    "a mapping": (
        "vars:\n    # day one\n    start: 2020\n\nmodels:\n  x: 1\n",
        "vars:\n    ours:\n      a: 1\n    # day one\n    start: 2020\n\nmodels:\n  x: 1\n",
    ),
}


@pytest.mark.parametrize("before, after", MAPPINGS.values(), ids=MAPPINGS.keys())
def test_an_entry_is_put_first_into_a_mapping(before: str, after: str) -> None:
    lines = ["ours:", "  a: 1"]
    edited = add_mapping_entry(before, "vars", "ours", {"a": 1}, lines, where="dbt_project.yml")
    assert edited == after


REFUSED = {
    "a flow mapping with entries": "vars: {start: 2020}\n",
    "a flow mapping over lines": "vars: {\n  start: 2020\n}\n",
    "an anchor": "vars: &v\n  start: 2020\nother: *v\n",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_edited_safely_is_refused_with_the_lines_to_add(text: str) -> None:
    with pytest.raises(CannotEditError) as refused:
        add_mapping_entry(text, "vars", "ours", {"a": 1}, ["ours:", "  a: 1"], where="x.yml")
    assert "x.yml: 'vars'" in str(refused.value)
    assert "ours:\n        a: 1" in str(refused.value)


@pytest.mark.parametrize("text", ["a: [", "- a\n- b\n"])
def test_a_file_that_dbt_could_not_read_is_named(text: str) -> None:
    with pytest.raises(LineageError, match=r"packages\.yml is not"):
        add_list_item(text, "packages", 1, ["- 1"], where="packages.yml")
