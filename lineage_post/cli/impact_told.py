"""An impact as text: what breaks, what may, how many else depend on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from lineage_post.cli import console, wording
from lineage_post.cli.rows import say_rows
from lineage_post.graph import Column
from lineage_post.impact import BreaksOn, ChangeKind, Dependent, How, Impact
from lineage_post.impact.document import kinds
from lineage_post.lineage import Lineage

#: What readers of the terminal call each kind.
KINDS = {"data_test": "data test", "unit_test": "unit test", "saved_query": "saved query",
         "semantic_model": "semantic model", "config": "setting"}  # fmt: skip
#: So many columns of one node are named; the JSON has them all.
_PARTS = 12


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
        shown = list(dict.fromkeys(parts))
        more = len(shown) - _PARTS
        return "; ".join([*shown[:_PARTS], f"and {more} more"] if more > 0 else shown)

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
