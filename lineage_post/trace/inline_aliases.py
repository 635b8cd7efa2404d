"""ClickHouse's names within expressions: ``select (a + 1 as b) * 2 as c, b + 3 as d``.

Such a name stands for its expression throughout the SELECT, as one of ``with a + 1 as b`` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlglot import exp

from lineage_post.trace.ctes import Cte
from lineage_post.trace.frame import Env
from lineage_post.trace.tracer import Tracer

_CLAUSES = ("prewhere", "where", "having", "order")


class _Scalar(NamedTuple):
    """What of a CTE is read."""

    args: dict[str, Any]


def with_inline_aliases(t: Tracer, a: Any, env: Env) -> Env:
    """The environment of a SELECT with the names that its expressions give on the way."""
    found = dict(env)
    for node in _named(a):
        key = t.key(node.args["alias"])
        scalar = _Scalar({"this": node.args["this"], "scalar": True})
        found[key] = Cte(scalar, env, key, None, is_recursive=False)
    return found if len(found) > len(env) else env


def _named(a: Any) -> Iterator[Any]:
    tops = [item.args["this"] if isinstance(item, exp.Alias) else item for item in a["expressions"]]
    tops += [a[clause] for clause in _CLAUSES if a.get(clause) is not None]
    for top in tops:
        if not isinstance(top, exp.Expr):
            continue
        for node in top.walk(prune=lambda n: isinstance(n, exp.Query)):
            if isinstance(node, exp.Alias) and isinstance(node.args.get("alias"), exp.Identifier):
                yield node
