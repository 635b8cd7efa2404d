"""``lineage-post inherit``: what columns take over from their sources."""

from __future__ import annotations

import click
from rich.table import Table

from lineage_post.cli import console, wording, yaml_changes
from lineage_post.cli.loading import Loaded, Request, artifact_options, load
from lineage_post.cli.picking import picks_of
from lineage_post.cli.places import Places, place_options
from lineage_post.governance.classification import Column
from lineage_post.governance.descriptions import inherited_descriptions, origin_name
from lineage_post.governance.inheriting import What, columns_of, inherit_patches, inherit_to_dict
from lineage_post.governance.quality import Governed
from lineage_post.governance.yaml_files import Patches
from lineage_post.publish import json


@click.command("inherit")
@click.argument("selectors", metavar="[SELECTOR]...", nargs=-1)
@click.option("--select", "-s", "selected", multiple=True, metavar="SELECTOR", help="The same.")
@click.option("--exclude", multiple=True, metavar="SELECTOR", help="But not of these.")
@click.option(
    "--what",
    type=click.Choice([what.value for what in What]),
    multiple=True,
    default=(What.DESCRIPTION.value,),
    show_default=True,
    help="What to inherit; can be repeated.",
)
@click.option("--write", is_flag=True, help="Print the diff, then write the YAML files.")
@artifact_options
@click.option(
    "--output",
    type=click.Choice(["diff", "report", "json"]),
    default="diff",
    help="The diff of the YAML, or what is inherited from where, with quality and owners.",
)
@place_options
def command(
    places: Places,
    request: Request,
    selectors: tuple[str, ...],
    selected: tuple[str, ...],
    exclude: tuple[str, ...],
    what: tuple[str, ...],
    write: bool,
    output: str,
) -> None:
    """Give columns the description of the one column they are a plain copy of.

    Never by name alone; a column with several origins inherits nothing. Prints a unified diff of
    the YAML, and writes it only with --write. A second run changes nothing.
    """
    loaded = load(places, request)
    lineage = loaded.lineage
    picks = picks_of(loaded, (*selectors, *selected), exclude)
    found = inherited_descriptions(lineage, yaml_changes.reader(places))
    governed = Governed(lineage)
    if output == "json":
        document = {"metadata": json.metadata_of(lineage.project, loaded.options)}
        console.say_json({**document, **inherit_to_dict(lineage, found, governed, picks)})
        return
    if output == "report":
        for one in found:
            if picks(one.column):
                way = " > ".join(wording.column_name(lineage, *step) for step in one.path[:-1])
                name = wording.column_name(lineage, *one.column)
                console.say(f"{name} [quiet]is described by[/] {way}")
        _say_quality(loaded, governed, columns_of(lineage, picks))
        _say_owners(loaded, governed, columns_of(lineage, picks))
        return
    wanted = inherit_patches(lineage, found, governed, [What(w) for w in what], picks)
    _change(loaded, wanted, write=write)


def _change(loaded: Loaded, wanted: dict[Column, dict[str, object]], *, write: bool) -> None:
    patches = Patches(loaded.lineage.project, yaml_changes.reader(loaded.places), wanted)
    changes, refused = patches.plan()
    yaml_changes.show(changes)
    yaml_changes.say_refused(loaded.lineage, refused)
    if write:
        yaml_changes.write(loaded.places, changes)
    if not changes:
        console.note("Nothing to inherit: no column lacks what one origin could give it.")


def _say_quality(loaded: Loaded, governed: Governed, columns: list[Column]) -> None:
    table = _table()
    for column in columns:
        found = governed.quality(column)
        name = wording.column_name(loaded.lineage, *column)
        if not found.is_comparable:
            table.add_row(name, "[warning]scores of different scales[/]", "")
        elif found.effective is not None:
            worst = found.worst and origin_name(loaded.lineage, found.worst)
            by = f"no better than {worst}" if worst else "its own score"
            over = f" [warning](declares {found.declared})[/]" if found.is_overstated else ""
            table.add_row(name, f"quality {found.effective}", f"{console.marked(by)}{over}")
    if table.row_count:
        console.say(table)


def _say_owners(loaded: Loaded, governed: Governed, columns: list[Column]) -> None:
    table = _table()
    for column in columns:
        found = governed.ownership(column)
        if found.declared is not None:
            continue
        name = wording.column_name(loaded.lineage, *column)
        if found.inherited is not None:
            table.add_row(name, f"owner {console.marked(found.inherited)}", "of all its sources")
        elif any(found.of_sources):
            owners = ", ".join(owner or "nobody" for owner in found.of_sources)
            table.add_row(name, "no owner", f"its sources have {console.marked(owners)}")
    if table.row_count:
        console.say(table)


def _table() -> Table:
    return Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
