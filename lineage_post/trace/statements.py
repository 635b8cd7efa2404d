"""What a statement writes, and from what: queries, CREATE, INSERT, UPDATE, DELETE, MERGE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sqlglot import exp

from lineage_post.trace.alterations import new_name
from lineage_post.trace.ctes import with_ctes
from lineage_post.trace.errors import Unsupported
from lineage_post.trace.frame import Env, Frame, Operand
from lineage_post.trace.harmless import is_harmless
from lineage_post.trace.joins import join
from lineage_post.trace.merge import merged
from lineage_post.trace.multi_insert import Into, filled, table_of
from lineage_post.trace.opens import one_of
from lineage_post.trace.outputs import add_output
from lineage_post.trace.provenance import FILTER, JOIN
from lineage_post.trace.queries import query
from lineage_post.trace.relation import Relation
from lineage_post.trace.renaming import renamed
from lineage_post.trace.sources import add_source
from lineage_post.trace.summaries import is_summary
from lineage_post.trace.tracer import Tracer
from lineage_post.trace.updates import deleted, filter_rows, updated
from lineage_post.trace.writing import (
    Assignments,
    assign,
    filling,
    label_of,
    name_of,
    parts_of,
)  # fmt: skip


class Written(NamedTuple):
    """The outputs of a statement, what kind it is, and the relation it writes."""

    relation: Relation
    operation: str
    target: str | None = None


#: What a CREATE only writes down; what it reads is read by those who call it.
_DEFINITIONS = frozenset({"macro", "function", "procedure"})
#: What a table or a view can be made as.
_MAKES_ROWS = (exp.Query, exp.Table, exp.Pivot, exp.Values)


def written(t: Tracer, node: Any, env: Env) -> Written:
    """What a statement writes, where ``env`` has what a script made before.

    Raises Unsupported for one whose effect is not modelled.
    """
    for classes, handler in _STATEMENTS:
        if isinstance(node, classes):
            if node.args.get("with_") is not None and not isinstance(node, exp.Query):
                env = with_ctes(t, node.args["with_"], env, None)
                _refuse_through_cte(t, node, env)
            _note_copies(t, node)
            return handler(t, node, env)
    (action, *_) = (isinstance(node, exp.Alter) and node.args.get("actions")) or (None,)
    if isinstance(action, exp.Query):  # alter view v as select ...
        return Written(query(t, action, env, None), "alter_view", label_of(t, node.this))
    table = new_name(node)
    if table is not None:
        return Written(query(t, node.this, env, None), "alter_table", label_of(t, table))
    if isinstance(node, exp.Cache) and isinstance(node.expression, exp.Query):
        # Spark names what it keeps, as a temporary view does.
        return Written(query(t, node.expression, env, None), "create_view", label_of(t, node.this))
    if isinstance(node, exp.Summarize) and is_summary(t, node):
        return Written(query(t, node, env, None), "select")
    if is_harmless(node):
        return Written(_nothing(t), node.key)
    label = str(node.name or node.key).split(" ", 1)[0].upper()
    raise Unsupported(f"the effect of {label} on columns is not modelled")


def _refuse_through_cte(t: Tracer, node: Any, env: Env) -> None:
    """T-SQL's ``with x as (...) update x``: it is the table behind x that is written."""
    target = node.args.get("this")
    if t.rules.family != "tsql" or not isinstance(target, exp.Table):
        return
    if len(target.parts) == 1 and t.key(target.this) in env:
        raise Unsupported(f"a write through the CTE {target.name} is not modelled")


def _nothing(t: Tracer) -> Relation:
    return Relation(t.rules, (), [], [])


def _query(t: Tracer, node: Any, env: Env) -> Written:
    into = node.args.get("into") if isinstance(node, exp.Select) else None
    target = None if into is None else label_of(t, into.this)
    return Written(query(t, node, env, None), "select" if into is None else "select_into", target)


def _note_copies(t: Tracer, node: Any) -> None:
    """T-SQL's ``output inserted.a into log`` writes another table as well."""
    returning = node.args.get("returning")
    if isinstance(returning, exp.Expr) and returning.args.get("into"):
        t.untold.append("what OUTPUT writes into another table is not traced")


