"""Which recorded refreshes count at a time, and how the derivation of a column changed.

The same rules as the package's macros ``standing_refreshes`` and ``column_changes``, for a command
line that has rows at hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lineage_post.lineage.modes import FULL_REFRESH, INCREMENTAL
from lineage_post.vocabulary import Status

CLAIMS = frozenset({Status.SUCCESS.value, Status.DERIVED.value, Status.PLANNED.value})
#: What a failed trace could not see gives way to what was known before it.
_BLIND = frozenset({"not_compiled", "internal_error"})
_EXECUTION = "execution"
#: Builds that make all rows of an incremental model.
WHOLE = frozenset({"first", "full_refresh"})


@dataclass(frozen=True, slots=True)
class Recorded:
    """A refresh as it was recorded. Times are in UTC, without a zone."""

    node: str
    run_id: str
    producer: str
    refreshed_at: datetime
    recorded_at: datetime
    status: str
    reason: str | None
    fingerprint: str | None
    definition_version: str | None
    git_revision: str | None = None
    build_mode: str | None = None

    @property
    def order(self) -> tuple[datetime, str, datetime, str]:
        return self.refreshed_at, self.run_id, self.recorded_at, self.producer


@dataclass(frozen=True, slots=True)
class Derivation:
    """What a column comes from, and how; of the rows of a node, what decides them."""

    sources: tuple[str, ...] = ()
    expression: str | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A column (None: the rows) of a node was derived in another way from this refresh on.

    ``kind`` is ``first``, ``added``, ``changed``, ``removed`` or ``break``. ``forms`` are those of
    the two builds, where an incremental model of one definition was built in another one.
    """

    node: str
    column: str | None
    kind: str
    refresh: Recorded
    before: Derivation | None
    after: Derivation | None
    forms: tuple[str, str] | None = None


def standing(
    refreshes: Iterable[Recorded],
    as_of: datetime | None = None,
    as_recorded: datetime | None = None,
) -> dict[tuple[str, str], list[Recorded]]:
    """The refreshes of each (node, producer) that stand at ``as_of``, of what was recorded by
    ``as_recorded``; None is now. The first of each list is the one that counts."""
    by_node: dict[str, list[Recorded]] = {}
    for refresh in refreshes:
        if (as_of is None or refresh.refreshed_at <= as_of) and (
            as_recorded is None or refresh.recorded_at <= as_recorded
        ):
            by_node.setdefault(refresh.node, []).append(refresh)
    found: dict[tuple[str, str], list[Recorded]] = {}
    for node, listed in by_node.items():
        claims = _standing(sorted(listed, key=lambda r: r.order))
        # The last of each producer, after those that could not see.
        for refresh in sorted(
            claims, key=lambda r: (r.reason not in _BLIND, r.order), reverse=True
        ):
            found.setdefault((node, refresh.producer), []).append(refresh)
    return found


def current(
    refreshes: Iterable[Recorded],
    as_of: datetime | None = None,
    as_recorded: datetime | None = None,
) -> dict[tuple[str, str], Recorded]:
    """The refresh of each (node, producer) that counts; see ``standing``."""
    return {key: listed[0] for key, listed in standing(refreshes, as_of, as_recorded).items()}


def whole_builds(
    stands: Mapping[tuple[str, str], Sequence[Recorded]],
) -> dict[tuple[str, str], Recorded]:
    """Of incremental models the last build of the whole table before the one that counts: rows of
    both stand in it. As the macro ``edge_refreshes`` has them."""
    found: dict[tuple[str, str], Recorded] = {}
    for key, listed in stands.items():
        whole = next((r for r in listed if r.build_mode in WHOLE and r.fingerprint), None)
        last = listed[0]
        if whole and last.build_mode == "incremental" and last.fingerprint != whole.fingerprint:
            found[key] = whole
    return found


def _standing(ordered: list[Recorded]) -> list[Recorded]:
    removed = max(
        (i for i, r in enumerate(ordered) if r.status == Status.REMOVED.value), default=-1
    )
    purged: dict[str, datetime] = {}
    for refresh in ordered:
        if refresh.status == Status.PURGED.value:
            at = purged.get(refresh.producer, refresh.recorded_at)
            purged[refresh.producer] = max(at, refresh.recorded_at)
    claims = [
        r
        for r in ordered[removed + 1 :]
        if r.status in CLAIMS and r.recorded_at > purged.get(r.producer, datetime.min)
    ]
    built = any(r.producer == _EXECUTION and r.status != Status.PLANNED.value for r in claims)
    return [r for r in claims if r.status != Status.PLANNED.value or not built]


