"""Changes of the user's YAML: shown as a unified diff first, written only when asked to."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Iterator

import click

from lineage_post.cli import console, wording
from lineage_post.cli.places import Places
from lineage_post.errors import LineageError
from lineage_post.governance.yaml_files import FileChange, Read, Refused
from lineage_post.lineage import Lineage
from lineage_post.publish.text_file import write_text


def reader(places: Places) -> Read:
    """Reads a file of the project with the line endings it has."""

    def read(path: str) -> str | None:
        file = (places.project_dir / path).resolve()
        if not file.is_relative_to(places.project_dir.resolve()):
            raise LineageError(
                f"{path} is outside the project's folder", hint="Name it with --project-dir."
            )
        try:
            return file.read_bytes().decode("utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise LineageError(
                f"{path}: not readable: {error}", hint="It must be a UTF-8 text file."
            ) from error

    return read


def show(changes: Iterable[FileChange]) -> None:
    """Prints the changes as one unified diff, which `git apply` takes."""
    for change in changes:
        click.echo("\n".join(_shown(line) for line in _diff(change)))


def write(places: Places, changes: Iterable[FileChange]) -> None:
    """Writes the files, each whole or not at all."""
    for change in changes:
        write_text(places.project_dir / change.path, change.after)
        console.note(f"Wrote {change.path}")


def say_refused(lineage: Lineage, refused: Iterable[Refused]) -> None:
    """Says on stderr what is not written, and why."""
    for one in refused:
        name = f"{wording.node_name(lineage, one.column[0])}.{one.column[1]}"
        console.warn(f"{name} is not written: {one.why}")


def _diff(change: FileChange) -> Iterator[str]:
    before, after = _lines(change.before or ""), _lines(change.after)
    old = f"a/{change.path}" if change.before is not None else "/dev/null"
    for line in difflib.unified_diff(before, after, old, f"b/{change.path}", lineterm="\n"):
        if line.endswith("\n"):
            yield line[:-1]
        else:
            yield line
            yield "\\ No newline at end of file"


def _lines(text: str) -> list[str]:
    # str.splitlines would also part at characters that are no line breaks to git.
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _shown(line: str) -> str:
    """A line for a terminal has no control characters; one for a pipe is as it is in the file."""
    return console.visible(line.rstrip("\r")) if sys.stdout.isatty() else line
