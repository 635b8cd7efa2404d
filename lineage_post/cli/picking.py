"""The columns that a command's selectors pick."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import update_wrapper
from typing import Any, TypeVar

import click

from lineage_post.cli import console
from lineage_post.cli.loading import Loaded
from lineage_post.errors import SelectionError
from lineage_post.governance.tagging import Picks
from lineage_post.lineage import Lineage
from lineage_post.selection import Selection, select

Command = TypeVar("Command", bound=Callable[..., Any])
#: A node and a column of it, None for its rows or for the node as such.
Spot = tuple[str, "str | None"]


def selection_options(what: str) -> Callable[[Command], Command]:
    """Adds --select and --exclude to a command, which takes them as ``selected``, ``excluded``."""

    def with_options(command: Command) -> Command:
        options = (
            click.option("--select", "-s", "selected", multiple=True, metavar="SELECTOR",
                         help=f"{what} of these nodes or columns only."),
            click.option("--exclude", "excluded", multiple=True, metavar="SELECTOR",
                         help="But not of these."),
        )  # fmt: skip
        wrapped: Any = update_wrapper(lambda **flags: command(**flags), command)
        for option in reversed(options):
            wrapped = option(wrapped)
        return wrapped  # type: ignore[no-any-return]

    return with_options


def require_picked(
    picked: Iterable[object], warnings: Iterable[str], *, but: str = "so there is no answer"
) -> None:
    """Raises SelectionError where a selection is empty: an answer about nothing, or a gate that
    looked at nothing, would look like a good one."""
    if not any(True for _ in picked):
        hint = "; ".join(warnings) or "--exclude leaves nothing."
        raise SelectionError(f"nothing is selected, {but}", hint=hint)


def picks_of(loaded: Loaded, selectors: tuple[str, ...], excluded: tuple[str, ...] = ()) -> Picks:
    """Whether a column is picked; without selectors every one that is published is.

    Raises SelectionError where nothing is picked.
    """
    lineage = loaded.lineage
    is_picked = spots_of([lineage], selectors, excluded)
    return lambda column: is_picked(column) and lineage.is_published(column[0])


def spots_of(
    lineages: Sequence[Lineage], selected: tuple[str, ...], excluded: tuple[str, ...]
) -> Callable[[Spot], bool]:
    """Whether a column, or a node, is picked in one of the states of a project.

    Raises SelectionError, with near names, for a column that no state has, and where nothing is
    picked; one selector of several that matches nothing in any of them is a warning.
    """
    if not selected and not excluded:
        return lambda spot: True
    wanted = _selections(lineages, selected) if selected else []
    unwanted = _selections(lineages, excluded)
    warnings = [*dict.fromkeys((*_warnings(wanted), *_warnings(unwanted)))]

    def is_picked(spot: Spot) -> bool:
        if any(_has(selection, spot) for selection in unwanted):
            return False
        return not selected or any(_has(selection, spot) for selection in wanted)

    require_picked((s for s in _named(lineages, wanted) if is_picked(s)), warnings)
    for warning in warnings:
        console.warn(warning)
    return is_picked


def _named(lineages: Sequence[Lineage], wanted: list[Selection]) -> Iterable[Spot]:
    """What selections name; without any, all nodes."""
    if not wanted:
        yield from ((node, None) for lineage in lineages for node in lineage.project.nodes)
    for selection in wanted:
        yield from ((node, None) for node in selection.whole)
        yield from selection.columns


def _selections(lineages: Sequence[Lineage], selectors: tuple[str, ...]) -> list[Selection]:
    found: list[Selection] = []
    faults: list[SelectionError] = []
    for lineage in lineages:
        try:
            found.append(select(lineage, selectors))
        except SelectionError as error:
            faults.append(error)
    if faults and not found:
        raise faults[-1]
    return found


def _warnings(selections: list[Selection]) -> list[str]:
    """The warnings that all states have."""
    if not selections:
        return []
    return [w for w in selections[0].warnings if all(w in s.warnings for s in selections)]


def _has(selection: Selection, spot: Spot) -> bool:
    node, column = spot
    return node in selection.whole or (column is not None and (node, column) in selection.columns)
