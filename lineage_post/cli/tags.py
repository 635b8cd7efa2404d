"""``lineage-post tags``: the labels each column has, and the path that brought them."""

from __future__ import annotations

from itertools import groupby

import click
from rich.table import Table

from lineage_post.cli import console, wording, yaml_changes
from lineage_post.cli.loading import Loaded, Request, artifact_options, load
from lineage_post.cli.picking import picks_of
from lineage_post.cli.places import Places, place_options
from lineage_post.governance.classification import Classification, Column
from lineage_post.governance.flow import Arrival, Flow, StoppedBy
from lineage_post.governance.gaps import gaps_of
from lineage_post.governance.tagging import Picks, tag_patches, tags_to_dict
from lineage_post.governance.yaml_files import Patches
from lineage_post.publish import json
from lineage_post.publish.erasure import gap_reason
from lineage_post.vocabulary import Certainty


@click.command("tags")
@click.argument("selectors", metavar="[SELECTOR]...", nargs=-1)
@click.option("--select", "-s", "selected", multiple=True, metavar="SELECTOR", help="The same.")
@click.option("--exclude", multiple=True, metavar="SELECTOR", help="But not of these.")
@click.option("--tag", "tags", metavar="NAME", multiple=True, help="Only this tag; takes *.")
@click.option(
    "--meta", metavar="KEY[=VALUE]", multiple=True, help="Only this meta key, or this value of it."
)
@click.option("--diff", is_flag=True, help="Print what --write would change, as a unified diff.")
@click.option("--write", is_flag=True, help="Print the diff, then write the YAML files.")
@artifact_options
@click.option("--output", type=click.Choice(["text", "json"]), default="text")
@place_options
def command(
    places: Places,
    request: Request,
    selectors: tuple[str, ...],
    selected: tuple[str, ...],
    exclude: tuple[str, ...],
    tags: tuple[str, ...],
    meta: tuple[str, ...],
    diff: bool,
    write: bool,
    output: str,
) -> None:
    """List the tags and classifying meta keys of columns, and from where each one flows.

    They follow values through all models until a masking function, or a column that says
    `meta: {lineage: {declassify: [pii]}}`. Nothing is written without --write.
    """
    loaded = load(places, request)
    flow = Flow(loaded.lineage, Classification(loaded.lineage, tags, meta))
    picks = picks_of(loaded, (*selectors, *selected), exclude)
    if diff or write:
        _change(loaded, flow, picks, write=write)
    elif output == "json":
        document = {"metadata": json.metadata_of(loaded.lineage.project, loaded.options)}
        console.say_json({**document, **tags_to_dict(flow, picks)})
    else:
        _say(loaded, flow, picks)


def _change(loaded: Loaded, flow: Flow, picks: Picks, *, write: bool) -> None:
    wanted, refused = tag_patches(flow, picks)
    patches = Patches(loaded.lineage.project, yaml_changes.reader(loaded.places), wanted)
    changes, more = patches.plan()
    yaml_changes.show(changes)
    yaml_changes.say_refused(loaded.lineage, [*refused, *more])
    if write:
        yaml_changes.write(loaded.places, changes)
    if not changes:
        console.note("Nothing to write: the YAML has every tag that flows.")


def _say(loaded: Loaded, flow: Flow, picks: Picks) -> None:
    lineage = loaded.lineage
    columns = [c for c in sorted({*flow.declared, *flow.inherited}) if picks(c)]
    came = sum(1 for c in columns if c in flow.inherited)
    console.say(f"{wording.plural(len(columns), 'column')} with labels, {came:,} by inheritance")
    table = _table()
    for node, group in groupby(columns, key=lambda c: c[0]):
        table.add_row(f"[node]{console.marked(wording.node_name(lineage, node))}[/]")
        for column in group:
            _add_rows(table, loaded, flow, column)
    if columns:
        console.say(table)
    _say_stops(loaded, flow, picks)
    _say_gaps(loaded, flow)


def _add_rows(table: Table, loaded: Loaded, flow: Flow, column: Column) -> None:
    own = dict.fromkeys(label.text for label in flow.declared.get(column, ()))
    for text in own:
        table.add_row("", f"[column]{console.marked(column[1])}[/]", console.marked(text), "own")
    for text, group in groupby(flow.inherited.get(column, ()), key=lambda a: a.label.text):
        arrivals = list(group)
        more = f" [quiet](and {len(arrivals) - 1} more origins)[/]" if arrivals[1:] else ""
        table.add_row(
            "",
            f"[column]{console.marked(column[1])}[/]",
            console.marked(text),
            f"[quiet]from[/] {_way(loaded, arrivals[0])}{more}",
        )


def _way(loaded: Loaded, arrival: Arrival) -> str:
    steps = [wording.column_name(loaded.lineage, *step) for step in arrival.path[:-1]]
    mark = " [warning](assumed)[/]" if arrival.certainty is Certainty.ASSUMED else ""
    return " > ".join(steps) + mark


def _say_stops(loaded: Loaded, flow: Flow, picks: Picks) -> None:
    stops = [stop for stop in flow.stops if picks(stop.column)]
    if not stops:
        return
    console.say(f"stopped before {wording.plural(len({s.column for s in stops}), 'column')}")
    table = _table()
    for stop in stops:
        masked = f"masked by {wording.shortened(stop.operation or 'a masking function')}"
        table.add_row(
            wording.column_name(loaded.lineage, *stop.column),
            console.marked(stop.label.text),
            f"[quiet]from[/] {wording.column_name(loaded.lineage, *stop.path[0])}",
            console.marked(masked if stop.by is StoppedBy.MASKING else "declassified"),
        )
    console.say(table)


def _say_gaps(loaded: Loaded, flow: Flow) -> None:
    gaps = [
        g
        for g in gaps_of(loaded.lineage, flow.carriers())
        if loaded.lineage.is_published(g.unique_id)
    ]
    if not gaps:
        return
    console.say(f"[warning]not known:[/] {wording.plural(len(gaps), 'node')} may have them too")
    table = _table()
    for gap in gaps:
        because = wording.node_name(loaded.lineage, gap.because)
        beyond = "" if gap.because == gap.unique_id else f"beyond {because}, "
        table.add_row(
            f"[node]{console.marked(wording.node_name(loaded.lineage, gap.unique_id))}[/]",
            f"[column]{console.marked(', '.join(gap.columns) or 'any column')}[/]",
            f"[unknown]{console.marked(beyond + gap_reason(gap.reason))}[/]",
        )
    console.say(table)


def _table() -> Table:
    return Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
