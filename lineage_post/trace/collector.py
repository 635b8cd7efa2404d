"""Python's collector of reference cycles, which finds nothing while a statement is traced.

A syntax tree is one big cycle that lives until its trace is made. Looking for garbage in it while
it grows costs as much as a third of all the work and finds none; afterwards one look frees it all.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """No collection within; on again afterwards, unless the caller had it off."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def collector_held_back() -> Iterator[None]:
    """Within, a look frees the trees of many models, and none goes through what was there before.

    It is again as it was afterwards.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
