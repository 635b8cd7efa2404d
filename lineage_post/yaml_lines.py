"""Small additions to a user's YAML that keep every comment, blank line and order as they are.

A YAML library would write the whole file anew. Here lines are put between lines, and the result is
read back and compared with what was meant: what cannot be edited safely is refused, not mangled.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from typing import Any

import yaml

from lineage_post.errors import LineageError


class CannotEditError(LineageError):
    """The file is laid out in a way that lines cannot be added to safely."""


def add_list_item(text: str, key: str, item: Any, lines: Sequence[str], *, where: str) -> str:
    """``text`` with ``item``, written as ``lines``, at the end of the top-level list ``key``.

    ``on-run-end: "x"`` becomes a list; a missing key is added at the end of the file.
    """

    def expected(document: dict[str, Any]) -> None:
        before = document.get(key)
        items = before if isinstance(before, list) else [] if before is None else [before]
        document[key] = [*items, item]

    return _edited(text, _with_list_item, key, lines, expected, where)


def add_mapping_entry(
    text: str, key: str, name: str, value: Any, lines: Sequence[str], *, where: str
) -> str:
    """``text`` with ``name: value``, written as ``lines``, first in the mapping ``key``."""

    def expected(document: dict[str, Any]) -> None:
        document[key] = {**(document.get(key) or {}), name: value}

    return _edited(text, _with_mapping_entry, key, lines, expected, where)


def read_yaml(text: str, *, where: str) -> dict[str, Any]:
    """The mapping a YAML file holds. Raises LineageError naming ``where``."""
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise LineageError(
            f"{where} is not valid YAML: {error}", hint="Mend the file and run this again."
        ) from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise LineageError(f"{where} is not a mapping.", hint="dbt expects `key: value` lines.")
    return document


Edit = Callable[[list[str], str, Sequence[str]], list[str] | None]


def _edited(
    text: str,
    edit: Edit,
    key: str,
    lines: Sequence[str],
    expect: Callable[[dict[str, Any]], None],
    where: str,
) -> str:
    wanted = copy.deepcopy(read_yaml(text, where=where))
    expect(wanted)
    newline = "\r\n" if "\r\n" in text else "\n"
    result = edit(text.splitlines(), key, lines)
    if result is not None:
        edited = newline.join(result) + newline
        try:
            if yaml.safe_load(edited) == wanted:
                return edited
        except yaml.YAMLError:
            pass
    raise CannotEditError(
        f"{where}: {key!r} is laid out in a way that cannot be added to safely.",
        hint="Add these lines by hand:\n    " + "\n    ".join([f"{key}:", *_indented(lines, 2)]),
    )


def _with_list_item(lines: list[str], key: str, item: Sequence[str]) -> list[str] | None:
    span = _span(lines, key)
    if span is None:
        return [*_ended(lines), f"{key}:", *_indented(item, 2)]
    start, end = span
    value = _value_of(lines[start], key)
    body = lines[start + 1 : end]
    if value in ("", "null", "~", "[]"):
        dash = next((_indent(line) for line in body if line.lstrip().startswith("- ")), None)
        header = lines[start] if value == "" else f"{key}:"
        return [
            *lines[:start],
            header,
            *body,
            *_indented(item, 2 if dash is None else dash),
            *lines[end:],
        ]
    if value.startswith("[") and value.endswith("]") and not body and len(item) == 1:
        closing = lines[start].rindex("]")
        addition = ", " + item[0].removeprefix("- ")
        return [
            *lines[:start],
            lines[start][:closing].rstrip() + addition + lines[start][closing:],
            *lines[end:],
        ]
    scalar = [f"{key}:", f"  - {value}", *_indented(body, 2)]
    return [*lines[:start], *scalar, *_indented(item, 2), *lines[end:]]


def _with_mapping_entry(lines: list[str], key: str, entry: Sequence[str]) -> list[str] | None:
    span = _span(lines, key)
    if span is None:
        return [*_ended(lines), f"{key}:", *_indented(entry, 2)]
    start, end = span
    body = lines[start + 1 : end]
    if _value_of(lines[start], key) not in ("", "null", "~", "{}"):
        return None
    child = next((_indent(line) for line in body if _has_content(line)), 2)
    header = lines[start] if _value_of(lines[start], key) == "" else f"{key}:"
    return [*lines[:start], header, *_indented(entry, child), *body, *lines[end:]]


def _span(lines: list[str], key: str) -> tuple[int, int] | None:
    """First line of a top-level key, and the line after the last that belongs to it."""
    start = next((i for i, line in enumerate(lines) if _is_key(line, key)), None)
    if start is None:
        return None
    end = start + 1
    while end < len(lines) and not _starts_a_key(lines[end]):
        end += 1
    while end > start + 1 and not _belongs(lines[end - 1]):
        end -= 1
    return start, end


def _is_key(line: str, key: str) -> bool:
    return re.match(rf"""(["']?){re.escape(key)}\1\s*:(\s|$)""", line) is not None


def _starts_a_key(line: str) -> bool:
    return line.startswith(("---", "...")) or (bool(line) and line[0] not in " \t#-")


def _belongs(line: str) -> bool:
    """Blank lines and comments at the margin before the next key belong to that key."""
    return bool(line.strip()) and not line.startswith("#")


def _has_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _value_of(line: str, key: str) -> str:
    """What stands behind the colon, without a comment."""
    value = re.sub(rf"""^(["']?){re.escape(key)}\1\s*:""", "", line).strip()
    if value[:1] in ('"', "'"):
        closing = value.rfind(value[0])
        return value[: closing + 1]
    return re.sub(r"(^|\s)#.*$", "", value).strip()


def _ended(lines: list[str]) -> list[str]:
    """Lines to which a block can be appended: with one blank line at the end."""
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    return [*kept, ""] if kept else []


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _indented(lines: Sequence[str], width: int) -> list[str]:
    return [" " * width + line if line.strip() else line for line in lines]
