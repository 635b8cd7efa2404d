"""``lineage-post purge``: retire what one producer claims."""

from __future__ import annotations

import click

from lineage_post.cli import console
from lineage_post.cli.places import Places, place_options


@click.command("purge")
@click.option("--producer", required=True, help="Whose claims to retire.")
@click.option("--node", help="Only its claims on this node, by name or unique_id.")
@click.option("--own", is_flag=True, help="It may be execution or manifest: this tool itself.")
@click.option("--profiles-dir", help="Folder of profiles.yml.")
@click.option("--target", "target_name", help="Target of the dbt profile.")
@place_options
def command(
    places: Places,
    producer: str,
    node: str | None,
    own: bool,
    profiles_dir: str | None,
    target_name: str | None,
) -> None:
    """Retire what a producer claims: it leaves the current views and stays in history.

    No other producer's claims are touched. Runs dbt run-operation lineage_post.purge.
    """
    from lineage_post.bridge.operations import run_operation

    said = run_operation(
        places.project_dir,
        "purge",
        {
            "producer": producer,
            **({"node": node} if node else {}),
            **({"own": True} if own else {}),
        },
        profiles_dir=profiles_dir,
        target=target_name,
        target_path=places.target_path,
    )
    console.say_plain(said)
