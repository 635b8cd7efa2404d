"""``lineage-post evidence``: how a reported figure came about, sealed, and checked later."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import click

from lineage_post.artifacts import read_run_results
from lineage_post.cli import console, wording
from lineage_post.cli.erase import column_of
from lineage_post.cli.loading import Loaded, Request, artifact_options, load
from lineage_post.cli.places import Places, place_options
from lineage_post.errors import LineageError
from lineage_post.governance.run_facts import REFRESH_COLUMNS, Facts
from lineage_post.lineage.modes import FORMS
from lineage_post.producers.tables import read_rows
from lineage_post.publish.evidence import Evidence, rows_of_refreshes
from lineage_post.publish.evidence_bundle import SEAL, bundle_of, verify_bundle, write_bundle

_TABLE = "model.lineage_post.lineage_refreshes"


@click.command("evidence")
@click.argument("column", metavar="[MODEL.COLUMN]", required=False)
@click.option("--out", metavar="FILE.zip|FOLDER", help="Default: target/lineage_post/evidence.")
@click.option("--verify", metavar="FILE.zip|FOLDER", help="Check that nothing was changed in it.")
@click.option("--sha256", metavar="HASH", help="With --verify: the hash that was kept elsewhere.")
@click.option(
    "--run-results",
    metavar="FILE",
    multiple=True,
    help="Results of builds and tests; can be repeated. Default: those of the last runs.",
)
@click.option(
    "--refreshes",
    metavar="FILE",
    help="lineage_refreshes, exported to JSON lines, JSON, CSV or Parquet.",
)
@click.option("--from-warehouse", is_flag=True, help="Read lineage_refreshes from the warehouse.")
@click.option("--profiles-dir", help="Folder of profiles.yml, as dbt takes it.")
@click.option("--profile", help="Profile, as dbt takes it.")
@click.option("--target", help="Target of the profile, as dbt takes it.")
@artifact_options
@place_options
def command(
    places: Places,
    request: Request,
    column: str | None,
    out: str | None,
    verify: str | None,
    sha256: str | None,
    **flags: Any,
) -> int:
    """Bundle the derivation of a reported figure under one hash.

    Each step's expression and compiled SQL, definition versions, builds, input versions, tests and
    their last results. --verify checks a bundle; the exit code is 1 if it was changed.
    """
    if verify is not None:
        return _verify(Path(verify).expanduser(), sha256)
    if column is None:
        raise click.UsageError("Name a column, as in fct_orders.revenue, or a bundle to --verify.")
    loaded = load(places, request)
    named = column_of(column, loaded.lineage)
    evidence = Evidence(loaded.lineage, named, _facts(loaded, flags))
    files = bundle_of(evidence, datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"))
    path = Path(out).expanduser() if out else _default(loaded, named)
    write_bundle(files, path)
    _say(loaded, evidence, path)
    return 0


def _default(loaded: Loaded, column: tuple[str, str]) -> Path:
    name = f"{wording.node_name(loaded.lineage, column[0])}.{column[1]}"
    safe = "".join(c if c.isalnum() or c in "._-" else "_" for c in name)
    return loaded.places.output_dir / "evidence" / f"{safe[:120]}.zip"


def _facts(loaded: Loaded, flags: dict[str, Any]) -> Facts:
    from lineage_post.bridge.results import kept_results

    target = loaded.places.target_path
    paths = [Path(path).expanduser() for path in flags["run_results"]] or [
        path for path in (*kept_results(target), target / "run_results.json") if path.is_file()
    ]
    # What was kept may be the last run's results as well.
    runs = {run.invocation_id: run for run in map(read_run_results, paths)}
    return Facts(tuple(runs.values()), tuple(_refreshes(loaded, flags)))


def _refreshes(loaded: Loaded, flags: dict[str, Any]) -> list[Any]:
    if flags["from_warehouse"]:
        return _stored_refreshes(loaded, flags)
    path = Path(flags["refreshes"]).expanduser() if flags["refreshes"] else None
    exported = loaded.places.output_dir / "rows" / "lineage_refreshes.jsonl"
    if path is None and exported.is_file():
        path = exported
    return [rows_of_refreshes(row) for row in read_rows(path)] if path is not None else []


def _stored_refreshes(loaded: Loaded, flags: dict[str, Any]) -> list[Any]:
    from sqlglot import exp

    from lineage_post.bridge.profile import connect
    from lineage_post.trace.dialects import dialect_of

    node = loaded.lineage.project.nodes.get(_TABLE)
    if node is None or node.relation is None:
        raise LineageError(
            "This project has no lineage_refreshes.", hint="Add the package, as the README says."
        )
    dialect = loaded.options.dialect or dialect_of(loaded.lineage.project.adapter_type)
    connection = connect(
        loaded.places.project_dir,
        dialect,
        profiles_dir=flags["profiles_dir"],
        profile=flags["profile"],
        target=flags["target"],
        timeout=60.0,
    )
    name = node.relation
    table = exp.table_(name.identifier, db=name.schema, catalog=name.database, quoted=True)
    query = exp.select(*REFRESH_COLUMNS).from_(table)
    return [dict(zip(REFRESH_COLUMNS, row, strict=True)) for row in connection.rows(query)]


def _say(loaded: Loaded, evidence: Evidence, path: Path) -> None:
    seal, _ = verify_bundle(path)
    document = evidence.document
    built = sum(1 for step in document["steps"] if step["refresh"])
    run = sum(1 for test in document["tests"] if test["result"])
    console.say_plain(f"{loaded.places.shown(path)}")
    console.say_plain(f"content sha256 {seal['content_sha256']}")
    console.say_plain(f"seal    sha256 {seal['seal_sha256']} (with {seal['created_at']})")
    steps = wording.plural(len(document["steps"]), "step")
    console.note(f"{steps}, {built} with a build; {run} of {len(document['tests'])} tests with a "
                 f"result.")  # fmt: skip
    if not document["complete"]:
        console.warn(f"{len(document['not_known'])} parts are not known; evidence.md lists them.")
    for step in document["steps"]:
        refresh = step["refresh"] or {}
        if refresh.get("is_this_definition") is False:
            console.warn(f"{step['unique_id']} was built of another definition than this manifest "
                         "has")  # fmt: skip
        elif refresh.get("is_this_form") is False:
            console.note(
                f"{step['unique_id']} was built in another form of itself: the SQL in the bundle "
                f"is {FORMS[step['build_mode']]}"
            )


def _verify(path: Path, expected: str | None) -> int:
    seal, problems = verify_bundle(path, expected)
    for problem in problems:
        console.say_plain(f"{path}: {problem}")
    if problems:
        return 1
    console.say_plain(f"{path}: nothing was changed; content sha256 {seal['content_sha256']}")
    if expected is None:
        console.note(f"Compare it with the hash you kept: {SEAL} lies in the bundle itself.")
    return 0
