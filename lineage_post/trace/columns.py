"""DuckDB's COLUMNS(...): some of the columns that a star stands for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp

from lineage_post.trace.expressions import handles
from lineage_post.trace.frame import Frame
from lineage_post.trace.name_patterns import lambda_test, regex
from lineage_post.trace.opens import Open, OpenNamed, OpenUnknown, one_of
from lineage_post.trace.scope import whole_row
from lineage_post.trace.star import Item, is_star, items_of_argument, star_items
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import Reason

#: A group of the pattern of COLUMNS, in the alias of what it gives.
_GROUP = re.compile(r"\\(\d)")


class Expansion:
    """The columns of a COLUMNS(...) and the one that is being evaluated."""

    __slots__ = ("current", "items", "opens", "pattern")

    def __init__(
        self, items: list[Item], opens: list[Open], pattern: re.Pattern[str] | None
    ) -> None:
        self.items = items
        self.opens = opens
        self.pattern = pattern
        self.current = 0

    def named(self, alias: str, spelling: str) -> str:
        r"""The name that an alias gives a column: ``\1`` in it is a group of the pattern."""
        found = self.pattern.search(spelling) if self.pattern is not None else None
        groups = (spelling,) if found is None else (found.group(), *found.groups(""))
        return _GROUP.sub(lambda m: groups[int(m[1])] if int(m[1]) < len(groups) else "", alias)


@handles("Columns")
def columns(t: Tracer, node: Any, f: Frame) -> int:
    """DuckDB ``columns('a|b')``, ``columns(* exclude (c))``, ``columns(x -> x like 'a%')``.

    In a select list its columns come one by one; all at once in WHERE, and as ``*columns(...)``.
    """
    if not t.expands or node.args.get("unpack"):
        items, opens = columns_items(t, node, f)
        return whole_row(t, [_united(t, items)], opens)
    if t.expanding is None:
        selector = node.args["this"]
        pattern = regex(selector.name) if isinstance(selector, exp.Literal) else None
        t.expanding = Expansion(*columns_items(t, node, f), pattern)
    expansion = t.expanding
    if not expansion.items:
        return 0
    return _united(t, [expansion.items[expansion.current]])


def _united(t: Tracer, items: Sequence[Item]) -> int:
    x = 0
    for item in items:
        if item.step is not None:
            t.log.append((item.step, item.provenance))
        x |= item.provenance
    return x


def columns_items(t: Tracer, node: Any, f: Frame) -> tuple[list[Item], list[Open]]:
    """The columns a COLUMNS(...) matches, and what may have more that are not listed."""
    selector = node.args["this"]
    if is_star(selector):
        return items_of_argument(t, selector, f)
    items, opens = star_items(t, exp.Star(), f)
    if isinstance(selector, (exp.Array, exp.Tuple)):
        return _by_names(t, [e.name for e in selector.expressions], items, one_of(opens)), []
    keep = _test(selector)
    if keep is None:
        detail = "which columns COLUMNS picks is not known"
        return [], [OpenUnknown("COLUMNS", Reason.UNSUPPORTED_SYNTAX, detail)]
    return [item for item in items if keep(item.spelling)], [OpenNamed(o, keep) for o in opens]


def _test(selector: Any) -> Callable[[str], Any] | None:
    """The test of a name that a COLUMNS(...) makes, or None where it is not that simple."""
    if isinstance(selector, exp.Literal):
        compiled = regex(selector.name)
        return None if compiled is None else compiled.search
    return lambda_test(selector.this) if isinstance(selector, exp.Lambda) else name_test(selector)


def _by_names(
    t: Tracer, names: Sequence[str], items: Sequence[Item], open_: Open | None
) -> list[Item]:
    """The columns of some names, in the order of FROM; then those that are not listed there."""
    wanted = {name.lower(): name for name in names}
    found = [item for item in items if wanted.pop(item.spelling.lower(), None) is not None]
    if open_ is not None:
        found += [Item(n, open_.column(t, t.rules.key_of(n), n), None) for n in wanted.values()]
    return found


def name_test(item: Any) -> Callable[[str], bool] | None:
    """``* not like 'a%'`` as a test of a name, or None where no star is compared."""
    pattern = item.args.get("this") if isinstance(item, exp.Not) else item
    if not isinstance(pattern, (exp.Like, exp.ILike, exp.Glob, exp.SimilarTo)):
        return None
    return lambda_test(item) if is_star(pattern.args["this"]) else None
