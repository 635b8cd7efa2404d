"""A list of names in place of those a relation has: ``from (...) as t(a, b)``, ``with c(a, b)``."""

from __future__ import annotations

from collections.abc import Sequence

from lineage_post.trace.relation import AnyStep, Relation
from lineage_post.trace.shapes import Shape
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import Reason


def renamed(
    t: Tracer, relation: Relation, names: Sequence[str], *, is_whole: bool = False
) -> Relation:
    """The relation under a list of names, of all its columns or of the first. Where not all are
    known, those names alone can be placed that stand before and behind them."""
    if relation.open is None:
        return relation.renamed(names[: len(relation.spellings)])
    count = len(names) if is_whole else None
    return placed(t, relation, [relation.place(i, count) for i in range(len(names))], names)


def placed(
    t: Tracer, relation: Relation, places: Sequence[int | None], names: Sequence[str]
) -> Relation:
    """The columns at some positions, under their new names; of None nothing is known."""
    provenances: list[int] = []
    steps: list[AnyStep] = []
    shapes: dict[int, Shape] = {}
    for i, (name, place) in enumerate(zip(names, places)):
        if place is None:
            detail = f"{name} renames a column that is not known"
            provenances.append(t.sources.unknown(name, Reason.SCHEMA_MISSING, detail))
            steps.append(None)
            continue
        provenances.append(relation.at(place))
        steps.append(relation.steps[place])
        if relation.shapes is not None and place in relation.shapes:
            shapes[i] = relation.shapes[place]
    return Relation(
        t.rules, names, provenances, steps, relation.rows, relation.rows_of, relation.open, shapes,
        gap=(len(names), len(names)),
    )  # fmt: skip
