"""The processes that trace. One text alone, or a small project, is traced where it is."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType

from lineage_post.cache import Record
from lineage_post.lineage.task import Settings, Task
from lineage_post.lineage.unit import trace_task
from lineage_post.schema import Columns, Learned, ProjectIndex

#: Below so many bytes of SQL in one run, starting processes costs more than they save.
WORTH_PROCESSES = 4_000_000

Names = Sequence[tuple[tuple[str, ...], str]]
Job = tuple[Task, Mapping[str, Columns]]
#: A relation's columns on the way to a process: JSON, digest, where learned, whether complete.
_Sent = tuple[str, str, str, bool]


class Workers:
    """Traces jobs whose nodes do not need each other; the answers come in the order of the jobs.

    The same records come out of one process and of many: a job carries all the columns it may see.
    """

    def __init__(self, settings: Settings, names: Names, names_digest: str, processes: int) -> None:
        self._settings = settings
        self._names = names
        self._names_digest = names_digest
        self._processes = processes or _cores()
        self._index: ProjectIndex | None = None
        self._pool: Executor | None = None

    @property
    def index(self) -> ProjectIndex:
        """The index of this process, made when it is first needed."""
        if self._index is None:
            self._index = ProjectIndex(self._settings.dialect, self._names)
        return self._index

    def expect(self, size: int) -> None:
        """Starts the processes if so many bytes of SQL are worth them."""
        if self._pool is None and self._processes > 1 and size >= WORTH_PROCESSES:
            self._pool = _started(
                self._processes, (self._settings, tuple(self._names), self._names_digest)
            )

    def trace(self, jobs: Sequence[Job]) -> list[Record]:
        """A record for each job."""
        if self._pool is not None and len(jobs) > 1:
            try:
                return self._spread(self._pool, jobs)
            except (BrokenProcessPool, OSError, RuntimeError):
                # A process that died (out of memory, a fault in compiled code) costs time only.
                self._stop()
        return [self._alone(task, shown) for task, shown in jobs]

    def _alone(self, task: Task, shown: Mapping[str, Columns]) -> Record:
        return trace_task(task, self.index, shown, self._settings, self._names_digest)

    def _spread(self, pool: Executor, jobs: Sequence[Job]) -> list[Record]:
        chunks = _chunks(jobs, self._processes)
        futures = [pool.submit(_trace_chunk, *_packed_chunk(chunk)) for chunk in chunks]
        return [record for future in futures for record in future.result()]

    def _stop(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

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


def _started(processes: int, arguments: tuple[Settings, Names, str]) -> Executor | None:
    # Never fork: dbt's process has threads and open connections.
    methods = multiprocessing.get_all_start_methods()
    method = "forkserver" if "forkserver" in methods else "spawn"
    try:
        return ProcessPoolExecutor(
            max_workers=processes,
            mp_context=multiprocessing.get_context(method),
            initializer=_start,
            initargs=arguments,
        )
    except (OSError, ValueError, RuntimeError):
        return None


def _chunks(jobs: Sequence[Job], processes: int) -> list[list[Job]]:
    """Neighbours together, four chunks a process, so that none waits long for another."""
    goal = sum(len(task.sql) for task, _ in jobs) / (processes * 4)
    chunks: list[list[Job]] = [[]]
    size = 0
    for job in jobs:
        if size > goal:
            chunks.append([])
            size = 0
        chunks[-1].append(job)
        size += len(job[0].sql)
    return chunks


def _packed_chunk(
    jobs: Iterable[Job],
) -> tuple[list[tuple[Task, tuple[str, ...]]], dict[str, _Sent]]:
    sent: dict[str, _Sent] = {}
    tasks = []
    for task, shown in jobs:
        tasks.append((task, tuple(shown)))
        for key, columns in shown.items():
            if key not in sent:
                learned = columns.learned.value
                sent[key] = (columns.to_json(), columns.digest, learned, columns.complete)
    return tasks, sent


_state: tuple[ProjectIndex, Settings, str] | None = None


def _start(settings: Settings, names: Names, names_digest: str) -> None:
    global _state
    _state = (ProjectIndex(settings.dialect, names), settings, names_digest)


def _trace_chunk(
    tasks: Iterable[tuple[Task, tuple[str, ...]]], sent: Mapping[str, _Sent]
) -> list[Record]:
    assert _state is not None
    index, settings, names_digest = _state
    columns = {
        key: Columns.from_json(text, digest, Learned(learned), complete)
        for key, (text, digest, learned, complete) in sent.items()
    }
    return [
        trace_task(task, index, {key: columns[key] for key in shown}, settings, names_digest)
        for task, shown in tasks
    ]
