"""Commands answer from the manifest: where the files beside it say something else, they warn."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lineage_post.artifacts import read_manifest
from lineage_post.artifacts.changed_files import changed_files, newer_yaml
from lineage_post.cli import run

from .manifests import make_manifest, make_model, make_source

SQL = "select id, total as amount from dev.raw.orders"
SNAPSHOT = "select id from dev.raw.orders"
#: Before all files that these tests write.
EARLY = "2001-01-01T00:00:00.000000Z"
#: After them.
LATE = "2999-01-01T00:00:00.000000Z"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A model, a snapshot among others in its file, and a manifest of both."""
    for name, text in (
        ("models/stg.sql", f"{SQL}\n"),
        ("snapshots/all.sql", f"{{% snapshot a %}}{SNAPSHOT}{{% endsnapshot %}}\n"),
    ):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text, encoding="utf-8")
    written(tmp_path, EARLY)
    return tmp_path


def written(folder: Path, generated_at: str) -> None:
    orders = "source.shop.raw.orders"
    snapshot = make_model(
        "a",
        SNAPSHOT,
        [orders],
        resource_type="snapshot",
        unique_id="snapshot.shop.a",
        original_file_path="snapshots/all.sql",
    )
    manifest = make_manifest(
        make_source("orders", {"id": "int", "total": "double"}),
        make_model("stg", SQL, [orders]),
        make_model("theirs", SQL, [orders], package="another"),
        snapshot,
    )
    manifest["metadata"]["generated_at"] = generated_at
    (folder / "target").mkdir(exist_ok=True)
    (folder / "target/manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def changed(folder: Path) -> list[str]:
    return changed_files(read_manifest(folder / "target/manifest.json"), folder)


def edited(name: str, old: str, new: str) -> Callable[[Path], object]:
    def edit(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")

    return edit


@pytest.mark.parametrize(
    "edit, expected",
    [
        (lambda folder: None, []),
        (edited("models/stg.sql", "total as", "id as"), ["models/stg.sql"]),
        (edited("models/stg.sql", "\n", "\n\n"), []),
        (edited("snapshots/all.sql", "{% snapshot", "-- two of them\n{% snapshot"), []),
        (edited("snapshots/all.sql", "id from", "total from"), ["snapshots/all.sql"]),
        (lambda folder: (folder / "models/stg.sql").unlink(), ["models/stg.sql"]),
        (lambda folder: (folder / "models/stg.sql").write_bytes(b"\xff\xfe"), []),
    ],
)
def test_a_file_has_changed_where_its_text_says_something_else(
    project: Path, edit: Callable[[Path], object], expected: list[str]
) -> None:
    edit(project)
    assert changed(project) == expected


@pytest.mark.parametrize("ending", ["j2", "jinja2", "jinja"])
def test_the_other_endings_of_sql_that_dbt_takes_count_too(project: Path, ending: str) -> None:
    path = f"models/stg.sql.{ending}"
    manifest = make_manifest(make_model("stg", SQL, original_file_path=path))
    manifest["metadata"]["generated_at"] = EARLY
    (project / "target/manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (project / path).write_text("select 1", encoding="utf-8")
    assert changed(project) == [path]


def test_artifacts_without_a_project_are_taken_as_they_are(project: Path) -> None:
    for name in ("models/stg.sql", "snapshots/all.sql"):
        (project / name).unlink()
    assert changed(project) == []


def test_a_file_older_than_the_manifest_is_read_if_its_size_differs(project: Path) -> None:
    written(project, LATE)
    edited("models/stg.sql", "total as", "id as")(project)
    assert changed(project) == ["models/stg.sql"]
    os.utime(project / "snapshots/all.sql", (0, 0))
    assert changed(project) == ["models/stg.sql"]


@pytest.mark.parametrize(
    "command",
    [
        "show stg.amount",
        "impact --drop stg.amount",
        "diff --state target",
        "unused",
        "cycles",
        "exposures",
        "export json",
        "tags",
        "inherit",
        "erase stg.amount",
        "evidence stg.amount",
        "why stg --where id=1 --output sql",
        "build --no-explorer",
    ],
)
def test_every_command_warns_once_and_on_stderr_alone(
    project: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*command.split(), "--project-dir", str(project)]
    run(words)
    before, quiet = capsys.readouterr()
    assert "changed since" not in quiet
    edited("models/stg.sql", "total as", "id as")(project)
    run(words)
    after, told = capsys.readouterr()
    assert told.count("models/stg.sql changed since") == 1 and "run dbt compile" in told
    assert _timeless(after) == _timeless(before)
    run([*words, "--manifest", str(project / "target/manifest.json")])
    assert "changed since" not in capsys.readouterr().err, "it was named"


def _timeless(text: str) -> str:
    """The seal of a bundle has the time in it."""
    return re.sub(r"seal .*|\"generated_at\".*", "", text)


def test_the_json_of_build_has_the_warning_and_strict_counts_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited("models/stg.sql", "total as", "id as")(project)
    words = ["build", "--no-explorer", "--project-dir", str(project), "--output", "json"]
    assert run(words) == 0
    (warning,) = json.loads(capsys.readouterr().out)["warnings"]
    assert warning.startswith("models/stg.sql changed since")
    assert run([*words, "--strict"]) == 1
    assert "1 warning, and --strict is set" in capsys.readouterr().err


def test_models_that_were_not_compiled_are_counted_but_for_build_which_keeps_them(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project / "target/manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["nodes"]["model.shop.more"] = make_model("more", None, ["model.shop.stg"])
    path.write_text(json.dumps(manifest), encoding="utf-8")
    here = ["--project-dir", str(project)]
    run(["show", "stg.id", *here])
    assert "1 model without compiled SQL in" in capsys.readouterr().err
    run(["build", "--no-explorer", *here])
    assert "without compiled SQL" not in capsys.readouterr().err


@pytest.fixture
def with_yaml(project: Path) -> Path:
    """The project with YAML, all of it older than the manifest."""
    written(project, "2020-01-01T00:00:00Z")
    for name in ("dbt_project.yml", "models/sources.yml", "models/new.yml"):
        (project / name).write_text("version: 2\n", encoding="utf-8")
    for file in project.rglob("*.*"):
        os.utime(file, (0, 0))
    return project


def newer(folder: Path) -> list[str]:
    return newer_yaml(read_manifest(folder / "target/manifest.json"), folder)


@pytest.mark.parametrize(
    ("touched", "expected"),
    [
        ([], []),
        (["models/sources.yml"], ["models/sources.yml"]),
        (["models/new.yml", "dbt_project.yml"], ["dbt_project.yml", "models/new.yml"]),
        (["models/stg.sql"], []),
    ],
)
def test_yaml_that_is_newer_than_the_manifest_may_have_changed(
    with_yaml: Path, touched: list[str], expected: list[str]
) -> None:
    for name in touched:
        os.utime(with_yaml / name)
    assert newer(with_yaml) == expected


def test_of_yaml_beside_dbt_project_yml_nothing_is_said(with_yaml: Path) -> None:
    """A hook is of dbt_project.yml; dbt itself writes .user.yml there, and others their own."""
    project = json.loads((with_yaml / "target/manifest.json").read_text(encoding="utf-8"))
    hook = make_model("hook", "select 1", [], resource_type="operation")
    hook["original_file_path"] = "./dbt_project.yml"
    project["nodes"]["operation.shop.hook"] = hook
    (with_yaml / "target/manifest.json").write_text(json.dumps(project), encoding="utf-8")
    for name in (".user.yml", "docker-compose.yaml", "dbt_project.yml"):
        (with_yaml / name).write_text("version: 2\n", encoding="utf-8")
    assert newer(with_yaml) == ["dbt_project.yml"]


def test_of_a_checkout_in_which_every_file_is_newer_nothing_is_said(with_yaml: Path) -> None:
    for file in with_yaml.rglob("*.*"):
        os.utime(file)
    assert newer(with_yaml) == []


def test_newer_yaml_is_a_warning_even_to_check(
    with_yaml: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.utime(with_yaml / "models/sources.yml")
    assert run(["check", "--project-dir", str(with_yaml)]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "models/sources.yml may have changed since" in said and "run dbt compile" in said


def test_python_is_warned_of_changed_files_and_reads_the_projects_options(
    with_yaml: Path, recwarn: pytest.WarningsRecorder
) -> None:
    from lineage_post import load

    text = "vars: {lineage_post: {masking_functions: [scramble]}}\n"
    (with_yaml / "dbt_project.yml").write_text(text, encoding="utf-8")
    os.utime(with_yaml / "dbt_project.yml", (0, 0))
    assert load(with_yaml / "target").options.masking_functions == ("scramble",)
    assert not recwarn
    edited("models/stg.sql", "total as", "id as")(with_yaml)
    with pytest.warns(UserWarning, match=r"models/stg.sql changed since .*run dbt compile"):
        load(with_yaml / "target")
