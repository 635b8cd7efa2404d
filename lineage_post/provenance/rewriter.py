"""The rewriter: a query in, the same rows with one more column ``_p`` out.

Every relation is annotated with the provenance of its rows; each operator combines annotations by
one rule, in a module of its own: ``sources`` (FROM), ``conditions`` (WHERE and subqueries),
``grouping`` (GROUP BY, DISTINCT), ``windows`` and ``setops``.

    select o.id from orders o join items i on i.order_id = o.id
    select o.id, o._p || '*' || i._p as _p
    from (select b.*, 'orders[' || b.id || ']' as _p from orders b) o join (...) i on ...

Sources: Glavic and Alonso, Perm, ICDE 2009 and EDBT 2009; Green et al., PODS 2007.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from lineage_post.provenance import cells, grouping, setops, sources, windows
from lineage_post.provenance.algebra import Algebra, Polynomials
from lineage_post.provenance.building import ANNOTATION, aliased, column, derived, names_of, output
from lineage_post.provenance.gates import Gate, GateKind, Keys, Term
from lineage_post.provenance.identity import Identity, identity_of, part, token
from lineage_post.provenance.prepared import Prepared
from lineage_post.provenance.refusal import refuse
from lineage_post.provenance.scopes import is_correlated


@dataclass(frozen=True, slots=True)
class Rewritten:
    """``query`` gives the original's columns, then ``_p`` (then ``_cell1``... where asked)."""

    query: exp.Expr
    names: tuple[str, ...]
    gates: Mapping[str, Gate]
    #: How the rows of each relation are told apart, by label.
    identities: Mapping[str, Identity]
    #: The labels of relations whose rows can be witnesses; others only occur in absence conditions.
    witnessing: frozenset[str]
    notes: tuple[str, ...]
    #: Annotations are summed as text: they may be long, so that counting comes first.
    has_sums: bool


