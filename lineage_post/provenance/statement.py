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
from lineage_post.provenance.plan import matched
from lineage_post.provenance.predicate import checked
from lineage_post.provenance.prepare import Prepared, prepare
from lineage_post.provenance.project_relations import ProjectRelations
from lineage_post.provenance.refusal import Refusal
from lineage_post.provenance.rewriter import Rewriter, Rewritten
from lineage_post.provenance.walk import SqlOf, compiled_sql, key_of, model_names, table_of


def why_sql(
    lineage: Lineage, unique_id: str, where: str, dialect: str, *, sql_of: SqlOf = compiled_sql
) -> str:
    """SQL that tells why the rows of a model that fulfil ``where`` are there. Raises Refusal."""
    node = lineage.project.nodes[unique_id]
    sql = sql_of(node)
    if sql is None:
        raise Refusal(f"{node.name} has no SQL to rewrite")
    relations = ProjectRelations(lineage, None, sql_of)
    prepared = prepare(sql, dialect, relations)
    rewritten = Rewriter(prepared, gating=False).rewrite()
    stored = list(relations.table(unique_id).columns)
    outputs = matched(prepared.names, rewritten.names, stored)
    condition = checked(where, outputs, dialect, names=model_names(node))
    key = key_of(node, relations, outputs)
    statement = _statement(node, rewritten, outputs, condition, key or _comparable(prepared))
    comments = [f"-- {line}" for line in _legend(prepared, rewritten, unique_id)]
    return "\n".join([*comments, render(statement, dialect, pretty=True)])


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
    for found in list(condition.find_all(exp.Column)):
        found.set("table", exp.to_identifier("_stored"))
    table = table_of(node)
    if table is None:
        select = exp.select(*columns, column("_p", "_stored")).from_(derived(query, "_stored"))
    else:
        table.set("alias", exp.TableAlias(this=exp.to_identifier("_stored")))
        on = exp.and_(
            *(
                exp.NullSafeEQ(
                    this=output(name, "_stored"), expression=output(outputs[name], "_why")
                )
                for name in names
            )
        )
        select = exp.select(*columns, column("_p", "_why")).from_(table)
        select = select.join(derived(query, "_why"), on=on)
    select = select.where(condition)
    if clause is not None:
        select.set("with_", clause)
    return select


def _legend(prepared: Prepared, rewritten: Rewritten, unique_id: str) -> list[str]:
    lines = [f"why a row of {unique_id} is there: _p joins its source rows by * and + (or)"]
    for base in prepared.bases.values():
        if base.label in rewritten.witnessing:
            identity = rewritten.identities[base.label]
            by = ", ".join(identity.columns) or "the whole row"
            lines.append(f"{base.label}[...] is a row of {base.relation.name}, by {by}")
    return [*lines, *rewritten.notes]
