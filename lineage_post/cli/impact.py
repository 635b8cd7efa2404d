"""``lineage-post impact``: what a change of a column breaks, and what else depends on it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from lineage_post.cli import console, wording
from lineage_post.cli.impact_told import Told, counted
from lineage_post.cli.loading import Loaded, Request, artifact_options, load
from lineage_post.cli.places import Places, place_options
from lineage_post.cli.rows import say_rows
from lineage_post.impact import (
    Analysis,
    Change,
    ChangeKind,
    Domain,
    Impact,
    Moved,
)
from lineage_post.impact.asking import change_of, is_plain_name, named_column, quoted_name
from lineage_post.impact.document import domain_to_dict, impact_to_dict
from lineage_post.impact.possible import possible_of
from lineage_post.lineage import Lineage
from lineage_post.lineage.modes import FORMS, single_forms
from lineage_post.publish import json


@click.command("impact")
@click.option("--rename", metavar="MODEL.COLUMN=NAME", multiple=True, help="A column gets NAME.")
@click.option("--drop", metavar="MODEL.COLUMN", multiple=True, help="A column goes.")
@click.option("--retype", metavar="MODEL.COLUMN[=TYPE]", multiple=True, help="Another data type.")
@click.option("--domain", metavar="MODEL.COLUMN", multiple=True, help="A column gains a value.")
@click.option("--all", "show_all", is_flag=True, help="Also list what the change does not break.")
@artifact_options
@click.option("--output", type=click.Choice(["text", "json"]), default="text")
@place_options
def command(
    places: Places,
    request: Request,
    rename: tuple[str, ...],
    drop: tuple[str, ...],
    retype: tuple[str, ...],
    domain: tuple[str, ...],
    show_all: bool,
    output: str,
) -> int:
    """Say what breaks if a column is renamed, dropped or retyped, with file and line.

    --domain asks what moves if a column gains a value. The exit code is 1 if something breaks, with
    --strict also if something may.
    """
    asked = [(ChangeKind.RENAME, rename), (ChangeKind.DROP, drop), (ChangeKind.RETYPE, retype)]
    if not (rename or drop or retype or domain):
        raise click.UsageError("Name a change: --rename, --drop, --retype or --domain.")
    loaded = load(places, request)
    analysis = Analysis(loaded.lineage, kept=loaded.kept)
    changes = [_change(kind, text, loaded.lineage) for kind, texts in asked for text in texts]
    impacts = [analysis.impact(change) for change in changes]
    domains = [analysis.domain(*named_column(loaded.lineage, text)) for text in domain]
    if output == "json":
        console.say_json(_document(loaded, analysis, impacts, domains))
    else:
        for impact in impacts:
            Told(loaded.lineage, impact, show_all).say()
        for one in domains:
            _say_domain(loaded.lineage, one, analysis)
        _say_forms(loaded.lineage, [*impacts, *domains])
    analysis.save()
    return int(any(i.broken or (request.strict and _is_doubtful(i)) for i in impacts))


def _is_doubtful(impact: Impact) -> bool:
    return bool(impact.possible or impact.doubts.may_break)


def _change(kind: ChangeKind, text: str, lineage: Lineage) -> Change:
    name, _, to = text.partition("=") if kind is not ChangeKind.DROP else (text, "", "")
    change = change_of(lineage, kind, name, to.strip() or None)
    if kind is ChangeKind.RENAME and change.to and not is_plain_name(change.to):
        told = f"{change.to!r} is no plain name: SQL has to quote it"
        console.warn(f"rename of {name}: {told}, as in {quoted_name(lineage, change.to)}")
    return change


def _document(
    loaded: Loaded, analysis: Analysis, impacts: list[Impact], domains: list[Domain]
) -> dict[str, object]:
    lineage = loaded.lineage
    return {
        "metadata": json.metadata_of(lineage.project, loaded.options),
        "changes": [
            {**impact_to_dict(i, lineage), "build_modes": _forms(lineage, i)} for i in impacts
        ],
        "domains": [
            {
                **domain_to_dict(d, possible_of(analysis.walk((d.node, d.column))), lineage),
                "build_modes": _forms(lineage, d),
            }
            for d in domains
        ],
    }


def _reached(found: Impact | Domain) -> set[str]:
    """The nodes that a change begins at and reaches."""
    if isinstance(found, Impact):
        return {found.change.node, *(d.unique_id for d in found.dependents)}
    return {found.node, *(moved.node for moved in (*found.values, *found.rows))}


def _forms(lineage: Lineage, found: Impact | Domain) -> dict[str, str]:
    """The incremental models that read what changes, or could in another form than is at hand."""
    affected = _reached(found)
    children = {child for node in affected for child in lineage.children.get(node, ())}
    forms = single_forms(lineage, affected | children)
    return {node: form for node, form in forms.items() if lineage.is_published(node)}


def _say_forms(lineage: Lineage, answers: list[Impact | Domain]) -> None:
    found = {node: form for one in answers for node, form in _forms(lineage, one).items()}
    for form in sorted({*found.values()}):
        names = [wording.node_name(lineage, node) for node in found if found[node] == form]
        console.say(
            f"[quiet]{console.marked(', '.join(names))}: judged {FORMS[form]}, with what that form "
            "reads alone; --other-mode-manifest adds the other's[/]"
        )


def _say_domain(lineage: Lineage, domain: Domain, analysis: Analysis) -> None:
    name = wording.column_name(lineage, domain.node, domain.column)
    groups = (("values can move", domain.values), ("rows only come or go", domain.rows))
    for title, moved in groups:
        shown = [m for m in moved if lineage.is_published(m.node)]
        console.say(f"{name} gains a value: {title} in {wording.plural(len(shown), 'output')}")
        say_rows(list(_domain_rows(lineage, shown)))
    possible = possible_of(analysis.walk((domain.node, domain.column)))
    if possible:
        names = ", ".join(console.marked(p.name) for p in possible)
        console.say(f"[warning]possibly affected:[/] {counted(possible, '')}: {names}")


def _domain_rows(lineage: Lineage, moved: list[Moved]) -> Iterator[tuple[str, str]]:
    by_node: dict[str, list[Moved]] = {}
    for one in moved:
        by_node.setdefault(one.node, []).append(one)
    for node, columns in by_node.items():
        parts = [
            f"[column]{console.marked(m.column)}[/] "
            f"[indirect]{', '.join(how.value for how in m.how)}[/]"
            for m in columns
        ]
        yield f"[node]{console.marked(wording.node_name(lineage, node))}[/]", "; ".join(parts)
