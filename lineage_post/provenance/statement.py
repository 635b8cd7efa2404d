"""The question as one SQL statement to copy: it needs no connection, and reads only.

Each stored row that fulfils the condition comes back with ``_p``, its polynomial as text.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from lineage_post.artifacts import Node
from lineage_post.lineage import Lineage
from lineage_post.provenance.building import aliased, column, derived, output
from lineage_post.provenance.dialects import render
from lineage_post.provenance.identity import FLOAT_TYPES
from lineage_post.provenance.leaves import made
from lineage_post.provenance.plan import matched
from lineage_post.provenance.predicate import checked
from lineage_post.provenance.prepare import prepare
from lineage_post.provenance.prepared import Prepared
from lineage_post.provenance.project_relations import ProjectRelations
from lineage_post.provenance.refusal import Refusal
from lineage_post.provenance.rewriter import Rewriter, Rewritten
from lineage_post.provenance.template import PLACEHOLDER
from lineage_post.provenance.walk import (
    SqlOf,
    compiled_sql,
    key_of,
    model_names,
    remarks,
    table_of,
)


def why_sql(
    lineage: Lineage, unique_id: str, where: str, dialect: str, *, sql_of: SqlOf = compiled_sql
) -> str:
    """SQL that tells why the rows of a model that fulfil ``where`` are there. Raises Refusal."""
    asked = _Asked(lineage, unique_id, dialect, sql_of)
    return asked.sql(checked(where, asked.outputs, dialect, names=model_names(asked.node)))


def why_template(
    lineage: Lineage, unique_id: str, dialect: str, *, sql_of: SqlOf = compiled_sql
) -> tuple[str, list[str]]:
    """(SQL with PLACEHOLDER for a condition, the columns a condition may use). Raises Refusal.

    Whoever puts a condition there has to check it: see ``predicate.checked``.
    """
    asked = _Asked(lineage, unique_id, dialect, sql_of)
    return asked.sql(exp.Paren(this=exp.column(PLACEHOLDER))), list(asked.outputs)


class _Asked:
    """A model made ready to be asked."""

    def __init__(self, lineage: Lineage, unique_id: str, dialect: str, sql_of: SqlOf) -> None:
        self.node = lineage.project.nodes[unique_id]
        self.dialect = dialect
        sql = sql_of(self.node)
        if sql is None:
            raise Refusal(f"{self.node.name} has no SQL to rewrite")
        self.relations = ProjectRelations(lineage, None, sql_of)

        def make() -> tuple[Prepared, Rewritten]:
            prepared = prepare(sql, dialect, self.relations)
            return prepared, Rewriter(prepared, gating=False).rewrite()

        self.prepared, self.rewritten = made(make, self.node, self.relations, dialect)
        stored = list(self.relations.table(unique_id).columns)
        self.outputs = matched(self.prepared.names, self.rewritten.names, stored)

    def sql(self, condition: exp.Expr) -> str:
        key = key_of(self.node, self.relations, self.outputs) or _comparable(self.prepared)
        statement = _statement(self.node, self.rewritten, self.outputs, condition, key)
        comments = [f"-- {line}" for line in self._legend()]
        return "\n".join([*comments, render(statement, self.dialect, pretty=True)])

    def _legend(self) -> list[str]:
        prepared, rewritten = self.prepared, self.rewritten
        unique_id, mind = self.node.unique_id, remarks(self.node, prepared, self.relations)
        lines = [f"why a row of {unique_id} is there: _p joins its source rows by * and + (or)"]
        for base in prepared.bases.values():
            if base.label in rewritten.witnessing:
                identity = rewritten.identities[base.label]
                by = ", ".join(identity.columns) or "the whole row"
                lines.append(f"{base.label}[...] is a row of {base.relation.name}, by {by}")
        return [" ".join(line.split()) for line in [*lines, *mind, *rewritten.notes]]


def _comparable(prepared: Prepared) -> tuple[str, ...]:
    """Outputs to compare where no key is declared: sums of floats differ in their last bits."""
    body = prepared.body
    if not isinstance(body, exp.Select):
        return ()
    items = [item for item in body.expressions if not _is_float(item)]
    return tuple(item.alias_or_name for item in items)


def _is_float(item: exp.Expr) -> bool:
    data_type = item.unalias().type
    return data_type is not None and bool(data_type.is_type(*FLOAT_TYPES))


def _statement(
    node: Node,
    rewritten: Rewritten,
    outputs: dict[str, str],
    condition: exp.Expr,
    key: Sequence[str],
) -> exp.Select:
    names = [name for name in key if name in outputs] or list(outputs)
    query = rewritten.query.copy()
    clause = query.args.get("with_")
    query.set("with_", None)
    columns = [aliased(output(name, "_stored"), name, quoted=True) for name in outputs]
    table = table_of(node)
    if table is None:
        select = exp.select(*columns, column("_p", "_stored")).from_(derived(query, "_stored"))
        select = select.where(condition)
    else:
        # In a query of its own, where a name can mean nothing but a column of the model.
        stored = derived(exp.select("*").from_(table).where(condition), "_stored")
        on = exp.and_(
            *(
                exp.NullSafeEQ(
                    this=output(name, "_stored"), expression=output(outputs[name], "_why")
                )
                for name in names
            )
        )
        select = exp.select(*columns, column("_p", "_why")).from_(stored)
        select = select.join(derived(query, "_why"), on=on)
    if clause is not None:
        select.set("with_", clause)
    return select
