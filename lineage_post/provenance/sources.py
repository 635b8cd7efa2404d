"""FROM: annotated relations, and the annotations their join multiplies.

| join                        | rule                                                          |
|-----------------------------|---------------------------------------------------------------|
| inner, cross, lateral, asof | product                                                       |
| left, right, full           | product of ``coalesce(_p, one)``: no row is no witness        |
| semi                        | the sum of the matching right rows                            |
| anti                        | no witness; a note                                            |
| unnest, values, functions   | the parent's annotation                                       |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from lineage_post.provenance import conditions
from lineage_post.provenance.algebra import or_one
from lineage_post.provenance.building import (
    ANNOTATION,
    alias_of,
    column,
    names_of,
    scalar,
    subqueries,
)
from lineage_post.provenance.identity import KeyKind, row_token
from lineage_post.provenance.refusal import refuse

if TYPE_CHECKING:
    from lineage_post.provenance.rewriter import Rewriter


@dataclass(slots=True)
class Rows:
    """The annotated input of a SELECT: FROM and WHERE without outputs, and its factors."""

    skeleton: exp.Select
    factors: list[exp.Expr]


def rows(rw: Rewriter, select: exp.Select) -> Rows:
    """The rows ``select`` reads, annotated, before grouping and outputs."""
    reader = _Reader(rw)
    skeleton = exp.Select()
    start = select.args.get("from_")
    if start is not None:
        skeleton.set("from_", exp.From(this=reader.source(start.this)))
    skeleton.set("joins", [reader.join(join) for join in select.args.get("joins") or []])
    laterals = select.args.get("laterals")
    if laterals:
        skeleton.set("laterals", [reader.source(lateral) for lateral in laterals])
    factors = reader.factors
    if reader.has_outer:
        factors = [or_one(rw.algebra, factor) for factor in factors]
    factors += reader.matches
    where = select.args.get("where")
    if where is not None:
        skeleton.set("where", where.copy())
        factors += conditions.factors(rw, where.this)
    return Rows(skeleton, factors)


def projection_factors(rw: Rewriter, select: exp.Select) -> list[exp.Expr]:
    """Annotations of the subqueries in the outputs and QUALIFY of an ungrouped SELECT."""
    found: list[exp.Expr] = []
    qualify = select.args.get("qualify")
    for item in [*select.expressions, *([qualify] if qualify else [])]:
        for subquery in subqueries(item):
            found += conditions.subquery_factor(rw, subquery)
    return found


class _Reader:
    def __init__(self, rw: Rewriter) -> None:
        self.rw = rw
        self.factors: list[exp.Expr] = []
        self.matches: list[exp.Expr] = []
        self.has_outer = False

    def source(self, node: exp.Expr) -> exp.Expr:
        """The annotated form of one FROM item; adds its annotation to the factors."""
        if isinstance(node, exp.Table):
            return self._table(node)
        if isinstance(node, exp.Subquery):
            return self._subquery(node)
        if isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery):
            lateral = node.copy()
            lateral.this.set("this", self.rw.query(node.this.this))
            self._name_extras(lateral, node.this.this)
            self.factors.append(column(ANNOTATION, alias_of(node)))
            return lateral
        if isinstance(node, (exp.Lateral, exp.Unnest, exp.Values, exp.Func)):
            self.rw.note(_NO_IDENTITY)
            return node.copy()
        raise refuse(f"{node.key} in FROM", node)

    def _table(self, node: exp.Table) -> exp.Expr:
        rw, name = self.rw, node.name
        if not isinstance(node.this, exp.Identifier):
            rw.note(_NO_IDENTITY)
            return self._with_joins(node.copy(), node)
        if name in rw.prepared.ctes:
            source: exp.Expr = node.copy()
            source.set("this", exp.to_identifier(rw.annotated_cte(name), quoted=True))
            cte = rw.prepared.ctes[name]
            self._name_extras(source, cte.query)
            self.factors.append(column(ANNOTATION, alias_of(node)))
        elif not rw.symbolic:
            source = node.copy()
        else:
            source = self._leaf(node)
            self.factors.append(leaf_annotation(rw, node))
        return self._with_joins(source, node)

    def _leaf(self, node: exp.Table) -> exp.Expr:
        """The table, or ``(select _b.*, 'orders[' || _b.id || ']' as _p from orders _b)``."""
        rw, base = self.rw, self.rw.prepared.bases[node.name]
        rw.witnessing.add(base.label)
        if not _carries_token(rw, node):
            return node.copy()
        token = row_token(base, rw.identities[node.name], "_b", rw.dialect)
        table = exp.Table(this=exp.to_identifier(node.name, quoted=True))
        table.set("alias", exp.TableAlias(this=exp.to_identifier("_b")))
        every = exp.Column(this=exp.Star(), table=exp.to_identifier("_b"))
        select = exp.select(every, *rw.extras(rw.algebra.leaf(token), [])).from_(table)
        leaf = exp.Subquery(this=select, alias=node.args["alias"].copy())
        return leaf

    def _subquery(self, node: exp.Subquery) -> exp.Expr:
        copied = node.copy()
        if isinstance(node.this, exp.Query) and not _is_bracketed_join(node.this):
            copied.set("this", self.rw.query(node.this))
            if not node.alias:
                alias = exp.TableAlias(this=exp.to_identifier(self.rw.fresh("d")))
                copied.set("alias", alias)
            self._name_extras(copied, node.this)
            self.factors.append(column(ANNOTATION, alias_of(copied)))
        else:
            copied.set("this", self.source(node.this))
        return self._with_joins(copied, node)

    def _with_joins(self, source: exp.Expr, node: exp.Expr) -> exp.Expr:
        joins = node.args.get("joins")
        source.set("joins", [self.join(join) for join in joins] if joins else None)
        return source

    def _name_extras(self, source: exp.Expr, query: exp.Expr) -> None:
        """Where all columns are renamed, ``as t(a, b)``, ours need names too."""
        alias = source.args.get("alias")
        columns = alias.args.get("columns") if alias is not None else None
        outputs = len(names_of(query))
        if alias is not None and columns and len(columns) == outputs:
            extra = [exp.to_identifier(name) for name in self.rw.extra_names(outputs)]
            alias.set("columns", [*columns, *extra])

    def join(self, join: exp.Join) -> exp.Join:
        """The annotated form of one join."""
        kind, side = join.kind.upper(), join.side.upper()
        if join.args.get("using"):
            raise refuse("USING over unknown columns", join)
        if (join.method or "").upper() == "NATURAL":
            raise refuse("a NATURAL JOIN over unknown columns", join)
        if "SEMI" in (kind, side) or "ANTI" in (kind, side):
            return self._half(join, "SEMI" in (kind, side))
        self.has_outer = self.has_outer or side in ("LEFT", "RIGHT", "FULL") or kind == "OUTER"
        copied = join.copy()
        copied.set("this", self.source(join.this))
        if join.args.get("on") is not None:
            self.matches += conditions.factors(self.rw, join.args["on"])
        return copied

    def _half(self, join: exp.Join, is_semi: bool) -> exp.Join:
        rw = self.rw
        if not is_semi:
            rw.note_absence(join.this, "the right side of an anti join")
            return join.copy()
        right = _Reader(rw)
        source = right.source(join.this)
        matching = exp.select(rw.algebra.plus(rw.algebra.times(right.factors))).from_(source)
        if join.args.get("on") is not None:
            matching = matching.where(join.args["on"].copy())
        self.matches.append(or_one(rw.algebra, scalar(matching)))
        return join.copy()


def leaf_annotation(rw: Rewriter, node: exp.Table) -> exp.Expr:
    """The token of the row of a base table, written where it is used: few rows get so far."""
    base, identity = rw.prepared.bases[node.name], rw.identities[node.name]
    alias = alias_of(node)
    if _carries_token(rw, node):
        return column(ANNOTATION, alias)
    token = rw.algebra.leaf(row_token(base, identity, alias, rw.dialect))
    if not _may_be_missing(node):
        return token
    is_there = exp.Not(this=exp.Is(this=column(identity.columns[0], alias), expression=exp.null()))
    return exp.Case().when(is_there, token)


def _carries_token(rw: Rewriter, node: exp.Table) -> bool:
    """Whether the token must be made at the table: after an outer join a key may be missing."""
    kind = rw.identities[node.name].kind
    if kind is KeyKind.HASH or node.args["alias"].args.get("columns"):
        return True
    return kind is not KeyKind.ROW_ID and _may_be_missing(node)


def _may_be_missing(node: exp.Table) -> bool:
    select = node.find_ancestor(exp.Select)
    return select is None or any(
        join.side.upper() in ("LEFT", "RIGHT", "FULL") for join in select.find_all(exp.Join)
    )


def _is_bracketed_join(node: exp.Expr) -> bool:
    """``(b join c on ...)`` as one item of FROM."""
    return isinstance(node, exp.Subquery) and bool(node.args.get("joins"))


_NO_IDENTITY = "rows of a table function, VALUES or UNNEST have no identity of their own"
