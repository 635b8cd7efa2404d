"""Which outputs of a query differ at each run, because a clock or a random function is in them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from lineage_post.provenance.prepared import Prepared
from lineage_post.provenance.scopes import Frame, frame_of

VOLATILE = frozenset(
    [
        "random",
        "rand",
        "uuid",
        "gen_random_uuid",
        "uuid_generate_v4",
        "newid",
        "nextval",
        "setseed",
        "uuidv4",
        "uuidv7",
    ]
)
CLOCKS = (exp.CurrentTimestamp, exp.CurrentDate, exp.CurrentTime, exp.CurrentDatetime)
CLOCK_NAMES = frozenset(
    ["now", "getdate", "sysdate", "clock_timestamp", "today", "current_localtimestamp"]
)


def volatile_outputs(prepared: Prepared) -> frozenset[int]:
    """Positions (from 0) of outputs that depend on now() or random(), by value."""
    return _Finder(prepared).of_query(prepared.body)


class _Finder:
    """Looks into each query once: CTEs that each read one twice have exponentially many paths."""

    def __init__(self, prepared: Prepared) -> None:
        self._ctes = prepared.ctes
        self._known: dict[int, frozenset[int]] = {}

    def of_query(self, query: exp.Expr) -> frozenset[int]:
        while isinstance(query, (exp.Subquery, exp.Paren)):
            query = query.this
        if id(query) not in self._known:
            # What reads itself is looked into as far as it goes.
            self._known[id(query)] = frozenset()
            self._known[id(query)] = self._found(query)
        return self._known[id(query)]

    def _found(self, query: exp.Expr) -> frozenset[int]:
        if isinstance(query, exp.SetOperation):
            return self.of_query(query.left) | self.of_query(query.right)
        if not isinstance(query, exp.Select):
            return frozenset()
        frame = frame_of(query)
        return frozenset(
            position
            for position, item in enumerate(query.expressions)
            if any(_is_volatile(node) or self._reads(node, frame) for node in item.walk())
        )

    def _reads(self, node: exp.Expr, frame: Frame) -> bool:
        """Is ``node`` a column of a query whose output of this name is volatile?"""
        if not isinstance(node, exp.Column):
            return False
        source = frame.get(node.table.lower())
        names: Sequence[str] = ()
        query: exp.Expr | None = None
        if isinstance(source, exp.Table) and source.name in self._ctes:
            query, names = self._ctes[source.name].query, self._ctes[source.name].columns
        elif isinstance(source, exp.Subquery):
            query, names = source.this, source.alias_column_names
        if not isinstance(query, exp.Query):
            return False
        known = [name.lower() for name in names or query.named_selects]
        wanted = node.name.lower()
        return wanted in known and known.index(wanted) in self.of_query(query)


def _is_volatile(node: exp.Expr) -> bool:
    if isinstance(node, (exp.Rand, exp.Uuid, *CLOCKS)):
        return True
    if not isinstance(node, exp.Func):
        return False
    name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
    return name in VOLATILE or name in CLOCK_NAMES
