"""What ``lineage-post sql`` is given: a text, a file or standard input, and a file of columns."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import yaml

from lineage_post.errors import ArtifactError

Schema = dict[str, dict[str, str | None]]
_COMMENT = re.compile(r"--(\s|[^\n]*\n)")
_PATH = re.compile(r"[\w.~:/\\-]*[/\\][\w.~:/\\-]*")
_FORM = "Write `relation: {column: type}` for each relation, in YAML or JSON."
_FORMS = "Write `relation: {column: type}` or `relation: [column, ...]`."


class SqlCommand(click.Command):
    """Takes SQL that begins with a comment, which is no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" not in args:
            commented = [word for word in args if _COMMENT.match(word)]
            if commented:
                args = [*(word for word in args if word not in commented), "--", *commented]
        return super().parse_args(ctx, args)


def read_text(statement: str) -> str:
    """The SQL: from stdin for -, from a file if there is one of this name, else as given.

    Raises ArtifactError for what cannot be read, or is the name of no file.
    """
    try:
        text = _found(statement)
        text.encode("utf-8")  # what the shell could not read is half a character
    except UnicodeError as error:
        name = {"-": "standard input"}.get(statement, statement)
        said = f"{name}: not UTF-8: {error}" if len(name) < 256 else f"not UTF-8: {error}"
        raise ArtifactError(said, hint="Save it as UTF-8.") from error
    return text


def _found(statement: str) -> str:
    if statement == "-":
        return _standard_input()
    if _is_a(statement, Path.is_file):
        return Path(statement).read_text(encoding="utf-8-sig")
    if _is_a(statement, Path.is_dir):
        raise ArtifactError(f"{statement}: this is a folder", hint="Name a file in it.")
    is_name = "\n" not in statement and statement.lower().endswith(".sql")
    if is_name or _PATH.fullmatch(statement):
        raise ArtifactError(f"{statement}: there is no such file", hint="Or give the SQL itself.")
    return statement


def _standard_input() -> str:
    if sys.stdin is None:
        raise ArtifactError(
            "standard input is closed", hint="Give SQL, or the name of a file with it."
        )
    # Its own encoding is that of the terminal, and takes what it cannot read for letters.
    binary = getattr(sys.stdin, "buffer", None)
    text = sys.stdin.read() if binary is None else str(binary.read(), "utf-8-sig")
    return text.replace("\r\n", "\n")


def _is_a(text: str, kind: Any) -> bool:
    """Whether a file or folder is called so: SQL is no name, and longer than a name may be."""
    try:
        return bool(text) and bool(kind(Path(text)))
    except (OSError, ValueError):
        return False


def read_schema(file: str) -> Schema:
    """The columns of relations, of which a name may be split over levels: db, schema, table.

    Raises ArtifactError for a file that has another form.
    """
    try:
        document = _parsed(Path(file).expanduser().read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ArtifactError(f"{file}: there is no such file", hint=_FORM) from None
    except IsADirectoryError:
        raise ArtifactError(f"{file}: this is a folder", hint=_FORM) from None
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ArtifactError(f"{file}: not readable: {error}", hint=_FORM) from error
    if not isinstance(document, Mapping):
        raise ArtifactError(f"{file}: not a mapping of relations", hint=_FORM)
    found: Schema = {}
    _gather(file, "", document, found)
    return found


def _parsed(text: str) -> Any:
    """The document, with every word as it is written: a column may be called ``no`` or ``on``."""
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except ValueError:
            pass  # YAML may begin so as well
    return yaml.load(text, Loader=yaml.BaseLoader)


def _gather(file: str, parent: str, level: Mapping[Any, Any], found: Schema) -> None:
    for key, value in level.items():
        name = f"{parent}{key}"
        if isinstance(value, Mapping) and any(
            isinstance(below, (Mapping, list)) for below in value.values()
        ):
            _gather(file, f"{name}.", value, found)
        else:
            found[name] = _columns(file, name, value)


def _columns(file: str, relation: str, value: Any) -> dict[str, str | None]:
    if isinstance(value, list):
        return dict(_column(file, relation, item) for item in value)
    if isinstance(value, Mapping):
        return {str(column): _type(kind) for column, kind in value.items()}
    raise ArtifactError(
        f"{file}: {relation!r} is neither a mapping nor a list of columns", hint=_FORMS
    )


def _column(file: str, relation: str, item: Any) -> tuple[str, str | None]:
    """A column of a list: its name alone, or as dbt's YAML has it."""
    if not isinstance(item, (Mapping, list)):
        return str(item), None
    if isinstance(item, Mapping) and "name" in item and not {"columns", "tables"} & set(item):
        return str(item["name"]), _type(item.get("data_type") or item.get("type"))
    raise ArtifactError(
        f"{file}: {relation!r} lists something that is no column: {str(item)[:80]}",
        hint=f"{_FORMS} Of dbt's YAML, that is the list below `columns`.",
    )


def _type(kind: Any) -> str | None:
    return None if kind in (None, "", "null", "~") else str(kind)
