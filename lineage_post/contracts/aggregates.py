"""Values that come in both summed and as they are: ``sum(x) + x``, ``x / sum(x) over ()``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from lineage_post.lineage import Edge
from lineage_post.vocabulary import Subtype


def is_aggregate_alone(edge: Edge, dialect: str) -> bool:
    """Whether the values of an edge pass an aggregation, and not also around it.

    Of all ways to a column within one model an edge has the strongest subtype. Its expression tells
    of the others where the same name stands within an aggregate and outside.
    """
    if edge.subtype is not Subtype.AGGREGATION:
        return False
    if not edge.expression or not edge.from_column:
        return True
    return edge.from_column.casefold() not in _around(edge.expression, dialect)


@lru_cache(maxsize=1024)
def _around(expression: str, dialect: str) -> frozenset[str]:
    """The columns that stand within an aggregate and outside of any, in lower case."""
    try:
        tree = parse_one(expression, dialect=dialect)
    except (SqlglotError, RecursionError):
        return frozenset()
    inside = {
        (c.table.casefold(), c.name.casefold())
        for function in tree.find_all(exp.AggFunc)
        for c in function.find_all(exp.Column)
    }
    outside = {(c.table.casefold(), c.name.casefold()) for c in _values(tree)}
    return frozenset(name for _, name in inside & outside)


def _values(tree: exp.Expr) -> Iterator[exp.Column]:
    """Columns whose value goes on as it is: not aggregated, no condition, no window."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Column):
            yield node
        elif isinstance(node, (exp.Window, exp.If)):
            waiting += [
                part
                for name in ("this", "true", "false")
                if isinstance(part := node.args.get(name), exp.Expression)
                and not (name == "this" and isinstance(node, exp.If))
            ]
        elif isinstance(node, exp.Case):
            waiting += [*node.args["ifs"], *filter(None, [node.args.get("default")])]
        elif not isinstance(node, (exp.AggFunc, exp.Filter, exp.Query)):
            waiting += node.iter_expressions()
