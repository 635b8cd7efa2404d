"""A list of names in place of those a relation has: ``from (...) as t(a, b)``, ``with c(a, b)``."""

from __future__ import annotations

from collections.abc import Sequence

from lineage_post.trace.relation import AnyStep, Relation
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import Reason


def renamed(t: Tracer, relation: Relation, names: Sequence[str]) -> Relation:
    """The relation under a list of names; where not all of its columns are known, none of the
    names can be placed."""
    if relation.open is None:
        return relation.renamed(names[: len(relation.spellings)])
    return placed(t, relation, [], names)


def placed(t: Tracer, relation: Relation, last: Sequence[int], names: Sequence[str]) -> Relation:
    """The same where the columns at the positions ``last`` are known to come last."""
    n = max(len(names) - len(last), 0)
    unknown = [
        t.sources.unknown(name, Reason.SCHEMA_MISSING, f"{name} renames a column that is not known")
        for name in names[:n]
    ]
    known = last[: len(names) - n]
    provenances = [*unknown, *(relation.at(i) for i in known)]
    steps: list[AnyStep] = [*[None] * n, *(relation.steps[i] for i in known)]
    return Relation(
        t.rules, names, provenances, steps, relation.rows, relation.rows_of, relation.open
    )
