"""``lineage-post disagreements``: what one producer asserts and another denies."""

from __future__ import annotations

import click

from lineage_post.cli import FINDINGS, console
from lineage_post.cli.places import Places, place_options

_KEYS = (
    "grain",
    "from_node",
    "from_column",
    "to_node",
    "to_column",
    "type",
    "asserted_by",
    "denied_by",
)


@click.command("disagreements")
@click.option("--producer", help="Only where this producer takes part.")
@click.option("--profiles-dir", help="Folder of profiles.yml.")
@click.option("--target", "target_name", help="Target of the dbt profile.")
@click.option("--output", type=click.Choice(["text", "json"]), default="text")
@place_options
def command(
    places: Places,
    producer: str | None,
    profiles_dir: str | None,
    target_name: str | None,
    output: str,
) -> None:
    """List what one producer asserts and another, able to see it, denies. Exit 1 if any is."""
    from lineage_post.bridge.recorded import RecordedTables

    tables = RecordedTables(
        places.target_path / "manifest.json",
        places.project_dir,
        profiles_dir=profiles_dir,
        target=target_name,
    )
    rows = tables.query(f"select {', '.join(_KEYS)} from {tables.table('lineage_disagreements')}")
    found = [dict(zip(_KEYS, row, strict=True)) for row in sorted(rows, key=repr)]
    found = [f for f in found if producer in (None, f["asserted_by"], f["denied_by"])]
    if output == "json":
        console.say_json({"metadata": {"producer": producer}, "disagreements": found})
    else:
        for one in found:
            ends = [
                ".".join(p for p in (one[f"{end}_node"], one[f"{end}_column"]) if p)
                for end in ("from", "to")
            ]
            by = f"asserted by {one['asserted_by']}, denied by {one['denied_by']}"
            console.say_plain(f"{' -> '.join(ends)}: {by}")
        if not found:
            console.say_plain("No producer denies what another asserts.")
    if found:
        click.get_current_context().exit(FINDINGS)
