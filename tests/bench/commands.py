"""What the answers about a project cost once its traces are cached, and what asking for a row does.

``impact`` and ``diff`` as whole processes on a project of more than 500 models, beside what any
command pays for: the start of the interpreter, and loading the artifacts.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lineage_post.artifacts import read_manifest
from lineage_post.impact.kept import FILE as VERDICTS
from lineage_post.lineage.load import CACHE_FOLDER
from tests.bench.peers import timed

START = "interpreter start alone"
LOAD = "the same, and loading manifest and catalog"
IMPACT = "lineage-post impact of one column, traces cached"
AGAIN = "the same asked again"
DIFF = "lineage-post diff of two manifests, one model changed"

_LOAD = (
    "import sys\n"
    "from pathlib import Path\n"
    "from lineage_post.artifacts import read_catalog, read_manifest\n"
    "read_manifest(Path(sys.argv[1], 'manifest.json'))\n"
    "read_catalog(Path(sys.argv[1], 'catalog.json'))\n"
)


def commands(folder: Path, changed: Path, *, rounds: int = 2) -> Iterator[tuple[str, Any]]:
    """What each took; ``changed`` has the artifacts of another state of the project."""
    program = str(Path(sys.executable).with_name("lineage-post"))
    here = ["--target-path", str(folder)]
    impact = [program, "impact", "--drop", _column_in_the_middle(folder), *here]
    asked = {
        START: [sys.executable, "-c", "pass"],
        LOAD: [sys.executable, "-c", _LOAD, str(folder)],
        IMPACT: impact,
        AGAIN: impact,
        DIFF: [program, "diff", "--state", str(changed), *here],
    }
    for command in (asked[IMPACT], asked[DIFF]):
        timed(command, folder.parent)  # Fills the caches of both states.
    for what, command in asked.items():
        reports = []
        for _ in range(rounds):
            if what is IMPACT:
                # What was found out when it was asked before.
                (folder / CACHE_FOLDER / VERDICTS).unlink(missing_ok=True)
            reports.append(timed(command, folder.parent))
        yield what, min(reports, key=lambda report: float(report["cpu"]))


def _column_in_the_middle(folder: Path) -> str:
    """A column of a model that is neither at the start nor at the end of the project."""
    nodes = read_manifest(folder / "manifest.json").nodes.values()
    models = [n for n in nodes if n.resource_type == "model"]
    catalog = json.loads((folder / "catalog.json").read_text(encoding="utf-8"))["nodes"]
    model = models[len(models) // 2]
    return f"{model.name}.{next(iter(catalog[model.unique_id]['columns']))}"


def asking_for_a_row() -> dict[str, Any]:
    """What ``why`` costs over TPC-H and TPC-DS: the document of its own benchmark."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.provenance.bench"], capture_output=True, text=True
    )
    if done.returncode:
        print(f"asking for a row failed: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return {}
    document: dict[str, Any] = json.loads(done.stdout)
    return document