def _create(t: Tracer, node: Any, env: Env) -> Written:
    kind = str(node.args.get("kind") or "").lower()
    target, columns = node.args["this"], None
    if isinstance(target, exp.Schema):
        target, columns = target.this, target.expressions
    clone = node.args.get("clone")
    source = node.args.get("expression") if clone is None else clone.this
    label = label_of(t, target) if isinstance(target, exp.Table) else None
    if clone is not None and kind != "table":
        raise Unsupported(f"the clone of a {kind} is not modelled")
    is_query = isinstance(source, _MAKES_ROWS) or is_summary(t, source)
    if source is not None and not is_query and kind in ("table", "view"):
        raise Unsupported(f"a {kind} made as {source.key.upper()} is not modelled")
    if not is_query or _is_structure(t, source) or kind in _DEFINITIONS:
        return Written(_nothing(t), f"create_{kind}", label)
    if node.args.get("no_schema_binding"):
        t.untold.append("a view without schema binding is bound anew each time it is read")
    relation = query(t, source, env, None)
    names = [name_of(t, c.this if isinstance(c, exp.ColumnDef) else c) for c in columns or ()]
    if names:
        relation = renamed(t, relation, names)
    operation = "create_table_as" if kind == "table" else f"create_{kind}"
    return Written(relation, operation, label)


def _is_structure(t: Tracer, source: Any) -> bool:
    """ClickHouse's ``create table a as b`` takes the columns of b, and none of its rows."""
    is_name = isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier)
    return is_name and t.rules.name == "clickhouse"


def _insert(t: Tracer, node: Any, env: Env) -> Written:
    target, columns = node.args["this"], []
    if isinstance(target, exp.Schema):
        target, columns = target.this, target.expressions
    source = node.args.get("expression")
    label = label_of(t, target)
    operation = "insert_overwrite" if node.args.get("overwrite") else "insert"
    if source is None:
        return Written(_nothing(t), operation, label)
    relation = query(t, source, env, None)
    if not node.args.get("by_name"):
        relation = filling(t, target, columns, relation)
    if node.args.get("where") is not None or isinstance(node.args.get("using"), list):
        relation = _replacing(t, node, target, relation)
    conflict = node.args.get("conflict")
    if conflict is not None and conflict.expressions:
        relation = _on_conflict(t, conflict, target, relation, _sources_of(t, node, relation, env))
    return Written(relation, operation, label)


def _replacing(t: Tracer, node: Any, target: Any, inserted: Relation) -> Relation:
    """Databricks' ``insert into t replace where c``, ``replace using (a)``: which rows of t go."""
    f = Frame(None, {})
    t.frames.append(f)
    add_source(t, target, f)
    where = node.args.get("where")
    if where is not None:
        start = len(t.log)
        where = where.this if isinstance(where, exp.Where) else where
        t.decide(f, where, start, t.hooks.evaluate(t, where, f), FILTER)
    for key in node.args.get("using") or ():
        for relation in (f.operands[0].relation, inserted):
            i = relation.position(t.key(key))
            if i >= 0:
                x = relation.at(i)
            else:
                x = relation.open.column(t, t.key(key), t.spell(key)) if relation.open else 0
            t.decide(f, key, len(t.log), x, JOIN)
    f.decide_like(inserted)
    return Relation(
        t.rules, inserted.spellings, inserted.all(), inserted.steps, f.rows | inserted.rows,
        f.rows_of, inserted.open,
    )  # fmt: skip


def _sources_of(t: Tracer, node: Any, inserted: Relation, env: Env) -> list[Operand]:
    """What MySQL's ON DUPLICATE KEY UPDATE names beside the target: the new row by its alias, and
    what the query reads."""
    source, conflict = node.args["expression"], node.args["conflict"]
    named = {t.key(c.args["table"]) for c in conflict.find_all(exp.Column) if c.args.get("table")}
    if isinstance(source, exp.Values) and isinstance(source.args.get("alias"), exp.TableAlias):
        alias = source.args["alias"]
        columns = [t.spell(c) for c in alias.args.get("columns") or ()]
        row = inserted.renamed(columns) if columns else inserted
        return [Operand(t.key(alias.this), row)]
    if t.rules.family != "mysql" or not isinstance(source, exp.Select) or not named:
        return []
    f = Frame(None, env)
    if source.args.get("from_") is not None:
        add_source(t, source.args["from_"].this, f)
    for item in source.args.get("joins") or ():
        join(t, item, f)
    return [operand for operand in f.operands if operand.key in named]


