"""UPDATE and DELETE: what they write, what decides their rows, and which table they are of.

::

    update a set x = b.y from t as a join b on ...      T-SQL: t, by its alias in FROM
    update u join t on ... set t.x = u.y                MySQL: t, by what is assigned
    delete a from u join t as a on ...                  t
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from lineage_post.trace.expressions import evaluate
from lineage_post.trace.frame import Env, Frame, Operand
from lineage_post.trace.joins import join
from lineage_post.trace.provenance import FILTER
from lineage_post.trace.relation import Relation
from lineage_post.trace.sources import add_source
from lineage_post.trace.tracer import Tracer
from lineage_post.trace.writing import Assignments, assign, label_of


def updated(t: Tracer, node: Any, env: Env) -> tuple[Relation, Any]:
    """The assigned columns of an UPDATE, and the table that it writes."""
    f = Frame(None, env)
    target = node.args["this"]
    from_ = node.args.get("from_")
    named = _named_in_from(t, target, from_)
    if named is None:
        add_source(t, target, f)
    if from_ is not None:
        add_source(t, from_.this, f)
        for item in from_.args.get("joins") or node.args.get("joins") or ():
            join(t, item, f)
    assigned, items = _assigned_table(t, node, f)
    result = Assignments(t)
    for item in items:
        assign(t, item, f, result)
    if node.args.get("where") is not None:
        filter_rows(t, node.args["where"], f)
    return result.relation(f), named or assigned


def _items_of(root: Any) -> list[Any]:
    """What FROM lists, in order: a table and what is joined to it."""
    return [root, *(item for j in root.args.get("joins") or () for item in _items_of(j.this))]


def _named_in_from(t: Tracer, target: Any, from_: Any) -> Any:
    """T-SQL's ``update a set ... from t as a`` names its target by the alias in FROM, and so does
    ``update t set ... from t join u``; None where the target is a table beside those of FROM."""
    if from_ is None:
        return None
    tables = [item for item in _items_of(from_.this) if isinstance(item, exp.Table)]
    tables += [j.this for j in from_.args.get("joins") or () if isinstance(j.this, exp.Table)]
    found = _called(t, target, tables)
    if found is None and t.rules.family == "tsql":
        same = [x for x in tables if not x.alias and label_of(t, x) == label_of(t, target)]
        return same[0] if same else None
    return found


def _called(t: Tracer, name: Any, tables: Sequence[Any]) -> Any:
    """The table that has ``name`` as its alias."""
    if not isinstance(name.this, exp.Identifier) or name.args.get("db") is not None:
        return None
    for table in tables:
        alias = table.args.get("alias")
        named = alias.this if isinstance(alias, exp.TableAlias) else None
        if named is not None and t.key(named) == t.key(name.this):
            return table
    return None


def _assigned_table(t: Tracer, node: Any, f: Frame) -> tuple[Any, list[Any]]:
    """What an UPDATE writes, and its assignments; MySQL's ``update u join t on ... set t.a = u.b``
    writes t, and of two tables that it writes the first is told."""
    items = _items_of(node.args["this"])
    if len(items) < 2:
        return items[0], node.expressions
    found: list[tuple[Any, Any]] = []
    for assignment in node.expressions:
        column = assignment.this
        owners = [i for i, o in zip(items, f.operands) if _has(t, column, o)]
        found.append((owners[0] if owners else items[0], assignment))
    table = found[0][0]
    if any(owner is not table for owner, _ in found):
        t.untold.append("more than one table is updated, and the first alone is told")
    return table, [assignment for owner, assignment in found if owner is table]


def _has(t: Tracer, column: Any, operand: Operand) -> bool:
    if not isinstance(column, exp.Column):
        return False
    table = column.args.get("table")
    if table is not None:
        return t.key(table) == operand.key
    return operand.relation.position(t.key(column.this)) >= 0


def deleted(t: Tracer, node: Any, env: Env) -> tuple[Relation, Any]:
    """What decides the rows of a DELETE, and the table that they are of."""
    f = Frame(None, env)
    # sqlglot has the table of ``delete t where c`` in another place than that of ``delete from t``
    target = node.args["this"] or next(iter(node.args.get("tables") or ()), None)
    if isinstance(target, exp.Table):
        add_source(t, target, f)
    for source in node.args.get("using") or ():
        add_source(t, source, f)
    if node.args.get("where") is not None:
        filter_rows(t, node.args["where"], f)
    relation = Relation(t.rules, (), [], [], f.rows, f.rows_of)
    return relation, _deleted_table(t, node) or target


def _deleted_table(t: Tracer, node: Any) -> Any:
    """``delete x from u join t as x on ...`` deletes from t."""
    named = node.args.get("tables") or ()
    if len(named) > 1:
        t.untold.append("rows of more than one table are deleted")
    if not named or not isinstance(node.this, exp.Table):
        return None
    items = [item for item in _items_of(node.this) if isinstance(item, exp.Table)]
    return _called(t, named[0], items) or named[0]


def filter_rows(t: Tracer, where: Any, f: Frame) -> None:
    """Records that a WHERE decides the rows of ``f``."""
    start = len(t.log)
    t.decide(f, where.this, start, evaluate(t, where.this, f), FILTER)
