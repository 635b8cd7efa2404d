"""The frame of the command line: commands, flags in either place, exit codes, streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lineage_post import __version__
from lineage_post.cli import cli, console, run

from .manifests import make_manifest, make_model

COMMANDS = tuple(cli.commands_in)  # type: ignore[attr-defined]


def test_help_lists_the_commands_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    listed = [line.split()[0] for line in out.split("Commands:")[1].splitlines() if line.strip()]
    assert tuple(name for name in listed if name in COMMANDS) == COMMANDS
    assert {"build", "show", "sql", "exposures", "init"} <= {*COMMANDS}


def test_help_says_whole_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    run(["--help"])
    listed = capsys.readouterr().out.partition("Commands:")[2]
    assert "..." not in listed


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_takes_dbts_two_flags(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert "--project-dir" in out and "--target-path" in out


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert __version__ in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["shwo", "x"], "Did you mean 'show'?"),
        (["show"], "Missing argument"),
        (["build", "--flag"], "No such option"),
        (["build", "--fail-under", "120"], "120"),
        (["build", "--project-dir", "nowhere"], "nowhere: there is no such folder"),
    ],
)
def test_wrong_use_is_exit_code_2_with_a_message_on_stderr(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    streams = capsys.readouterr()
    assert streams.out == "" and said in streams.err


@pytest.mark.parametrize("command", ["build", "exposures"])
def test_a_missing_manifest_is_named_with_what_to_run(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command, "--target-path", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "manifest.json: there is no manifest" in said and "dbt compile" in said


@pytest.mark.parametrize("text", ["", "{", "[]", '{"nodes": 1}'])
def test_a_damaged_manifest_is_named(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
    assert run(["build", "--target-path", str(tmp_path)]) == 2
    assert "manifest.json" in capsys.readouterr().err


def test_an_option_that_does_not_exist_is_named_with_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "name: shop\nvars:\n  lineage_post:\n    exposure: all\n"
    (tmp_path / "dbt_project.yml").write_text(text, encoding="utf-8")
    assert run(["build", "--project-dir", str(tmp_path)]) == 2
    assert "there is no option 'exposure'" in capsys.readouterr().err


def test_flags_work_before_and_after_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["--target-path", str(tmp_path / "a"), "build"])
    before = capsys.readouterr().err
    run(["build", "--target-path", str(tmp_path / "a")])
    assert before == capsys.readouterr().err


def test_the_target_path_is_that_of_the_project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: x\ntarget-path: out\n", encoding="utf-8")
    run(["build", "--project-dir", str(tmp_path)])
    assert str(Path("out/manifest.json")) in capsys.readouterr().err


def test_python_m_is_the_same_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lineage_post", "sql", "select a from t", "--output", "json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and json.loads(done.stdout)["outputs"][0]["name"] == "a"
    assert done.stderr == ""


def test_a_reader_that_leaves_early_is_no_fault(tmp_path: Path) -> None:
    command = f"{sys.executable} -m lineage_post sql --help | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("output", ["text", "json"])
def test_a_reader_that_leaves_at_once_is_no_finding(tmp_path: Path, output: str) -> None:
    # Nobody reads: what is written to the pipe fails.
    command = f"{sys.executable} -m lineage_post sql 'select a from t' --output {output}"
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, stdout=pipe, stderr=subprocess.PIPE
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_folder_that_cannot_be_made_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = make_model("m", "select 1 as a")
    (tmp_path / "manifest.json").write_text(json.dumps(make_manifest(made)), encoding="utf-8")
    (tmp_path / "lineage_post").write_text("a file", encoding="utf-8")
    assert run(["build", "--target-path", str(tmp_path)]) == 2
    assert str(tmp_path / "lineage_post") in capsys.readouterr().err


def test_a_selection_of_nothing_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = make_model("m", "select 1 as a")
    (tmp_path / "manifest.json").write_text(json.dumps(make_manifest(made)), encoding="utf-8")
    here = ["--target-path", str(tmp_path), "--no-explorer"]
    assert run(["build", *here]) == 0
    before = (tmp_path / "lineage_post/lineage.json").read_bytes()
    assert run(["build", *here, "--select", "nope", "--fail-under", "95"]) == 2
    assert "nope" in capsys.readouterr().err
    assert (tmp_path / "lineage_post/lineage.json").read_bytes() == before


@pytest.mark.parametrize(
    "text, shown",
    [
        ("plain ü", "plain ü"),
        ("a\x1b[31mred", "a\\x1b[31mred"),
        ("line\nbreak\r", "line\\x0abreak\\x0d"),
        ("\x9b2J", "\\x9b2J"),
        ("\u202etxt", "\\u202etxt"),
    ],
)
def test_control_characters_are_spelled_out(text: str, shown: str) -> None:
    assert console.visible(text) == shown


def test_json_keeps_them_and_is_safe_to_print(capsys: pytest.CaptureFixture[str]) -> None:
    name = "\x1b[2J\x7f\x9b\u202e\u2028ü"
    console.say_json({name: [name]})
    text = capsys.readouterr().out
    assert json.loads(text) == {name: [name]}
    assert not any(console.visible(char) != char for char in text if char != "\n")


@pytest.mark.parametrize(
    ("file", "code", "said"),
    [
        ("../out.yml", 2, "not in the project"),
        ("{outside}/out.yml", 2, "not in the project"),
        ("models/../../out.yml", 2, "not in the project"),
        ("models/out.txt", 2, ".yml and .yaml"),
        ("seeds/out.yml", 0, "not below models"),
        ("models/deep/out.yml", 0, ""),
    ],
)
def test_exposures_are_written_where_dbt_reads_them(
    file: str, code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = {"a": {"name": "a", "config": {"meta": {"lineage": {"expose": True}}}}}
    (tmp_path / "shop/target").mkdir(parents=True)
    manifest = make_manifest(make_model("m", "select 1 as a", columns=shown))
    (tmp_path / "shop/target/manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    words = ["exposures", "--project-dir", str(tmp_path / "shop")]
    assert run([*words, "--write", "--file", file.format(outside=tmp_path)]) == code
    assert said in " ".join(capsys.readouterr().err.split())
    written = [p.name for p in tmp_path.rglob("*") if p.name.startswith("out.")]
    assert written == ["out.yml"] * (code == 0)
    assert run([*words, "--file", "models/out.yml"]) == 2, "--file is of --write"


def test_without_an_exposure_there_is_nothing_to_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "target").mkdir()
    manifest = json.dumps(make_manifest(make_model("m", "select 1 as a")))
    (tmp_path / "target/manifest.json").write_text(manifest, encoding="utf-8")
    assert run(["exposures", "--write", "--project-dir", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "Nothing to write: no column gets an exposure.\n"


def test_excluding_what_is_not_there_leaves_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board = {
        "unique_id": "exposure.shop.board",
        "resource_type": "exposure",
        "name": "board",
        "package_name": "shop",
        "depends_on": {"nodes": ["model.shop.m"]},
        "meta": {"lineage": {"columns": {"m": ["a"]}}},
        "original_file_path": "models/e.yml",
    }
    (tmp_path / "target").mkdir()
    manifest = json.dumps(make_manifest(make_model("m", "select a from t"), board))
    (tmp_path / "target/manifest.json").write_text(manifest, encoding="utf-8")
    words = ["build", "--no-explorer", "--project-dir", str(tmp_path), "--output", "json"]
    edges = []
    for more in ([], ["--exclude", "nope"], ["--exclude", "exposure:board"]):
        assert run([*words, *more]) == 0
        edges.append(json.loads(capsys.readouterr().out)["edges"]["direct"])
    assert edges == [2, 2, 1]


@pytest.mark.parametrize("command", ["tags", "inherit"])
def test_selectors_are_arguments_or_flags(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = {"a": {"name": "a", "config": {"tags": ["pii"]}, "description": "An A."}}
    made = make_manifest(
        make_model("m", "select 1 as a", columns=columns),
        make_model("n", "select a from dev.main.m", ["model.shop.m"]),
    )
    (tmp_path / "target").mkdir()
    (tmp_path / "target/manifest.json").write_text(json.dumps(made), encoding="utf-8")
    words = [command, "--project-dir", str(tmp_path), "--output", "json"]
    told = []
    for more in (["m"], ["--select", "m"], ["-s", "m"], []):
        assert run([*words, *more]) == 0
        document = json.loads(capsys.readouterr().out)
        del document["metadata"]
        told.append(document)
    assert told[0] == told[1] == told[2] != told[3]