def _on_conflict(
    t: Tracer, conflict: Any, target: Any, inserted: Relation, sources: list[Operand]
) -> Relation:
    """``on conflict do update set a = excluded.a``: a second way into the columns."""
    f = Frame(None, {})
    add_source(t, target, f)
    f.decide_like(inserted)
    # a bare name is of the table that is written
    new = Operand(t.rules.key_of("excluded"), inserted)
    f.by_key.update({operand.key: operand for operand in (new, *sources)})
    f.operands += [row for row in sources if row.relation.spellings != inserted.spellings]
    f.rows = inserted.rows
    result = Assignments(t, inserted)
    for item in conflict.expressions:
        assign(t, item, f, result)
    if conflict.args.get("where") is not None:
        filter_rows(t, conflict.args["where"], f)
    return result.relation(f)


def _update(t: Tracer, node: Any, env: Env) -> Written:
    relation, table = updated(t, node, env)
    return Written(relation, "update", label_of(t, table))


def _delete(t: Tracer, node: Any, env: Env) -> Written:
    relation, table = deleted(t, node, env)
    return Written(relation, "delete", label_of(t, table))


def _merge(t: Tracer, node: Any, env: Env) -> Written:
    return Written(merged(t, node, env), "merge", label_of(t, node.args["this"]))


def _into(t: Tracer, node: Into, env: Env) -> Written:
    return Written(filled(t, node, env), "insert", label_of(t, table_of(node.target)))


def _copy(t: Tracer, node: Any, env: Env) -> Written:
    """``copy into t from (select $1 from @stage)``."""
    target, columns = node.args["this"], []
    if isinstance(target, exp.Schema):
        target, columns = target.this, target.expressions
    source = next((f for f in node.args.get("files") or () if isinstance(f, exp.Query)), None)
    if source is None or not isinstance(target, exp.Table):
        raise Unsupported("the effect of COPY on columns is not modelled")
    relation = query(t, source, env, None)
    return Written(filling(t, target, columns, relation), "copy", label_of(t, target))


_Handler = Callable[[Tracer, Any, Env], Written]
_STATEMENTS: tuple[tuple[Any, _Handler], ...] = (
    ((exp.Query, exp.Values, exp.Pivot, exp.Table), _query),
    (exp.Create, _create),
    (exp.Insert, _insert),
    (exp.Update, _update),
    (exp.Delete, _delete),
    (exp.Merge, _merge),
    (exp.Copy, _copy),
    (Into, _into),
)


def written_relation(t: Tracer, node: Any, env: Env) -> Relation:
    """What a data-changing CTE gives: ``with x as (insert into t ... returning a)``."""
    for classes, handler in _STATEMENTS:
        if isinstance(node, classes):
            return _returned(t, node, handler(t, node, env).relation, env)
    raise Unsupported(f"a CTE of {node.key} is not supported")


def _returned(t: Tracer, node: Any, written_: Relation, env: Env) -> Relation:
    """RETURNING reads the written columns, and those of the target that were not written."""
    returning = node.args.get("returning")
    if returning is None:
        return written_
    f = Frame(None, env)
    target = node.args["this"]
    table = target.this if isinstance(target, exp.Schema) else target
    f.add_operand(Operand("", _whole_row(t, node, table, written_)))
    f.by_key[t.key(table.this)] = f.operands[0]
    alias = table.args.get("alias")
    if isinstance(alias, exp.TableAlias) and alias.this is not None:
        f.by_key[t.key(alias.this)] = f.operands[0]
    for item in returning.expressions:
        add_output(t, item, f)
    return Relation(
        t.rules, f.spellings, f.provenances, f.steps, f.rows, f.rows_of, one_of(f.opens),
        gap=f.gap,
    )  # fmt: skip


def _whole_row(t: Tracer, node: Any, table: Any, written_: Relation) -> Relation:
    """The written columns and the others of the row: as they were, or defaults of an insert."""
    stored = t.table(parts_of(t, table))
    names, provenances = list(written_.spellings), list(written_.all())
    steps = list(written_.steps)
    is_new = isinstance(node, exp.Insert)
    for name, x in zip(stored.spellings, stored.all()):
        if written_.position(t.rules.key_of(name)) < 0:
            names.append(name)
            provenances.append(0 if is_new else x)
            steps.append(None)
    open_ = written_.open if is_new else stored.open
    return Relation(t.rules, names, provenances, steps, written_.rows, written_.rows_of, open_)
