"""Room for deep nesting where sqlglot is pure Python.

The pure parser takes some 25 frames for each level, so Python's limit of 1,000 ends it at 40
nested functions, which people do write. A statement that hits the limit is tried again in a thread
with a stack of its own and a higher limit; ``limits`` has bounded how deep it can be.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

#: What a Trace says that ran into the limit.
TOO_DEEP = "the statement is nested too deeply"

#: 25 frames of the parser for each of the 140 levels that ``limits`` lets through, and as much
#: again to walk them; a frame takes up to half a KB of the stack before Python 3.11.
_FRAMES = 12_000
_STACK = 64 * 1024 * 1024
#: The limit is one for all threads: nobody may lower it while another needs it.
_one_at_a_time = threading.Lock()


def with_room(call: Callable[[], T]) -> T:
    """What ``call`` returns, run in a thread with a large stack."""
    found: list[T] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            found.append(call())
        except BaseException as fault:  # it is raised again where it belongs
            faults.append(fault)

    with _one_at_a_time:
        limit = sys.getrecursionlimit()
        stack = threading.stack_size(_STACK)
        try:
            sys.setrecursionlimit(max(limit, _FRAMES))
            thread = threading.Thread(target=run, name="lineage_post deep statement")
            thread.start()
            thread.join()
        finally:
            threading.stack_size(stack)
            sys.setrecursionlimit(limit)
    if faults:
        raise faults[0]
    return found[0]
