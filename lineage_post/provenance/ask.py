"""Asks why rows of one model are there: stored rows, run again, matched, and their gates opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from lineage_post.provenance.answer import CellClaim, Explained, Label, TermClaim, Witness
from lineage_post.provenance.connection import Connection, Row
from lineage_post.provenance.expansion import Expander, Expansion
from lineage_post.provenance.literals import agree, equals, same_row
from lineage_post.provenance.plan import Plan
from lineage_post.provenance.polynomial import Polynomial, Reader, Token, add, in_order, parse
from lineage_post.provenance.settings import Settings
from lineage_post.provenance.witnesses import fetch

Values = Mapping[str, Any]


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
        rows = [row for row, _ in groups]
        condition = self._condition(rows, question.key)
        counted = self.connection.rows(self.plan.count(condition))
        outputs = list(self.plan.outputs)
        counts = [(dict(zip(outputs, row, strict=False)), row[len(outputs)]) for row in counted]
        extras = ["_p", *(f"_c{n}" for n in range(1, self._width() + 1))]
        found: list[tuple[Values, Row]] | None = None
        answers: list[Explained] = []
        for row, multiplicity in groups:
            match = _matching(row, counts, question.key, self.plan.volatile)
            explained = self._labelled(question, row, multiplicity, match.label, match.changed)
            explained.derivations = sum(float(count or 0) for _, count in match.found) or None
            answers.append(explained)
            if match.label is Label.GONE:
                continue
            if found is None:
                asked = self.connection.rows(self.plan.question(condition, extras))
                found = [(dict(zip(outputs, r, strict=False)), r[len(outputs) :]) for r in asked]
            annotated = _matching(row, found, question.key, self.plan.volatile)
            self._explain(explained, [extra for _, extra in annotated.found])
        return answers

    # -- matching

    def _width(self) -> int:
        has_cells = self.settings.cells or self.settings.how
        return len(self.plan.rewritten.names) if has_cells else 0

    def _condition(self, rows: Sequence[Values], key: tuple[str, ...]) -> exp.Expr:
        columns = self.plan.columns()
        names = [name for name in key if name in columns]
        if not names or len(names) < len(key):
            names = [name for name in columns if name not in self.plan.volatile]
        if len(names) == 1:
            return _among(columns[names[0]], [row[names[0]] for row in rows])
        wanted = {name: columns[name] for name in names}
        return exp.or_(*(same_row(wanted, row) for row in rows))

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

    def _explain(self, explained: Explained, annotated: Sequence[Row]) -> None:
        settings = self.settings
        polynomials = [parse(row[0]) for row in annotated]
        is_many = (explained.derivations or 0) > settings.cap
        limit = settings.sample if is_many else settings.cap
        expander = Expander(
            self.plan.rewritten.gates,
            self.connection.rows,
            self.plan.dialect,
            limit=limit,
            cut=True,
        )
        expansion = expander.expand(polynomials)
        explained.truncated = is_many or expansion.is_cut
        polynomial = add(polynomials)
        self._add_witnesses(explained, expansion, polynomial)
        if settings.how:
            explained.polynomial = in_order(polynomial)
            gates = sorted(expansion.gates.items(), key=_by_text)
            explained.gates = {str(token): in_order(p) for token, p in gates}
            explained.terms = self._terms(expander, annotated)
        if settings.cells:
            explained.cells = self._cells(expander, annotated)
        if expansion.lost:
            lost = ", ".join(str(token) for token in expansion.lost[:3])
            explained.notes = (*explained.notes, f"rows of {lost} were not found again")
        if explained.truncated:
            condition = self._condition([explained.row], ())
            statement = self.plan.question(condition, ["_p"])
            explained.sql = statement.sql(self.plan.dialect, pretty=True)

    def _add_witnesses(
        self, explained: Explained, expansion: Expansion, polynomial: Polynomial
    ) -> None:
        tokens: dict[str, list[Token]] = {}
        for token in sorted(expansion.leaves(polynomial), key=str):
            tokens.setdefault(token.name, []).append(token)
        bases = self.plan.bases
        explained.counts = {bases[label].relation.name: len(t) for label, t in tokens.items()}
        if self.settings.counts_only:
            return
        for label, wanted in tokens.items():
            if explained.truncated:
                wanted = wanted[: self.settings.sample]
            identity = self.plan.rewritten.identities[label]
            found = fetch(self.connection, bases[label], identity, wanted)
            explained.witnesses += [
                Witness(bases[label].relation.name, str(token), *found[token])
                for token in wanted
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
                    (bases[c.row.name].relation.name, str(c.row), c.column) for c in cells
                )
                claims.append(CellClaim(names[written], tuple(sources)))
        return tuple(claims)


def token_of(text: str) -> Token:
    return Reader(text).token()


def _by_text(item: tuple[Token, Polynomial]) -> str:
    return str(item[0])


def _among(target: exp.Expr, values: Sequence[Any]) -> exp.Expr:
    tests = [equals(target.copy(), value) for value in values]
    known = [test for test in tests if test is not None]
    if len(known) < len(tests):
        return exp.true()
    literals = [test.expression for test in known if isinstance(test, exp.EQ)]
    nulls = [test for test in known if not isinstance(test, exp.EQ)]
    listed = [exp.In(this=target, expressions=literals)] if literals else []
    return exp.or_(*listed, *nulls[:1])


def _grouped(rows: Sequence[Values]) -> list[tuple[Values, int]]:
    """Distinct rows with how often each is there."""
    found: dict[str, tuple[Values, int]] = {}
    for row in rows:
        key = repr(list(row.items()))
        first, count = found.get(key, (row, 0))
        found[key] = (first, count + 1)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Match:
    """What the query gives now for a stored row."""

    label: Label
    changed: tuple[str, ...]
    found: list[tuple[Values, Any]]


def _matching(
    row: Values, found: Sequence[tuple[Values, Any]], key: tuple[str, ...], volatile: frozenset[str]
) -> Match:
    compared = [n for n in (found[0][0] if found else ()) if n in row and n not in volatile]
    known_key = [name for name in key if name in compared]
    if key and len(known_key) == len(key):
        same = [pair for pair in found if all(agree(row[n], pair[0][n]) for n in key)]
    else:
        same = list(found)
    equal = [pair for pair in same if all(agree(row[n], pair[0][n]) for n in compared)]
    if equal:
        return Match(Label.REPRODUCED, (), equal)
    if not same or not known_key:
        return Match(Label.GONE, (), [])
    differing = tuple(n for n in compared if not agree(row[n], same[0][0][n]))
    return Match(Label.CHANGED, differing, same)
