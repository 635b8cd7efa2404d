"""An answer as plain lines: what ``dbt run-operation lineage_post.why`` logs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lineage_post.provenance.answer import Explained, Label, Witness

Name = Callable[[str], str]
#: A value is shown with so many characters.
WIDTH = 40


def lines(answers: Sequence[Explained], name: Name, *, sample: int = 20) -> Iterator[str]:
    """One block of lines for each row; ``name`` gives what people call a relation."""
    for answer in answers:
        yield f"{name(answer.model)} {values(answer.row)}: {label(answer)}"
        yield from _below(answer, name, sample, "  ")
        yield from _details(answer, name, sample)
        yield from (f"  note: {note}" for note in answer.notes)


def _below(answer: Explained, name: Name, sample: int, indent: str) -> Iterator[str]:
    if answer.refusal:
        yield f"{indent}refused: {answer.refusal}"
    for relation, count in answer.counts.items():
        more = " or more" if answer.truncated else ""
        yield f"{indent}{name(relation)}: {count}{more} row{'s' * (count != 1)}"
        of_it = [w for w in answer.witnesses if w.relation == relation]
        for witness in of_it[:sample]:
            yield f"{indent}  {_witness(witness)}"
            if witness.why is not None:
                yield from _below(witness.why, name, sample, indent + "    ")
        if len(of_it) > sample:
            yield f"{indent}  and {len(of_it) - sample} more"
    if answer.derivations and answer.truncated:
        yield f"{indent}{answer.derivations:,.0f} derivations; a sample is shown"
    if not answer.counts and answer.label not in (Label.GONE, Label.REFUSED):
        yield f"{indent}no source row: a constant, or an aggregate of nothing"


def _details(answer: Explained, name: Name, sample: int) -> Iterator[str]:
    if answer.polynomial is not None:
        yield f"  polynomial: {answer.polynomial}"
        yield from (f"    {token} = {p}" for token, p in answer.gates.items())
    for term in answer.terms:
        function = f"{term.function}{' distinct' if term.distinct else ''}"
        parts = " + ".join(f"{value} * {p}" for value, p in term.terms)
        yield f"  {term.column} = {function} of {parts}"
    for claim in answer.cells:
        for relation, token, column in claim.sources[:sample]:
            yield f"  {claim.column} is copied from {name(relation)}: {token}.{column}"
    if answer.sql:
        yield answer.sql


def _witness(witness: Witness) -> str:
    said = values({**witness.key, **witness.values})
    if witness.multiplicity > 1:
        said += f" x{witness.multiplicity}"
    return f"{said}: {label(witness.why)}" if witness.why is not None else said


def label(answer: Explained) -> str:
    """``changed since load (amount)``"""
    changed = f" ({', '.join(answer.changed)})" if answer.changed else ""
    times = f" x{answer.multiplicity}" if answer.multiplicity > 1 else ""
    return f"{answer.label.value}{changed}{times}"


def values(row: Mapping[str, Any]) -> str:
    """``id=1, name=null``, long values cut."""
    return ", ".join(f"{name}={_short(value)}" for name, value in row.items())


def _short(value: Any) -> str:
    said = "null" if value is None else str(value)
    return said if len(said) <= WIDTH else said[: WIDTH - 1] + "…"
