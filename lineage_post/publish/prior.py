"""What the base tables hold already, and what of a load is new against it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from lineage_post.publish.rows import OWN_PACKAGE, inputs_json, versions_in
from lineage_post.publish.run import Run
from lineage_post.publish.tables import RefreshRow, Rows
from lineage_post.vocabulary import State, Status

#: Refreshes that can become current, and those that take a node out.
CURRENT = frozenset({Status.SUCCESS.value, Status.DERIVED.value, Status.PLANNED.value})
REMOVED, PURGED = Status.REMOVED.value, Status.PURGED.value


@dataclass(frozen=True, slots=True)
class PriorRefresh:
    """The last refresh of a node and producer that stands or took the node out.

    One of claims that were retired after it was recorded does not stand.
    """

    node: str
    producer: str
    run_id: str
    refreshed_at: datetime
    status: str
    definition_version: str | None
    fingerprint: str | None
    last_known_fingerprint: str | None
    state: str | None

    @property
    def known_fingerprint(self) -> str | None:
        """The fingerprint of the last lineage that was known."""
        if self.state == State.UNKNOWN.value:
            return self.last_known_fingerprint
        return self.fingerprint or self.last_known_fingerprint


@dataclass(frozen=True, slots=True)
class Prior:
    """The state of the base tables before a load.

    ``fingerprints`` and ``definitions`` are those committed of the ones that were asked for,
    ``keys`` the (node, producer) pairs that already have a refresh of the load's own run.
    """

    refreshes: tuple[PriorRefresh, ...] = ()
    fingerprints: frozenset[str] = frozenset()
    definitions: frozenset[tuple[str, str]] = frozenset()
    keys: frozenset[tuple[str, str, str]] = frozenset()
    _last: dict[str, PriorRefresh] = field(init=False, repr=False, compare=False)
    _by_producer: dict[tuple[str, str], PriorRefresh] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ordered = sorted(self.refreshes, key=lambda r: (r.refreshed_at, r.run_id))
        object.__setattr__(self, "_last", {r.node: r for r in ordered})
        object.__setattr__(self, "_by_producer", {(r.node, r.producer): r for r in ordered})

    def last(self, node: str) -> PriorRefresh | None:
        """The node's last refresh of any producer."""
        return self._last.get(node)

    def of(self, node: str, producer: str) -> PriorRefresh | None:
        """The node's last refresh of one producer."""
        return self._by_producer.get((node, producer))

    def claimed_by(self, producer: str) -> list[str]:
        """The nodes of which a producer's claims stand, sorted."""
        return sorted(
            node
            for (node, name), refresh in self._by_producer.items()
            if name == producer and refresh.status != REMOVED
        )

    def producers(self) -> list[str]:
        """Who claims anything, sorted."""
        return sorted({n for (_, n), r in self._by_producer.items() if r.status != REMOVED})

    def current_nodes(self) -> list[str]:
        """Nodes that have not been taken out, sorted."""
        return sorted(n for n, last in self._last.items() if last.status != REMOVED)


def new_rows(rows: Rows, prior: Prior) -> Rows:
    """The rows that must still be written; a load of what is there already adds nothing."""
    keys = prior.keys
    fresh = [r for r in rows.refreshes if (r.run_id, r.node, r.producer) not in keys]
    wanted = {r.fingerprint for r in fresh} - prior.fingerprints
    built = {r.node: r.run_id for r in rows.refreshes if r.status in CURRENT}
    versions = {(r.node, r.definition_version) for r in fresh} - prior.definitions
    return Rows(
        nodes=tuple(n for n in rows.nodes if (n.node, n.definition_version) in versions),
        edges=tuple(e for e in rows.edges if e.fingerprint in wanted),
        columns=tuple(c for c in rows.columns if c.fingerprint in wanted),
        refreshes=tuple(_completed(r, prior, built, r.fingerprint in wanted) for r in fresh),
    )


def _completed(
    refresh: RefreshRow, prior: Prior, built: Mapping[str, str], is_new: bool
) -> RefreshRow:
    """The refresh with what only the warehouse knows: input versions, the last known lineage."""
    before = prior.of(refresh.node, refresh.producer)
    is_unknown = refresh.state == State.UNKNOWN.value
    return refresh._replace(
        last_known_fingerprint=before.known_fingerprint if before and is_unknown else None,
        inputs=_versioned(refresh, prior, built),
        # A fingerprint that is there already had its derivations written with it.
        column_derivations=refresh.column_derivations if is_new else None,
    )


def _versioned(refresh: RefreshRow, prior: Prior, built: Mapping[str, str]) -> str | None:
    if refresh.inputs is None:
        return None
    return inputs_json(
        replace(entry, version=_refresh_of(entry.node, refresh.node, prior, built))
        if entry.version is None and entry.kind == "refresh"
        else entry
        for entry in versions_in(refresh.inputs)
    )


def _refresh_of(node: str, reader: str, prior: Prior, built: Mapping[str, str]) -> str | None:
    """The run of the refresh of an input that a reader has read."""
    last = prior.last(node)
    before = last.run_id if last and last.status in CURRENT else None
    # A node reads itself as it stood before.
    return before if node == reader else built.get(node, before)


def removed_rows(
    prior: Prior, run: Run, known: Collection[str], packages: Collection[str], at: datetime
) -> tuple[RefreshRow, ...]:
    """A ``removed`` refresh of each current node that the project no longer has.

    ``known`` are all nodes of a complete parse, the disabled ones included; ``packages`` the
    packages it was made of: what other projects recorded in the same tables is not ours to judge.
    """
    gone = [n for n in prior.current_nodes() if n not in known and _package(n) in packages]
    return tuple(
        _withdrawn(node, run.producer.value, run.run_id, Status.REMOVED, at)._replace(
            recorded_at=run.recorded_at,
            git_revision=run.git_revision,
            trace_id=run.trace_id,
        )
        for node in gone
    )


def purged_rows(
    nodes: Collection[str], producer: str, run_id: str, at: datetime
) -> tuple[RefreshRow, ...]:
    """A ``purged`` refresh of each node: what the producer said of it until ``at`` is retired."""
    return tuple(_withdrawn(n, producer, run_id, Status.PURGED, at) for n in sorted(nodes))


def _package(unique_id: str) -> str:
    kind, _, rest = unique_id.partition(".")
    package = rest.partition(".")[0]
    return "" if kind == "external" or package == OWN_PACKAGE else package


def _withdrawn(node: str, producer: str, run_id: str, status: Status, at: datetime) -> RefreshRow:
    return RefreshRow(
        node=node,
        run_id=run_id,
        producer=producer,
        refreshed_at=at,
        recorded_at=at,
        status=status.value,
        operation=None,
        definition_version=None,
        git_revision=None,
        build_mode=None,
        fingerprint=None,
        last_known_fingerprint=None,
        state=None,
        reason=None,
        inputs=None,
        column_derivations=None,
        trace_id=None,
    )
