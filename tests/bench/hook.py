"""What the hook adds to a ``dbt build`` of an unchanged project: ``python -m tests.bench.hook``.

A project of small views on DuckDB is built with the hook, and built again: of that second build the
time, and what the hook wrote. Then the same project is built without the hook, and without the
package.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.peers import timed

ROOT = Path(__file__).parents[2]
MODELS = 1_000
WITH, WITHOUT, BARE = "with the hook", "without the hook", "without the package"
#: A model reads one of the layer before it.
LAYER = 50
HOOK = 'on-run-end: "{{ lineage_post.publish(results) }}"\n'
PROJECT = """\
name: shop
profile: shop
flags: {send_anonymous_usage_stats: false}
models: {lineage_post: {+schema: lineage}}
"""
PROFILE = {
    "shop": {
        "target": "bench",
        "outputs": {"bench": {"type": "duckdb", "path": "shop.duckdb", "threads": 2}},
    }
}
#: As dbt logs it; dbt's own inserts into these tables begin on a line of their own.
INSERT = re.compile(r": insert into \S*lineage_(nodes|edges|columns|refreshes)\W* \(\w")


@dataclass(frozen=True, slots=True)
class Second:
    """The second build: reports by variant, and what the hook did in it.

    ``seconds`` is what dbt says of the hook, ``prepared`` what of it came before the load.
    """

    models: int
    reports: dict[str, dict[str, Any]]
    statements: int
    rows: dict[str, int]
    seconds: float
    prepared: float

    def words(self) -> str:
        """One line of what the hook wrote."""
        rows = ", ".join(f"{count:,} in {table}" for table, count in self.rows.items() if count)
        share = self.seconds / self.reports[WITH]["wall"]
        return (
            f"{self.seconds:.2f} s in the hook ({share:.1%} of the build), {self.prepared:.2f} s of"
            f" them before the load, {self.statements} statements: {rows}"
        )


def second_build(folder: Path, models: int = MODELS) -> Second:
    """Builds the project in ``folder`` twice with the hook, then once without either."""
    write_project(folder, models)
    build(folder)
    log = folder / "logs" / "dbt.log"
    log.unlink()
    reports = {WITH: build(folder)}
    told = json.loads((folder / "target/lineage_post/run.json").read_text("utf-8"))
    seconds = hook_seconds(folder)
    statements = len(INSERT.findall(log.read_text("utf-8")))
    (folder / "dbt_project.yml").write_text(PROJECT, "utf-8")
    dbt(folder, "parse")
    reports[WITHOUT] = build(folder)
    (folder / "dbt_packages" / "lineage_post").unlink()
    (folder / "packages.yml").unlink()
    dbt(folder, "parse")
    reports[BARE] = build(folder)
    return Second(models, reports, statements, told["rows"], seconds, told["seconds"])


def hook_seconds(folder: Path) -> float:
    """What dbt says that the hook took."""
    results = json.loads((folder / "target/run_results.json").read_text("utf-8"))["results"]
    hooks = (r for r in results if r["unique_id"].startswith("operation."))
    return float(sum(r["execution_time"] for r in hooks))


def write_project(folder: Path, models: int) -> None:
    """Views of five columns in layers of fifty."""
    (folder / "models").mkdir(parents=True)
    (folder / "dbt_packages").mkdir()
    (folder / "dbt_packages" / "lineage_post").symlink_to(ROOT)
    (folder / "packages.yml").write_text(f"packages: [{{local: {ROOT.as_posix()}}}]\n", "utf-8")
    (folder / "dbt_project.yml").write_text(PROJECT + HOOK, "utf-8")
    (folder / "profiles.yml").write_text(json.dumps(PROFILE), "utf-8")
    for number in range(models):
        before = number - LAYER
        source = f"{{{{ ref('model_{before}') }}}}" if before >= 0 else FIRST
        (folder / "models" / f"model_{number}.sql").write_text(
            f"select id, name, amount, amount + {number} as more, upper(name) as loud\n"
            f"from {source}\nwhere id > {number}\n",
            "utf-8",
        )


FIRST = "(select 1 as id, 'a' as name, 2 as amount) as given"


def build(folder: Path) -> dict[str, Any]:
    """What a ``dbt build`` without the tests took."""
    return dbt(folder, "build", "--exclude-resource-type", "test")


def dbt(folder: Path, *arguments: str) -> dict[str, Any]:
    program = str(Path(sys.executable).with_name("dbt"))
    return timed([program, "--quiet", *arguments, "--profiles-dir", "."], folder)


def main() -> None:
    models = int(sys.argv[1]) if len(sys.argv) > 1 else MODELS
    with tempfile.TemporaryDirectory() as scratch:
        found = second_build(Path(scratch) / "project", models)
    print(f"second dbt build of {found.models:,} unchanged models")
    for what, report in found.reports.items():
        print(f"{what:20} {report['wall']:7.2f} s wall {report['cpu']:7.2f} s CPU")
    print(found.words())


if __name__ == "__main__":
    main()
