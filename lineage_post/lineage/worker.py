"""A process that traces for another: chunks of tasks come in, records go out, by pipe.

Not ``multiprocessing``: its children run the user's ``__main__`` again, which in a script without a
guard does all the work of the parent over again, and in dbt's process starts with its modules.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, BinaryIO

from lineage_post.cache import Record
from lineage_post.lineage.task import Settings, Task
from lineage_post.lineage.unit import trace_task
from lineage_post.schema import Columns, Learned, ProjectIndex
from lineage_post.trace.collector import collector_held_back

Names = Sequence[tuple[tuple[str, ...], str]]
#: A relation's columns on the way: JSON, digest, where learned, whether complete.
SentColumns = tuple[str, str, str, bool]
#: Tasks with the keys of the columns they may see, and those columns.
Chunk = tuple[Sequence[tuple[Task, tuple[str, ...]]], Mapping[str, SentColumns]]

_CODE = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from lineage_post.lineage.worker import serve; serve()"
)


class Worker:
    """The parent's end. Raises OSError or EOFError when the process is gone."""

    def __init__(self, settings: Settings, names: Names, names_digest: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CODE, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        _send(self._in, (settings, names, names_digest))

    def trace(self, chunk: Chunk) -> list[Record]:
        """A record for each task of the chunk."""
        _send(self._in, chunk)
        records: list[Record] = pickle.load(self._out)
        return records

    def stop(self) -> None:
        """Ends the process, at once if it is still at work."""
        self._process.kill()
        self._process.communicate()


def serve() -> None:
    """The process: answers until its input ends, which is when its parent is gone."""
    source = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    target = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever prints must not reach the pipe that the answers go through.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with collector_held_back():
        answer_all(source, target)


def answer_all(source: BinaryIO, target: BinaryIO) -> None:
    """Reads the settings, then a chunk and writes its records, as often as there is one."""
    try:
        settings, names, names_digest = pickle.load(source)
        index = ProjectIndex(settings.dialect, names)
        while True:
            tasks, sent = pickle.load(source)
            _send(target, _traced(tasks, sent, index, settings, names_digest))
    except (EOFError, BrokenPipeError):
        return


def _traced(
    tasks: Iterable[tuple[Task, tuple[str, ...]]],
    sent: Mapping[str, SentColumns],
    index: ProjectIndex,
    settings: Settings,
    names_digest: str,
) -> list[Record]:
    columns = {
        key: Columns.from_json(text, digest, Learned(learned), complete)
        for key, (text, digest, learned, complete) in sent.items()
    }
    return [
        trace_task(task, index, {key: columns[key] for key in shown}, settings, names_digest)
        for task, shown in tasks
    ]


def _send(pipe: Any, value: Any) -> None:
    pickle.dump(value, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()
