"""What each output of a statement is computed by, in a form that two versions can be compared in.

CTEs and derived tables are seen through, so that only what is computed counts: not the names within
the statement, not its layout, not its comments, not the database that a relation stands in.

    with o as (select a * 2 as x from t) select x + 1 as y from o        y: (t.a * 2) + 1
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot import exp

from lineage_post.trace.spaces import readable

#: What the statement calls a table -> the node it stands for.
NodeOf = Callable[[tuple[str, ...]], str]
#: A column of a node -> the name it had before.
NameBefore = Callable[[str, str], str]
#: The clauses of a select that decide rows, and what a change of each is called.
CLAUSES = (
    ("filter", "where"),
    ("filter", "having"),
    ("filter", "qualify"),
    ("grain", "group"),
    ("grain", "distinct"),
    ("limit", "limit"),
    ("limit", "offset"),
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause that decides rows: ``filter``, ``join``, ``grain`` or ``limit``; its SQL, and what
    it comes to when all names are resolved."""

    kind: str
    sql: str
    meaning: str


@dataclass(slots=True)
class Definition:
    """The outputs of a statement, by folded name, and its clauses.

    ``columns`` has what each comes to, ``texts`` its SQL as it stands in the statement.
    """

    columns: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    clauses: list[Clause] = field(default_factory=list)


def definition_of(
    sql: str,
    outputs: Sequence[str],
    *,
    dialect: str,
    node_of: NodeOf,
    name_before: NameBefore,
    stop_at: Mapping[str, str],
) -> Definition | None:
    """The definition of a statement, None where it cannot be read."""
    try:
        tree: Any = sqlglot.parse_one(readable(sql, dialect), read=dialect)
        return _Reader(tree, dialect, node_of, name_before, stop_at).definition(outputs)
    except (sqlglot.errors.SqlglotError, RecursionError):
        return None


