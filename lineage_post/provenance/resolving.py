"""Names of relations: internal ones for tables, one place at the top for CTEs and views."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

from lineage_post.provenance.prepared import Base, Cte
from lineage_post.provenance.query_text import parsed
from lineage_post.provenance.refusal import refuse
from lineage_post.provenance.relations import BaseTable, Relations, View

#: Names that the rewriter gives: to tables, and to CTEs once they are annotated.
_OURS = re.compile(r"^_r\d+$|__p$")


class Resolver:
    """Replaces table names by internal ones and lifts CTEs and views to the top.

    Both are quoted, so that no dialect folds them.
    """

    def __init__(self, dialect: str, relations: Relations) -> None:
        self.dialect = dialect
        self.relations = relations
        self.ctes: dict[str, Cte] = {}
        self.bases: dict[str, Base] = {}
        self._internal: dict[str, str] = {}
        self._views: dict[str, str] = {}
        self._opening: list[str] = []
        self._taken: set[str] = set()

    def resolve(self, node: exp.Expr, scope: Mapping[str, str]) -> None:
        """Resolve in place; ``scope`` maps the CTE names that are visible to their unique names."""
        clause = node.args.get("with_")
        if clause is not None:
            scope = self._lift(clause, dict(scope))
            node.set("with_", None)
        if isinstance(node, exp.Table):
            self._table(node, scope)
        for child in list(node.iter_expressions()):
            self.resolve(child, scope)

    def _lift(self, clause: exp.With, scope: dict[str, str]) -> dict[str, str]:
        for cte in clause.expressions:
            name, query = cte.alias.lower(), cte.this
            if not isinstance(query, exp.Query):
                raise refuse(f"a {query.key} statement in WITH", cte)
            unique = self._unique(name)
            recursive = bool(clause.args.get("recursive")) and _reads(query, name)
            if recursive and cte.args.get("key_expressions"):
                raise refuse("a recursive CTE with USING KEY", cte)
            self.resolve(query, {**scope, name: unique} if recursive else scope)
            named = cte.args["alias"].args.get("columns") or []
            columns = tuple(normalize_identifiers(c, dialect=self.dialect).name for c in named)
            self.ctes[unique] = Cte(unique, query, columns, recursive)
            scope[name] = unique
        return scope

    def _unique(self, name: str) -> str:
        wanted = re.sub(r"\W", "_", name)
        if _OURS.search(wanted):
            wanted += "_"
        unique, n = wanted, 1
        while unique in self._taken:
            n += 1
            unique = f"{wanted}_{n}"
        self._taken.add(unique)
        return unique

    def _table(self, node: exp.Table, scope: Mapping[str, str]) -> None:
        if not isinstance(node.this, exp.Identifier):
            self._call(node)
            return
        name = node.name
        if not node.alias:
            alias = exp.TableAlias(this=exp.to_identifier(name, quoted=node.this.args["quoted"]))
            node.set("alias", alias)
        if not node.db and name.lower() in scope:
            internal = scope[name.lower()]
        else:
            internal = self._physical(node)
        for part in ("db", "catalog"):
            node.set(part, None)
        node.set("this", exp.to_identifier(internal, quoted=True))

    def _physical(self, node: exp.Table) -> str:
        parts = tuple(part for part in (node.catalog, node.db, node.name) if part)
        relation = self.relations.find(parts)
        if isinstance(relation, View):
            return self._view(relation, node)
        return self._base(relation or BaseTable(".".join(parts)), node, node.name)

    def _base(self, relation: BaseTable, node: exp.Table, name: str) -> str:
        if relation.name not in self._internal:
            internal = f"_r{len(self._internal) + 1}"
            self._internal[relation.name] = internal
            written = exp.Table(**{k: node.args.get(k) for k in ("this", "db", "catalog")}).copy()
            self.bases[internal] = Base(relation, written, self._label(name))
        return self._internal[relation.name]

    def _call(self, node: exp.Table) -> None:
        """A table function whose columns are known is read like a table."""
        relation = self.relations.find_call(node.this.sql(self.dialect))
        if relation is None:
            return
        internal = self._base(relation, node, relation.name.rsplit(".", 1)[-1])
        if not node.alias:
            alias = exp.to_identifier(self.bases[internal].label)
            node.set("alias", exp.TableAlias(this=alias))
        node.set("this", exp.to_identifier(internal, quoted=True))

    def _label(self, name: str) -> str:
        label = re.sub(r"\W", "_", name)
        label = label if label[:1].isalpha() else f"t{label}"
        taken = {base.label for base in self.bases.values()}
        unique, n = label, 1
        while unique in taken:
            n += 1
            unique = f"{label}_{n}"
        return unique

    def _view(self, view: View, node: exp.Table) -> str:
        if view.name in self._opening:
            raise refuse(f"a view that reads itself: {view.name}", node)
        if view.name not in self._views:
            self._opening.append(view.name)
            query = parsed(view.sql, self.dialect)
            self.resolve(query, {})
            self._opening.pop()
            unique = self._unique(node.name.lower())
            self.ctes[unique] = Cte(unique, query)
            self._views[view.name] = unique
        return self._views[view.name]


def _reads(query: exp.Expr, name: str) -> bool:
    return any(t.name.lower() == name and not t.db for t in query.find_all(exp.Table))
