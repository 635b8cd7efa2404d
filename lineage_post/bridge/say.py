"""One line to the user, through dbt's own log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def tell(message: str) -> None:
    """An information line. Never raises."""
    _fire(message, "info")


def warn(message: str) -> None:
    """A warning line that --warn-error leaves a warning. Never raises.

    dbt 1.12 makes an error of it then, instead of a line: it is said as information.
    """
    text = f"[WARNING] {message}"
    if not _fire(text, "warn"):
        _fire(text, "info")


def detail(message: str) -> None:
    """Text for dbt.log alone."""
    _fire(message, "debug")


def guarded(call: Callable[[], Any]) -> None:
    """Calls, and turns whatever goes wrong into one warning line."""
    try:
        call()
    except Exception as error:
        warn(describe(error))


def describe(error: BaseException) -> str:
    """An error as one line that names its kind, unless it is one of ours."""
    from lineage_post.errors import LineageError

    if isinstance(error, LineageError):
        parts = (error.message, error.hint or "")
        return ". ".join(" ".join(part.split()).rstrip(".") for part in parts if part)
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def dbt_flags() -> Any:
    """The flags of the command that runs."""
    from dbt import flags

    get_flags: Any = flags.get_flags
    return get_flags()


def _fire(message: str, level: str) -> bool:
    """Whether dbt took the line."""
    try:
        from dbt_common.events.base_types import EventLevel
        from dbt_common.events.functions import fire_event
        from dbt_common.events.types import Note

        fire_event(Note(msg=f"lineage_post: {message}"), level=EventLevel(level))
    except Exception:
        return False
    return True
