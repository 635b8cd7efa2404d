"""An algebra is the few SQL snippets a rewriter needs to annotate rows; one algebra, one reading.

``Polynomials`` writes the annotation as text that ``polynomial.parse`` reads; ``Counts`` computes
how many derivations a row has as a number, cheap enough to run first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from sqlglot import exp

from lineage_post.provenance.building import coalesce, concat, number, text

#: In the ``meta`` of an aggregate that joins annotations: dialects spell it as they can.
OURS = "joins annotations"
Over = Callable[[exp.Expr], exp.Expr]


class Algebra(Protocol):
    """Snippets of one semiring; an annotation of NULL means: no row on this side of a join."""

    def leaf(self, token: exp.Expr) -> exp.Expr: ...
    def one(self) -> exp.Expr: ...
    def zero(self) -> exp.Expr: ...
    def times(self, factors: Sequence[exp.Expr]) -> exp.Expr: ...
    def either(self, terms: Sequence[exp.Expr]) -> exp.Expr: ...
    def plus(self, annotation: exp.Expr) -> exp.Expr: ...
    def plus_over(self, annotation: exp.Expr, over: Over) -> exp.Expr: ...


class Polynomials:
    """Text such as ``(orders[1]*items[2]+orders[3])``.

    ``has_sums``: some of it is summed by the query itself, and may become long.
    """

    has_sums = False

    def leaf(self, token: exp.Expr) -> exp.Expr:
        return token

    def one(self) -> exp.Expr:
        return text("1")

    def zero(self) -> exp.Expr:
        return text("0")

    def times(self, factors: Sequence[exp.Expr]) -> exp.Expr:
        return self._joined(factors, "*") if factors else self.one()

    def either(self, terms: Sequence[exp.Expr]) -> exp.Expr:
        return concat([text("("), self._joined(terms, "+"), text(")")])

    def plus(self, annotation: exp.Expr) -> exp.Expr:
        return self.plus_over(annotation, lambda aggregate: aggregate)

    def plus_over(self, annotation: exp.Expr, over: Over) -> exp.Expr:
        self.has_sums = True
        joined = exp.GroupConcat(this=annotation, separator=text("+"))
        # The query's own texts are joined as the query says.
        joined.meta[OURS] = True
        return concat([text("("), over(joined), text(")")])

    def _joined(self, parts: Sequence[exp.Expr], sign: str) -> exp.Expr:
        spaced: list[exp.Expr] = []
        for part in parts:
            spaced.extend([text(sign), part] if spaced else [part])
        return concat(spaced)


class Counts:
    """The number of derivations, as a float: it may be astronomically large."""

    def leaf(self, token: exp.Expr) -> exp.Expr:
        return self.one()

    def one(self) -> exp.Expr:
        return exp.cast(number(1), exp.DataType.Type.DOUBLE)

    def zero(self) -> exp.Expr:
        return exp.cast(number(0), exp.DataType.Type.DOUBLE)

    def times(self, factors: Sequence[exp.Expr]) -> exp.Expr:
        if not factors:
            return self.one()
        result = factors[0]
        for factor in factors[1:]:
            result = exp.Mul(this=result, expression=factor)
        return result

    def either(self, terms: Sequence[exp.Expr]) -> exp.Expr:
        result = terms[0]
        for term in terms[1:]:
            result = exp.Add(this=result, expression=term)
        return exp.Paren(this=result)

    def plus(self, annotation: exp.Expr) -> exp.Expr:
        return exp.Sum(this=annotation)

    def plus_over(self, annotation: exp.Expr, over: Over) -> exp.Expr:
        return over(exp.Sum(this=annotation))


def or_one(algebra: Algebra, annotation: exp.Expr) -> exp.Expr:
    """``annotation``, or one where it is NULL: an outer join or a subquery found nothing."""
    return coalesce(annotation, algebra.one())
