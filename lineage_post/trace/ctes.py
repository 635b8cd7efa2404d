"""Common table expressions: evaluated once, when first read."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from sqlglot import exp

from lineage_post.trace.arms import Stacked
from lineage_post.trace.frame import Env, Frame
from lineage_post.trace.provenance import GROUP_BY, transformed
from lineage_post.trace.relation import Arms, Relation
from lineage_post.trace.renaming import renamed
from lineage_post.trace.scope import whole_row
from lineage_post.trace.tracer import Tracer

#: Provenance only grows and has few kinds, so a fixpoint comes within a few rounds.
_ROUNDS = 64
#: So many CTEs are evaluated inside one another before the chain is walked from its start.
_DEPTH = 20
_RELATIONS = (exp.Query, exp.Pivot, exp.Table)
_WRITES = (exp.Insert, exp.Update, exp.Merge)


class Cte:
    """One CTE with the environment it sees: its predecessors, so that a CTE named like a table
    still reads the table."""

    __slots__ = ("added", "env", "is_recursive", "is_scalar", "key", "node", "outer", "relation")

    def __init__(
        self, node: Any, env: Env, key: str, outer: Frame | None, *, is_recursive: bool
    ) -> None:
        self.node = node
        self.env = env
        self.outer = outer
        #: ClickHouse's ``with a + b as s``: a name for an expression, not for a relation.
        self.is_scalar = bool(node.args.get("scalar")) or not isinstance(
            node.args["this"], _RELATIONS
        )
        self.key = key
        self.is_recursive = is_recursive
        self.relation: Relation | None = None
        #: SEARCH and CYCLE behind the last CTE of a WITH: each adds columns.
        self.added: Sequence[Any] = ()


def with_ctes(t: Tracer, with_: Any, env: Env, outer: Frame | None) -> Env:
    """The environment after a WITH clause."""
    is_recursive = bool(with_.args.get("recursive")) or t.rules.always_recursive
    key = ""
    for node in with_.args["expressions"]:
        alias = node.args["alias"]
        key = t.key(alias.args["this"] if isinstance(alias, exp.TableAlias) else alias)
        env = {**env, key: Cte(node, env, key, outer, is_recursive=is_recursive)}
        if isinstance(node.args["this"], _WRITES):
            t.untold.append(f"the {node.args['this'].key} inside of WITH {key} is not traced")
    last = env.get(key)
    if last is not None:
        last.added = [with_.args[k] for k in ("search", "cycle") if with_.args.get(k)]
    return env


def relation_of(t: Tracer, cte: Cte) -> Relation:
    """The columns of a CTE."""
    if cte.relation is None:
        stop = _stop(t, cte)
        cte.relation = _below(t, cte) if stop is None else t.table_of(stop)
        for clause in cte.added:
            cte.relation = _searched(t, cte.relation, clause)
    return cte.relation


def _below(t: Tracer, cte: Cte) -> Relation:
    """Evaluates a CTE; far down a chain its predecessors first, in order, to stay shallow."""
    t.cte_depth += 1
    if t.cte_depth > _DEPTH:
        for earlier in cte.env.values():
            if earlier.relation is None and not earlier.is_scalar:
                stop = _stop(t, earlier)
                earlier.relation = _evaluated(t, earlier) if stop is None else t.table_of(stop)
    if t.recorder is None:
        relation = _evaluated(t, cte)
    else:
        with t.recorder.scope(cte.key):
            relation = _evaluated(t, cte)
    t.cte_depth -= 1
    return relation


def _stop(t: Tracer, cte: Cte) -> str | None:
    if not t.stop_at:
        return None
    alias = cte.node.args["alias"]
    written = alias.args["this"].name if isinstance(alias, exp.TableAlias) else alias.name
    found = t.stop_at.get(written)
    return t.stop_at.get(cte.key) if found is None else found


def _evaluated(t: Tracer, cte: Cte) -> Relation:
    query = cte.node.args["this"]
    if cte.is_recursive and _is_recursion(t, query, cte.key):
        return _fixpoint(t, cte, query)
    if not isinstance(query, _RELATIONS):
        return t.hooks.write(t, query, cte.env)
    return _named(t, cte, t.query(t, query, cte.env, cte.outer))


def _is_recursion(t: Tracer, query: Any, key: str) -> bool:
    """Whether the second arm of a UNION reads the CTE; in EXCEPT, INTERSECT and by name the same
    name is a table's."""
    if not isinstance(query, exp.Union) or query.args.get("by_name"):
        return False
    return any(
        isinstance(table.this, exp.Identifier) and t.key(table.this) == key
        for table in query.args["expression"].find_all(exp.Table)
    )


