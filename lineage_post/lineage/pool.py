"""Who traces: this process alone, or several where there is so much SQL that it wins."""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from queue import SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING

from lineage_post.cache import Record
from lineage_post.lineage.task import Settings, Task
from lineage_post.lineage.unit import trace_task
from lineage_post.lineage.worker import Chunk, Names, SentColumns, Worker
from lineage_post.schema import Columns, ProjectIndex

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

#: Below so many bytes of SQL in one run, starting processes costs more than they save.
WORTH_PROCESSES = 1_500_000
#: More processes than this gain nothing: this one hands out and takes back all they do.
MAX_PROCESSES = 8
#: So many tasks go to a process at once, so that none waits long for another.
LARGEST_PART = 16

Job = tuple[Task, Mapping[str, Columns]]


class Workers:
    """Traces jobs that do not need each other, in this process or in several::

        workers.add(task, shown)    as soon as what the task needs is traced
        workers.traced()            some of those added, with their records; none when all are

    The same records come out of one process and of many: a job carries all the columns it may see.
    """

    def __init__(self, settings: Settings, names: Names, names_digest: str, processes: int) -> None:
        self._settings = settings
        self._names = names
        self._names_digest = names_digest
        self._processes = min(processes or _cores(), MAX_PROCESSES)
        self._index: ProjectIndex | None = None
        self._waiting: deque[Job] = deque()
        self._workers: list[Worker] = []
        #: A thread for each process waits for its answers.
        self._threads: ThreadPoolExecutor | None = None
        self._free: SimpleQueue[Worker] = SimpleQueue()
        self._under_way: dict[Future[list[Record]], list[Job]] = {}

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
                self._free.put(worker)
        except OSError:
            self._stop()
        else:
            from concurrent.futures import ThreadPoolExecutor

            self._threads = ThreadPoolExecutor(len(self._workers))

    def add(self, task: Task, shown: Mapping[str, Columns]) -> None:
        """A job to be traced; ``shown`` are the columns it may see."""
        self._waiting.append((task, shown))

    def traced(self) -> list[tuple[str, Record]]:
        """Nodes that are traced by now, at least one if any was added, with their records."""
        if self._threads is None:
            jobs = list(self._waiting)
            self._waiting.clear()
            return self._alone(jobs)
        from concurrent.futures import FIRST_COMPLETED, wait

        self._send(self._threads)
        done, _ = wait(self._under_way, return_when=FIRST_COMPLETED)
        answers = [(self._under_way.pop(future), future) for future in done]
        return [found for jobs, future in answers for found in self._answer(jobs, future)]

    def _alone(self, jobs: Iterable[Job]) -> list[tuple[str, Record]]:
        return [
            (
                task.unique_id,
                trace_task(task, self.index, shown, self._settings, self._names_digest),
            )
            for task, shown in jobs
        ]

    def _send(self, threads: ThreadPoolExecutor) -> None:
        """Keeps each process busy with one part, and another ready for it."""
        while self._waiting and len(self._under_way) < 2 * len(self._workers):
            share = -(-len(self._waiting) // (2 * len(self._workers)))
            jobs = [self._waiting.popleft() for _ in range(min(share, LARGEST_PART))]
            self._under_way[threads.submit(self._ask, _chunk_of(jobs))] = jobs

    def _ask(self, chunk: Chunk) -> list[Record]:
        worker = self._free.get()
        try:
            return worker.trace(chunk)
        finally:
            self._free.put(worker)

    def _answer(
        self, jobs: Sequence[Job], future: Future[list[Record]]
    ) -> list[tuple[str, Record]]:
        try:
            records = future.result()
        except (OSError, EOFError, ValueError, pickle.PickleError):
            # A process that died (out of memory, a fault in compiled code) costs time only.
            self._stop()
            return self._alone(jobs)
        return [(task.unique_id, r) for (task, _), r in zip(jobs, records, strict=True)]

    def _stop(self) -> None:
        """Ends the processes; what they had is traced here."""
        for worker in self._workers:
            with suppress(OSError, ValueError):
                worker.stop()
        self._workers = []
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
            self._threads = None
        for jobs in self._under_way.values():
            self._waiting.extend(jobs)
        self._under_way = {}

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
