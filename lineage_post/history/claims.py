"""What a producer other than this tool asserts of nodes, as plain values that importers make.

A claim is everything that one producer says of one node by one statement or run. Of the claims of
one producer on one node the last by ``observed_at`` counts: an importer that has seen several
statements write into a table puts their edges into one claim, or lets the last of them speak.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from lineage_post.errors import LineageError
from lineage_post.values import ColumnLineage, Edge
from lineage_post.vocabulary import Producer, Reason, State, Status

#: Names that are this tool's own: an importer cannot speak for them.
OWN_PRODUCERS = frozenset({Producer.EXECUTION.value, Producer.MANIFEST.value})
_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,62}")


@dataclass(frozen=True, slots=True)
class InputVersion:
    """The version of an input that was read, and how it was established.

    ``kind`` is ``refresh``, ``snapshot``, ``freshness``, ``file``, ``commit``, ``deferred`` or, for
    a claim that names an input and no version, ``observed``. ``facts`` are further keys, as
    ``path`` and ``size`` of a file.
    """

    node: str
    version: str | None
    kind: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Claim:
    """One node's lineage as a producer has seen it.

    ``columns`` may be empty, where the producer knows tables alone; ``inputs`` are nodes it has
    seen read, those of the edges included or not. ``operation`` is one of ``create_table_as``,
    ``create_view``, ``insert``, ``update``, ``merge``, ``delete``, ``snapshot``, ``seed``;
    ``query`` the statement. Without a zone ``observed_at`` is in UTC.
    """

    node: str
    run_id: str
    observed_at: datetime
    columns: tuple[ColumnLineage, ...] = ()
    edges: tuple[Edge, ...] = ()
    inputs: tuple[InputVersion, ...] = ()
    operation: str | None = None
    query: str | None = None
    status: Status = Status.SUCCESS
    state: State = State.KNOWN
    reason: Reason | None = None
    trace_id: str | None = None


@dataclass(frozen=True, slots=True)
class Claims:
    """What one import brings. Where it ``is_complete``, what the producer claimed of other nodes
    before and does not claim now is retired; another producer's claims are never touched.
    """

    producer: str
    claims: tuple[Claim, ...] = ()
    is_complete: bool = False

    def __post_init__(self) -> None:
        require_producer(self.producer)


def require_producer(name: str) -> str:
    """The name, if an importer may bear it. Raises LineageError."""
    if name in OWN_PRODUCERS:
        raise LineageError(
            f"{name} is what lineage_post itself records; nothing can be imported as it",
            hint="Choose another name for the producer.",
        )
    if not _NAME.fullmatch(name):
        raise LineageError(
            f"{name!r} is no name for a producer",
            hint="Lower-case letters, digits, and . _ - make one, as in `warehouse_logs`.",
        )
    return name


def in_utc(time: datetime) -> datetime:
    """The time in UTC, without a zone, as the tables have it."""
    return time.astimezone(timezone.utc).replace(tzinfo=None) if time.tzinfo else time