def _named(t: Tracer, cte: Cte, relation: Relation) -> Relation:
    alias = cte.node.args["alias"]
    columns = alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None
    if not columns:
        return relation
    return renamed(t, relation, [t.spell(c) for c in columns])


def _fixpoint(t: Tracer, cte: Cte, query: Any) -> Relation:
    """The anchor, then the recursive arm over what is known so far, until nothing is added."""
    env = cte.env
    if query.args.get("with_") is not None:
        env = with_ctes(t, query.args["with_"], env, cte.outer)
    current = _named(t, cte, t.query(t, query.args["this"], env, cte.outer))
    with nullcontext() if t.recorder is None else t.recorder.quiet():
        current = _rounds(t, cte, query, env, current)
    return _distinct(t, current) if query.args.get("distinct") else current


def _rounds(t: Tracer, cte: Cte, query: Any, env: Env, current: Relation) -> Relation:
    for _ in range(_ROUNDS):
        known = Cte(cte.node, env, cte.key, cte.outer, is_recursive=False)
        known.relation = current
        arm = t.query(t, query.args["expression"], {**env, cte.key: known}, cte.outer)
        grown = _joined(t, current, arm)
        is_stable = grown.provenances == current.all() and grown.rows == current.rows
        current = grown
        if is_stable:
            break
    return current


def _searched(t: Tracer, relation: Relation, search: Any) -> Relation:
    """``search depth first by a set n`` adds n, ``cycle a set is_cycle using path`` adds both."""
    i = relation.position(t.key(search.this)) if search.this is not None else -1
    x = transformed(relation.at(i)) if i >= 0 else 0
    names = [search.args[k] for k in ("expression", "using") if search.args.get(k)]
    return Relation(
        t.rules, [*relation.spellings, *map(t.spell, names)],
        [*relation.all(), *[x] * len(names)], [*relation.steps, *[None] * len(names)],
        relation.rows, relation.rows_of, relation.open,
    )  # fmt: skip


def _distinct(t: Tracer, relation: Relation) -> Relation:
    """A recursion by UNION removes duplicates."""
    x = whole_row(t, relation.all(), [relation.open] if relation.open is not None else ())
    f = Frame(None, {})
    f.decide_like(relation)
    t.decide(f, None, len(t.log), x, GROUP_BY)
    return Relation(
        t.rules, relation.spellings, relation.all(), relation.steps, f.rows, f.rows_of,
        relation.open, gap=relation.gap,
    )  # fmt: skip


def _joined(t: Tracer, current: Relation, arm: Relation) -> Relation:
    both = Stacked(current)
    both.add(t, arm)
    steps = [
        Arms(found, origins) if len(found) > 1 and found[1] is not None else found[0]
        for found, origins in zip(both.arms, both.origins)
    ]
    result = Relation(
        t.rules, current.spellings, both.provenances, steps, current.rows | arm.rows, arm.rows_of,
        both.opened(), gap=both.gap,
    )  # fmt: skip
    if current.rows_of is not None and result.rows_of is not None:
        result.rows_of.sources.append(current.rows_of)
    return result