def identities(
    refreshes: Iterable[Recorded], renames: Iterable[tuple[str, str]]
) -> Iterator[tuple[str, Recorded]]:
    """Each refresh with the node whose history it is part of: of a renamed node the new one, up to
    the first build under the new name. ``renames`` are pairs (old, new)."""
    listed = list(refreshes)
    first: dict[str, datetime] = {}
    for refresh in listed:
        if refresh.status in CLAIMS:
            at = first.get(refresh.node, refresh.refreshed_at)
            first[refresh.node] = min(at, refresh.refreshed_at)
    successors: dict[str, list[str]] = {}
    for old, new in sorted(set(renames)):
        if old != new and new in first:
            successors.setdefault(old, []).append(new)
    for refresh in listed:
        queue, seen = [refresh.node], {refresh.node}
        while queue:
            name = queue.pop()
            later = [
                new
                for new in successors.get(name, ())
                if refresh.refreshed_at <= first[new] and new not in seen
            ]
            if not later:
                yield name, refresh
            seen.update(later)
            queue += later


def changes(
    node: str,
    refreshes: Iterable[Recorded],
    derivations: Mapping[str, Mapping[str | None, Derivation]],
    renames: Iterable[tuple[str, str]] = (),
) -> list[Change]:
    """How the columns of a node changed, in order. ``derivations`` are by fingerprint."""
    own = [r for name, r in identities(refreshes, renames) if name == node]
    own.sort(key=lambda r: r.order)
    found: list[Change] = []
    last: dict[str, tuple[Recorded, int]] = {}
    removals = 0
    for refresh in own:
        if refresh.reason in _BLIND:
            continue
        if refresh.status == Status.REMOVED.value:
            # The name that a renamed node had before has gone; the node has not.
            removals += refresh.node == node
        elif refresh.status in CLAIMS and refresh.fingerprint is not None:
            before, seen = last.get(refresh.producer, (None, removals))
            found += _between(node, before, refresh, seen < removals, derivations)
            last[refresh.producer] = refresh, removals
    return found


def _between(
    node: str,
    before: Recorded | None,
    after: Recorded,
    came_back: bool,
    derivations: Mapping[str, Mapping[str | None, Derivation]],
) -> Iterator[Change]:
    is_break = bool(before and came_back and is_other_definition(before, after))
    if before is not None and before.fingerprint == after.fingerprint and not is_break:
        return
    old = derivations.get(before.fingerprint or "", {}) if before else {}
    new = derivations.get(after.fingerprint or "", {})
    forms = _forms(before, after)
    for column in sorted({*old, *new}, key=lambda c: c or ""):
        one, other = old.get(column), new.get(column)
        if before is None:
            kind = "first"
        elif is_break:
            kind = "break"
        elif one == other:
            continue
        else:
            kind = "added" if one is None else "removed" if other is None else "changed"
        yield Change(node, column, kind, after, one, other, forms)


def _forms(before: Recorded | None, after: Recorded) -> tuple[str, str] | None:
    """The forms of two builds of one definition, where only the form is another one."""
    if before is None or None in (before.build_mode, after.build_mode):
        return None
    one, other = (_form(r.build_mode) for r in (before, after))
    return (one, other) if one != other and not is_other_definition(before, after) else None


def _form(build_mode: str | None) -> str:
    return FULL_REFRESH if build_mode in WHOLE else INCREMENTAL


def is_other_definition(one: Recorded, other: Recorded) -> bool:
    """Whether two refreshes are of different definitions. An incremental model compiles to other
    SQL the first time than later, so that then only the raw SQL and the settings tell."""
    left = (one.definition_version or "..").split(".")
    right = (other.definition_version or "..").split(".")
    parts = (0, 1, 2) if other.build_mode is None else (0, 2)
    return any(left[i] != right[i] for i in parts if i < len(left) and i < len(right))
