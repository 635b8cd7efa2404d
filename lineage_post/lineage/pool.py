"""Who traces: this process alone, or several where there is so much SQL that it wins."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from types import TracebackType

from lineage_post.cache import Record
from lineage_post.lineage.task import Settings, Task
from lineage_post.lineage.unit import trace_task
from lineage_post.lineage.worker import Chunk, Names, SentColumns, Worker
from lineage_post.schema import Columns, ProjectIndex

#: Below so many bytes of SQL in one run, starting processes costs more than they save.
WORTH_PROCESSES = 3_000_000
#: More processes than this gain nothing: the levels of a project are not that wide.
MAX_PROCESSES = 8

Job = tuple[Task, Mapping[str, Columns]]


class Workers:
    """Traces jobs whose nodes do not need each other; the answers come in the order of the jobs.

    The same records come out of one process and of many: a job carries all the columns it may see.
    """

    def __init__(self, settings: Settings, names: Names, names_digest: str, processes: int) -> None:
        self._settings = settings
        self._names = names
        self._names_digest = names_digest
        self._processes = min(processes or _cores(), MAX_PROCESSES)
        self._index: ProjectIndex | None = None
        self._workers: list[Worker] = []

    @property
    def index(self) -> ProjectIndex:
        """The index of this process, made when it is first needed."""
        if self._index is None:
            self._index = ProjectIndex(self._settings.dialect, self._names)
        return self._index

    def expect(self, size: int) -> None:
        """Starts the processes if so many bytes of SQL are worth them."""
        if self._workers or self._processes < 2 or size < WORTH_PROCESSES:
            return
        try:
            for _ in range(self._processes):
                worker = Worker(self._settings, list(self._names), self._names_digest)
                self._workers.append(worker)
        except OSError:
            self._stop()

    def trace(self, jobs: Sequence[Job]) -> list[Record]:
        """A record for each job."""
        if self._workers and len(jobs) > 1:
            try:
                return self._spread(jobs)
            except (OSError, EOFError, ValueError, pickle.PickleError):
                # A process that died (out of memory, a fault in compiled code) costs time only.
                self._stop()
        return [self._alone(task, shown) for task, shown in jobs]

    def _alone(self, task: Task, shown: Mapping[str, Columns]) -> Record:
        return trace_task(task, self.index, shown, self._settings, self._names_digest)

    def _spread(self, jobs: Sequence[Job]) -> list[Record]:
        chunks = [_chunk_of(part) for part in _parts(jobs, len(self._workers))]
        free: SimpleQueue[Worker] = SimpleQueue()
        for worker in self._workers:
            free.put(worker)

        def trace(chunk: Chunk) -> list[Record]:
            worker = free.get()
            try:
                return worker.trace(chunk)
            finally:
                free.put(worker)

        with ThreadPoolExecutor(len(self._workers)) as threads:
            return [record for records in threads.map(trace, chunks) for record in records]

    def _stop(self) -> None:
        for worker in self._workers:
            with suppress(OSError, ValueError):
                worker.stop()
        self._workers = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _parts(jobs: Sequence[Job], workers: int) -> list[list[Job]]:
    """Neighbours together, six parts a worker, so that none waits long for another."""
    goal = sum(len(task.sql) for task, _ in jobs) / (workers * 6)
    parts: list[list[Job]] = [[]]
    size = 0
    for job in jobs:
        if size > goal:
            parts.append([])
            size = 0
        parts[-1].append(job)
        size += len(job[0].sql)
    return parts


def _chunk_of(jobs: Iterable[Job]) -> Chunk:
    sent: dict[str, SentColumns] = {}
    tasks = []
    for task, shown in jobs:
        tasks.append((task, tuple(shown)))
        for key, columns in shown.items():
            if key not in sent:
                learned = columns.learned.value
                sent[key] = (columns.to_json(), columns.digest, learned, columns.complete)
    return tasks, sent
