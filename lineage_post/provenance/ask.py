"""Asks why rows of one model are there: stored rows, run again, matched, and their gates opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from lineage_post.provenance.answer import CellClaim, Explained, Label, TermClaim, Witness
from lineage_post.provenance.connection import Connection, Row
from lineage_post.provenance.dialects import render
from lineage_post.provenance.expansion import Expander, TooManyRows
from lineage_post.provenance.matching import Given, Match, Matcher, Values, among
from lineage_post.provenance.plan import Plan
from lineage_post.provenance.polynomial import Polynomial, Reader, Token, add, in_order, parse
from lineage_post.provenance.semiring import Semiring, evaluate
from lineage_post.provenance.settings import Settings
from lineage_post.provenance.witnesses import fetch

#: Counting in floats: there may be astronomically many derivations.
_NUMBERS: Semiring[float] = Semiring(0.0, 1.0, float.__add__, float.__mul__)


@dataclass(slots=True)
class Question:
    """Rows of a model to explain.

    ``key`` are the columns that identify a row, empty if none are declared; ``computed`` says that
    the rows come from the query itself and not from a stored table.
    """

    model: str
    rows: Sequence[Values]
    key: tuple[str, ...] = ()
    computed: bool = False


@dataclass(slots=True)
class _Opened:
    """An answer in the making: the annotated rows it stands on, and what opened their gates."""

    explained: Explained
    annotated: list[Row]
    polynomials: list[Polynomial] = field(init=False)
    tokens: dict[str, list[Token]] = field(default_factory=dict)
    expander: Expander | None = None

    def __post_init__(self) -> None:
        self.polynomials = [parse(row[0]) for row in self.annotated]


class Asker:
    """Answers questions about one planned model."""

    def __init__(self, plan: Plan, connection: Connection, settings: Settings) -> None:
        self.plan = plan
        self.connection = connection
        self.settings = settings

    def answer(self, question: Question) -> list[Explained]:
        """One answer for each distinct row of the question, in its order."""
        groups = _grouped(question.rows)
        if not groups:
            return []
        condition = self._condition([row for row, _ in groups], question.key)
        extras = ["_p", *(f"_cell{n}" for n in range(1, self._width() + 1))]
        asked = self.plan.question(condition, extras)
        # Where the query itself sums annotations, they are asked for once they are known to be few.
        is_counted = self.plan.rewritten.has_sums
        first = self.connection.rows(self.plan.count(condition) if is_counted else asked)
        found = self._by_output(first)
        answers: list[Explained] = []
        matcher = self._matcher([row for row, _ in groups], found, question.key)
        for row, multiplicity in groups:
            match = matcher.match(row)
            explained = self._labelled(question, row, multiplicity, match.label, match.changed)
            if is_counted:
                explained.derivations = _total(match)
            answers.append(explained)
        there = [answer for answer in answers if answer.label is not Label.GONE]
        if there and is_counted:
            found = self._by_output(self.connection.rows(asked))
        self._open_all(there, found, question.key)
        return answers

    def _by_output(self, rows: Sequence[Row]) -> list[tuple[Values, Row]]:
        """Rows of the query as (outputs by name, what stands after them)."""
        outputs = list(self.plan.outputs)
        width = len(outputs)
        return [(dict(zip(outputs, row, strict=False)), row[width:]) for row in rows]

    # -- matching

    def _matcher(
        self, rows: Sequence[Values], found: Sequence[Given], key: tuple[str, ...]
    ) -> Matcher:
        return Matcher(rows, found, key, self.plan.volatile)

    def _width(self) -> int:
        has_cells = self.settings.cells or self.settings.how
        return len(self.plan.rewritten.names) if has_cells else 0

    def _condition(self, rows: Sequence[Values], key: tuple[str, ...]) -> exp.Expr:
        columns = self.plan.columns()
        names = [name for name in key if name in columns]
        if not names or len(names) < len(key):
            names = [name for name in columns if name not in self.plan.volatile]
        return among({name: columns[name] for name in names}, rows)

    def _labelled(
        self,
        question: Question,
        row: Values,
        multiplicity: int,
        label: Label,
        changed: tuple[str, ...],
    ) -> Explained:
        if question.computed and label is Label.REPRODUCED:
            label = Label.COMPUTED
        notes = list(self.plan.rewritten.notes)
        if label is Label.GONE and not question.key:
            notes.append("no key is declared: a changed row cannot be told from one that is gone")
        return Explained(
            question.model, dict(row), label, multiplicity, changed, notes=tuple(notes)
        )

    # -- opening

    def _open_all(
        self, answers: Sequence[Explained], found: list[tuple[Values, Row]], key: tuple[str, ...]
    ) -> None:
        """Fill in what the rewritten query says of ``answers``: all together, where few enough."""
        matcher = self._matcher([answer.row for answer in answers], found, key)
        opened = [
            _Opened(answer, [extra for _, extra in matcher.match(answer.row).found])
            for answer in answers
        ]
        self._open_few([one for one in opened if not self._is_many(one.explained)])
        many = [one for one in opened if one.expander is None]
        self._count([one.explained for one in many if one.explained.derivations is None], key)
        for one in many:
            one.explained.truncated = True
            one.expander = self._expander(self.settings.sample, cut=True)
            one.expander.expand(one.polynomials)
        for one in opened:
            assert one.expander is not None
            self._explain(one, one.expander)
        self._add_witnesses(opened)

    def _open_few(self, opened: Sequence[_Opened]) -> None:
        """Expand what can be expanded within the limits, and count its derivations."""
        if not opened:
            return
        together = self._within(opened)
        for one in opened:
            alone = together is None and len(opened) > 1
            expander = self._within([one]) if alone else together
            if expander is None:
                continue
            gates = expander.expansion.gates
            counted = sum(evaluate(p, _NUMBERS, lambda _: 1.0, gates) for p in one.polynomials)
            one.explained.derivations = counted or None
            if not self._is_many(one.explained):
                one.expander = expander

    def _within(self, opened: Sequence[_Opened]) -> Expander | None:
        """What opens the gates of these rows, None where there is more than the limits allow."""
        expander = self._expander(self.settings.cap * len(opened), cut=False)
        try:
            expander.expand(p for one in opened for p in one.polynomials)
        except TooManyRows:
            return None
        return expander

    def _count(self, answers: Sequence[Explained], key: tuple[str, ...]) -> None:
        """Ask the engine for the number of derivations, where they were too many to read."""
        if answers:
            rows = [answer.row for answer in answers]
            counted = self.connection.rows(self.plan.count(self._condition(rows, key)))
            matcher = self._matcher(rows, self._by_output(counted), key)
            for answer in answers:
                answer.derivations = _total(matcher.match(answer.row))

    def _is_many(self, explained: Explained) -> bool:
        return (explained.derivations or 0) > self.settings.cap

    def _expander(self, limit: int, *, cut: bool) -> Expander:
        gates, run = self.plan.rewritten.gates, self.connection.rows
        return Expander(gates, run, self.plan.dialect, limit=limit, cut=cut)

    def _explain(self, one: _Opened, expander: Expander) -> None:
        explained, expansion = one.explained, expander.expansion
        polynomial = add(one.polynomials)
        reached = expansion.reached(polynomial)
        for token in sorted((t for t in reached if not t.is_gate), key=str):
            one.tokens.setdefault(token.name, []).append(token)
        bases = self.plan.bases
        explained.counts = {bases[label].relation.name: len(t) for label, t in one.tokens.items()}
        if self.settings.how:
            explained.polynomial = in_order(polynomial)
            gates = {token: p for token, p in expansion.gates.items() if token in reached}
            explained.gates = {str(t): in_order(p) for t, p in sorted(gates.items(), key=_by_text)}
            explained.terms = self._terms(expander, one.annotated)
        if self.settings.cells:
            explained.cells = self._cells(expander, one.annotated)
        lost = ", ".join(str(token) for token in expansion.lost if token in reached)
        if lost:
            explained.notes = (*explained.notes, f"rows of {lost[:200]} were not found again")
        if explained.truncated:
            condition = self._condition([explained.row], ())
            statement = self.plan.question(condition, ["_p"])
            explained.sql = render(statement, self.plan.dialect, pretty=True)

    def _add_witnesses(self, opened: Sequence[_Opened]) -> None:
        """The witness rows of all answers, each relation read once."""
        if self.settings.counts_only:
            return
        for one in opened:
            if one.explained.truncated:
                most = self.settings.sample
                one.tokens = {label: tokens[:most] for label, tokens in one.tokens.items()}
        bases = self.plan.bases
        for label in bases:
            wanted = sorted({t for one in opened for t in one.tokens.get(label, ())}, key=str)
            if not wanted:
                continue
            identity = self.plan.rewritten.identities[label]
            found = fetch(self.connection, bases[label], identity, wanted)
            for one in opened:
                one.explained.witnesses += [
                    Witness(bases[label].relation.name, str(token), *found[token])
                    for token in one.tokens.get(label, ())
                    if token in found
                ]

    def _terms(self, expander: Expander, annotated: Sequence[Row]) -> tuple[TermClaim, ...]:
        """The outputs that are aggregates, or copies of one, with what each row adds to them."""
        if len(annotated) != 1:
            return ()
        names = {written: name for name, written in self.plan.outputs.items()}
        claims: list[TermClaim] = []
        for position, written in enumerate(self.plan.rewritten.names, 1):
            terms = expander.terms_of(annotated[0][position]) if written in names else None
            if terms is not None:
                pairs = [(value, in_order(p)) for value, p in terms.terms]
                ordered = tuple(sorted(pairs, key=lambda pair: (str(pair[1]), str(pair[0]))))
                claims.append(TermClaim(names[written], terms.function, terms.distinct, ordered))
        return tuple(claims)

    def _cells(self, expander: Expander, annotated: Sequence[Row]) -> tuple[CellClaim, ...]:
        names = {written: name for name, written in self.plan.outputs.items()}
        bases = self.plan.bases
        claims: list[CellClaim] = []
        for position, written in enumerate(self.plan.rewritten.names, 1):
            cells = {c for row in annotated for c in expander.cells_of(row[position])}
            if cells and written in names:
                sources = sorted(
                    (
                        bases[c.row.name].relation.name,
                        str(c.row),
                        bases[c.row.name].spelled(c.column),
                    )
                    for c in cells
                )
                claims.append(CellClaim(names[written], tuple(sources)))
        return tuple(claims)


def _total(match: Match) -> float | None:
    """The derivations of the rows that match, each of which carries its own count."""
    return sum(float(extra[0] or 0) for _, extra in match.found) or None


def token_of(text: str) -> Token:
    return Reader(text).token()


def _by_text(item: tuple[Token, Polynomial]) -> str:
    return str(item[0])


def _grouped(rows: Sequence[Values]) -> list[tuple[Values, int]]:
    """Distinct rows with how often each is there."""
    found: dict[str, tuple[Values, int]] = {}
    for row in rows:
        key = repr(list(row.items()))
        first, count = found.get(key, (row, 0))
        found[key] = (first, count + 1)
    return list(found.values())