class Rewriter:
    """Rewrites one prepared query.

    ``gating``: groups and uncorrelated subqueries become gates; else all is one inline annotation.
    ``cells``: also carry, for every output, where its value was copied from.
    ``terms``: gates also carry the values their aggregates add up.
    """

    def __init__(
        self,
        prepared: Prepared,
        algebra: Algebra | None = None,
        *,
        gating: bool = True,
        cells: bool = False,
        terms: bool = False,
    ) -> None:
        self.prepared = prepared
        self.dialect = prepared.dialect
        self.algebra: Algebra = algebra or Polynomials()
        self.symbolic = isinstance(self.algebra, Polynomials)
        self.gating = gating and self.symbolic
        # Terms are found by the pointers that cells carry.
        self.cells = (cells or terms) and self.symbolic
        self.terms = terms and self.symbolic
        self.identities = {
            name: identity_of(base, self.dialect) for name, base in prepared.bases.items()
        }
        self.gates: dict[str, Gate] = {}
        self.witnessing: set[str] = set()
        self.notes: dict[str, None] = dict(prepared.notes)
        self._annotated: dict[str, exp.Expr] = {}
        self._recursing: list[str] = []
        self._counter = 0
        self._taken = _underscored(prepared)
        self._known: dict[str, str] = {}

    # -- the whole

    def rewrite(self) -> Rewritten:
        """The rewritten query with its gates. Raises Refusal."""
        query = self.assemble(self.query(self.prepared.body))
        gates = {
            name: Gate(
                gate.name,
                gate.kind,
                gate.types,
                tuple(self.assemble(side) for side in gate.sides),
                gate.terms,
                gate.outputs,
            )
            for name, gate in self.gates.items()
        }
        names = tuple(names_of(self.prepared.body))
        bases = self.prepared.bases
        identities = {bases[name].label: kind for name, kind in self.identities.items()}
        witnessing = frozenset(self.witnessing)
        has_sums = isinstance(self.algebra, Polynomials) and self.algebra.has_sums
        return Rewritten(query, names, gates, identities, witnessing, tuple(self.notes), has_sums)

    def query(self, node: exp.Expr) -> exp.Expr:
        """A query annotated: its outputs, then ``extras``."""
        if isinstance(node, (exp.Subquery, exp.Paren)):
            return self._bracketed(node)
        if isinstance(node, exp.Select):
            return self._select(node)
        if isinstance(node, exp.SetOperation):
            return setops.annotate(self, node)
        if isinstance(node, exp.Values):
            wrapped = derived(node.copy(), self.fresh("v"))
            unknown = [cells.unknown() for _ in node.named_selects] if self.cells else []
            return exp.select("*", *self.extras(self.algebra.one(), unknown)).from_(wrapped)
        raise refuse(f"a {node.key} in place of a query", node)

    def _bracketed(self, node: exp.Expr) -> exp.Expr:
        inner = self.query(node.this)
        if not any(node.args.get(key) for key in ("order", "limit", "offset")):
            return inner
        return self.tail(node, inner, node.this.named_selects)

    def _select(self, select: exp.Select) -> exp.Expr:
        distinct = select.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is None:
            return grouping.distinct(self, select)
        self._note_choice(select)
        if grouping.is_grouped(select):
            return grouping.grouped(self, select)
        rows = sources.rows(self, select)
        inputs = rows.skeleton.copy()
        annotated = rows.skeleton
        for key in ("distinct", "qualify", "order", "limit", "offset", "expressions", "kind"):
            value = select.args.get(key)
            if value is not None:
                annotated.set(key, _copied(value))
        factors = rows.factors + sources.projection_factors(self, select)
        own = self.algebra.times(factors)
        inside = windows.factors(self, select, own, inputs.copy)
        annotation = self.algebra.times([own, *inside]) if inside else own
        origin = cells.of_outputs(self, select) if self.cells else []
        return self.append(annotated, annotation, origin)

    def _note_choice(self, select: exp.Select) -> None:
        if select.args.get("offset"):
            self.note("offset: the rows skipped before this one are a condition, not witnesses")
        distinct = select.args.get("distinct")
        if select.args.get("qualify") or select.args.get("limit") or distinct is not None:
            self.note("ties: where rows tie for a place, the engine's choice decides")

    # -- pieces every rule uses

    def fresh(self, stem: str) -> str:
        """An alias that stands nowhere in the query."""
        while True:
            self._counter += 1
            name = f"_{stem}{self._counter}"
            if name not in self._taken:
                return name

    def note(self, text: str) -> None:
        self.notes[text] = None

    def note_absence(self, node: exp.Expr, operator: str) -> None:
        """Say that ``operator`` found no row of the relations under ``node``."""
        needed = [node, *(self.prepared.ctes[name].query for name in self._needed(node))]
        bases = self.prepared.bases
        named = {t.name for query in needed for t in query.find_all(exp.Table)} & set(bases)
        where = ", ".join(sorted(bases[name].relation.name for name in named)) or "its rows"
        self.note(f"absence in {where}: {operator} found none; that is a condition, not a witness")

    def extras(self, annotation: exp.Expr, origin: Sequence[exp.Expr]) -> list[exp.Expr]:
        named = [aliased(annotation, ANNOTATION)]
        named += [aliased(cell, f"_cell{n}") for n, cell in enumerate(origin, 1)]
        return named

    def extra_names(self, outputs: int) -> list[str]:
        """The names of the columns a rewritten query of so many outputs has more."""
        return [ANNOTATION, *(f"_cell{n}" for n in range(1, outputs + 1) if self.cells)]

    def append(
        self, select: exp.Select, annotation: exp.Expr, origin: Sequence[exp.Expr]
    ) -> exp.Select:
        return select.select(*self.extras(annotation, origin), copy=False)

    def tail(self, node: exp.Expr, rewritten: exp.Expr, names: Sequence[str]) -> exp.Expr:
        """``rewritten`` under the ORDER BY, LIMIT and OFFSET of ``node``."""
        kept = {key: node.args.get(key) for key in ("order", "limit", "offset")}
        if not any(kept.values()):
            return rewritten
        alias = self.fresh("t")
        outputs = [aliased(output(name, alias), name, quoted=True) for name in names]
        outputs += [column(name, alias) for name in self.extra_names(len(names))]
        select = exp.select(*outputs).from_(derived(rewritten, alias))
        for key, value in kept.items():
            if value is not None:
                select.set(key, _copied(value))
        self._order_by_outputs(node, select, names)
        if kept["offset"] is not None:
            self.note("offset: the rows skipped before this one are a condition, not witnesses")
        return select

    def _order_by_outputs(self, node: exp.Expr, select: exp.Select, names: Sequence[str]) -> None:
        order = select.args.get("order")
        if order is None:
            return
        if isinstance(node, exp.Select):
            by_sql = {
                item.unalias().unnest().sql(): item.alias_or_name for item in node.expressions
            }
            for ordered in order.expressions:
                name = by_sql.get(ordered.this.unnest().sql())
                if name is not None:
                    ordered.set("this", exp.column(exp.to_identifier(name, quoted=True)))
        if any(found.table for found in order.find_all(exp.Column)):
            if select.args.get("limit"):
                raise refuse("ORDER BY of an expression that is no output, under a LIMIT", node)
            select.set("order", None)

    # -- gates

    def can_gate(self, query: exp.Expr) -> bool:
        return self.gating and not self._recursing and not is_correlated(query)

    def gate(
        self,
        kind: GateKind,
        sign: str,
        keys: Keys,
        sides: Sequence[exp.Expr],
        *,
        terms: Sequence[Term] = (),
        outputs: int = 0,
    ) -> str:
        """A new gate; what comes back is its name."""
        name = f"@{sign}{sum(known.startswith('@' + sign) for known in self.gates) + 1}"
        types = tuple(data_type for _, data_type in keys)
        self.gates[name] = Gate(name, kind, types, tuple(sides), tuple(terms), outputs)
        return name

    def token(self, name: str, keys: Keys) -> exp.Expr:
        parts = [part(key, data_type, self.dialect) for key, data_type in keys]
        return self.algebra.leaf(token(name, parts))

    def once(self, key: str, make: Callable[[], str]) -> str:
        """The gate that ``make`` made the first time for ``key``: one gate for one subquery."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    # -- CTEs

    def annotated_cte(self, name: str) -> str:
        """The name of the annotated version of a CTE, made on first use."""
        annotated = f"{name}__p"
        if annotated not in self._annotated and name not in self._recursing:
            cte = self.prepared.ctes[name]
            if cte.recursive:
                self._recurse(name)
            self._annotated[annotated] = self.query(cte.query)
            if cte.recursive:
                self._recursing.remove(name)
        return annotated

    def _recurse(self, name: str) -> None:
        query = self.prepared.ctes[name].query
        if not isinstance(query, exp.Union) or query.args.get("distinct") is not False:
            raise refuse("a recursive CTE with UNION (distinct)", query)
        self.note("recursive: each row of the recursion names the rows of its whole path")
        self._recursing.append(name)

    def assemble(self, query: exp.Expr) -> exp.Expr:
        """``query`` as a statement: the CTEs it needs before it, physical names back in place."""
        needed = self._needed(query)
        both = {name for name in needed if f"{name}__p" in needed}
        clauses = [self._clause(name) for name in self._in_order(needed) if name not in both]
        statement = query.copy()
        if clauses:
            recursive = any(self._is_recursive(name) for name in needed)
            statement.set("with_", exp.With(expressions=clauses, recursive=recursive))
        for table in list(statement.find_all(exp.Table)):
            if table.db or not isinstance(table.this, exp.Identifier):
                continue
            if table.name in both:
                table.set("this", exp.to_identifier(f"{table.name}__p", quoted=True))
            elif table.name in self.prepared.bases:
                for key, value in self.prepared.bases[table.name].table.args.items():
                    table.set(key, value.copy() if isinstance(value, exp.Expr) else value)
        return statement

    def _needed(self, query: exp.Expr) -> set[str]:
        needed: set[str] = set()
        pending = [query]
        while pending:
            for table in pending.pop().find_all(exp.Table):
                name = table.name
                body = self._body(name) if not table.db and name not in needed else None
                if body is not None:
                    needed.add(name)
                    pending.append(body)
        return needed

    def _body(self, name: str) -> exp.Expr | None:
        if name in self.prepared.ctes:
            return self.prepared.ctes[name].query
        return self._annotated.get(name)

    def _in_order(self, needed: set[str]) -> list[str]:
        order = [name for cte in self.prepared.ctes for name in (cte, f"{cte}__p")]
        return [name for name in order if name in needed]

    def _is_recursive(self, name: str) -> bool:
        return self.prepared.ctes[name.removesuffix("__p")].recursive

    def _clause(self, name: str) -> exp.CTE:
        plain = name.removesuffix("__p")
        cte = self.prepared.ctes.get(name) or self.prepared.ctes[plain]
        names = list(cte.columns)
        columns = [exp.to_identifier(n, quoted=True) for n in names]
        if names and name not in self.prepared.ctes:
            columns += [exp.to_identifier(n) for n in self.extra_names(len(names))]
        body = self._body(name)
        assert body is not None
        alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True), columns=columns or None)
        return exp.CTE(this=body.copy(), alias=alias)


def _underscored(prepared: Prepared) -> frozenset[str]:
    """The names in a query that one of ours might be equal to."""
    queries = [prepared.body, *(cte.query for cte in prepared.ctes.values())]
    names = {found.name.lower() for q in queries for found in q.find_all(exp.Identifier)}
    return frozenset(name for name in names if name.startswith("_"))


def _copied(value: object) -> object:
    if isinstance(value, list):
        return [item.copy() for item in value]
    return value.copy() if isinstance(value, exp.Expr) else value
