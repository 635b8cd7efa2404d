"""What the server answers from: the lineage, as each viewer sees it, renewed with the artifacts."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lineage_post.errors import LineageError
from lineage_post.history.claims import InputVersion
from lineage_post.lineage import Lineage
from lineage_post.policy import Policy, View, view_of
from lineage_post.publish.statement import schema_of
from lineage_post.trace import SchemaIndex

log = logging.getLogger("lineage_post.server")
#: The artifacts are looked at no more often than this; seconds.
LOOK_EVERY = 1.0


@dataclass(frozen=True, slots=True)
class Seen:
    """A viewer's view, and what is made from it once: the schema for pasted statements, and the
    folder of the explorer's page (None where it was not built). ``loads`` says when the data of
    sources were loaded last."""

    full: Lineage
    view: View
    schema: SchemaIndex
    page: Path | None
    loads: Mapping[str, InputVersion] = field(default_factory=dict)


@dataclass(slots=True)
class State:
    """``load`` reads and traces the artifacts; ``watched`` are the files that say when to.

    ``make_page`` writes the explorer of a view into a folder of its own and gives the folder,
    ``loads_of`` reads when the data of sources were loaded last.
    """

    load: Callable[[], Lineage]
    watched: Sequence[Path]
    policy: Policy
    make_page: Callable[[View], Path | None]
    loads_of: Callable[[], Mapping[str, InputVersion]] = dict
    problem: str | None = None
    _lineage: Lineage | None = None
    _seen: dict[str, Seen] = field(default_factory=dict)
    _stamp: tuple[object, ...] = ()
    _looked: float = 0.0
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _is_loading: bool = False

    def start(self) -> None:
        """Loads for the first time. Raises LineageError where there is nothing to serve."""
        self._stamp = self._look()
        self._lineage = self.load()

    def seen_by(self, viewer: str | None) -> Seen:
        """What a viewer sees now. Artifacts that have changed are loaded beside the answer, so
        that nobody waits for them; what cannot be read keeps the last good answer."""
        self._renew()
        with self._lock:
            who = self.policy.viewer(viewer)
            if who.name not in self._seen:
                assert self._lineage is not None
                self._seen[who.name] = self._made(self._lineage, view_of(self._lineage, who))
            return self._seen[who.name]

    def _made(self, full: Lineage, view: View) -> Seen:
        lineage = view.lineage
        dialect = lineage.options.dialect or full.options.dialect
        schema = schema_of(lineage, dialect)
        return Seen(full, view, schema, self.make_page(view), self.loads_of())

    def _renew(self) -> None:
        with self._lock:
            if self._is_loading or time.monotonic() - self._looked < LOOK_EVERY:
                return
            self._looked = time.monotonic()
            stamp = self._look()
            if stamp == self._stamp:
                return
            self._stamp, self._is_loading = stamp, True
        threading.Thread(target=self._reload, daemon=True).start()

    def _reload(self) -> None:
        try:
            lineage = self.load()
        except LineageError as error:
            self.problem = str(error)
            log.warning("The artifacts have changed but cannot be read: %s", error)
        else:
            with self._lock:
                self._lineage, self.problem = lineage, None
                self._seen.clear()
            log.info("The artifacts have changed and were loaded again.")
        finally:
            self._is_loading = False

    def _look(self) -> tuple[object, ...]:
        return tuple(_stamp(path) for path in self.watched)


def _stamp(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
