"""``lineage-post impact``: what a change of a column breaks, and what else depends on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

import click

from lineage_post.cli import console, wording
from lineage_post.cli.loading import Loaded, Request, artifact_options, load
from lineage_post.cli.places import Places, place_options
from lineage_post.cli.rows import say_rows
from lineage_post.graph import Column
from lineage_post.impact import (
    Analysis,
    BreaksOn,
    Change,
    ChangeKind,
    Dependent,
    Domain,
    How,
    Impact,
    Moved,
)
from lineage_post.impact.asking import change_of, is_plain_name, named_column, quoted_name
from lineage_post.impact.document import domain_to_dict, impact_to_dict, kinds
from lineage_post.impact.possible import possible_of
from lineage_post.lineage import Lineage
from lineage_post.lineage.modes import FORMS, single_forms
from lineage_post.publish import json

#: What readers of the terminal call each kind.
KINDS = {"data_test": "data test", "unit_test": "unit test", "saved_query": "saved query",
         "semantic_model": "semantic model", "config": "setting"}  # fmt: skip


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
        _say_forms(loaded.lineage, impacts)
        for one in domains:
            _say_domain(loaded.lineage, one, analysis)
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
            domain_to_dict(d, possible_of(analysis.walk((d.node, d.column))), lineage)
            for d in domains
        ],
    }


def _forms(lineage: Lineage, impact: Impact) -> dict[str, str]:
    """The incremental models that read what changes, or could in another form than is at hand."""
    affected = {impact.change.node, *(d.unique_id for d in impact.dependents)}
    children = {child for node in affected for child in lineage.children.get(node, ())}
    found = single_forms(lineage, affected | children)
    return {node: form for node, form in found.items() if lineage.is_published(node)}


def _say_forms(lineage: Lineage, impacts: list[Impact]) -> None:
    found = {node: form for impact in impacts for node, form in _forms(lineage, impact).items()}
    for form in sorted({*found.values()}):
        names = [wording.node_name(lineage, node) for node in found if found[node] == form]
        console.say(
            f"[quiet]{console.marked(', '.join(names))}: judged {FORMS[form]}, with what that form "
            "reads alone; --other-mode-manifest adds the other's[/]"
        )


class Told:
    """An impact as text: what breaks, how many else depend on it, what may be affected."""

    def __init__(self, lineage: Lineage, impact: Impact, show_all: bool) -> None:
        self.lineage = lineage
        self.impact = impact
        self.show_all = show_all

    def say(self) -> None:
        broken = self._published(self.impact.broken)
        others = self._published(self.impact.other)
        doubts = {doubt.dependent: doubt.because for doubt in self.impact.doubts.may_break}
        doubtful = [d for d in others if d in doubts]
        others = [d for d in others if d not in doubts]
        console.say(f"{self._title()} {self._verdict(broken, doubtful)}")
        if broken:
            say_rows(self._rows(broken))
        if doubtful:
            say_rows(self._doubtful(doubtful, doubts))
        self._say_judged(bool(others))
        if others:
            told = self._listed(others, "") if self.show_all else counted(others, "")
            console.say(f"[quiet]does not break, but depends on it:[/] {told}")
            if self.show_all:
                say_rows(self._rows(others))
        if self.impact.mentions and self.impact.change.breaks is not BreaksOn.RETYPE:
            places = [_at(m) for m in self._published(self.impact.mentions)]
            console.say(f"[quiet]described in:[/] {console.marked(', '.join(places))}")
        self._say_possible()

    def _verdict(self, broken: list[Dependent], doubtful: list[Dependent]) -> str:
        breaks = self._listed(broken) if broken else ""
        maybe = f"[warning]{self._listed(doubtful, 'may break ')}[/]" if doubtful else ""
        return ", ".join(part for part in (breaks, maybe) if part) or "breaks nothing"

    def _doubtful(
        self, found: list[Dependent], because: Mapping[Dependent, str]
    ) -> list[tuple[str, ...]]:
        return [
            (*row[:2], f"{row[2]} [warning]{console.marked(because[one])}[/]", *row[3:])
            for one in found
            for row in self._rows([one])
        ]

    def _say_judged(self, has_others: bool) -> None:
        """What a retype was held against, as no SQL is run: it must not sound like more."""
        change = self.impact.change
        if change.kind is not ChangeKind.RETYPE or not has_others:
            return
        if change.to is None:
            told = "whether SQL takes another type is not judged: name it, as in =varchar"
        else:
            told = "judged by the functions that take numbers, text or times alone"
            names = dict.fromkeys(d.because for d in self.impact.doubts.unjudged)
            told += f"; not {', '.join(names)}" if names else ""
        console.say(f"[quiet]{console.marked(told)}[/]")

    def _title(self) -> str:
        change = self.impact.change
        name = wording.column_name(self.lineage, change.node, change.column)
        to = f" to [column]{console.marked(change.to)}[/]" if change.to else ""
        return f"{change.kind} {name}{to}:"

    def _published(self, found: Iterable[Dependent]) -> list[Dependent]:
        return [d for d in found if self.lineage.is_published(d.unique_id)]

    def _listed(self, found: list[Dependent], verb: str = "breaks ") -> str:
        """The counts over rows, of which one node may have several."""
        rows = Counter(members[0].kind for members in _grouped(found))
        return counted(found, verb, rows)

    def _rows(self, found: list[Dependent]) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for members in _grouped(found):
            first = members[0]
            rows.append(
                (
                    f"[quiet]{KINDS.get(first.kind, first.kind)}[/]",
                    f"[node]{console.marked(_shown(first))}[/]",
                    self._parts(members),
                    console.marked(_at(first)),
                    f"[quiet]{self._way(first)}[/]",
                )
            )
        return rows

    def _parts(self, members: list[Dependent]) -> str:
        parts = []
        for member in members:
            what = member.role or (member.column or "rows" if member.how else "")
            # What a consumer keeps the name as says more than that it is in YAML.
            how = ", ".join(h.value for h in member.how if h is not How.YAML)
            hows = f" [indirect]{how}[/]" if how and how != what else ""
            parts.append(f"[column]{console.marked(what)}[/]{hows}")
        return "; ".join(dict.fromkeys(parts))

    def _way(self, dependent: Dependent) -> str:
        way = _way_to(dependent)[1:]
        steps = " > ".join(_plain(self.lineage, column) for column in way)
        return console.marked(f"by {steps}" if steps else "")

    def _say_possible(self) -> None:
        possible = [p for p in self.impact.possible if self.lineage.is_published(p.unique_id)]
        if not possible:
            return
        console.say(f"[warning]possibly affected:[/] {counted(possible, '')}")
        rows = []
        for one in possible:
            because = wording.node_name(self.lineage, one.because)
            why = one.reason if one.because == one.unique_id else f"beyond {because} ({one.reason})"
            rows.append(
                (
                    f"[quiet]{KINDS.get(one.kind, one.kind)}[/]",
                    f"[node]{console.marked(one.name)}[/]",
                    f"[unknown]{console.marked(why)}[/]",
                    console.marked(one.file),
                )
            )
        say_rows(rows)


def _grouped(found: list[Dependent]) -> Iterator[list[Dependent]]:
    """What makes one row: parts of one node that the change reaches on one way."""
    for _, group in groupby(found, key=lambda d: (d.unique_id, d.kind, _way_to(d))):
        yield list(group)


def _way_to(dependent: Dependent) -> tuple[Column, ...]:
    """The columns that lead to it: a column's own part is not among them, a consumer's is."""
    return dependent.path[:-1] if dependent.role is None else dependent.path


def counted(
    found: Iterable[object], verb: str = "breaks ", rows: Mapping[str, int] | None = None
) -> str:
    """``breaks 2 models, 1 contract in 2 places``: ``rows`` are the places that are listed."""
    parts = []
    for kind, count in kinds(found).items():  # type: ignore[arg-type]
        places = (rows or {}).get(kind, count)
        more = f" in {places:,} places" if places > count else ""
        parts.append(_count(count, KINDS.get(kind, kind)) + more)
    return verb + ", ".join(parts)


def _count(count: int, kind: str) -> str:
    plural = {"saved query": "saved queries"}.get(kind, f"{kind}s")
    return f"{count:,} {kind if count == 1 else plural}"


def _at(dependent: Dependent) -> str:
    return f"{dependent.file}:{dependent.line}" if dependent.line else dependent.file


def _shown(dependent: Dependent) -> str:
    # The name dbt makes up for a generic test says again what its role and column say.
    if dependent.kind == "data_test" and dependent.role != "data test in SQL":
        return dependent.uses[1] or dependent.name
    return dependent.name


def _plain(lineage: Lineage, column: Column) -> str:
    node = wording.node_name(lineage, column[0])
    return f"{node}.{column[1]}" if column[1] else f"rows of {node}"


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
