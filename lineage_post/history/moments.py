"""Times as people give them: ``2026-03-31`` is the end of that day, in UTC."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone

from lineage_post.errors import OptionError
from lineage_post.options import Options


def moment(text: str | None, flag: str) -> datetime | None:
    """A time in UTC without a zone; None for None. Raises OptionError naming the flag."""
    if text is None:
        return None
    stripped = text.strip()
    try:
        found = datetime.fromisoformat(stripped.replace("Z", "+00:00"))
    except ValueError as error:
        raise OptionError(
            f"{flag} is {text!r}, which is no time",
            hint="Write a date or a time, as in 2026-03-31 or 2026-03-31T18:00:00+02:00.",
        ) from error
    if len(stripped) == len("2026-03-31"):
        return found.replace(hour=23, minute=59, second=59, microsecond=999_999)
    return found.astimezone(timezone.utc).replace(tzinfo=None) if found.tzinfo else found


def is_span(text: str) -> bool:
    """Whether the text is two times: ``A..B``, or ``A..`` for until now."""
    return ".." in text


def span(text: str | None, flag: str) -> tuple[datetime | None, datetime | None]:
    """``A..B`` as two times, ``T`` as that time twice. Raises OptionError where A is after B."""
    if text is None or not is_span(text):
        at = moment(text, flag)
        return at, at
    first, _, last = text.partition("..")
    start, end = moment(first or None, flag), moment(last or None, flag)
    if start is not None and end is not None and end < start:
        raise OptionError(f"{flag} {text}: the second time is before the first", hint="Swap them.")
    return start, end


def is_overdue(producer: str, at: datetime, options: Options, now: datetime) -> bool:
    """Whether a producer that said something last at a time has been quiet for too long."""
    limit = options.stale_after_days
    days = limit.get(producer, limit.get("default", 0)) if isinstance(limit, Mapping) else limit
    return days > 0 and at < now - timedelta(days=days)
