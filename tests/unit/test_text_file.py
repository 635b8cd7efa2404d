"""Files are whole or not there, and a failure names the file."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineage_post.cli import run
from lineage_post.publish.text_file import write_parts, write_text

from .manifests import make_manifest, make_model


def full_disk() -> Iterator[bytes]:
    yield b"half"
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_leaves_the_file_of_before_and_is_told_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "new" / "lineage.json"
    write_text(path, "before")
    with pytest.raises(OSError, match="No space left") as caught:
        write_parts(path, full_disk())
    assert caught.value.filename == str(path)
    assert os.listdir(path.parent) == ["lineage.json"] and path.read_text() == "before"


def test_a_new_file_has_the_mode_of_the_umask_and_another_keeps_its_own(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_text(tmp_path / "a", "x")
        os.chmod(tmp_path / "a", 0o604)
        write_text(tmp_path / "a", "y")
        write_text(tmp_path / "b", "z")
    finally:
        os.umask(old)
    modes = {name: (tmp_path / name).stat().st_mode & 0o777 for name in "ab"}
    assert modes == {"a": 0o604, "b": 0o640}


def test_of_several_writers_one_wins_and_nothing_is_left_behind(tmp_path: Path) -> None:
    faults: list[BaseException] = []

    def write(letter: str) -> None:
        try:
            for _ in range(50):
                write_parts(tmp_path / "rows.jsonl", [letter.encode() * 5_000] * 4)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults and os.listdir(tmp_path) == ["rows.jsonl"]
    text = (tmp_path / "rows.jsonl").read_text()
    assert len(text) == 20_000 and len(set(text)) == 1


@pytest.mark.parametrize(
    ("code", "hint"), [(errno.ENOSPC, "Make room there"), (errno.EROFS, "--target-path")]
)
def test_a_command_that_cannot_write_names_the_file_and_what_to_do(
    code: int,
    hint: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import json

    (tmp_path / "target").mkdir()
    text = json.dumps(make_manifest(make_model("m", "select 1 as a")))
    (tmp_path / "target/manifest.json").write_text(text, encoding="utf-8")

    def fails(half: object, path: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("lineage_post.publish.text_file.os.replace", fails)
    words = ["build", "--no-explorer", "--project-dir", str(tmp_path)]
    assert run(words) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "target/lineage_post/lineage.json: " in said and hint in said
