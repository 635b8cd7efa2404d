"""``lineage-post init``: set a dbt project up."""

from __future__ import annotations

import sys

import click

from lineage_post.cli import console, wording
from lineage_post.cli.places import Places, place_options
from lineage_post.errors import LineageError
from lineage_post.init_project import PACKAGE_DIRECTORY, Change, Plan, plan_init, write_plan

_STYLES = {"+": "add", "-": "remove", "@": "node"}


@click.command("init")
@click.option("--git", metavar="URL", help="Take the dbt package from this repository, not a copy.")
@click.option("--upgrade", is_flag=True, help=f"Refresh the copy in {PACKAGE_DIRECTORY}/.")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@place_options
def command(places: Places, git: str | None, upgrade: bool, yes: bool) -> None:
    """Add the dbt package, the hook and the options to a dbt project.

    Shows what it would change before it writes. Comments and order of the files stay.
    """
    plan = plan_init(places.project_dir, git=git, upgrade=upgrade)
    for line in plan.notes:
        console.note(line)
    if not plan.changes:
        console.say("Nothing to do: the project is set up.")
        return
    _show(plan)
    if not yes and not _agreed():
        raise click.Abort
    write_plan(places.project_dir, plan)
    files = wording.plural(len(plan.changes), "file")
    console.say(f"Wrote {files}. Next: [bold]dbt deps[/] and [bold]dbt build[/].")


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise LineageError("Nothing was written.", hint="Run it again with --yes to write this.")
    return click.confirm("Write this?", err=True)


def _show(plan: Plan) -> None:
    copied = [change for change in plan.changes if change.is_of_the_package]
    if copied:
        console.say(f"[bold]{PACKAGE_DIRECTORY}/[/]: {_counted(copied)}")
    for change in plan.changes:
        if not change.is_of_the_package:
            _show_diff(change)


def _counted(changes: list[Change]) -> str:
    added = sum(change.before is None for change in changes)
    removed = sum(change.after is None for change in changes)
    counts = {"new": added, "changed": len(changes) - added - removed, "removed": removed}
    told = [f"{wording.plural(n, 'file')} {what}" for what, n in counts.items() if n]
    return ", ".join(told)


def _show_diff(change: Change) -> None:
    for line in change.diff().split("\n"):
        style = _STYLES.get(line[:1])
        text = console.marked(line)
        console.say(f"[{style}]{text}[/]" if style else text)
