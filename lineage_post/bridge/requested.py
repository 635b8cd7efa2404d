"""What the run-operations do: load the rows of files, retire what a producer claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from lineage_post.bridge.loading import Load
from lineage_post.bridge.publishing import fill, prepare
from lineage_post.bridge.warehouse import Warehouse
from lineage_post.errors import LineageError
from lineage_post.history.claims import OWN_PRODUCERS
from lineage_post.options import Options
from lineage_post.publish import files
from lineage_post.publish.claims import About, read_about
from lineage_post.publish.prior import Prior, purged_rows
from lineage_post.publish.tables import RefreshRow, Rows
from lineage_post.vocabulary import Status

if TYPE_CHECKING:
    from lineage_post.bridge.bridge import Bridge

#: What files may say of a node. Only a parse that lacks a node, or a purge, takes it out.
LOADABLE = frozenset(s.value for s in Status) - {Status.REMOVED.value, Status.PURGED.value}


@dataclass(frozen=True, slots=True)
class Purge:
    """Whose claims to retire: of one node, or of all; ``own`` where they may be this tool's own."""

    producer: str
    node: str | None = None
    own: bool = False


def load_files(
    bridge: Bridge, load: Load, directory: str | None, options: Options, timestamp_type: str
) -> None:
    """Fills ``load`` with what the files of ``lineage-post build``, or of an import, add."""
    folder = Path(directory) if directory else bridge.target_path / files.DIRECTORY
    about = read_about(folder)
    rows = files.read_rows(folder)
    now = _now()
    rows = replace(
        rows,
        refreshes=tuple(r._replace(recorded_at=r.recorded_at or now) for r in rows.refreshes),
    )
    _require_own(folder, about, rows)
    load.warehouse = Warehouse(bridge.adapter, bridge.manifest, timestamp_type)
    added = prepare(load, rows, options, _retired(about, rows, now))
    retired = sum(r.status == Status.PURGED.value for r in added.refreshes)
    load.summary = (
        f"loaded {len(added.refreshes) - retired} refreshes, {len(added.edges)} edges and "
        f"{len(added.columns)} columns; the others were there."
        + (f" {retired} earlier claims of {about.producer} retired." if about and retired else "")
    )


def purge(
    bridge: Bridge,
    load: Load,
    asked: Purge,
    options: Options,
    timestamp_type: str,
) -> None:
    """Fills ``load`` with what retires the claims of one producer, of one node or of all."""
    if asked.producer in OWN_PRODUCERS and not asked.own:
        raise LineageError(
            f"{asked.producer} is what lineage_post itself recorded; nothing was retired",
            hint="Say so to retire that too: --own, or own: true",
        )
    load.warehouse = Warehouse(bridge.adapter, bridge.manifest, timestamp_type)
    load.warehouse.require_tables()
    prior = load.warehouse.prior(Rows())
    claimed = prior.claimed_by(asked.producer)
    if not claimed:
        raise LineageError(
            f"{asked.producer} claims nothing", hint=_near(asked.producer, prior.producers())
        )
    nodes = [n for n in claimed if asked.node is None or f".{n}".endswith(f".{asked.node}")]
    if not nodes or (asked.node not in (None, *nodes) and len(nodes) > 1):
        said = f"may be {', '.join(nodes)}" if nodes else f"has no claim of {asked.producer}"
        raise LineageError(f"{asked.node} {said}", hint=_near(str(asked.node), nodes or claimed))
    rows = purged_rows(nodes, asked.producer, _run_id(), _now())
    fill(load, Rows(refreshes=rows), options)
    load.summary = f"retired what {asked.producer} claimed of {len(nodes)} nodes; history keeps it."


def _near(name: str, known: Sequence[str]) -> str:
    """The names that are meant perhaps, or else all there are."""
    near = get_close_matches(name, known, n=3) or [n for n in known if name in n][:3]
    if near:
        return f"Did you mean {', '.join(near)}?"
    return f"The producers are {', '.join(known[:10])}." if known else "Nobody claims anything yet."


def _require_own(folder: Path, about: About | None, rows: Rows) -> None:
    """Nobody speaks for another: an import has the rows of its producer, our build has ours."""
    speakers = {r.producer for r in rows.refreshes}
    strangers = speakers - ({about.producer} if about else OWN_PRODUCERS)
    if strangers or any(r.status not in LOADABLE for r in rows.refreshes):
        whose = about.producer if about else "lineage-post build"
        raise LineageError(
            f"{folder} is of {whose} and has rows that are not"
            + (f": of {', '.join(sorted(strangers))}" if strangers else ""),
            hint="Write it anew with lineage-post import or lineage-post build",
        )


def _retired(
    about: About | None, rows: Rows, now: datetime
) -> Callable[[Prior], tuple[RefreshRow, ...]]:
    """What a complete import retires: its producer's claims on nodes that it no longer names."""

    def retired(prior: Prior) -> tuple[RefreshRow, ...]:
        if about is None or not about.is_complete:
            return ()
        gone = {*prior.claimed_by(about.producer)} - {r.node for r in rows.refreshes}
        return purged_rows(gone, about.producer, _run_id(), now)

    return retired


def _run_id() -> str:
    from dbt_common.invocation import get_invocation_id

    return str(get_invocation_id())


def _now() -> datetime:
    return datetime.now(timezone.utc).replace(tzinfo=None)
