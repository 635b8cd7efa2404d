"""Files that are whole or not there, whoever else writes them at the same time."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Writes the file whole or not at all: a reader never sees half of it."""
    write_parts(path, [text.encode("utf-8")])


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Writes the file, its folder too: whole or, with an OSError that names it, not at all.

    A new file has the mode that the umask gives, another one keeps its own. Two processes that
    write it at once leave what one of them wrote.
    """
    half = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0))
        with open(handle, "wb") as file:
            file.writelines(parts)
        os.chmod(half, _mode(path))
        os.replace(half, path)
    except BaseException as error:
        with suppress(OSError):
            half.unlink()
        if isinstance(error, OSError) and error.filename in (None, str(half)):
            error.filename = str(path)
        raise


def _mode(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask
