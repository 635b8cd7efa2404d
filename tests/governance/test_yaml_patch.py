"""Patches of YAML as people write it: only the lines that must change do."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from lineage_post.artifacts import Node, Project
from lineage_post.governance.classification import Column
from lineage_post.governance.yaml_files import FileChange, Patches, Refused
from lineage_post.governance.yaml_patch import Noted

TAGS = {"tags": ["pii"]}


def planned(
    text: str, of: Mapping[str, Mapping[str, Any]], dbt_version: str = "1.11.0"
) -> tuple[list[FileChange], list[Refused]]:
    """The changes of one file for ``model.column`` -> patch."""
    names = {name.split(".")[0] for name in of}
    nodes = {
        f"model.p.{name}": Node(
            f"model.p.{name}", name, "model", "p", f"m/{name}.sql", patch_path="p://m/schema.yml"
        )
        for name in names
    }
    project = Project("p", "duckdb", nodes, dbt_version=dbt_version)
    wanted: dict[Column, Mapping[str, Any]] = {
        (f"model.p.{name.split('.')[0]}", name.split(".")[1]): patch for name, patch in of.items()
    }
    return Patches(project, lambda path: text, wanted).plan()


def diff_of(text: str, of: Mapping[str, Mapping[str, Any]], dbt_version: str = "1.11.0") -> str:
    """The lines that go and come, without context."""
    changes, refused = planned(text, of, dbt_version)
    assert not refused
    after = changes[0].after if changes else text
    lines = difflib.unified_diff(text.split("\n"), after.split("\n"), n=0, lineterm="")
    return "\n".join(x for x in lines if not x.startswith(("---", "+++", "@@")))


CASES = {
    "a comment behind the name and one below stay where they are": (
        "models:\n- name: m\n  columns:\n  - name: a   # mail\n    # why\n    quote: true\n",
        {"m.a": TAGS},
        "+    config: {tags: [pii]}",
    ),
    "a label stands behind a folded description of several lines": (
        "models:\n - name: m\n   columns:\n    - name: a\n      description: >\n        x\n"
        "        y\n\n      quote: true\n",
        {"m.a": TAGS},
        "+      config: {tags: [pii]}",
    ),
    "a list in brackets keeps its spaces and quotes": (
        "models:\n- name: m\n  columns:\n  - name: a\n    tags: [ 'x',\"y\" ]   # two\n",
        {"m.a": TAGS},
        "-    tags: [ 'x',\"y\" ]   # two\n+    tags: [ 'x',\"y\", pii ]   # two",
    ),
    "a list of lines gets one line, as far right as the others": (
        "models:\n- name: m\n  columns:\n  - name: a\n    config:\n        tags:\n"
        "        -   x   # first\n        # between\n        -   y\n        meta: {z: 1}\n",
        {"m.a": TAGS},
        "+        -   pii",
    ),
    "one tag as a text becomes a list": (
        "models:\n- name: m\n  columns:\n  - name: a\n    tags: x # only\n",
        {"m.a": TAGS},
        "-    tags: x # only\n+    tags: [x, pii] # only",
    ),
    "an entry in braces stays on its line": (
        'models:\n- name: m\n  columns: [{name: a, description: "x: y"}, {name: b}]   # flat\n',
        {"m.a": TAGS, "m.c": TAGS},
        '-  columns: [{name: a, description: "x: y"}, {name: b}]   # flat\n'
        '+  columns: [{name: a, description: "x: y", config: {tags: [pii]}}, {name: b}, '
        "{name: c, config: {tags: [pii]}}]   # flat",
    ),
    "an alias in a list is merged into an entry of its own": (
        "x-mail: &mail {name: mail, quote: true}\nmodels:\n- name: m\n  columns:\n"
        "  - *mail   # shared\n- name: n\n  columns:\n  - *mail\n",
        {"m.mail": TAGS},
        "-  - *mail   # shared\n+  - {<<: *mail, config: {tags: [pii]}}   # shared",
    ),
    "tags that a merge key gives are kept beside the new one": (
        "x-d: &d\n  tags: [x]\nmodels:\n- name: m\n  columns:\n  - <<: *d\n    name: a\n",
        {"m.a": TAGS},
        "+    tags: [x, pii]",
    ),
    "an alias of tags is replaced by what it holds and the new one": (
        "x-t: &t [x, y]\nmodels:\n- name: m\n  columns:\n  - name: a\n    tags: *t  # both\n",
        {"m.a": TAGS},
        "-    tags: *t  # both\n+    tags: [x, y, pii]  # both",
    ),
    "new columns come last, indented like the others": (
        "models:\n    -   name: m\n        columns:\n            -   name: a\n\n# end\n",
        {"m.b": {"description": Noted("Text: with #", "inherited from x.b")}},
        "+            -   name: b\n+                description: 'Text: with #'"
        "  # inherited from x.b",
    ),
    "a description of several lines is a block": (
        "models:\n- name: m\n  columns:\n  - name: a\n    quote: true\n",
        {"m.a": {"description": Noted("- one\n\n- two", "inherited from x.a")}},
        "+    description: |-  # inherited from x.a\n+      - one\n+\n+      - two",
    ),
    "an empty description is filled on its line": (
        "models:\n- name: m\n  columns:\n  - name: a\n    description:   # to do\n",
        {"m.a": {"description": Noted("x", "inherited from x.a")}},
        "-    description:   # to do\n+    description: x   # to do",
    ),
    "a model without columns gets them at its end": (
        "models:\n- name: m\n  description: x\n  config:\n    tags: [a]\n# next\n- name: n\n",
        {"m.a": TAGS},
        "+  columns:\n+  - name: a\n+    config: {tags: [pii]}",
    ),
    "a model without an entry gets one at the end of the list": (
        "models:\n- name: m\n  # last\nexposures: []\n",
        {"n.a": TAGS},
        "+- name: n\n+  columns:\n+  - name: a\n+    config: {tags: [pii]}",
    ),
    "a column name that YAML would read as something else is quoted": (
        "models:\n- name: m\n  columns:\n  - name: a\n",
        {"m.no": TAGS},
        "+  - name: 'no'\n+    config: {tags: [pii]}",
    ),
    "a file without a last newline gets none": (
        "models:\n- name: m\n  columns:\n  - name: a",
        {"m.a": TAGS},
        "+    config: {tags: [pii]}",
    ),
    "what is there already is not written again": (
        "models:\n- name: m\n  columns:\n  - name: A\n    config: {tags: [pii]}\n",
        {"m.a": TAGS},
        "",
    ),
}


@pytest.mark.parametrize("text, of, expected", CASES.values(), ids=CASES.keys())
def test_only_the_lines_that_must_change_do(
    text: str, of: dict[str, dict[str, Any]], expected: str
) -> None:
    assert diff_of(text, of) == expected


def test_an_older_dbt_has_tags_beside_the_name() -> None:
    text = "models:\n- name: m\n  columns:\n  - name: a\n"
    assert diff_of(text, {"m.a": TAGS}, "1.9.4") == "+    tags: [pii]"


@pytest.mark.parametrize("text, of, expected", CASES.values(), ids=CASES.keys())
def test_windows_line_endings_and_a_byte_order_mark_stay(
    text: str, of: dict[str, dict[str, Any]], expected: str
) -> None:
    plain, _ = planned(text, of)
    changes, refused = planned("\ufeff" + text.replace("\n", "\r\n"), of)
    assert not refused
    assert [c.after for c in changes] == ["\ufeff" + c.after.replace("\n", "\r\n") for c in plain]


@pytest.mark.parametrize("text, of, expected", CASES.values(), ids=CASES.keys())
def test_a_second_patch_changes_nothing(
    text: str, of: dict[str, dict[str, Any]], expected: str
) -> None:
    changes, _ = planned(text, of)
    assert planned(changes[0].after if changes else text, of) == ([], [])


def test_an_entry_that_others_share_by_an_anchor_is_refused_and_the_rest_is_written() -> None:
    text = (
        "models:\n- name: m\n  columns:\n  - &a\n    name: a\n  - name: b\n"
        "- name: n\n  columns:\n  - *a\n"
    )
    changes, refused = planned(text, {"m.a": TAGS, "m.b": TAGS})
    assert [r.column for r in refused] == [("model.p.m", "a")]
    loaded = yaml.safe_load(changes[0].after)
    assert loaded["models"][0]["columns"][1] == {"name": "b", "config": {"tags": ["pii"]}}
    assert loaded["models"][1]["columns"] == [{"name": "a"}]


def test_a_file_that_is_no_yaml_is_refused_with_its_name() -> None:
    changes, refused = planned("models: [\n", {"m.a": TAGS})
    assert not changes and "m/schema.yml is not valid YAML" in refused[0].why


def test_hostile_names_and_texts_stay_data() -> None:
    text = "models:\n- name: m\n  columns:\n  - name: a\n"
    wicked = 'x"\\\n: - [}\t\u2028#'
    changes, refused = planned(
        text, {"m.a": {"description": Noted(wicked, "from\n- name: evil")}, "m.{{ 7*7 }}": TAGS}
    )
    assert yaml.safe_load(changes[0].after)["models"][0]["columns"][0]["description"] == wicked
    assert [r.why for r in refused] == ["its name holds Jinja"]