class _Reader:
    """Resolves the columns of one statement."""

    def __init__(
        self,
        tree: Any,
        dialect: str,
        node_of: NodeOf,
        name_before: NameBefore,
        stop_at: Mapping[str, str],
    ) -> None:
        self.tree = tree
        self.dialect = dialect
        self.node_of = node_of
        self.name_before = name_before
        self.stop_at = {name.casefold(): node for name, node in stop_at.items()}
        self.known: dict[tuple[int, str], str] = {}
        self.kept: list[Any] = []

    def definition(self, outputs: Sequence[str]) -> Definition:
        found = Definition()
        for name in outputs:
            folded = name.casefold()
            found.columns[folded] = self._output(self.tree, folded)
            found.texts[folded] = self._sql(self._projection(self.tree, folded))
        found.clauses = self._clauses()
        return found

    def _sql(self, expression: Any) -> str:
        return str(expression.sql(dialect=self.dialect)) if expression is not None else ""

    def _branches(self, query: Any) -> list[Any]:
        """The selects of a query: one, or those of a union, the first one first."""
        if isinstance(query, (exp.Subquery, exp.Paren)):
            return self._branches(query.this)
        if isinstance(query, exp.SetOperation):
            return [*self._branches(query.left), *self._branches(query.right)]
        return [query] if isinstance(query, exp.Select) else []

    def _projection(self, query: Any, name: str) -> Any:
        for select in self._branches(query)[:1]:
            for item in select.expressions:
                if item.alias_or_name.casefold() == name:
                    return item.unalias()
        return None

    def _output(self, query: Any, name: str) -> str:
        """What an output of a query comes to, a hash; unions have one for each branch."""
        key = (id(query), name)
        if key not in self.known:
            self.known[key] = f"recursive {name}"
            self.kept.append(query)
            branches = self._branches(query)
            position = self._position(branches[0], name) if branches else None
            parts = [self._of_branch(select, name, position) for select in branches]
            # A mere copy comes to what it copies, however many CTEs it goes through.
            self.known[key] = parts[0] if len(parts) == 1 else _hash("|".join(parts))
        return self.known[key]

    def _position(self, select: Any, name: str) -> int | None:
        if any(item.is_star for item in select.expressions):
            return None
        names = [item.alias_or_name.casefold() for item in select.expressions]
        return names.index(name) if name in names else None

    def _of_branch(self, select: Any, name: str, position: int | None) -> str:
        items = select.expressions
        if position is not None and position < len(items) and not any(i.is_star for i in items):
            return self._meaning(items[position].unalias())
        for item in items:
            if not item.is_star and item.alias_or_name.casefold() == name:
                return self._meaning(item.unalias())
        for replaced in (r for i in items for r in i.find_all(exp.Alias)):
            if replaced.alias.casefold() == name:
                return self._meaning(replaced.this)
        return self._column(select, None, name)

    def _meaning(self, expression: Any) -> str:
        """The SQL of an expression with every column replaced by what it comes to."""
        expression = expression.unnest()
        if isinstance(expression, exp.Column):
            return self._of_column(expression)
        copy = expression.copy()
        # A copy has the same shape, so that its columns pair with those that know their select.
        pairs = list(zip(copy.find_all(exp.Column), expression.find_all(exp.Column), strict=True))
        for node, origin in pairs:
            node.replace(exp.column(f"c{_hash(self._of_column(origin))}"))
        for table in list(copy.find_all(exp.Table)):
            table.replace(exp.to_identifier(self._node(table)))
        return str(copy.sql(dialect=self.dialect, comments=False))

    def _of_column(self, column: Any) -> str:
        select = column.find_ancestor(exp.Select)
        return self._column(select, column.table or None, column.name.casefold())

    def _node(self, table: Any) -> str:
        parts = tuple(part.name for part in table.parts)
        if len(parts) == 1 and parts[0].casefold() in self.stop_at:
            return self.stop_at[parts[0].casefold()]
        return self.node_of(parts)

    def _column(self, select: Any, table: str | None, name: str) -> str:
        """What a column comes to, looked up in the sources of a select and of those around it."""
        while select is not None:
            sources = self._sources(select)
            if table is not None:
                sources = [s for s in sources if s[0] == table.casefold()]
            for _, query, node in sources:
                if query is None and (table is not None or len(sources) == 1):
                    return f"{node}.{self.name_before(node, name)}"
                if query is not None and self._has(query, name):
                    return self._output(query, name)
            tables = [node for _, query, node in sources if query is None]
            if tables:
                found = {self.name_before(node, name) for node in tables}
                return f"{'/'.join(sorted(tables))}.{'/'.join(sorted(found))}"
            if sources and select.parent_select is None:
                return self._output(sources[0][1], name)
            select = select.parent_select
        return f"{table or ''}.{name}"

    def _has(self, query: Any, name: str) -> bool:
        for select in self._branches(query)[:1]:
            if any(i.alias_or_name.casefold() == name for i in select.expressions):
                return True
            if any(i.is_star for i in select.expressions):
                return any(
                    query is None or self._has(query, name) for _, query, _ in self._sources(select)
                )
        return False

    def _sources(self, select: Any) -> list[tuple[str, Any, str]]:
        """(alias, query, node) of what a select reads: a query, or a table that is a node."""
        joins = [join.this for join in select.args.get("joins") or ()]
        start = select.args.get("from_") or select.args.get("from")
        found = []
        for source in [*([start.this] if start is not None else []), *joins]:
            if isinstance(source, exp.Table):
                cte = self._cte(select, source)
                node = "" if cte is not None else self._node(source)
                found.append((source.alias_or_name.casefold(), cte, node))
            elif isinstance(source, exp.Subquery):
                found.append((source.alias.casefold(), source.this, ""))
        return found

    def _cte(self, select: Any, table: Any) -> Any:
        if table.db or table.name.casefold() in self.stop_at:
            return None
        scope = select
        while scope is not None:
            with_ = scope.args.get("with_") or scope.args.get("with")
            for cte in with_.expressions if with_ is not None else ():
                if cte.alias.casefold() == table.name.casefold() and cte.this is not select:
                    return cte.this
            scope = scope.parent
        return None

    def _clauses(self) -> list[Clause]:
        found: list[Clause] = []
        for select in self.tree.find_all(exp.Select):
            if not self._is_stopped(select):
                found += self._of_select(select)
        for union in self.tree.find_all(exp.SetOperation):
            word = f"{union.key} {'distinct' if union.args.get('distinct') else 'all'}"
            found.append(Clause("grain", word, word))
        return found

    def _of_select(self, select: Any) -> Iterator[Clause]:
        for kind, key in CLAUSES:
            clause = select.args.get(key)
            if clause is not None:
                yield Clause(kind, self._sql(clause), self._grouped(select, clause))
        order = select.args.get("order")
        if order is not None and select.args.get("limit") is not None:
            yield Clause("limit", self._sql(order), self._meaning(order))
        start = select.args.get("from_") or select.args.get("from")
        if start is not None and not self._is_query(select, start.this):
            yield Clause("join", self._sql(start), f"from {self._read_name(start.this)}")
        for join in select.args.get("joins") or ():
            yield Clause("join", self._sql(join), self._join(join))
        for lateral in select.args.get("laterals") or ():
            yield Clause("join", self._sql(lateral), self._meaning(lateral))

    def _is_query(self, select: Any, source: Any) -> bool:
        """Whether a source is a CTE or a derived table and no more: what it reads counts there."""
        if source.args.get("pivots") or source.args.get("sample"):
            return False
        if isinstance(source, exp.Table):
            return self._cte(select, source) is not None
        return isinstance(source, exp.Subquery)

    def _is_stopped(self, select: Any) -> bool:
        cte = select.find_ancestor(exp.CTE)
        while cte is not None:
            if cte.alias.casefold() in self.stop_at:
                return True
            cte = cte.find_ancestor(exp.CTE)
        return False

    def _grouped(self, select: Any, clause: Any) -> str:
        """A clause, positions of ``group by 1`` and aliases replaced by what they stand for."""
        if isinstance(clause, (exp.Where, exp.Having, exp.Qualify)):
            return self._condition(clause.this)
        if not isinstance(clause, exp.Group):
            return self._meaning(clause)
        keys = []
        for key in clause.expressions:
            if isinstance(key, exp.Literal) and key.is_int:
                at = int(key.this) - 1
                key = select.expressions[at].unalias() if at < len(select.expressions) else key
            elif isinstance(key, exp.Column) and not key.table:
                named = [e for e in select.expressions if e.alias.casefold() == key.name.casefold()]
                key = named[0].this if named else key
            keys.append(self._meaning(key))
        return ", ".join(sorted(keys)) or self._meaning(clause)

    def _condition(self, condition: Any) -> str:
        """A condition; which of its parts stands first is no difference."""
        condition = condition.unnest()
        parts = condition.flatten() if isinstance(condition, exp.And) else [condition]
        return " and ".join(sorted(self._meaning(part) for part in parts))

    def _join(self, join: Any) -> str:
        words = [str(join.args.get(k) or "") for k in ("method", "side", "kind")]
        on = join.args.get("on")
        using = [u.name.casefold() for u in join.args.get("using") or ()]
        what = self._condition(on) if on is not None else ", ".join(using)
        return " ".join([*words, self._read_name(join.this), what])

    def _read_name(self, source: Any) -> str:
        """What a source is: a node, a query of this statement, a function with its arguments."""
        more = [self._meaning(pivot) for pivot in source.args.get("pivots") or ()]
        if source.args.get("sample") is not None:
            more.append(self._sql(source.args["sample"]))
        if isinstance(source, exp.Subquery):
            return " ".join(["query", *more])
        if not isinstance(source, exp.Table) or not isinstance(source.this, exp.Identifier):
            return self._meaning(source)
        select = source.find_ancestor(exp.Select)
        name = "query" if self._cte(select, source) is not None else self._node(source)
        return " ".join([name, *more])


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
