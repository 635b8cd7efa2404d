"""FROM clauses at random: every kind of join, lateral subqueries, unnest, pivots."""

from __future__ import annotations

from collections.abc import Callable

from tests.oracle.generator.expressions import Expressions
from tests.oracle.generator.scope import Column, Columns, Dice, Scope, Source

#: Makes a query inside a scope or none: its text and columns.
MakeQuery = Callable[[Dice, Scope | None], tuple[str, Columns]]


class Sources:
    """Writes FROM clauses."""

    def __init__(self, dice: Dice, expressions: Expressions, query: MakeQuery) -> None:
        self.dice = dice
        self.expressions = expressions
        self._query = query

    def clause(self, outer: Scope | None) -> tuple[str, Scope]:
        """The text behind FROM, and what the select may use."""
        dice = self.dice
        text, source = self.item()
        scope = Scope((source,), frozenset(), outer)
        for _ in range(dice.pick([0, 0, 0, 1, 1, 1, 2])):
            text, scope = self._joined(text, scope)
        return text, scope

    def item(self) -> tuple[str, Source]:
        """A table, a CTE or a derived table, under an alias or its own name."""
        dice = self.dice
        alias = dice.alias()
        shape = dice.weighted(table=6, cte=4, derived=3, pivot=1, unpivot=1, values=1)
        if shape == "derived" and not dice.is_deep:
            text, columns = self._query(dice, None)
            return f"({text}) as {alias}", Source(alias, columns)
        if shape == "pivot":
            return self._pivot(alias)
        if shape == "unpivot":
            text = "select * from (select k, v, w from b) unpivot (val for nm in (v, w))"
            return f"({text}) as {alias}", Source(
                alias, (("k", "int"), ("nm", "text"), ("val", "int"))
            )
        if shape == "values":
            return f"(values (1, 'k1'), (2, 'k2')) as {alias} (k, s)", Source(
                alias, (("k", "int"), ("s", "text"))
            )
        known = dice.ctes if shape == "cte" and dice.ctes else {**dice.tables, **dice.ctes}
        name = dice.pick(sorted(known))
        return f"{name} as {alias}", Source(alias, known[name])

    def _pivot(self, alias: str) -> tuple[str, Source]:
        function = self.dice.pick(["sum", "max", "count"])
        values = f"{function}(x) for s in ('a' as pa, 'b' as pb)"
        text = f"select * from (select k, x, s from c) pivot ({values})"
        columns: Columns = (("k", "int"), ("pa", "int"), ("pb", "int"))
        return f"({text}) as {alias}", Source(alias, columns)

    def _joined(self, text: str, scope: Scope) -> tuple[str, Scope]:
        dice = self.dice
        kind = dice.weighted(
            on=6,
            using=4,
            natural=2,
            semi=2,
            asof=1,
            cross=1,
            comma=1,
            lateral=2,
            unnest=2,
            positional=1,
        )
        if kind == "lateral" and not dice.is_deep:
            inner, columns = self._query(dice, Scope(scope.sources, scope.merged))
            source = Source(dice.alias(), columns)
            side = dice.pick(["cross join lateral", "left join lateral"])
            on = " on true" if side.startswith("left") else ""
            return f"{text} {side} ({inner}) as {source.alias}{on}", self._with(scope, source)
        if kind == "unnest" and scope.references("list"):
            source = Source(dice.alias(), (("e", "int"),))
            array = self.expressions.column(Scope(scope.sources, scope.merged), "list")
            return f"{text} cross join unnest({array}) as {source.alias}(e)", self._with(
                scope, source
            )
        right, source = self.item()
        return self._condition(kind, text, right, scope, source)

    def _condition(
        self, kind: str, text: str, right: str, scope: Scope, source: Source
    ) -> tuple[str, Scope]:
        dice = self.dice
        both = self._with(scope, source)
        common = self._common(scope, source)
        side = dice.pick(["inner", "left", "right", "full"])
        if kind == "using" and common:
            names = dice.pick([common[:1], common])
            merged = scope.merged | frozenset(names)
            scope = Scope(both.sources, merged, scope.outer)
            return f"{text} {side} join {right} using ({', '.join(names)})", scope
        if kind == "natural" and common and len(scope.sources) == 1:
            scope = Scope(both.sources, frozenset(common), scope.outer)
            return f"{text} natural {side} join {right}", scope
        if kind == "cross":
            return f"{text} cross join {right}", both
        if kind == "comma":
            return f"{text}, {right}", both
        if kind == "positional":
            return f"{text} positional join {right}", both
        on = self._on(Scope(scope.sources, scope.merged), source)
        if kind == "semi":
            return f"{text} {dice.pick(['semi', 'anti'])} join {right} on {on}", scope
        if kind == "asof":
            order = f"{self.expressions.column(Scope(scope.sources), 'int')} >= "
            order += self.expressions.column(Scope((source,)), "int")
            on = f"{self._equal(scope, source)} and {order}"
            return f"{text} asof {dice.pick(['', 'left '])}join {right} on {on}", both
        more = (
            f" and {self.expressions.predicate(Scope(both.sources), 0)}" if dice.chance(20) else ""
        )
        return f"{text} {side} join {right} on {on}{more}", both

    def _on(self, scope: Scope, source: Source) -> str:
        if self.dice.chance(80):
            return self._equal(scope, source)
        column = self.expressions.column(Scope((source,)), "int")
        return f"{self._equal(scope, source)} and {column} > 0"

    def _equal(self, scope: Scope, source: Source) -> str:
        left = [name for name in Scope(scope.sources).references("int") if "." in name] or ["1"]
        right = [name for name in Scope((source,)).references("int") if "." in name] or ["1"]
        keys = [(x, y) for x in left for y in right if x.split(".")[-1] == y.split(".")[-1] == "k"]
        one, other = (
            keys[0]
            if keys and self.dice.chance(70)
            else (self.dice.pick(left), self.dice.pick(right))
        )
        return f"{one} = {other}"

    @staticmethod
    def _with(scope: Scope, source: Source) -> Scope:
        return Scope((*scope.sources, source), scope.merged, scope.outer)

    @staticmethod
    def _common(scope: Scope, source: Source) -> list[str]:
        left: list[Column] = [column for item in scope.sources for column in item.columns]
        names = [
            name
            for name, kind in left
            if (name, kind) in source.columns and kind in ("int", "text")
        ]
        return [n for n in names if names.count(n) == 1 or n in scope.merged]
