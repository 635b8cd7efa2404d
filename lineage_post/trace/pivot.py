"""PIVOT and UNPIVOT in every spelling.

PIVOT is a GROUP BY of the columns it does not name, with one output per value and aggregate; the
FOR column is a CONDITIONAL of each. UNPIVOT is a union of the columns it lists; without INCLUDE
NULLS each of them filters rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

from sqlglot import exp

from lineage_post.trace.conditions import as_condition
from lineage_post.trace.expressions import evaluate
from lineage_post.trace.frame import Frame, Operand
from lineage_post.trace.naming import expression_name
from lineage_post.trace.opens import Open, OpenDerived, OpenWithout, one_of
from lineage_post.trace.paths import column_of
from lineage_post.trace.provenance import GROUP_BY, aggregated
from lineage_post.trace.relation import AnyStep, Relation, Step
from lineage_post.trace.renaming import placed, renamed
from lineage_post.trace.scope import row_of_open
from lineage_post.trace.tracer import Tracer
from lineage_post.trace.unpivot import unpivot


class _Aggregate(NamedTuple):
    node: Any
    alias: Any
    provenance: int
    start: int
    end: int


def pivot(t: Tracer, node: Any, relation: Relation, f: Frame) -> Relation:
    """The relation after a PIVOT or UNPIVOT of ``relation``."""
    g = Frame(f.outer, f.env)
    g.add_operand(Operand("", relation))
    if node.args.get("unpivot"):
        result = unpivot(t, node, relation, g)
    else:
        result = _pivoted(t, node, relation, g)
    alias = node.args.get("alias")
    columns = alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None
    if not columns:
        return result
    names = [t.spell(c) for c in columns]
    if result.open is None or node.args.get("unpivot"):
        return renamed(t, result, names)
    count = len(result.spellings)  # the listed columns are the last ones
    unlisted = [None] * max(len(names) - count, 0)
    return placed(t, result, [*unlisted, *range(count)], names)


def _pivoted(t: Tracer, node: Any, relation: Relation, g: Frame) -> Relation:
    a = node.args
    using = a.get("using")
    is_statement = isinstance(using, list) or not a.get("fields")
    keys = (a["expressions"] or ()) if is_statement else a["fields"]
    start = len(t.log)
    condition = 0
    for key in keys:
        condition |= evaluate(t, _for_of(key), g)
    condition = as_condition(t, condition, start)
    listed = (using if isinstance(using, list) else []) if is_statement else a["expressions"]
    aggregates = [_aggregate(t, item, g) for item in listed]
    if is_statement and not keys:
        return _aggregated(t, node, relation, g, aggregates)
    if not aggregates:
        aggregates = [_Aggregate(exp.Count(this=exp.Star()), None, 0, len(t.log), len(t.log))]
    used = [*map(_for_of, keys), *listed]
    names, provenances, steps, open_ = _kept(t, node, relation, used)
    for x in provenances:
        t.decide(g, None, len(t.log), x, GROUP_BY)
    if open_ is not None:
        t.decide(g, None, len(t.log), row_of_open(t, open_), GROUP_BY)
    outputs = _statement_names(t, keys, aggregates) if is_statement else _names(t, a, aggregates)
    if outputs is None:
        whole = condition
        for aggregate in aggregates:
            whole |= aggregate.provenance
        derived = OpenDerived("a pivot over values that come from data", t.sources.assumed(whole))
        open_ = derived if open_ is None else one_of([derived, open_])
        return Relation(t.rules, names, provenances, steps, g.rows, g.rows_of, open_)
    for n, name in enumerate(outputs):
        aggregate = aggregates[n % len(aggregates)]
        x = aggregate.provenance | condition
        names.append(name)
        provenances.append(x)
        steps.append(Step(aggregate.node, g, aggregate.start, aggregate.end, x))
    return Relation(t.rules, names, provenances, steps, g.rows, g.rows_of, open_)


def _aggregated(
    t: Tracer, node: Any, relation: Relation, g: Frame, aggregates: Sequence[_Aggregate]
) -> Relation:
    """DuckDB's ``pivot t using sum(a) group by b``, without ON: an aggregation and no more."""
    names: list[str] = []
    provenances: list[int] = []
    steps: list[AnyStep] = []
    if node.args.get("group") is not None:
        names, provenances, steps, _ = _kept(t, node, relation, ())
        for x in provenances:
            t.decide(g, None, len(t.log), x, GROUP_BY)
    for aggregate in aggregates:
        is_named = aggregate.alias is not None
        names.append(t.spell(aggregate.alias) if is_named else expression_name(t, aggregate.node))
        provenances.append(aggregate.provenance)
        x, first, end = aggregate.provenance, aggregate.start, aggregate.end
        steps.append(Step(aggregate.node, g, first, end, x))
    return Relation(t.rules, names, provenances, steps, g.rows, g.rows_of)


