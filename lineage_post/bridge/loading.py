"""A load as the macros see it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lineage_post.bridge.say import describe, detail

if TYPE_CHECKING:
    from lineage_post.bridge.warehouse import Warehouse

#: Seconds to wait before each further attempt: a lock, a lost connection, a busy warehouse.
WAITS = (0.2, 1.0)


@dataclass(frozen=True, slots=True)
class StatementBatch:
    """The parts of one insert statement, ready to be put together, and its parameter."""

    relation: str
    columns: str
    source: str
    parameter: str | None = None


@dataclass(slots=True)
class Load:
    """Statements to run, and how that went.

    ``batches`` are to be inserted in order. ``error`` is set when something went wrong, ``fails``
    when it must fail the run. ``done`` are the statements that ran, ``keys`` those of the refreshes
    that are to be there in the end.
    """

    batches: list[StatementBatch] = field(default_factory=list)
    summary: str | None = None
    error: str | None = None
    fails: bool = False
    strict: bool = False
    warehouse: Warehouse | None = None
    keys: frozenset[tuple[str, str, str]] = frozenset()
    done: list[tuple[str, str | None]] = field(default_factory=list)


def run_statement(load: Load, sql: str, parameter: str | None) -> None:
    """Runs one statement of a load, again if it fails. Raises the last error.

    Where a failure takes back what was not committed, all of the load runs again. Elsewhere the
    statement alone does: should it have run after all, its rows stand twice, and views show one.
    """
    warehouse = load.warehouse
    assert warehouse is not None
    statement = (sql, parameter)
    _attempt(load, lambda: warehouse.execute(*statement), [statement])
    load.done.append(statement)


def commit(load: Load) -> None:
    """Commits a load. Where it is lost on the way, what is there tells whether it was in time."""
    warehouse = load.warehouse
    assert warehouse is not None

    def finish() -> None:
        warehouse.commit()

    def is_there() -> bool:
        return load.keys <= warehouse.recorded_keys({run_id for run_id, _, _ in load.keys})

    _attempt(load, finish, [], then=finish, is_done=is_there if load.keys else None)


def _attempt(
    load: Load,
    work: Callable[[], None],
    again: list[tuple[str, str | None]],
    *,
    then: Callable[[], None] | None = None,
    is_done: Callable[[], bool] | None = None,
) -> None:
    warehouse = load.warehouse
    assert warehouse is not None
    try:
        work()
        return
    except Exception as error:
        last = error
    for wait in WAITS:
        detail(f"{describe(last)}; once more in {wait} s")
        time.sleep(wait)
        try:
            warehouse.reopen()
            if is_done is not None and is_done():
                return
            warehouse.begin()
            for statement in (load.done if warehouse.has_transactions else []) + again:
                warehouse.execute(*statement)
            if then is not None:
                then()
            return
        except Exception as error:
            last = error
    raise last
