"""Variables that a statement fills from what it reads: their values are of no known column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlglot import exp


def filled_by(node: Any, family: str) -> frozenset[str]:
    """The variables, in lower case, that ``node`` sets to something read from tables.

    ``set @d = '2020-01-01'`` fills nothing: a constant is known.
    """
    return frozenset(
        target.name.lower()
        for target, value in _assignments(node, family)
        if isinstance(value, exp.Expr) and value.find(exp.Column, exp.Query) is not None
    )


def _assignments(node: Any, family: str) -> Iterator[tuple[Any, Any]]:
    kinds = (exp.DeclareItem, exp.SetItem, exp.PropertyEQ, exp.Into)
    for found in node.find_all(*kinds):
        if isinstance(found, exp.DeclareItem):
            for name in found.args.get("this") or ():
                yield name, found.args.get("default")
        elif isinstance(found, exp.SetItem):
            if isinstance(found.this, exp.EQ):
                target = found.this.this  # BigQuery's ``set (a, b) = (select as struct ...)``
                named = [target.this] if isinstance(target, exp.Paren) else target.expressions
                for one in named or [target]:
                    yield one, found.this.expression
        elif isinstance(found, exp.PropertyEQ):  # MySQL's @a := b
            if isinstance(found.this, exp.Parameter):
                yield found.this, found.expression
        elif isinstance(found.this, exp.Table) and isinstance(found.this.this, exp.Parameter):
            yield found.this.this, found.parent  # MySQL's select ... into @a
    if family == "tsql" and isinstance(node, (exp.Select, exp.Update)):
        for item in node.expressions:  # select @a = b from ..., update t set @a = b
            if isinstance(item, exp.EQ) and isinstance(item.this, exp.Parameter):
                yield item.this, item.expression