def _for_of(key: Any) -> Any:
    """The column of ``for month in (...)``, or of DuckDB's ``on month in (...)``."""
    inner = key.args["this"] if isinstance(key, exp.In) else key
    return exp.Column(this=inner) if isinstance(inner, exp.Identifier) else inner


def _aggregate(t: Tracer, item: Any, g: Frame) -> _Aggregate:
    node = item.args["this"] if isinstance(item, exp.Alias) else item
    alias = item.args["alias"] if isinstance(item, exp.Alias) else None
    start = len(t.log)
    x = aggregated(evaluate(t, node, g))
    return _Aggregate(node, alias, x, start, len(t.log))


def _kept(
    t: Tracer, node: Any, relation: Relation, used: Sequence[Any]
) -> tuple[list[str], list[int], list[AnyStep], Open | None]:
    """The columns that stay as they are: those of GROUP BY, or all that are not named."""
    group = node.args.get("group")
    if group is not None:
        columns = [c for c in group.expressions if isinstance(c, exp.Column)]
        found = [column_of(t, relation, c.this) for c in columns]
        names, provenances = [r.spellings[i] for r, i in found], [r.at(i) for r, i in found]
        return names, provenances, [r.steps[i] for r, i in found], None
    named = {t.key(c.this) for u in used for c in u.find_all(exp.Column)
             if isinstance(c.this, exp.Identifier)}  # fmt: skip
    gone = set(map(relation.position, named))
    kept = [i for i in range(len(relation.spellings)) if i not in gone]
    open_ = None if relation.open is None else OpenWithout(relation.open, frozenset(named))
    names, provenances = [relation.spellings[i] for i in kept], [relation.at(i) for i in kept]
    return names, provenances, [relation.steps[i] for i in kept], open_


def _names(t: Tracer, a: Any, aggregates: Sequence[_Aggregate]) -> list[str] | None:
    """The names sqlglot gives the outputs by the dialect's rule; None where data decides them."""
    values = [value for field in a["fields"] for value in field.args.get("expressions") or ()]
    any_ = getattr(exp, "PivotAny", ())
    from_data = any(isinstance(v, (exp.Query, any_)) for v in values) or not values
    columns = a.get("columns")
    if from_data or any(field.args.get("query") is not None for field in a["fields"]):
        return None
    # sqlglot has no name for a value (a, b)
    if columns and not any(isinstance(value, exp.Tuple) for value in values):
        return [t.spell(c) if t.rules.name != "snowflake" else c.name for c in columns]
    return _combined(t, [field.args.get("expressions") or () for field in a["fields"]], aggregates)


def _statement_names(
    t: Tracer, keys: Sequence[Any], aggregates: Sequence[_Aggregate]
) -> list[str] | None:
    if not all(isinstance(key, exp.In) and key.expressions for key in keys):
        return None
    return _combined(t, [key.expressions for key in keys], aggregates)


def _combined(t: Tracer, lists: Sequence[Any], aggregates: Sequence[_Aggregate]) -> list[str]:
    names = []
    for values in product(*lists):
        value = "_".join(_value_name(t, v) for v in values)
        for aggregate in aggregates:
            if aggregate.alias is not None:
                names.append(f"{value}_{t.spell(aggregate.alias)}")
            elif len(aggregates) > 1:
                names.append(f"{value}_{expression_name(t, aggregate.node)}")
            else:
                names.append(value)
    return names


def _value_name(t: Tracer, value: Any) -> str:
    alias = value.args.get("alias")
    if isinstance(alias, exp.Identifier):
        return t.spell(alias)
    if isinstance(value, exp.Tuple):
        values = [_value_name(t, v) for v in value.expressions]
        return f"{{{', '.join(values)}}}" if t.rules.family == "spark" else "_".join(values)
    return str(value.name)
