"""Where words reach the user: the answer on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import click
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.theme import Theme
from rich.tree import Tree

THEME = Theme(
    {
        "known": "green",
        "partial": "yellow",
        "unknown": "red",
        "node": "cyan",
        "column": "bold",
        "direct": "default",
        "indirect": "magenta",
        "quiet": "dim",
        "error": "bold red",
        "warning": "yellow",
        "add": "green",
        "remove": "red",
    }
)


#: Where a click context keeps how many warnings were printed.
_WARNED = "lineage_post.warned"


@lru_cache(maxsize=4096)
def visible(text: str) -> str:
    """``text`` with control and direction characters spelled out: names come from data.

    A column called ``"\\x1b[2J"`` must not clear the reader's screen.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_spelled(char) if _is_control(char) else char for char in text)


def marked(text: str) -> str:
    """``text`` as a literal piece of rich markup, its control characters spelled out."""
    return escape(visible(text))


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _spelled(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def answer_console() -> Console:
    """The console of stdout; colours only on a terminal, and never with NO_COLOR."""
    # In a pipe nothing is cut or wrapped: a line is a line.
    width = None if sys.stdout.isatty() else 10_000
    return Console(theme=THEME, highlight=False, emoji=False, width=width)


def log_console() -> Console:
    return Console(theme=THEME, highlight=False, stderr=True, soft_wrap=True, emoji=False)


def say(what: RenderableType) -> None:
    """Prints a part of the answer to stdout. A tree's lines are cut at the edge, not broken."""
    if isinstance(what, Tree):
        answer_console().print(what, no_wrap=True, overflow="ellipsis")
    else:
        answer_console().print(what)


def say_plain(text: str) -> None:
    """Prints text to stdout as it is, control characters spelled out, line by line."""
    click.echo("\n".join(visible(line) for line in text.split("\n")))


def note(message: str) -> None:
    """Prints a line of the log to stderr."""
    log_console().print(marked(message), style="quiet")


def warn(message: str) -> None:
    """Prints a warning to stderr, and counts it for ``--strict``."""
    log_console().print(f"[warning]Warning:[/] {marked(message)}")
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta[_WARNED] = warned() + 1


def warned() -> int:
    """How many warnings the running command has printed."""
    context = click.get_current_context(silent=True)
    return context.meta.get(_WARNED, 0) if context is not None else 0


def complain(message: str, hint: str | None = None) -> None:
    """Prints an error, and what to do next, to stderr."""
    console = log_console()
    console.print(f"[error]Error:[/] {_lines(message)}")
    if hint:
        console.print(_lines(hint))


def _lines(text: str) -> str:
    return "\n".join(marked(line) for line in text.split("\n"))


def say_json(document: Mapping[str, Any]) -> None:
    """Prints one JSON document to stdout. Keys keep their order."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    # json.dumps itself escapes those below a space; a line break is its own layout.
    odd = {ord(char): _in_json(char) for char in set(text) - {"\n"} if _is_control(char)}
    click.echo(text.translate(odd) if odd else text)


def _in_json(char: str) -> str:
    return json.dumps(char)[1:-1] if ord(char) != 0x7F else "\\u007f"


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Says what is going on while it lasts, where a person watches: never in a log file."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        with log_console().status(f"[quiet]{marked(what)} …[/]"):
            yield
    else:
        yield
