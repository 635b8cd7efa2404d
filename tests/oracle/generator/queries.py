"""Whole queries at random: selects, groups, set operations, CTEs, recursion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from tests.oracle.generator.expressions import Expressions
from tests.oracle.generator.scope import Columns, Dice, Scope
from tests.oracle.generator.sources import Sources

#: Names clash on purpose: k and v are everywhere, s is in two tables, v is also a key of none.
SCHEMA: Mapping[str, Mapping[str, str]] = {
    "a": {"k": "INTEGER", "v": "INTEGER", "s": "VARCHAR"},
    "b": {"k": "INTEGER", "v": "INTEGER", "w": "INTEGER"},
    "c": {"k": "INTEGER", "x": "INTEGER", "s": "VARCHAR"},
    "d": {"k": "INTEGER", "arr": "INTEGER[]", "st": "STRUCT(p INTEGER, q INTEGER)", "g": "INTEGER"},
}
_KINDS = {"INTEGER": "int", "VARCHAR": "text", "INTEGER[]": "list"}
TABLES: Mapping[str, Columns] = {
    table: tuple((name, _KINDS.get(text, "struct")) for name, text in columns.items())
    for table, columns in SCHEMA.items()
}


@st.composite
def queries(draw: Callable[[Any], Any]) -> str:
    """The text of a query over SCHEMA; most of them run."""
    writer = _Writer(Dice(draw, TABLES, most=draw(st.sampled_from([1, 2, 2, 2, 3]))))
    return writer.top()


class _Writer:
    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.expressions = Expressions(dice, self._subquery)
        self.sources = Sources(dice, self.expressions, lambda dice, outer: self.query(outer))

    def top(self) -> str:
        """A query, at times with CTEs before it and an order behind."""
        with_clause = self._ctes() if self.dice.chance(50) else ""
        text, columns = self.query(None)
        return f"{with_clause}{text}{self._tail(len(columns)) if self.dice.chance(35) else ''}"

    def query(self, outer: Scope | None) -> tuple[str, Columns]:
        """A query without order: its text and its columns."""
        dice = self.dice
        dice.depth += 1
        try:
            shape = dice.weighted(select=5, grouped=3, union=2, star=2, spread=1)
            if shape == "union" and not dice.is_deep:
                return self._set_operation(outer)
            if shape == "grouped":
                return self._grouped(outer)
            if shape == "star":
                return self._star(outer)
            if shape == "spread":
                return self._unnested()
            return self._select(outer)
        finally:
            dice.depth -= 1

    def _tail(self, width: int) -> str:
        keys = ", ".join(str(at) for at in range(1, width + 1))
        first = self.dice.number(1, width)
        limit = f" limit {self.dice.number(1, 3)}" if self.dice.chance(50) else ""
        return f" order by {first} {self.dice.pick(['', 'desc'])}, {keys}{limit}"

    def _items(self, scope: Scope) -> tuple[list[str], list[tuple[str, str]]]:
        dice = self.dice
        items, columns = [], []
        for name in dice.pick([("k", "v"), ("v",), ("k", "v", "s"), ("z", "k"), ("k", "w", "v")]):
            kind = "text" if name == "s" else "int"
            text = self.expressions.value(scope, kind)
            if kind == "int" and dice.chance(15):
                text = self.expressions.window(scope)
            items.append(f"{text} as {name}")
            columns.append((name, kind))
        return items, columns

    def _select(self, outer: Scope | None) -> tuple[str, Columns]:
        dice = self.dice
        source, scope = self.sources.clause(outer)
        items, columns = self._items(scope)
        where = f" where {self.expressions.predicate(scope)}" if dice.chance(45) else ""
        ending = ""
        if dice.chance(15):
            sign = dice.pick(["=", "<=", ">"])
            ending = f" qualify {self.expressions.window(scope)} {sign} {dice.number(1, 2)}"
        head = "select "
        if dice.chance(10):
            head = "select distinct "
        elif dice.chance(8) and not ending:
            key = self.expressions.integer(scope, 1)
            ordered = ", ".join(item.rsplit(" as ", 1)[0] for item in items)
            head, ending = f"select distinct on ({key}) ", f" order by {key}, {ordered}"
            return f"({head}{', '.join(items)} from {source}{where}{ending})", tuple(columns)
        if dice.chance(12) and head == "select ":
            items.append(f"{self.expressions.window(scope, ('wn',))} as nw")
            columns.append(("nw", "int"))
            named = f" window wn as ({self.expressions.window_body(scope)})"
            return f"{head}{', '.join(items)} from {source}{where}{named}", tuple(columns)
        return f"{head}{', '.join(items)} from {source}{where}{ending}", tuple(columns)

    def _grouped(self, outer: Scope | None) -> tuple[str, Columns]:
        dice = self.dice
        source, scope = self.sources.clause(outer)
        key = self.expressions.integer(scope, 1)
        second = self.expressions.column(scope, "text")
        aggregate, kind = self.expressions.aggregate(scope)
        other, other_kind = self.expressions.aggregate(scope)
        columns: Columns = (("k", "int"), ("s", "text"), ("v", kind), ("w", other_kind))
        group = dice.pick(
            ["1, 2", "all", f"{key}, {second}", f"rollup ({key}, {second})",
             f"cube ({key}, {second})", f"grouping sets (({key}), ({second}))"]
        )  # fmt: skip
        where = f" where {self.expressions.predicate(scope, 1)}" if dice.chance(30) else ""
        having = (
            f" having {self.expressions.aggregate(scope)[0]} is not null" if dice.chance(15) else ""
        )
        if dice.chance(15):
            total = f"sum({self.expressions.integer(scope, 0)})"
            having = f" having count(*) > {dice.number(0, 1)} and {total} > 1"
        items = f"{key} as k, {second} as s, {aggregate} as v, {other} as w"
        if dice.chance(25):
            items, columns, group = f"{aggregate} as v, {other} as w", columns[2:], ""
        by = f" group by {group}" if group else ""
        return f"select {items} from {source}{where}{by}{having}", columns

    def _star(self, outer: Scope | None) -> tuple[str, Columns]:
        dice = self.dice
        text, source = self.sources.item()
        scope = Scope((source,), frozenset(), outer)
        names = [name for name, _ in source.columns]
        unique = [(n, k) for n, k in source.columns if names.count(n) == 1]
        if len(unique) != len(names) or len(names) < 2:
            return f"select * from {text}", source.columns
        where = f" where {self.expressions.predicate(scope, 1)}" if dice.chance(30) else ""
        name, kind = dice.pick(unique)
        shape = dice.weighted(plain=2, exclude=2, replace=2, rename=2, qualified=1, columns=1)
        rest = tuple(column for column in source.columns if column[0] != name)
        if shape == "exclude":
            return f"select * exclude ({name}) from {text}{where}", rest
        if shape == "replace" and kind in ("int", "text"):
            value = self.expressions.value(scope, kind)
            return f"select * replace ({value} as {name}) from {text}{where}", source.columns
        if shape == "rename":
            renamed = tuple(("rn", k) if n == name else (n, k) for n, k in source.columns)
            return f"select * rename ({name} as rn) from {text}{where}", renamed
        if shape == "columns":
            return f"select columns(* exclude ({name})) from {text}{where}", rest
        if shape == "qualified":
            extra = self.expressions.integer(scope)
            return f"select {source.alias}.*, {extra} as zz from {text}{where}", (
                *source.columns,
                ("zz", "int"),
            )
        return f"select * from {text}{where}", source.columns

    def _unnested(self) -> tuple[str, Columns]:
        alias = self.dice.alias()
        value = self.expressions.integer(Scope(()), 0) if self.dice.chance(20) else f"{alias}.k + 1"
        text = f"select {value} as k, unnest({alias}.arr) as v, {alias}.st.p as z from d as {alias}"
        return text, (("k", "int"), ("v", "int"), ("z", "int"))

    def _set_operation(self, outer: Scope | None) -> tuple[str, Columns]:
        dice = self.dice
        operation = dice.pick(
            [
                "union all",
                "union all",
                "union",
                "except",
                "intersect",
                "except all",
                "union all by name",
                "union by name",
            ]
        )
        left, columns = self._select(outer)
        right, others = self._select(outer)
        if "by name" in operation:
            known = dict(columns)
            more = tuple(column for column in others if column[0] not in known)
            return f"{left} {operation} {right}", (*columns, *more)
        kinds = [kind for _, kind in columns]
        if kinds != [kind for _, kind in others]:
            inner = ", ".join(f"null::{'varchar' if k == 'text' else 'integer'}" for k in kinds)
            right = f"select {inner}" if dice.chance(10) else left
        return f"{left} {operation} {right}", columns

    def _subquery(self, dice: Dice, scope: Scope, shape: str) -> str:
        dice.depth += 1
        try:
            source, inner = self.sources.clause(Scope(scope.sources, scope.merged))
            where = self.expressions.predicate(inner, 1)
            if shape == "correlated":
                return f"select 1 from {source} where {where}"
            if shape == "scalar":
                if dice.chance(70):
                    function = dice.pick(["sum", "max", "count"])
                    value = f"{function}({self.expressions.integer(inner, 1)})"
                    return f"select {value}::int from {source} where {where}"
                value = self.expressions.column(inner, "int")
                return f"select {value} as o from {source} where {where} order by o limit 1"
            return f"select {self.expressions.integer(inner, 1)} from {source} where {where}"
        finally:
            dice.depth -= 1

    def _ctes(self) -> str:
        dice = self.dice
        parts = []
        recursive = ""
        for _ in range(dice.number(1, 3)):
            name = dice.pick(["c1", "c2", "a", "b", "c3"])
            if name in dice.ctes:
                continue
            if dice.chance(12) and name not in TABLES:
                recursive = "recursive "
                parts.append(f"{name}(k, v) as ({self._recursion(name)})")
                dice.ctes[name] = (("k", "int"), ("v", "int"))
                continue
            text, columns = self.query(None)
            if dice.chance(20):
                renamed = [f"{column}" if at else "kk" for at, (column, _) in enumerate(columns)]
                if len(set(renamed)) == len(renamed):
                    parts.append(f"{name}({', '.join(renamed)}) as ({text})")
                    dice.ctes[name] = tuple(zip(renamed, (kind for _, kind in columns)))
                    continue
            parts.append(f"{name} as {dice.pick(['', '', 'materialized '])}({text})")
            dice.ctes[name] = columns
        return f"with {recursive}{', '.join(parts)} "

    def _recursion(self, name: str) -> str:
        dice = self.dice
        start = dice.pick(
            ["select k, v from b where v > 0", "select k, x from c", "select v, k from a"]
        )
        step = dice.pick(
            [f"select r.k + 1, r.v from {name} as r where r.k < 3",
             f"select r.v, r.k + 1 from {name} as r where r.k < 2 and r.v < 9",
             f"select t.k, r.v + 1 from {name} as r join b as t on t.w = r.k where r.v < 3"]
        )  # fmt: skip
        return f"{start} {dice.pick(['union all', 'union'])} {step}"
