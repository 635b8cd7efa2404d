"""``lineage-post show``: where a column comes from and what uses it."""

from __future__ import annotations

from typing import Any

import click
from rich.table import Table

from lineage_post.cli import console, wording
from lineage_post.cli.loading import Loaded, Request, artifact_options, load
from lineage_post.cli.places import Places, place_options
from lineage_post.cli.relatives import relatives, said_of
from lineage_post.cli.tree import grouped
from lineage_post.cli.walk import Walk, limit, named
from lineage_post.lineage import ColumnLineage, Lineage
from lineage_post.lineage.modes import FORMS, FULL_REFRESH, INCREMENTAL, mode_of
from lineage_post.lineage.project import node_to_dict
from lineage_post.publish import json
from lineage_post.selection import Target, target_of
from lineage_post.vocabulary import EdgeType


@click.command("show")
@click.argument("target", metavar="[+]MODEL[.COLUMN][+]")
@artifact_options
@click.option("--depth", type=click.IntRange(min=1), help="Follow at most so many steps.")
@click.option("--indirect", is_flag=True, help="Also follow joins, filters, groups and the like.")
@click.option("--output", type=click.Choice(["text", "json"]), default="text")
@click.option(
    "--as-of", metavar="T|A..B", help="The recorded lineage at this time; A..B: what changed in it."
)
@click.option("--as-recorded", metavar="T", help="Of what had been recorded by this time.")
@click.option("--profiles-dir", help="Folder of profiles.yml, to read what was recorded.")
@click.option("--target", "target_name", help="Target of the dbt profile.")
@place_options
def command(
    places: Places,
    request: Request,
    target: str,
    depth: int | None,
    indirect: bool,
    output: str,
    as_of: str | None,
    as_recorded: str | None,
    profiles_dir: str | None,
    target_name: str | None,
) -> None:
    """Show the lineage of a column: +x.y all upstream, x.y+ all downstream, x.y one step each.

    A model without a column lists its columns, and what it reads and feeds. 2+x.y goes two steps
    up.
    """
    if as_of or as_recorded:
        from lineage_post.cli.recorded import Asked, load_recorded, show_span

        asked = Asked(as_of, as_recorded, profiles_dir, target_name)
        if asked.is_span:
            show_span(places, request, asked, target, depth, indirect, output)
            return
        loaded = load_recorded(places, request, asked)
        if output == "text" and loaded.recalled is not None:
            console.say(f"[quiet]{loaded.recalled.times}[/]")
    else:
        loaded = load(places, request)
        for line in _stale(loaded):
            console.note(line)
    found = target_of(target, loaded.lineage)
    if found.column is None:
        _show_node(loaded, found, depth, output)
        return
    walk = Walk(
        loaded,
        found.node,
        found.column,
        limit(found.up, depth),
        limit(found.down, depth),
        indirect,
    )
    if output == "json":
        console.say_json(walk.to_dict())
    else:
        walk.show()


_OTHERS = {
    INCREMENTAL: ": the first one, or --full-refresh, may read other columns",
    FULL_REFRESH: ": later builds may read other columns",
}


def _stale(loaded: Loaded) -> list[str]:
    path = loaded.places.output_dir / json.LINEAGE_FILE
    metadata = json.read_metadata(path)
    why = metadata and json.staleness(metadata, loaded.lineage, loaded.options)
    if not why:
        return []
    return [f"{loaded.places.shown(path)} is stale: {why}. lineage-post build renews it."]


def _show_node(loaded: Loaded, target: Target, depth: int | None, output: str) -> None:
    lineage, node = loaded.lineage, target.node
    traced = lineage.nodes[node]
    related = relatives(lineage, node, limit(target.up, depth), limit(target.down, depth))
    if output == "json":
        console.say_json(
            {
                "metadata": loaded.metadata(),
                "node": {
                    **node_to_dict(traced),
                    "edges": [loaded.edge_to_dict(edge) for edge in traced.edges],
                    "native": _native(lineage, node),
                    "build_mode": mode_of(lineage, node),
                    **{way: list(found) for way, found in related.items()},
                },
            }
        )
        return
    name = console.marked(wording.node_name(lineage, node))
    detail = console.marked(traced.detail or "")
    console.say(f"[node]{name}[/] {wording.state(traced.state, traced.reason)} [quiet]{detail}[/]")
    native = _native(lineage, node)
    if native:
        console.say(f"[quiet]{console.marked(wording.native(native))}[/]")
    mode = mode_of(lineage, node)
    if mode is not None:
        console.say(f"[quiet]{FORMS[mode]}{_OTHERS.get(mode, '')}[/]")
    table = Table(box=None, pad_edge=False, header_style="quiet")
    for heading in ("column", "type", "state", "comes from"):
        table.add_column(heading)
    for column in traced.columns:
        if column.name is None:
            continue
        table.add_row(
            f"[column]{console.marked(column.name)}[/]",
            f"[quiet]{console.marked(column.data_type or '')}[/]",
            wording.state(column.state, column.reason),
            _comes_from(lineage, node, column),
        )
    console.say(table)
    rows = list(lineage.graph.edges_into(node, None))
    if rows:
        console.say(f"[quiet]rows decided by:[/] {named(lineage, rows)}")
    for heading, found in (("reads", related["upstream"]), ("feeds", related["downstream"])):
        if found:
            console.say(said_of(lineage, heading, found))


def _comes_from(lineage: Lineage, node: str, column: ColumnLineage) -> str:
    """The columns it is computed from; without any, those that decide it all the same."""
    edges = list(lineage.graph.edges_into(node, column.name))
    direct = [edge for edge in edges if edge.type is EdgeType.DIRECT]
    if direct:
        sources = grouped(direct, lambda edge: (edge.from_node, edge.from_column))
        return ", ".join(wording.column_name(lineage, at, name or "") for (at, name), _ in sources)
    return f"[quiet]decided by[/] {named(lineage, edges)}" if edges else ""


def _native(lineage: Lineage, unique_id: str) -> dict[str, Any] | None:
    node = lineage.project.nodes.get(unique_id)
    return dict(node.native) if node is not None and node.native else None
