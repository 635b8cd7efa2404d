"""A selection of nothing is refused by every command: what looked at nothing is not green."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lineage_post.cli import run

from .manifests import make_manifest, make_model, make_source

SOURCE = "source.shop.raw.orders"
Call = Callable[[str], "tuple[int, str, str]"]

COMMANDS = [
    "check",
    "diff --state target --fail-on breaking",
    "diff --state target --select-impacted",
    "unused",
    "cycles",
    "tags",
    "inherit",
    "build --no-explorer",
    "export csv",
]


@pytest.fixture
def call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    """A command over two models, one of which has a contract that holds."""
    contract = {
        "unique_id": "test.shop.lineage_known_fct",
        "resource_type": "test",
        "name": "lineage_known_fct",
        "package_name": "shop",
        "original_file_path": "models/schema.yml",
        "attached_node": "model.shop.fct",
        "test_metadata": {"name": "lineage_known", "namespace": "lineage_post", "kwargs": {}},
        "depends_on": {"nodes": ["model.shop.fct"], "macros": []},
        "config": {"severity": "ERROR", "enabled": True},
    }
    made = make_manifest(
        make_source("orders", {"id": "int", "total": "double"}),
        make_model("stg_orders", "select id, total from dev.raw.orders", [SOURCE], tags=["pii"]),
        make_model("fct", "select id from dev.main.stg_orders", ["model.shop.stg_orders"]),
        contract,
    )
    (tmp_path / "target").mkdir()
    (tmp_path / "target/manifest.json").write_text(json.dumps(made), encoding="utf-8")

    def run_it(words: str) -> tuple[int, str, str]:
        code = run([*words.split(), "--project-dir", str(tmp_path)])
        streams = capsys.readouterr()
        return code, streams.out, " ".join(streams.err.split())

    return run_it


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "selection",
    [
        "-s typo",
        "--select tag:typo --select path:typo",
        "--exclude fct --exclude stg_orders --exclude source:* --exclude resource_type:test",
    ],
)
def test_a_selection_of_nothing_is_wrong_use(call: Call, command: str, selection: str) -> None:
    code, out, said = call(f"{command} {selection}")
    assert (code, out) == (2, "")
    assert "nothing is selected" in said
    assert "matches nothing" in said or "--exclude leaves nothing" in said


@pytest.mark.parametrize("command", COMMANDS)
def test_one_of_several_selectors_is_a_warning_that_strict_counts(call: Call, command: str) -> None:
    words = f"{command} -s fct -s stg_order"
    code, _, said = call(words)
    assert code == 0
    assert "'stg_order' matches nothing; did you mean stg_orders?" in said
    code, _, said = call(f"{words} --strict")
    assert code == 1
    assert "1 warning, and --strict is set" in said


@pytest.mark.parametrize("command", COMMANDS)
def test_strict_alone_is_no_finding(call: Call, command: str) -> None:
    assert call(f"{command} --strict")[0] == 0


@pytest.mark.parametrize("command", COMMANDS[:5])
@pytest.mark.parametrize(
    ("given", "same"),
    [
        ("-s fct stg_orders", "-s fct -s stg_orders"),
        ("--select=fct stg_orders --strict", "--select fct --select stg_orders --strict"),
        ("-s fct stg_orders --exclude fct source:*", "-s stg_orders --exclude source:*"),
    ],
)
def test_selectors_stand_one_behind_another_as_in_dbt(
    call: Call, command: str, given: str, same: str
) -> None:
    assert call(f"{command} {given}") == call(f"{command} {same}")
    assert call(f"{command} fct")[0] == 2, "it takes no arguments"


def test_what_is_excluded_is_in_no_answer(call: Call) -> None:
    assert "fct" in call("export csv")[1]
    assert "fct" not in call("export csv --exclude fct")[1]
    assert "stg_orders.total" not in call("tags --exclude stg_orders")[1]


@pytest.mark.parametrize(
    ("selector", "near"),
    [
        ("fctt", "fct"),
        ("tag:pi", "tag:pii"),
        ("source:raw.order", "source:raw.orders"),
        ("path:models/fct.sq", "path:models/fct.sql"),
        ("package:shap", "package:shop"),
        ("group:fct", None),
    ],
)
def test_a_selector_of_nothing_names_what_is_near(
    call: Call, selector: str, near: str | None
) -> None:
    said = call(f"unused -s {selector}")[2]
    assert (f"did you mean {near}" in said.lower()) if near else "did you mean" not in said


def test_a_check_of_no_contract_warns_wherever_it_is_read(call: Call) -> None:
    code, out, said = call("check -s stg_orders")
    assert code == 0 and out == "0 contracts: nothing was checked\n"
    assert "no contract stands on what is selected" in said
    assert (
        "::warning title=lineage-post check::nothing was checked"
        in call("check -s stg_orders --output github")[1]
    )
    assert json.loads(call("check -s stg_orders --output json")[1])["warnings"]
    assert call("check -s stg_orders --warn-error")[0] == 1
    assert call("check -s fct --warn-error")[0] == 0


def test_a_contract_on_a_source_is_held_whatever_else_is_excluded(call: Call) -> None:
    assert "1 contract, 1 hold" in call("check --exclude stg_orders")[1]
