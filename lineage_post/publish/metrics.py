"""What a run recorded, in numbers: ``target/lineage_post/run.json``."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineage_post.publish.run import Run
from lineage_post.publish.tables import Rows
from lineage_post.publish.text_file import write_text
from lineage_post.vocabulary import Reason, Status

if TYPE_CHECKING:
    from lineage_post.lineage import Lineage

#: Below ``target/``.
FILE = Path("lineage_post") / "run.json"


def metrics_of(lineage: Lineage, run: Run, added: Rows, seconds: float) -> dict[str, Any]:
    """The numbers of a run. A statement is a node's SQL, or a hook of it; of those that could not
    be parsed the nodes are named, so that none is lost in silence."""
    statuses = [build.status for build in run.builds.values()]
    traced = [n for n, b in run.builds.items() if b.status in (Status.SUCCESS, Status.SAMPLE)]
    return {
        "metadata": {"run_id": run.run_id, "git_revision": run.git_revision},
        "refreshes": {status.value: statuses.count(status) for status in sorted({*statuses})},
        "rows": {name: len(rows) for name, _, rows in added.tables()},
        "statements": {
            "traced": len(traced),
            "unparsed": unparsed(lineage, traced, Reason.PARSE_ERROR),
            "unsupported": unparsed(lineage, traced, Reason.UNSUPPORTED_SYNTAX),
        },
        "seconds": round(seconds, 3),
    }


def unparsed(lineage: Lineage, nodes: Collection[str], reason: Reason) -> list[str]:
    """The nodes of which a statement is not known for this reason, sorted."""
    return sorted(
        n
        for n in nodes
        if n in lineage.nodes
        and (
            lineage.nodes[n].reason is reason
            or any(c.reason is reason for c in lineage.nodes[n].columns)
        )
    )


def write_metrics(metrics: dict[str, Any], target_path: Path) -> None:
    """Writes the file, whole or not at all."""
    write_text(target_path / FILE, json.dumps(metrics, indent=2) + "\n")
