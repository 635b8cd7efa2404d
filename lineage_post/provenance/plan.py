"""A model's SQL made ready to ask for its rows: rewritten, and its outputs matched to columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from lineage_post.provenance.algebra import Counts
from lineage_post.provenance.building import column, derived, output
from lineage_post.provenance.expansion import lifted
from lineage_post.provenance.prepare import prepare
from lineage_post.provenance.prepared import Base, Prepared
from lineage_post.provenance.relations import Relations
from lineage_post.provenance.rewriter import Rewriter, Rewritten
from lineage_post.provenance.settings import Settings
from lineage_post.provenance.volatility import volatile_outputs


@dataclass(frozen=True, slots=True)
class Plan:
    """``outputs`` maps the model's column names to those of the rewritten query, in its order.

    ``volatile`` are columns that a second run changes anyway.
    """

    prepared: Prepared
    rewritten: Rewritten
    outputs: Mapping[str, str]
    volatile: frozenset[str]
    dialect: str

    @property
    def bases(self) -> dict[str, Base]:
        """The relations whose rows are witnesses, by their label in tokens."""
        return {base.label: base for base in self.prepared.bases.values()}

    def columns(self) -> dict[str, exp.Expr]:
        """The model's columns as columns of the derived table ``_ask``."""
        return {name: output(written, "_ask") for name, written in self.outputs.items()}

    def question(self, condition: exp.Expr, extras: Sequence[str]) -> exp.Select:
        """The rewritten query's rows that fulfil ``condition`` (over ``_ask``)."""
        return self._over(self.rewritten.query, condition, extras)

    def count(self, condition: exp.Expr) -> exp.Select:
        """The same rows with the number of their derivations."""
        counting = Rewriter(self.prepared, Counts()).rewrite().query
        return self._over(counting, condition, ["_p"])

    def _over(self, query: exp.Expr, condition: exp.Expr, extras: Sequence[str]) -> exp.Select:
        outputs = [*self.columns().values(), *(column(name, "_ask") for name in extras)]
        select = exp.select(*outputs).from_(derived(query.copy(), "_ask"))
        return lifted(select.where(condition.copy()))


def make_plan(
    sql: str, dialect: str, relations: Relations, columns: Sequence[str], settings: Settings
) -> Plan:
    """The plan for a model with stored ``columns`` (empty if unknown). Raises Refusal."""
    prepared = prepare(sql, dialect, relations)
    rewriter = Rewriter(prepared, cells=settings.cells, terms=settings.how)
    rewritten = rewriter.rewrite()
    outputs = matched(prepared.names, rewritten.names, columns)
    names = {written: name for name, written in outputs.items()}
    volatile = {
        names[rewritten.names[position]]
        for position in volatile_outputs(prepared)
        if rewritten.names[position] in names
    }
    return Plan(prepared, rewritten, outputs, frozenset(volatile), dialect)


def matched(
    original: Sequence[str], written: Sequence[str], columns: Sequence[str]
) -> dict[str, str]:
    """Stored columns -> outputs: by name, else by position where all are there."""
    by_name = {
        (name or other).lower(): other for name, other in zip(original, written, strict=True)
    }
    if not columns:
        return {other: other for other in written}
    found = {name: by_name[name.lower()] for name in columns if name.lower() in by_name}
    if len(found) < len(written) == len(columns):
        return dict(zip(columns, written, strict=True))
    return found
