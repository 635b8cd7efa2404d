"""OpenLineage events on their way: as JSON lines, or to an endpoint with a spool behind it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lineage_post.errors import ArtifactError, OptionError
from lineage_post.publish.text_file import write_text

#: The client's own variable for a token; a token stands in no file and no argument.
API_KEY = "OPENLINEAGE_API_KEY"
RETRIES = {
    "total": 3,
    "connect": 3,
    "read": 3,
    "backoff_factor": 0.3,
    "status_forcelist": [429, 500, 502, 503, 504],
    "allowed_methods": ["POST"],
}


@dataclass(frozen=True, slots=True)
class Sent:
    """How many events arrived, how many wait in the spool, and why they could not be sent."""

    arrived: int
    waiting: int = 0
    problem: str | None = None


def json_lines(events: Iterable[Any]) -> Iterator[str]:
    """Each event as one line of JSON, the keys sorted."""
    from openlineage.client.serde import Serde

    for event in events:
        yield Serde.to_json(event) + "\n"


def send(
    events: Iterable[Any],
    url: str,
    spool: Path,
    *,
    environ: Mapping[str, str] | None = None,
    timeout: float = 5.0,
) -> Sent:
    """Sends events to ``url``, those that wait from last time first; order is kept.

    What cannot be sent after some tries goes into ``spool`` and is sent the next time. An event
    that the endpoint refuses for good (a status of 4xx) is left out and told of. Raises OptionError
    for an address that is none.
    """
    if not url.startswith(("http://", "https://")):
        raise OptionError(f"{url!r} is no HTTP address", hint="For example http://localhost:5000.")
    waiting = [*_spooled(spool), *(json.loads(line) for line in json_lines(events))]
    transport = _transport(url, os.environ if environ is None else environ, timeout)
    arrived, refused, problem = 0, 0, None
    while waiting:
        status = _status(transport, waiting[0])
        if not status:
            problem = f"{_plain(url)} cannot be reached"
            break
        if status >= 500 or status in (401, 403, 408, 429):
            problem = f"{_plain(url)} answered {status}"
            break
        if status >= 400:
            refused += 1
            problem = f"{_plain(url)} refused {refused} of the events, the last with {status}"
        else:
            arrived += 1
        del waiting[0]
    transport.close()
    _keep(spool, waiting)
    return Sent(arrived, len(waiting), problem)


def _status(transport: Any, event: dict[str, Any]) -> int:
    """The status an event was answered with; 0 where nobody answered."""
    try:
        return int(transport.emit(event).status_code)
    except Exception as error:  # whatever the transport's libraries raise
        return int(getattr(getattr(error, "response", None), "status_code", 0))


def _transport(url: str, environ: Mapping[str, str], timeout: float) -> Any:
    from openlineage.client.transport.http import ApiKeyTokenProvider, HttpConfig, HttpTransport

    settings: dict[str, Any] = {"retry": RETRIES, "timeout": timeout}
    if environ.get(API_KEY):
        settings["auth"] = ApiKeyTokenProvider({"apiKey": environ[API_KEY]})
    return HttpTransport(HttpConfig(url, **settings))


def _plain(url: str) -> str:
    """An address without what may be a password in it."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"


def _spooled(spool: Path) -> list[dict[str, Any]]:
    if not spool.is_file():
        return []
    try:
        return [json.loads(line) for line in spool.read_text("utf-8").splitlines() if line]
    except (OSError, ValueError) as error:
        raise ArtifactError(
            f"{spool}: not readable: {error}", hint="Move it away to go on without what it holds."
        ) from error


def _keep(spool: Path, waiting: list[dict[str, Any]]) -> None:
    """Writes the spool whole or not at all; an empty one goes."""
    if not waiting:
        spool.unlink(missing_ok=True)
        return
    write_text(spool, "".join(json.dumps(event, sort_keys=True) + "\n" for event in waiting))
