"""Claims of a producer as rows of the base tables, and as files that another process loads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lineage_post.artifacts import Project
from lineage_post.errors import ArtifactError
from lineage_post.history.claims import Claim, Claims, InputVersion, in_utc, require_producer
from lineage_post.lineage.record import packed_node
from lineage_post.lineage.untraced import external
from lineage_post.publish.definition import claimed_row
from lineage_post.publish.files import write_rows_to
from lineage_post.publish.rows import column_rows, derivations, edge_row, inputs_json
from lineage_post.publish.tables import ColumnRow, EdgeRow, NodeRow, RefreshRow, Rows
from lineage_post.publish.text_file import write_text
from lineage_post.values import NodeLineage
from lineage_post.vocabulary import Status

#: Below ``target/``: a folder for each producer.
DIRECTORY = Path("lineage_post") / "imports"
#: Beside the rows: whose they are, and whether they are all that the producer claims.
ABOUT = "claims.json"


@dataclass(frozen=True, slots=True)
class About:
    """What is known of rows in files beside the rows themselves."""

    producer: str
    is_complete: bool


def rows_of_claims(claims: Claims, project: Project | None = None, *, queries: bool = True) -> Rows:
    """All rows of an import, as if nothing had been recorded before.

    A node that claims read from and that neither the project nor a claim is gets a ``derived``
    refresh, so that no path is cut. The same claims give the same rows.
    """
    nodes: dict[tuple[str, str], NodeRow] = {}
    edges: dict[str, tuple[EdgeRow, ...]] = {}
    columns: dict[str, tuple[ColumnRow, ...]] = {}
    refreshes: dict[tuple[str, str], RefreshRow] = {}
    known = project.nodes if project is not None else {}
    listed = sorted(claims.claims, key=lambda c: (c.node, in_utc(c.observed_at), c.run_id))
    for claim, lineage in [*_claimed(listed), *_read(listed, known)]:
        row = claimed_row(claim.node, known.get(claim.node), claim.query, queries=queries)
        nodes[row.node, row.definition_version] = row
        edges[lineage.fingerprint] = tuple(edge_row(lineage.fingerprint, e) for e in lineage.edges)
        columns[lineage.fingerprint] = tuple(column_rows(lineage))
        refreshes[claim.node, claim.run_id] = _refresh(claims.producer, claim, lineage, row)
    return Rows(
        nodes=tuple(nodes.values()),
        edges=tuple(row for rows in edges.values() for row in rows),
        columns=tuple(row for rows in columns.values() for row in rows),
        refreshes=tuple(refreshes.values()),
    )


def write_claims(
    claims: Claims, target_path: Path, project: Project | None = None, *, queries: bool = True
) -> Path:
    """Writes an import below ``target/lineage_post/imports``, and returns its folder.

    ``dbt run-operation lineage_post.load --args '{directory: <folder>}'`` loads it.
    """
    folder = target_path / DIRECTORY / claims.producer
    write_rows_to(rows_of_claims(claims, project, queries=queries), folder)
    about = {"producer": claims.producer, "is_complete": claims.is_complete}
    write_text(folder / ABOUT, json.dumps(about) + "\n")
    return folder


def read_about(folder: Path) -> About | None:
    """Whose claims the rows in a folder are; None for the rows of this tool's own tracing.

    Raises ArtifactError where the file cannot be read.
    """
    path = folder / ABOUT
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text("utf-8"))
        return About(require_producer(str(found["producer"])), found["is_complete"] is True)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArtifactError(
            f"{path}: not what an import writes: {error!r}", hint="Run the import again."
        ) from error


def _claimed(claims: list[Claim]) -> Iterator[tuple[Claim, NodeLineage]]:
    for claim in claims:
        yield (
            claim,
            packed_node(
                claim.node,
                claim.columns,
                claim.edges,
                state=claim.state,
                reason=claim.reason,
                operation=claim.operation or "",
                inputs=(i.node for i in claim.inputs),
            ),
        )


def _read(claims: list[Claim], known: Mapping[str, Any]) -> Iterator[tuple[Claim, NodeLineage]]:
    """The relations outside the project that are read and not claimed, at their last reader."""
    claimed = {claim.node for claim in claims}
    used: dict[str, set[str]] = {}
    readers: dict[str, Claim] = {}
    for claim in claims:
        if claim.status is Status.SUCCESS:
            for node in _inputs(claim):
                if node not in claimed and node not in known:
                    readers[node] = max(readers.get(node, claim), claim, key=_when)
                    used.setdefault(node, set())
            for edge in claim.edges:
                used.setdefault(edge.from_node, set()).add(edge.from_column)
    for node, reader in sorted(readers.items()):
        at = Claim(node, reader.run_id, reader.observed_at, status=Status.DERIVED)
        yield at, external(node, used[node])


def _when(claim: Claim) -> tuple[datetime, str]:
    return in_utc(claim.observed_at), claim.run_id


def _inputs(claim: Claim) -> dict[str, InputVersion]:
    found = {e.from_node: InputVersion(e.from_node, None, "observed") for e in claim.edges}
    found.update({i.node: i for i in claim.inputs})
    return found


def _refresh(producer: str, claim: Claim, lineage: NodeLineage, row: NodeRow) -> RefreshRow:
    has_lineage = claim.status in (Status.SUCCESS, Status.DERIVED)
    state, reason = lineage.state.value, lineage.reason and lineage.reason.value
    return RefreshRow(
        node=claim.node,
        run_id=claim.run_id,
        producer=producer,
        refreshed_at=in_utc(claim.observed_at),
        recorded_at=None,
        status=claim.status.value,
        operation=claim.operation,
        definition_version=row.definition_version,
        git_revision=None,
        build_mode=None,
        fingerprint=lineage.fingerprint if has_lineage else None,
        last_known_fingerprint=None,
        state=state if has_lineage else None,
        reason=reason if has_lineage else None,
        inputs=inputs_json(_inputs(claim).values()),
        column_derivations=derivations(lineage) if has_lineage else None,
        trace_id=claim.trace_id,
    )
